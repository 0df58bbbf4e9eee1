"""Runs a request of `mheal select`: picks, then writes the picks and beside them a record, to repeat the run from."""

import os
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from ..exceptions import UserError
from ..io.label_studio import set_up
from ..io.write import format_of, render
from ..runtime.outputs import SUFFIX, Outputs
from ..strategies import get
from .pick import Job, Result
from .record import checksums, describe, difference, read_record, requested
from .request import Output, Request


def run(request: Request, output: Output, console: Console, recorded: dict[str, Any] | None = None) -> Result:
    """Pick and write. If the picks differ from the `recorded` ones, nothing is written."""
    form = format_of(output.file, output.format)
    folder = output.checkpoint or Path(f"{'picks.csv' if output.file == '-' else output.file}.unfinished")
    new = not os.path.exists(folder)  # Path.exists raises an error where we may not look
    job = Job(request, console, folder, resume=output.checkpoint is not None)
    with Outputs(output.files, request.inputs, force=output.force) as outputs:
        try:
            result = job.carry_out()
            if recorded is not None and (why := difference(result, recorded)):
                remedy = "nothing was written; --out FILE writes the new ones"
                raise UserError(f"the picks differ from the recorded ones, {why}: {remedy}")
            _write(request, result, output, outputs, form)
            for stages in job.unfinished:  # the picks are written: there is nothing left to resume
                stages.end()
        except KeyboardInterrupt:
            if os.path.exists(folder):
                console.print(f"Intermediate results are in {folder}: the same command resumes from there")
            raise
        finally:
            for stages in job.unfinished:
                stages.close()
            if new or job.unfinished:
                with suppress(OSError):  # it is not there, or holds intermediate results
                    folder.rmdir()
    avoided = f", away from the {result.labeled:,} labelled rows" if result.labeled else ""
    console.print(
        f"{len(result.picks):,} picks by {get(request.strategy).title}{result.model}{avoided}; "
        f"reading {result.seconds['reading']:.1f} s, picking {result.seconds['picking']:.1f} s"
    )
    if outputs.files:
        console.print(f"Written: {', '.join(str(file) for _, file in outputs.files)}")
    if form == "html":
        console.print("To label these rows, run the command again with --out picks.csv: it picks the same ones")
    if form == "label-studio":
        before = [word for file in request.labeled or () for word in ("--labeled", file)]
        again = ["mheal", "select", request.pool, "--budget", str(request.budget), *before]
        for line in set_up(result.source, output.file, again, result.classes):
            console.print(line)
    return result


def rerun(path: Path, typed: dict[str, Any], output: Output, console: Console) -> None:
    """Repeat the run of a record from the same files; by default its picks go to the file the record is named after."""
    record = read_record(path)
    request = requested(record, path, typed)
    for name, now in checksums(request).items():
        if now != record["sha256"].get(name):
            raise UserError(f"{', '.join(request.paths[name])} has changed since that record was written: select anew")
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
