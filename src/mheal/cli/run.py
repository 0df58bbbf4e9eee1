"""Runs a request of `mheal select`: picks, then writes the picks and their record."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import UserFileError
from .pick import Result, carry_out
from .record import make_record, record_path, refuse_other_picks
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
        """The files of the picks and of their record."""
        return [] if self.file == "-" else [Path(self.file), record_path(Path(self.file))]


def run(request: Request, output: Output, console: "Console", recorded: dict[str, Any] | None = None) -> Result:
    """Pick and write. Picks that differ from those `recorded` are not written, since they would replace them."""
    from ..io.write import format_of, render
    from ..runtime.checkpoint import closed_if_stopped
    from ..runtime.files import replacing

    form = format_of(output.file, output.format)
    for file in [*output.files[:1], *([output.plot] if output.plot else [])]:
        if not file.parent.is_dir():  # before an hour of work, not after it
            raise UserFileError(f"there is no folder {str(file.parent)!r} to write {file.name} to: make it first")
    folder = output.checkpoint or Path(f"{'picks.csv' if output.file == '-' else output.file}.unfinished")
    new = not folder.exists()
    unfinished: list[NullCheckpoint] = []
    with closed_if_stopped(unfinished):
        try:
            result = carry_out(request, console, folder, output.checkpoint is not None, unfinished)
        except KeyboardInterrupt:
            if folder.exists():
                console.print(f"Intermediate results are in {folder}: the same command resumes from there")
            raise
        finally:
            if new:
                _remove_empty(folder)
        if recorded is not None:
            refuse_other_picks(result, recorded)
        content = render(result.picks, result.source, form)
        if output.plot is not None:
            from .map import draw

            draw(result.source.X, result.picks, output.plot, request.seed)
        if not output.files:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:
            picks, record = output.files
            with replacing(picks) as part:
                part.write_bytes(content)
            text = json.dumps(make_record(request, result, picks), indent=1, ensure_ascii=False)
            with replacing(record) as part:
                part.write_text(text + "\n", encoding="utf-8")
    for stages in unfinished:  # the picks are written: there is nothing left to resume
        stages.end()
    if unfinished:
        _remove_empty(folder)
    _say(request, result, [*output.files, *([output.plot] if output.plot else [])], console)
    return result


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _say(request: Request, result: Result, written: list[Path], console: "Console") -> None:
    from ..strategies import get

    avoided = f", away from the {result.labeled:,} labelled rows" if result.labeled else ""
    took = result.seconds
    console.print(
        f"{len(result.picks):,} picks by {get(request.strategy).title}{result.used}{avoided}; "
        f"reading {took['reading']:.1f} s, picking {took['picking']:.1f} s"
    )
    if written:
        console.print(f"Written: {', '.join(map(str, written))}")


def rerun(path: Path, out: str | None, format: str | None, checkpoint: Path | None, console: "Console") -> None:
    """Repeat the run that a record describes, from the same files."""
    from ..io.write import picks_digest
    from .record import read_record, refuse_changed_inputs

    request, record = read_record(path)
    refuse_changed_inputs(request, record)
    output = Output(out or str(path.parent / record["picks"]["file"]), format, None, checkpoint)
    result = run(request, output, console, None if out else record)
    if picks_digest(result.picks) == record["picks"]["sha256"]:
        console.print("The picks are identical to the recorded ones.")
    else:
        console.print(f"The picks differ from the recorded ones: mheal {record['mheal']} made those.")
