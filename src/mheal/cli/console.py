"""What the commands print: messages on stderr, results on stdout, tables, sizes."""

import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

# Control characters, which a terminal executes, and lone surrogates, which occur in names of files.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    """Text with its control characters escaped, as in \\x1b."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class _Harmless(Console):
    """A console that escapes control characters."""

    def print(self, *objects: Any, **how: Any) -> None:
        super().print(*(harmless(one) if isinstance(one, str) else one for one in objects), **how)


def messages(quiet: bool) -> Console:
    """The console for messages: stderr, so that stdout can carry data."""
    return _Harmless(stderr=True, quiet=quiet, soft_wrap=True, highlight=False, emoji=False, markup=False)


def show_report(tables: Iterable[tuple[str, Sequence[str], Sequence[Sequence[str]]]], sentences: Iterable[str]) -> None:
    """Print tables, each below its title, and then sentences, on stdout.

    If stdout is not a terminal, tables are as wide as needed. Columns of words are aligned to the left.
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
    """Print a table without borders: names and their descriptions."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    for at, head in enumerate(heads):
        table.add_column(head, overflow="fold", no_wrap=at == 0)
    for row in rows:
        table.add_row(*row)
    Console(highlight=False).print(table)


def size(n_bytes: float) -> str:
    """A number of bytes as text: 1.5 GB, 240 MB."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"
