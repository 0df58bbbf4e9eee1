"""Runs a request of `mheal select`: picks, then writes the picks and beside them a record, to repeat the run from."""

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console

from .._version import __version__
from ..exceptions import UserError
from ..io.fingerprint import fingerprint
from ..io.label_studio import set_up
from ..io.locate import locate
from ..io.write import format_of, picks_digest, render
from ..runtime.checkpoint import closed_if_stopped
from ..runtime.files import reading, replacing
from ..strategies import get
from .pick import Job, Result
from .pool import checksum, refuse_missing_folders
from .request import INPUTS, Output, Request

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "polars")


def run(request: Request, output: Output, console: Console, recorded: dict[str, Any] | None = None) -> Result:
    """Pick and write. Picks that differ from those `recorded` are not written, since they would replace them."""
    form = format_of(output.file, output.format)
    refuse_missing_folders(*output.files)
    folder = output.checkpoint or Path(f"{'picks.csv' if output.file == '-' else output.file}.unfinished")
    new = not os.path.exists(folder)  # unlike Path.exists, also where we may not look
    job = Job(request, console, folder, resume=output.checkpoint is not None)
    try:
        with closed_if_stopped(job.unfinished):
            result = job.carry_out()
            if recorded is not None:
                _refuse_other_picks(result, recorded)
            _write(request, result, output, form)
        for stages in job.unfinished:  # the picks are written: there is nothing left to resume
            stages.end()
    except KeyboardInterrupt:
        if os.path.exists(folder):
            console.print(f"Intermediate results are in {folder}: the same command resumes from there")
        raise
    finally:
        if new or job.unfinished:
            with suppress(OSError):  # it is not there, or holds intermediate results
                folder.rmdir()
    avoided = f", away from the {result.labeled:,} labelled rows" if result.labeled else ""
    console.print(
        f"{len(result.picks):,} picks by {get(request.strategy).title}{result.model}{avoided}; "
        f"reading {result.seconds['reading']:.1f} s, picking {result.seconds['picking']:.1f} s"
    )
    if output.files:
        console.print(f"Written: {', '.join(map(str, output.files))}")
    if form == "label-studio":
        for line in set_up(result.source, output.file, str(request.pool), result.classes):
            console.print(line)
    return result


def rerun(path: Path, output: Output, console: Console) -> None:
    """Repeat the run that a record describes, from the same files."""
    with reading(path):
        record = json.loads(path.read_text(encoding="utf-8"))
    try:
        request, inputs, picks = Request.of(record["parameters"]), record["sha256"], record["picks"]
        record["parameters"]["pool"], inputs["pool"], picks["sha256"], picks["file"]
    except (KeyError, TypeError) as error:
        raise UserError(f"{path} is not a record of mheal select: give the .json file beside the picks") from error
    request = request.moved(path.parent.resolve(), Path.cwd())
    for name, now in _checksums(request, Path()).items():
        if now != inputs.get(name):
            raise UserError(f"{getattr(request, name)} has changed since that record was written: select anew")
    placed = output if output.out else replace(output, out=str(path.parent / picks["file"]))
    result = run(request, placed, console, None if output.out else record)
    same = picks_digest(result.picks) == picks["sha256"]
    console.print(f"The picks {'are identical to' if same else 'differ from'} the recorded ones.")


def _write(request: Request, result: Result, output: Output, form: str) -> None:
    content = render(result.picks, result.source, form)
    if output.plot is not None:
        from ..evaluate.plots import pool_picture

        with replacing(output.plot) as part:
            part.write_bytes(pool_picture(result.source.X, result.picks, request.seed))
    if output.file == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    picks, record = output.files[:2]
    with replacing(picks) as part:
        part.write_bytes(content)
    with replacing(record) as part:
        text = json.dumps(_record(request, result, picks), indent=1, ensure_ascii=False)
        part.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")  # names that are not UTF-8


def _record(request: Request, result: Result, out: Path) -> dict[str, Any]:
    """Everything about a finished request. Paths in it are relative to its own folder."""
    request = request.moved(Path.cwd(), out.parent.resolve())
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
        "sha256": _checksums(request, out.parent),
        "fingerprint": fingerprint(result.source, result.picks.indices),
        "picks": {"file": out.name, "count": len(result.picks), "sha256": picks_digest(result.picks)},
        "seconds": {name: round(value, 3) for name, value in result.seconds.items()},
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "packages": {name: version(name) for name in packages},
    }


def _refuse_other_picks(result: Result, record: dict[str, Any]) -> None:
    """What would be written in place of the recorded picks must be the same."""
    if picks_digest(result.picks) == record["picks"]["sha256"]:
        return
    why = f"which mheal {record['mheal']} made on {record['packages']}"
    if result.source.features != record.get("features"):
        why = f"which are of {record.get('features')}, and now it is {result.source.features}"
    remedy = "nothing was written; --out FILE writes the new ones"
    raise UserError(f"the picks differ from the recorded ones, {why}: {remedy}")


def _checksums(request: Request, folder: Path) -> dict[str, str]:
    """Of the files that picks depend on, by what they are; paths are relative to the folder."""
    paths = {name: folder / path for name in INPUTS if (path := getattr(request, name))}
    return {name: checksum(locate(path).files if name in ("pool", "proba") else [path]) for name, path in paths.items()}
