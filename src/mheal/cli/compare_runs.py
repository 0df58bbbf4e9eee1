"""The folder of `mheal compare`: runs that are finished, and the settings they were made with."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..evaluate import Curves, Row
from ..exceptions import UserError, UserFileError
from ..runtime.files import replacing

Unit = tuple[str, int]  # strategy, seed
# Runs that differ in one of these cannot stand in one table. Strategies, budgets and seeds can be added.
DECISIVE = (
    "estimator", "metric", "max_pool", "columns", "without", "id", "text", "embed", "pool_sha256", "labels_sha256",
    "features",
)  # fmt: skip


@dataclass
class Runs:
    """Finished runs by unit; `add` writes curves.csv anew, so that a kill at any moment leaves whole units."""

    folder: Path
    settings: dict[str, Any]
    units: dict[Unit, list[Row]]

    @classmethod
    def find(cls, folder: Path, settings: dict[str, Any]) -> "Runs":
        """The runs that are there already, none in a new folder; those of other settings are refused."""
        if folder.exists() and not folder.is_dir():
            raise UserFileError(f"{folder} is a file: give --out the name of a folder")
        found = cls(folder, settings, {})
        if found.file.exists():
            _refuse_others(folder, settings)
            for row in Curves.from_csv(found.file).rows:
                found.units.setdefault((row["strategy"], row["seed"]), []).append(row)
        return found

    @property
    def file(self) -> Path:
        """Where the runs are."""
        return self.folder / "curves.csv"

    @property
    def budgets(self) -> set[int]:
        """All budgets of any run."""
        return {row["labels"] for rows in self.units.values() for row in rows}

    def done(self, budgets: Collection[int]) -> set[Unit]:
        """The units that need not run again: they have exactly these budgets, between which some strategies learn."""
        return {unit for unit, rows in self.units.items() if {row["labels"] for row in rows} == set(budgets)}

    def begin(self) -> None:
        """Make the folder and write the settings down."""
        with replacing(self.folder / "settings.json", make_folder=True) as part:
            part.write_text(json.dumps(self.settings, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def add(self, rows: list[Row], strategies: Sequence[str]) -> None:
        """Keep a finished unit. Units are sorted by seed, then by strategy in this order, however they came about."""
        units = {**self.units, (rows[0]["strategy"], rows[0]["seed"]): rows}
        place = {name: at for at, name in enumerate(strategies)}
        order = sorted(units, key=lambda unit: (unit[1], place.get(unit[0], len(place)), unit[0]))
        units = {unit: units[unit] for unit in order}
        Curves([row for unit in units.values() for row in unit]).save_csv(self.file)
        self.units = units  # what is counted has been written


def _refuse_others(folder: Path, settings: dict[str, Any]) -> None:
    remedy = "choose another --out, or delete that folder"
    try:
        before = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
        changed = [name for name in DECISIVE if before[name] != settings[name]]
    except (FileNotFoundError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError) as error:
        lacking = "is there, but no settings.json that says all of how it was made"
        raise UserError(f"{folder / 'curves.csv'} {lacking}: {remedy}") from error
    if changed:
        name = changed[0]
        was, now = _shown(before[name]), _shown(settings[name])
        others = dict(pool_sha256="another pool", labels_sha256="other labels", features=f"other features ({was})")
        option = f"--{name.replace('_', '-')} {was} instead of {now}"
        raise UserError(f"{folder} holds runs with {others.get(name, option)}: {remedy}")


def _shown(setting: Any) -> str:
    if isinstance(setting, list):
        return ",".join(setting)
    return "unset" if setting is None else str(setting)
