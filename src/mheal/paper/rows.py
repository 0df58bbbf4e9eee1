"""Raw rows of an experiment: one CSV file that grows a unit of work at a time, so that a run can stop and go on."""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..pool.files import replacing

Row = dict[str, str]


class RawRows:
    """The rows in `folder`/rows.csv, made under the protocol in `folder`/protocol.json.

    A unit is what is done or not done as a whole: the values of the `unit` columns. Files are replaced in one step, so
    a killed run leaves whole units only.
    """

    def __init__(self, folder: Path, protocol: Mapping[str, Any], unit: tuple[str, ...]) -> None:
        self.file, self.unit = folder / "rows.csv", unit
        self.rows: list[Row] = []
        folder.mkdir(parents=True, exist_ok=True)
        note = folder / "protocol.json"
        text = json.dumps(protocol, indent=2, ensure_ascii=False) + "\n"
        if self.file.exists():
            if not note.exists() or json.loads(note.read_text(encoding="utf-8")) != json.loads(text):
                raise ValueError(f"{self.file} is from another experiment or size: name another folder, or delete it")
            with self.file.open(newline="", encoding="utf-8") as file:
                self.rows = list(csv.DictReader(file))
        else:
            with replacing(note) as part:
                part.write_text(text, encoding="utf-8")
        self.done = {self._key(row) for row in self.rows}

    def has(self, *unit: Any) -> bool:
        """Whether this unit is done."""
        return tuple(map(str, unit)) in self.done

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write the rows of one unit, all or none; floats keep six digits."""
        new = [{key: _text(value) for key, value in row.items()} for row in rows]
        everything = self.rows + new
        with replacing(self.file) as part, part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(everything[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(everything)
        self.rows = everything
        self.done.update(self._key(row) for row in new)

    def where(self, **wanted: Any) -> list[Row]:
        """The rows whose columns have these values; a collection names several."""
        sets = {
            key: {str(v) for v in (value if isinstance(value, list | tuple | set | range) else [value])}
            for key, value in wanted.items()
        }
        return [row for row in self.rows if all(row[key] in values for key, values in sets.items())]

    def _key(self, row: Row) -> tuple[str, ...]:
        return tuple(row[column] for column in self.unit)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
