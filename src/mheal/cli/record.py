"""The record beside a file of picks: the request, the input and the result, so that the run can be repeated."""

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..exceptions import UserError
from ..io.locate import locate
from ..io.write import picks_digest
from ..runtime.files import reading
from .pool import checksum
from .request import Request

if TYPE_CHECKING:
    from .pick import Result

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "polars")


def record_path(out: Path) -> Path:
    """picks.csv → picks.json; where that is the output itself, picks.record.json."""
    beside = out.with_suffix(".json")
    return out.with_suffix(".record.json") if beside == out else beside


def make_record(request: Request, result: "Result", out: Path) -> dict[str, Any]:
    """Everything about a finished request. Paths in it are relative to its own folder."""
    request = request.moved(Path.cwd(), out.parent.resolve())
    inputs = {name: checksum(files) for name, files in _inputs(request, out.parent).items()}
    packages = PACKAGES if request.device in (None, "cpu") else (*PACKAGES, "torch")
    return {
        "mheal": __version__,
        "command": ["mheal", *sys.argv[1:]] if Path(sys.argv[0]).name.startswith("mheal") else [],
        "parameters": asdict(request),
        "features": result.source.features,
        "rows": len(result.source.X),
        "columns": int(result.source.X.shape[1]),
        "labeled": result.labeled,
        "skipped": len(result.source.skipped),
        "sha256": inputs,
        "picks": {"file": out.name, "count": len(result.picks), "sha256": picks_digest(result.picks)},
        "seconds": {name: round(value, 3) for name, value in result.seconds.items()},
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "packages": {name: version(name) for name in packages},
    }


def read_record(path: Path) -> tuple[Request, dict[str, Any]]:
    """The request in a record, with paths relative to where we are now."""
    with reading(path):
        record = json.loads(path.read_text(encoding="utf-8"))
    try:
        request = Request.of(record["parameters"])
        record["sha256"]["pool"], record["picks"]["sha256"], record["picks"]["file"]
    except (KeyError, TypeError) as error:
        raise UserError(f"{path} is not a record of mheal select: give the .json file beside the picks") from error
    return request.moved(path.parent.resolve(), Path.cwd()), record


def refuse_changed_inputs(request: Request, record: dict[str, Any]) -> None:
    """The same request gives the same picks only from the same files."""
    for name, files in _inputs(request, Path()).items():
        if checksum(files) != record["sha256"].get(name):
            raise UserError(f"{getattr(request, name)} has changed since that record was written: select anew")


def refuse_other_picks(result: "Result", record: dict[str, Any]) -> None:
    """What would be written in place of the recorded picks must be the same."""
    if picks_digest(result.picks) == record["picks"]["sha256"]:
        return
    why = f"which mheal {record['mheal']} made on {record['packages']}"
    if result.source.features != record.get("features"):
        why = f"which are of {record.get('features')}, and now it is {result.source.features}"
    raise UserError(
        f"the picks differ from the recorded ones, {why}: nothing was written; --out FILE writes the new ones"
    )


def _inputs(request: Request, folder: Path) -> dict[str, list[Path]]:
    """The files that picks depend on, by what they are; paths are relative to the folder."""
    files = {name: locate(folder / path).files for name in ("pool", "proba") if (path := getattr(request, name))}
    return files | {name: [folder / path] for name in ("labeled", "keep") if (path := getattr(request, name))}
