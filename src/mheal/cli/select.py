"""`mheal select`: from a file to a ranked list of what to label."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..exceptions import UserError, UserFileError
from ._asked import ASKING
from ._common import POOL_HELP, Columns, Embed, Id, Quiet, Seed, Text, Without, messages, parse_size, progress_bar, size
from ._device import CPU

if TYPE_CHECKING:
    from rich.console import Console

    from ._request import Request, Result


WITHOUT_MODEL = {"--max-memory": "max_memory", "--scheduler": "scheduler", "--forecast": "forecast"}
PICKING, WRITING = "How to pick", "What comes out"  # panels of the help


def _strategies() -> list[str]:
    from ..strategies import names

    return names()


def select(
    context: typer.Context,
    pool: Annotated[str | None, typer.Argument(metavar="POOL", help=POOL_HELP, show_default=False)] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", "-b", metavar="N", help="How many labels you can afford.")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="`-` is standard output. Default: picks.csv", rich_help_panel=WRITING
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="csv, parquet, jsonl, label-studio, or html (a page of thumbnails). Default: by the name of the file.",
            rich_help_panel=WRITING,
        ),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="`mheal strategies` lists them. Default: mheal, with --proba or --labeled mheal-asking.",
            autocompletion=_strategies,
            rich_help_panel=PICKING,
        ),
    ] = None,
    clusters: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="Clusters. Default: by the size.", rich_help_panel=PICKING)
    ] = None,
    classes: Annotated[
        int | None, typer.Option(min=1, metavar="C", help="Classes, if you know how many.", rich_help_panel=PICKING)
    ] = None,
    labeled: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Labels you have, a table with row or id (and label) or a Label Studio export: picks stay away from "
            "them and, from 64 on, go where a model of them is in doubt (not with --max-memory or --scheduler).",
            rich_help_panel=PICKING,
        ),
    ] = None,
    proba: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Your model's probabilities, a column a class: picks go where it is in doubt, from 64 labels on.",
            rich_help_panel=PICKING,
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Earlier picks, from this pool or before it grew: they stay in front and count.",
            rich_help_panel=PICKING,
        ),
    ] = None,
    copies: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Rows that equal an earlier one: `count`, or look at each `once`. Default: once for images.",
            rich_help_panel=PICKING,
        ),
    ] = None,
    columns: Columns = None,
    without: Without = None,
    id_column: Id = None,
    text: Text = None,
    embed: Embed = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png", help="Draw the pool, the picks and what is left uncovered.", rich_help_panel=WRITING
        ),
    ] = None,
    max_memory: Annotated[
        str | None,
        typer.Option(metavar="4GB", help="Stay below this, or refuse; .npy and .parquet files may be larger."),
    ] = None,
    workspace: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where a run within --max-memory keeps what is finished. Default: beside the picks.",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Let a Dask cluster read .parquet shards and pick: `local`, or its address (tcp://host:8786).",
        ),
    ] = None,
    device: Annotated[
        str,
        typer.Option(metavar="NAME", help="Where to pick: `cpu`, or a device of torch, such as `cuda` (mheal[deep])."),
    ] = CPU,
    forecast: Annotated[bool, typer.Option("--forecast", help="Say what it will cost, and stop.")] = False,
    rerun: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Repeat what the record beside some picks says.")
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Pick the items of a pool that are worth labelling, best first.

    Writes rank, row (counted from 0), id, cluster, gain (how far the pick was from all before it) and radius (how far
    the farthest item still is) to picks.csv, and beside it picks.json, a record with which --rerun repeats it exactly.
    A run with --max-memory can be stopped, and without a model one of a pool that fills the memory: the same command
    goes on from there.

    Example: mheal select digits.csv --without label --budget 50

    Example: mheal select images --budget 30 --out tasks.json

    Example: mheal select texts.txt --budget 20 --out -
    """
    from ._request import Request

    console = messages(quiet)
    if rerun is not None:
        _refuse_beside_rerun(context)
        return _rerun(rerun, out, format, workspace, console)
    if pool is None or budget is None:
        raise UserError("give a pool and a budget, as in: mheal select pool.csv --budget 100")
    if clusters is not None and classes is not None and clusters != classes:
        raise UserError("--classes sets the number of clusters too: give one of --clusters and --classes")
    kept_from = [name for name, given in WITHOUT_MODEL.items() if context.params[given]]
    if strategy in (None, *([ASKING] if forecast else [])) and labeled is not None and proba is None and kept_from:
        console.print(f"{kept_from[0]}: picking without a model of the labels")
    told = proba is not None or (labeled is not None and not kept_from)
    strategy = strategy or (ASKING if told else "mheal")
    request = Request(
        pool, budget, strategy, clusters or classes, labeled, keep, columns, without, id_column, text, embed, seed,
        None if max_memory is None else parse_size(max_memory), scheduler, device, proba, copies,
    )  # fmt: skip
    if scheduler is not None and (plot is not None or forecast):
        raise UserError(
            "--plot and --forecast look at the pool from here, which --scheduler keeps away: leave them out"
        )
    if forecast and device != CPU:
        raise UserError("--forecast counts the memory of the CPU: leave out --device")
    if forecast and proba is not None:
        raise UserError("--forecast measures picking without a model: leave out --proba")
    if forecast:
        return _forecast(request, console)
    _run(request, out or "picks.csv", format, plot, workspace, console)
    return None


