"""What runs of Tables 3, 4 and 5 leave while they are unfinished: plans, diaries, and the protocol they began with."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mheal.runtime.files import replacing

from ..networks.labelling import Rows

Unit = tuple[str, int]  # title of a line, and seed


class Unfinished:
    """The files of one dataset, in a folder that is there while they are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def begin(self, protocol: Mapping[str, Any]) -> None:
        """Write the protocol down; refuse to go on with runs that were begun under another."""
        note, text = self.folder / "protocol.json", json.dumps(protocol)
        if note.exists() and json.loads(note.read_text(encoding="utf-8")) != json.loads(text):
            raise ValueError(f"{self.folder} has runs that were begun under another protocol: delete that folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(note) as part:
            part.write_text(text, encoding="utf-8")

    def diary(self, unit: Unit) -> Path:
        """Where a run writes down what it has bought."""
        return self.folder / _name(unit)

    def keep_plan(self, unit: Unit, planned: Mapping[int, Rows]) -> None:
        """Write a plan down: rows to buy, by number of labels."""
        file = self._plan(unit)
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as part:
            part.write_text(json.dumps({n: rows.tolist() for n, rows in planned.items()}), encoding="utf-8")

    def plan(self, unit: Unit) -> dict[int, Rows] | None:
        """The plan of a run, if it is made."""
        file = self._plan(unit)
        if not file.exists():
            return None
        stored = json.loads(file.read_text(encoding="utf-8"))
        return {int(n): np.array(rows, np.int64) for n, rows in stored.items()}

    def forget(self, unit: Unit) -> None:
        """Delete what a finished run leaves."""
        self.diary(unit).unlink(missing_ok=True)
        self._plan(unit).unlink(missing_ok=True)

    def end(self) -> None:
        """Delete the folder, and the one above, unless a run is in it."""
        if self.folder.exists() and not any(file.name != "protocol.json" for file in self.folder.rglob("*.json")):
            shutil.rmtree(self.folder)
            if not any(self.folder.parent.iterdir()):
                self.folder.parent.rmdir()

    def _plan(self, unit: Unit) -> Path:
        return self.folder / "plans" / _name(unit)


def _name(unit: Unit) -> str:
    return f"{unit[0]} {unit[1]}.json"
