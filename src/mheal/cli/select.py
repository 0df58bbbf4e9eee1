"""`mheal select`: from a file to a ranked list of what to label."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..exceptions import UserError
from .options import LABELS, MODELS, Columns, Embed, Id, PoolUnlessRerun, Quiet, Seed, Text, Without, option, parse_size

_picking = partial(option, panel="How to pick")
_writing = partial(option, panel="What comes out")
_running = partial(option, panel="Large pools and long runs")
FORMATS = "csv, parquet, jsonl, label-studio, or html (a page of thumbnails). Default: by the name of the file."
AVOIDED = (
    f"Labels you have: {LABELS}. These rows are not picked again; from 64 labels on, mheal prefers rows that a "
    "model of the labels is uncertain about."
)
SCALINGS = (
    "What distances are measured on: columns of variance 1 (standard), these as rows of length 1 (unit), the columns "
    "as they are (raw), or raw where rows have length 1 and else standard (auto)."
)
RESUMED = (
    "Folder for intermediate results: an interrupted run resumes from it. Default with --max-memory: beside the picks."
)


def _strategies() -> list[str]:
    from ..strategies import names

    return names()


def select(
    context: typer.Context,
    pool: PoolUnlessRerun = None,
    budget: Annotated[int | None, option("N", "How many rows to pick.", "--budget", "-b")] = None,
    out: Annotated[
        str | None, _writing("FILE", "File to write; - is standard output. Default: picks.csv", "--out", "-o")
    ] = None,
    format: Annotated[str | None, _writing("NAME", FORMATS)] = None,
    strategy: Annotated[str, _picking("NAME", "See mheal strategies.", autocompletion=_strategies)] = "mheal",
    clusters: Annotated[int | None, _picking("K", "Clusters. Default: by the size of the pool.", min=1)] = None,
    classes: Annotated[int | None, _picking("C", "Classes, if you know how many.", min=1)] = None,
    labeled: Annotated[str | None, _picking("FILE", AVOIDED)] = None,
    estimator: Annotated[str | None, _picking("NAME", f"The model that learns from your labels: {MODELS}.")] = None,
    proba: Annotated[
        str | None, _picking("FILE", "Your model's probabilities of all rows, one column per class.")
    ] = None,
    keep: Annotated[str | None, _picking("FILE", "Earlier picks: they come first and count in the budget.")] = None,
    deduplicate: Annotated[
        bool | None,
        _picking(
            None, "Leave out rows that equal an earlier one. Default: in images.", "--deduplicate/--no-deduplicate"
        ),
    ] = None,
    scaling: Annotated[str, _picking("NAME", SCALINGS)] = "auto",
    columns: Columns = None,
    without: Without = None,
    id_column: Id = None,
    text: Text = None,
    embed: Embed = None,
    plot: Annotated[Path | None, _writing("FILE.png", "Draw the pool, the picks, and how far other rows are.")] = None,
    max_memory: Annotated[
        str | None, _running("4GB", "Stay below this, or refuse. A .npy file or .parquet files may be larger.")
    ] = None,
    checkpoint: Annotated[Path | None, _running("FOLDER", RESUMED)] = None,
    scheduler: Annotated[
        str | None, _running("ADDRESS", "A Dask cluster to pick from .parquet files on: local, or tcp://host:8786.")
    ] = None,
    device: Annotated[str | None, _running("NAME", "cpu, or a device of torch such as cuda (mheal[deep]).")] = None,
    forecast: Annotated[bool, _running(None, "Print an estimate of the time, and pick nothing.", "--forecast")] = False,
    rerun: Annotated[Path | None, option("FILE.json", "Repeat the run of this record of earlier picks.")] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Pick the rows of a pool to label, best first.

    Writes picks.csv: rank, row (counted from 0), id, cluster, gain (distance from all rows before it) and radius
    (distance of the farthest row that is left). Beside it comes picks.json, a record that --rerun repeats exactly.

    Example: mheal select digits.csv --without label --budget 50

    Example: mheal select digits.csv --without label --budget 50 --labeled labels.csv --estimator forest

    Example: mheal select images --budget 30 --out tasks.json

    Example: mheal select texts.txt --budget 20 --out -
    """
    from .console import messages
    from .request import Request
    from .run import Output, run
    from .run import rerun as run_again

    console = messages(quiet)
    if rerun is not None:
        _refuse_beside_rerun(context)
        run_again(rerun, out, format, checkpoint, console)
        return
    if pool is None or budget is None:
        raise UserError("give a pool and a budget, as in: mheal select pool.csv --budget 100")
    if clusters is not None and classes is not None and clusters != classes:
        raise UserError("--classes sets the number of clusters too: give one of --clusters and --classes")
    if scheduler is not None and (plot is not None or forecast):
        raise UserError("--plot and --forecast need the pool on this machine: leave them out, or leave out --scheduler")
    request = Request(
        pool=pool, columns=columns, without=without, id=id_column, text=text, embed=embed, seed=seed, budget=budget,
        strategy=strategy, clusters=clusters or classes, labeled=labeled, estimator=estimator, proba=proba, keep=keep,
        deduplicate=deduplicate, scaling=scaling, scheduler=scheduler, device=device,
        max_memory=None if max_memory is None else parse_size(max_memory),
    )  # fmt: skip
    if forecast:
        from .forecast import print_forecast

        print_forecast(request, console)
        return
    run(request, Output(out or "picks.csv", format, plot, checkpoint), console)


def _refuse_beside_rerun(context: typer.Context) -> None:
    """The record has these options: given beside it, they would seem to count."""
    beside = []
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        free = parameter.name in ("rerun", "out", "format", "checkpoint", "quiet")
        if source is not None and source.name == "COMMANDLINE" and not free:
            beside.append("the pool" if parameter.name == "pool" else parameter.opts[0])
    if beside:
        raise UserError(f"--rerun takes {', '.join(beside)} from the record: leave that out")
