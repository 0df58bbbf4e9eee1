"""Fingerprints of picked rows, which detect that a pool without ids has other rows at these numbers now."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars

from ..exceptions import UserError
from .sheet import cells_of
from .source import Source

Rows = npt.NDArray[np.int64]


def fingerprint(source: Source, rows: Rows) -> dict[str, Any] | None:
    """Hashes of the cells of these rows, to detect later that rows have moved; None if the pool has ids.

    Rows and columns may be added to the pool later: only the present cells of these rows are compared.
    """
    if source.ids is not None:
        return None
    cells = cells_of(source, rows)
    return {"columns": cells.columns, "rows": _hashes(source, rows, cells)}


def refuse_moved(file: str, source: Source, rows: Rows) -> None:
    """Raise an error if the row numbers in a file of picks belong to other rows of the pool now.

    The fingerprint is in the record beside the file. Without it, or if the pool lacks its columns, nothing is checked.
    """
    if source.ids is not None:
        return
    record = Path(f"{file}.mheal.json")
    try:
        found = json.loads(record.read_text(encoding="utf-8"))["fingerprint"]
        known, columns = dict(found["rows"]), [*map(str, found["columns"])]
    except (OSError, ValueError, LookupError, TypeError):
        return
    here = rows[np.array([str(number) in known for number in source.numbers(rows)], bool)]
    cells = cells_of(source, here)
    if not {*columns} <= {*cells.columns}:
        return
    now = _hashes(source, here, cells.select(columns))
    if moved := [number for number, known_hash in now.items() if known[number] != known_hash]:
        wrong = f"row {moved[0]} of the pool has changed since {file} was written ({len(moved):,} such rows)"
        remedy = "restore the order of the pool, or name its rows by an id column"
        raise UserError(f"{wrong}: {remedy}; if rows were only corrected, delete {record.name}")


def missing_files_of_labels(files: Sequence[str]) -> list[str]:
    """A note for each file of picks whose record names further files of labels that are not among these."""
    given, lines = {Path(file).resolve() for file in files}, []
    for file in files:
        with suppress(OSError, ValueError, LookupError, TypeError):
            record = Path(f"{file}.mheal.json")
            known = json.loads(record.read_text(encoding="utf-8"))["parameters"]["labeled"] or ()
            names = [known] if isinstance(known, str) else known
            others = [str(path) for name in names if (path := record.parent / name).resolve() not in given]
            if others:
                remedy = f"if {file} does not hold them, add --labeled {' --labeled '.join(others)}"
                lines.append(f"{file} was picked with the labels in {', '.join(others)}: {remedy}")
    return lines


def _hashes(source: Source, rows: Rows, cells: polars.DataFrame) -> Mapping[str, str]:
    """A short hash of each row, by its row number as text: of its cells or, if it has none, of its values in X."""
    values: Iterable[Any] = cells.rows() if cells.width else source.X[rows].tolist()
    hashes = (hashlib.sha256(repr(_plain(value)).encode()).hexdigest()[:8] for value in values)
    return dict(zip(map(str, source.numbers(rows).tolist()), hashes, strict=True))


def _plain(value: Any) -> Any:
    """A value as text, the same for integers and floats: a column's type may change when the pool grows."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return f"{value:.12g}" if isinstance(value, int | float) else str(value)
