"""Run `mheal select`: pick, and write the picks and a record from which the run can be repeated."""

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
from rich.console import Console

from .._version import __version__
from ..exceptions import UserError, how_many
from ..io.fingerprint import fingerprint
from ..io.label_studio import set_up
from ..io.write import format_of, render
from ..runtime.checkpoint import digest
from ..runtime.files import reading
from ..runtime.outputs import FILES, SUFFIX, Outputs, checksum
from ..strategies import get
from .options import Output, Request, parse_budget
from .pick import Job, Result
from .pool import inputs

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "polars")
KINDS: dict[str, type] = {"mheal": str, "features": str, "cluster": bool}
KINDS |= dict.fromkeys(("parameters", "sha256", "packages", "picks", FILES), dict)
CLOSE = 1e-3  # relative difference of gains between types of CPU


def run(request: Request, output: Output, console: Console, recorded: dict[str, Any] | None = None) -> Result:
    """Pick and write. If the picks differ from the `recorded` ones, nothing is written."""
    form = format_of(output.file, output.format)
    folder = output.checkpoint or Path(f"{'picks.csv' if output.file == '-' else output.file}.unfinished")
    job = Job(request, console, folder, resume=output.checkpoint is not None)
    with Outputs(output.files, inputs(**request.paths), force=output.force) as outputs:
        try:
            result = job.carry_out()
            if recorded is not None and (why := difference(result, recorded)):
                remedy = "nothing was written; --out FILE writes the new ones"
                raise UserError(f"the picks differ from the recorded ones, {why}: {remedy}")
            _write(request, result, output, outputs, form)
            for stages in job.unfinished:  # the picks are written: there is nothing left to resume
                stages.end()
        except KeyboardInterrupt:
            if os.path.exists(folder):  # unlike Path.exists, raises no error without permission
                console.print(f"Intermediate results are in {folder}: the same command resumes from there")
            raise
        finally:
            for stages in job.unfinished:
                stages.close()
            with suppress(OSError):  # it does not exist, or holds intermediate results
                folder.rmdir()
    n = len(result.labels.rows)
    avoided = f", away from the {how_many(n, 'labelled row')}" if n else ""
    console.print(
        f"{how_many(len(result.picks), 'pick')} by {get(request.strategy).title}{result.model}{avoided}; "
        f"reading {result.seconds['reading']:.1f} s, picking {result.seconds['picking']:.1f} s"
    )
    if outputs.files:
        console.print(f"Written: {', '.join(str(file) for _, file in outputs.files)}")
    if form == "html":
        table = Path(output.file).with_suffix(".csv") if output.file != "-" else "FILE.csv"
        console.print(f"To label these rows, run the command again with --out {table}: it picks the same ones")
    if form == "label-studio":
        before = [word for file in request.labeled or () for word in ("--labeled", file)]
        again = ["mheal", "select", request.pool, "--budget", str(request.budget), *before]
        classes = [] if result.labels.values is None else sorted({str(label) for label in result.labels.values})
        for line in set_up(result.source, output.file, again, classes):
            console.print(line)
    return result


def rerun(path: Path, typed: dict[str, Any], output: Output, console: Console) -> None:
    """Repeat the run in a record from the same files. By default the picks go to the record's own file."""
    record = read_record(path)
    request = requested(record, path, typed)
    for name, now in checksums(request).items():
        if now != record["sha256"].get(name):
            raise UserError(f"{', '.join(request.paths[name])} has changed since that record: run mheal select")
    placed = replace(output, out=output.out or str(path).removesuffix(SUFFIX))
    result = run(request, placed, console, None if output.out else record)
    how = "differ from" if difference(result, record) else "are identical to"
    console.print(f"The picks {how} the recorded ones.")


def _write(request: Request, result: Result, output: Output, outputs: Outputs, form: str) -> None:
    contents = [render(result.picks, result.source, form, output.escape_formulas)]
    if output.plot is not None:
        from ..evaluate.plots import pool_picture

        contents.append(pool_picture(result.source.X, result.picks, request.seed))
    if files := [file for _, file in output.files]:
        about = {} if output.file == "-" else describe(request, result, files[0])
        with outputs.writing(*files, about=about) as parts:
            for part, content in zip(parts, contents[-len(parts) :], strict=True):
                part.write_bytes(content)
    if output.file == "-":
        sys.stdout.buffer.write(contents[0])
        sys.stdout.buffer.flush()


