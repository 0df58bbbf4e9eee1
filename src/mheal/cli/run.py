"""Runs a request of `mheal select`: picks, then writes the picks and their record."""

import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import UserFileError
from .pick import Result, carry_out
from .record import make_record, read_record, record_path, refuse_changed_inputs, refuse_other_picks
from .request import Request

if TYPE_CHECKING:
    from rich.console import Console

    from ..runtime.checkpoint import NullCheckpoint


@dataclass(frozen=True)
class Output:
    """What comes out, and where; `file` "-" is standard output."""

    file: str
    format: str | None = None
    plot: Path | None = None
    checkpoint: Path | None = None

    @property
    def files(self) -> list[Path]:
        """The files of the picks, of their record and of the picture."""
        picks = [] if self.file == "-" else [Path(self.file), record_path(Path(self.file))]
        return picks if self.plot is None else [*picks, self.plot]


def run(request: Request, output: Output, console: "Console", recorded: dict[str, Any] | None = None) -> Result:
    """Pick and write. Picks that differ from those `recorded` are not written, since they would replace them."""
    from ..io.write import format_of
    from ..runtime.checkpoint import closed_if_stopped
    from ..strategies import get

    form = format_of(output.file, output.format)
    for file in output.files:
        if not os.path.isdir(file.parent):  # before an hour of work, not after it
            raise UserFileError(f"there is no folder {str(file.parent)!r} to write {file.name} to: make it first")
    folder = output.checkpoint or Path(f"{'picks.csv' if output.file == '-' else output.file}.unfinished")
    new = not os.path.exists(folder)
    unfinished: list[NullCheckpoint] = []
    try:
        with closed_if_stopped(unfinished):
            result = carry_out(request, console, folder, output.checkpoint is not None, unfinished)
            if recorded is not None:
                refuse_other_picks(result, recorded)
            _write(request, result, output, form)
        for stages in unfinished:  # the picks are written: there is nothing left to resume
            stages.end()
    except KeyboardInterrupt:
        if os.path.exists(folder):
            console.print(f"Intermediate results are in {folder}: the same command resumes from there")
        raise
    finally:
        if new or unfinished:
            with suppress(OSError):  # it is not there, or holds intermediate results
                folder.rmdir()
    avoided = f", away from the {result.labeled:,} labelled rows" if result.labeled else ""
    console.print(
        f"{len(result.picks):,} picks by {get(request.strategy).title}{result.model}{avoided}; "
        f"reading {result.seconds['reading']:.1f} s, picking {result.seconds['picking']:.1f} s"
    )
    if output.files:
        console.print(f"Written: {', '.join(map(str, output.files))}")
    return result


def _write(request: Request, result: Result, output: Output, form: Any) -> None:
    from ..io.write import render
    from ..runtime.files import replacing

    content = render(result.picks, result.source, form)
    if output.plot is not None:
        from .map import draw

        draw(result.source.X, result.picks, output.plot, request.seed)
    if output.file == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    picks, record = output.files[:2]
    with replacing(picks) as part:
        part.write_bytes(content)
    with replacing(record) as part:
        text = json.dumps(make_record(request, result, picks), indent=1, ensure_ascii=False)
        part.write_text(text + "\n", encoding="utf-8")


def rerun(path: Path, out: str | None, format: str | None, checkpoint: Path | None, console: "Console") -> None:
    """Repeat the run that a record describes, from the same files."""
    from ..io.write import picks_digest

    request, record = read_record(path)
    refuse_changed_inputs(request, record)
    output = Output(out or str(path.parent / record["picks"]["file"]), format, None, checkpoint)
    result = run(request, output, console, None if out else record)
    same = picks_digest(result.picks) == record["picks"]["sha256"]
    console.print(f"The picks {'are identical to' if same else 'differ from'} the recorded ones.")
