"""The files of unfinished runs of Tables 3, 4 and 5: picks, logs, and the protocol of the run."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mheal.exceptions import UserError
from mheal.runtime.files import replacing

from ...networks.labelling import Rows

Unit = tuple[str, int]  # title of a method, and seed


class Unfinished:
    """The files of one dataset, in a folder that exists while runs are unfinished."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def begin(self, protocol: Mapping[str, Any]) -> None:
        """Save the protocol; refuse to resume runs of another one."""
        note, text = self.folder / "protocol.json", json.dumps(protocol)
        if note.exists() and json.loads(note.read_text(encoding="utf-8")) != json.loads(text):
            raise UserError(f"{self.folder} has runs of another protocol: delete that folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(note) as part:
            part.write_text(text, encoding="utf-8")

    def log(self, unit: Unit) -> Path:
        """The file in which a run keeps its picks."""
        return self.folder / _name(unit)

    def keep_picks(self, unit: Unit, picks: Mapping[int, Rows]) -> None:
        """Save picks that were made ahead, by number of labels."""
        file = self._picks(unit)
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as part:
            part.write_text(json.dumps({n: rows.tolist() for n, rows in picks.items()}), encoding="utf-8")

    def picks(self, unit: Unit) -> dict[int, Rows] | None:
        """The picks of a run that were made ahead; None if there are none."""
        file = self._picks(unit)
        if not file.exists():
            return None
        stored = json.loads(file.read_text(encoding="utf-8"))
        return {int(n): np.array(rows, np.int64) for n, rows in stored.items()}

    def forget(self, unit: Unit) -> None:
        """Delete the files of a finished run."""
        self.log(unit).unlink(missing_ok=True)
        self._picks(unit).unlink(missing_ok=True)

    def end(self) -> None:
        """Delete the folder, and the one above, unless a run is in it."""
        if self.folder.exists() and not any(file.name != "protocol.json" for file in self.folder.rglob("*.json")):
            shutil.rmtree(self.folder)
            if not any(self.folder.parent.iterdir()):
                self.folder.parent.rmdir()

    def _picks(self, unit: Unit) -> Path:
        return self.folder / "ahead" / _name(unit)


def _name(unit: Unit) -> str:
    return f"{unit[0]} {unit[1]}.json"
