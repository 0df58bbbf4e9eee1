"""What the commands print: messages on stderr, results on stdout, tables, sizes."""

import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

# What a terminal obeys instead of showing it, and halves of characters, as names of files may hold.
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    """Text from a file with its control characters spelled out: \\x1b."""
    return OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class _Harmless(Console):
    """A console that spells out control characters."""

    def print(self, *objects: Any, **how: Any) -> None:
        super().print(*(harmless(one) if isinstance(one, str) else one for one in objects), **how)


def messages(quiet: bool) -> Console:
    """Where messages go: stderr, so that stdout is free for data."""
    return _Harmless(stderr=True, quiet=quiet, soft_wrap=True, highlight=False, emoji=False, markup=False)


def show_report(tables: Iterable[tuple[str, Sequence[str], Sequence[Sequence[str]]]], sentences: Iterable[str]) -> None:
    """Results for people, on stdout: tables of numbers, each below its title, then sentences.

    Where stdout is no terminal, tables are as wide as they need. Columns of words are aligned to the left.
    """
    console = _Harmless(highlight=False, emoji=False, markup=False, width=None if sys.stdout.isatty() else 200)
    for title, heads, rows in tables:
        console.print(title, soft_wrap=True)
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for head, *cells in zip(heads, *rows, strict=True):
            table.add_column(head, justify="left" if cells[0][0].isalpha() else "right")
        for row in rows:
            table.add_row(*map(harmless, row))
        console.print(table)
    for sentence in sentences:
        console.print(sentence, soft_wrap=True)


def show_list(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A list of things by name, each with some words about it."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    for at, head in enumerate(heads):
        table.add_column(head, overflow="fold", no_wrap=at == 0)
    for row in rows:
        table.add_row(*row)
    Console(highlight=False).print(table)


def size(n_bytes: float) -> str:
    """Bytes for people: 1.5 GB, 240 MB."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"
