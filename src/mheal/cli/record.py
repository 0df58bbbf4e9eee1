"""The record of a run of `mheal select`: how to repeat the run, and the picks that must result."""

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from .._version import __version__
from ..exceptions import UserError
from ..io.fingerprint import fingerprint
from ..runtime.checkpoint import digest
from ..runtime.files import reading
from ..runtime.outputs import FILES, SUFFIX, checksum
from .pick import Result
from .request import Request, parse_budget

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "polars")
KINDS: dict[str, type] = {"mheal": str, "features": str, "cluster": bool}
KINDS |= dict.fromkeys(("parameters", "sha256", "packages", "picks", FILES), dict)
CLOSE = 1e-3  # relative difference of gains between types of CPU


def describe(request: Request, result: Result, file: Path) -> dict[str, Any]:
    """Everything about a finished run, but the address of a cluster. Paths are relative to the folder of the picks."""
    packages = PACKAGES if request.device in (None, "cpu") else (*PACKAGES, "torch")
    gains = [round(gain, 6) if np.isfinite(gain) else None for gain in result.picks.gain.tolist()]
    return {
        "mheal": __version__,
        "parameters": asdict(replace(request.moved(Path.cwd(), file.parent.resolve()), scheduler=None)),
        "cluster": request.scheduler is not None,
        "features": result.source.features,
        "rows": len(result.source.X),
        "columns": int(result.source.X.shape[1]),
        "labeled": result.labeled,
        "skipped": len(result.source.skipped),
        "sha256": checksums(request),
        "fingerprint": fingerprint(result.source, result.picks.indices),
        "picks": {"count": len(result.picks), "rows_sha256": _rows(result), "gain": gains},
        "seconds": {name: round(value, 3) for name, value in result.seconds.items()},
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "packages": {name: version(name) for name in packages},
    }


def read_record(file: Path) -> dict[str, Any]:
    """A record, which may come from somebody else: it is refused unless all of it is there and of its type."""
    with reading(file):
        record = json.loads(file.read_text(encoding="utf-8"))
    if (flaw := _flaw(record)) or not file.name.endswith(SUFFIX):
        wrong = f"{file} is not a record of mheal select ({flaw or 'by its name'})"
        raise UserError(f"{wrong}: give the file NAME{SUFFIX} beside the picks")
    parse_budget(str(record["parameters"]["budget"]))
    return record


def _flaw(record: Any) -> str | None:
    """What is missing from a record, or of another type."""
    if not isinstance(record, dict):
        return "no names"
    if wrong := [name for name, kind in KINDS.items() if not isinstance(record.get(name), kind)]:
        return wrong[0]
    gains, parameters = record["picks"].get("gain"), record["parameters"]
    if not isinstance(gains, list) or not all(isinstance(gain, int | float | None) for gain in gains):
        return "gain"
    hints = get_type_hints(Request) | {"budget": int | str, "labeled": list | None}
    wrong = [*({"pool", "budget"} - parameters.keys()), *(parameters.keys() - hints.keys())]
    wrong += [name for name, value in parameters.items() if name in hints and not isinstance(value, hints[name])]
    wrong += [name for name, value in parameters.items() if "\0" in str(value)]
    if not wrong and not all(isinstance(file, str) and "\0" not in file for file in parameters.get("labeled") or ()):
        return "labeled"
    return wrong[0] if wrong else None


def requested(record: dict[str, Any], file: Path, typed: dict[str, Any]) -> Request:
    """The request in a record, paths relative to the current folder; options `typed` beside --rerun replace its own.

    A record does not decide what to connect to, which code to import, or what to read outside its folder.
    """
    folder = file.parent.resolve()
    request = Request(**record["parameters"]).moved(folder, Path.cwd())
    outside = {
        name: ", ".join(paths)
        for name, paths in request.paths.items()
        if not all(Path(path).resolve().is_relative_to(folder) for path in paths)
    }
    foreign = {name: value for name in ("estimator", "embed") if ":" in (value := getattr(request, name) or "")}
    address = {"scheduler": "a cluster"} if record["cluster"] or request.scheduler is not None else {}
    for name, value in {**outside, **foreign, **address}.items():
        if name not in typed and not value.startswith("simclr:"):
            option = "the pool" if name == "pool" else f"--{name}"
            why = "outside its folder" if name in outside else "which is not taken from a file"
            raise UserError(f"{file} names {value} as {option}, {why}: if you trust that, give {option} beside --rerun")
    return replace(request, **typed)


def checksums(request: Request) -> dict[str, str]:
    """The checksums of the files that picks depend on, by the option that names them."""
    return {name: checksum(files) for name, files in request.inputs.items()}


def difference(result: Result, record: dict[str, Any]) -> str | None:
    """Why the picks are not the recorded ones, in words; None if they are."""
    if result.source.features != record["features"]:
        return f"which are of {record['features']}, and now it is {result.source.features}"
    gains = np.array(record["picks"]["gain"], float)
    finite = np.where(np.isfinite(result.picks.gain), result.picks.gain, np.nan)
    close = gains.shape == finite.shape and np.allclose(finite, gains, rtol=CLOSE, atol=1e-5, equal_nan=True)
    same = close and _rows(result) == record["picks"].get("rows_sha256")
    return None if same else f"which mheal {record['mheal']} made on {record['packages']}"


def _rows(result: Result) -> str:
    """The digest of the rows, which are the same on every machine; gains are compared with a tolerance."""
    return digest(result.picks.indices.astype("<i8"))
