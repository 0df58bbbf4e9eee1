"""Fingerprints of picks without ids: whether the pool still has the same rows under their numbers."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import UserError
from ..tables.names import is_answer
from .source import Source

Rows = npt.NDArray[np.int64]


def fingerprint(source: Source, rows: Rows) -> dict[str, Any] | None:
    """Hashes of these rows of X, to find out later whether the rows have moved; None where they have ids.

    The pool may grow meanwhile, and get other columns: only cells of these rows count, in the columns it has now.
    """
    if source.ids is not None:
        return None
    columns = None if source.cells is None else source.cells.columns
    if columns is None and source.files[0].suffix.lower() == ".parquet":
        from .tables import scan

        columns = [name for name in scan(source.files[0]).collect_schema().names() if not is_answer(name)]
    return {"columns": columns, "rows": dict(zip(_keys(source, rows), _digests(source, rows, columns), strict=True))}


def refuse_moved(file: str, source: Source, rows: Rows) -> None:
    """Refuse a file of picks that names rows of X by number, if the pool has other rows there now.

    The fingerprint is in the record beside the file; without it or without its columns, there is nothing to compare.
    """
    if source.ids is not None:
        return
    for record in (Path(f"{file}.mheal.json"), Path(file).with_suffix(".json")):
        with suppress(OSError, ValueError, LookupError, TypeError):
            found = json.loads(record.read_text(encoding="utf-8"))["fingerprint"]
            known, columns = dict(found["rows"]), None if found["columns"] is None else [*map(str, found["columns"])]
            break
    else:
        return
    if columns is not None and source.cells is not None and not {*columns} <= {*source.cells.columns}:
        return
    here = rows[np.array([key in known for key in _keys(source, rows)], bool)]
    now = dict(zip(_keys(source, here), _digests(source, here, columns), strict=True))
    if moved := [key for key, digest in now.items() if known[key] != digest]:
        wrong = f"{file} was written when row {moved[0]} of the pool was another one ({len(moved):,} such rows)"
        remedy = "restore the order of the pool, or name its rows by an id column"
        raise UserError(f"{wrong}: {remedy}; if rows were only corrected, delete {record.name}")


def _keys(source: Source, rows: Rows) -> list[str]:
    """The numbers of the rows in their files, as JSON has them."""
    return [str(row) for row in source.numbers(rows).tolist()]


def _digests(source: Source, rows: Rows, columns: Sequence[str] | None) -> list[str]:
    """A short hash of each row: of its cells in these columns where there are some, else of its text or its numbers."""
    values: Iterable[Any]
    if columns is None:
        values = source.X[rows].tolist() if source.items is None else [source.items[row] for row in rows]
    elif source.cells is not None:
        values = source.cells.select(columns)[rows.tolist()].rows()
    else:
        from .shards import gather

        values = gather(source.files, source.numbers(rows), columns).rows()
    return [hashlib.sha256(repr(_plain(value)).encode()).hexdigest()[:8] for value in values]


def _plain(value: Any) -> Any:
    """A value as it is whatever its column's type: a column of whole numbers gets fractions when it grows."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return f"{value:.12g}" if isinstance(value, int | float) else str(value)