def describe(request: Request, result: Result, file: Path) -> dict[str, Any]:
    """A record of a finished run, without the address of a cluster. Paths are relative to the folder of the picks."""
    packages = PACKAGES if request.device in (None, "cpu") else (*PACKAGES, "torch")
    picks = result.picks
    gains = [round(gain, 6) if np.isfinite(gain) else None for gain in picks.gain.tolist()]
    return {
        "mheal": __version__,
        "parameters": asdict(replace(request.moved(Path.cwd(), file.parent.resolve()), scheduler=None)),
        "cluster": request.scheduler is not None,
        "features": result.source.features,
        "rows": len(result.source.X),
        "columns": int(result.source.X.shape[1]),
        "labeled": len(result.labels.rows),
        "skipped": len(result.source.skipped),
        "sha256": checksums(request),
        "fingerprint": fingerprint(result.source, picks.indices),
        "picks": {"count": len(picks), "rows_sha256": digest(picks.indices.astype("<i8")), "gain": gains},
        "seconds": {name: round(value, 3) for name, value in result.seconds.items()},
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "packages": {name: version(name) for name in packages},
    }


def read_record(file: Path) -> dict[str, Any]:
    """Read a record. It may come from anybody, so it is refused unless all fields are there with their types."""
    flaw: str | None = "by its name"
    if file.name.endswith(SUFFIX):
        with reading(file):
            flaw = _flaw(record := json.loads(file.read_text(encoding="utf-8")))
    if flaw:
        remedy = f"give the file NAME{SUFFIX} beside the picks"
        raise UserError(f"{file} is not a record of mheal select ({flaw}): {remedy}")
    parse_budget(str(record["parameters"]["budget"]))
    return record


def _flaw(record: Any) -> str | None:
    """The first field of a record that is missing or has another type."""
    if not isinstance(record, dict):
        return "no names"
    if wrong := [name for name, kind in KINDS.items() if not isinstance(record.get(name), kind)]:
        return wrong[0]
    gains, parameters = record["picks"].get("gain"), record["parameters"]
    if not isinstance(gains, list) or not all(isinstance(gain, int | float | None) for gain in gains):
        return "gain"
    hints = get_type_hints(Request) | {"budget": int | str, "labeled": list | None}
    wrong = [*({"pool", "budget"} - parameters.keys()), *(parameters.keys() - hints.keys())]
    for name, value in parameters.items():
        words = value if isinstance(value, list) else [str(value)]
        strange = not all(isinstance(word, str) and "\0" not in word for word in words)
        if strange or not isinstance(value, hints.get(name, object)):
            wrong.append(name)
    return wrong[0] if wrong else None


def requested(record: dict[str, Any], file: Path, typed: dict[str, Any]) -> Request:
    """The request in a record, with paths relative to the current folder, updated by the options typed with --rerun.

    A record must not decide which address to connect to, which code to import, or what to read outside its folder.
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
            raise UserError(f"{file} names {value} as {option}, {why}: if you trust that, give {option} with --rerun")
    return replace(request, **typed)


def checksums(request: Request) -> dict[str, str]:
    """The checksums of the input files, by option."""
    return {name: checksum(files) for name, files in inputs(**request.paths).items()}


def difference(result: Result, record: dict[str, Any]) -> str | None:
    """How the picks differ from the recorded ones; None if they do not. Gains may differ slightly between CPUs."""
    if result.source.features != record["features"]:
        return f"which are of {record['features']}, and now it is {result.source.features}"
    recorded, picks = record["picks"], result.picks
    gains, finite = np.array(recorded["gain"], float), np.where(np.isfinite(picks.gain), picks.gain, np.nan)
    same = gains.shape == finite.shape and np.allclose(finite, gains, rtol=CLOSE, atol=1e-5, equal_nan=True)
    if same and digest(picks.indices.astype("<i8")) == recorded.get("rows_sha256"):
        return None
    return f"which mheal {record['mheal']} made on {record['packages']}"