def _run(
    request: "Request", out: str, format: str | None, plot: Path | None, workspace: Path | None, console: "Console",
    recorded: dict[str, Any] | None = None,
) -> "Result":  # fmt: skip
    """Pick and write. Picks that differ from those `recorded` are not written: they would take their place."""
    from ..io.write import format_of, render
    from ..runtime.checkpoint import closed_if_stopped
    from ..runtime.files import replacing
    from ._record import make_record, record_path, refuse_other_picks
    from ._request import carry_out

    form = format_of(out, format)
    target = Path(out)
    if out != "-" and not target.parent.is_dir():  # before an hour of work, not after it
        raise UserFileError(f"there is no folder {str(target.parent)!r} to write {target.name} to: make it first")
    folder = workspace or Path("picks.csv.unfinished" if out == "-" else f"{out}.unfinished")
    ours = not folder.exists()
    try:
        result = carry_out(request, console, folder)
    except KeyboardInterrupt:
        if folder.exists():
            console.print(f"What is finished is in {folder}: the same command goes on from there", markup=False)
        raise
    finally:
        if ours:
            _remove_empty(folder)
    with closed_if_stopped(result.unfinished):
        if recorded is not None:
            refuse_other_picks(result, recorded)
        content = render(result.picks, result.source, form)
        if plot is not None:
            from ._map import draw

            draw(result.source.X, result.picks, plot, request.seed)
        if out == "-":
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:
            with replacing(target) as part:
                part.write_bytes(content)
            record = json.dumps(make_record(request, result, target), indent=1, ensure_ascii=False)
            with replacing(record_path(target)) as part:
                part.write_text(record + "\n", encoding="utf-8")
    begun = [stages for stages in result.unfinished if stages.begun]
    for stages in begun:  # the picks are written: nothing is left to go on from
        stages.end()
    if begun:
        _remove_empty(folder)
    _say(result, [] if out == "-" else [target, record_path(target)], plot, console)
    return result


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _say(result: "Result", written: list[Path], plot: Path | None, console: "Console") -> None:
    took = result.seconds
    avoided = f", away from the {result.labeled:,} labelled ones" if result.labeled else ""
    unasked = result.strategy.name == ASKING and not result.asked
    console.print(
        f"{len(result.picks):,} picks by {'MHEAL' if unasked else result.strategy.title}{avoided}; "
        f"reading {took['reading']:.1f} s, picking {took['picking']:.1f} s",
        markup=False,
    )
    files = [*written, *([plot] if plot else [])]
    if files:
        console.print("Written: " + ", ".join(str(file) for file in files), markup=False)


def _forecast(request: "Request", console: "Console") -> None:
    from ._forecast import forecast
    from ._request import read

    source = read(request, console)
    with progress_bar(console) as progress:
        cost = forecast(request, source.X, progress)
    print(
        f"Picking {request.budget:,} of {len(source.X):,} rows should take about {cost.seconds:.1f} s "
        f"(measured on {cost.sampled:,} rows) and {size(cost.memory)} of memory. Nothing was written."
    )


def _refuse_beside_rerun(context: typer.Context) -> None:
    """What the record says is not said again, lest it seem to count."""
    beside = []
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        free = parameter.name in ("rerun", "out", "format", "workspace", "quiet")
        if source is not None and source.name == "COMMANDLINE" and not free:
            beside.append("the pool" if parameter.name == "pool" else parameter.opts[0])
    if beside:
        raise UserError(f"--rerun takes {', '.join(beside)} from the record: leave that out")


def _rerun(path: Path, out: str | None, format: str | None, workspace: Path | None, console: "Console") -> None:
    from ..io.write import picks_digest
    from ._record import read_record, refuse_changed_inputs

    request, record = read_record(path)
    refuse_changed_inputs(request, record)
    target = out or str(path.parent / record["picks"]["file"])
    result = _run(request, target, format, None, workspace, console, None if out else record)
    if picks_digest(result.picks) == record["picks"]["sha256"]:
        console.print("The picks are identical to the recorded ones.")
    else:
        console.print(
            f"The picks differ from the recorded ones, which mheal {record['mheal']} made on {record['packages']}."
        )
