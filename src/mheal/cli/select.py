"""`mheal select`: from a file to a ranked list of what to label."""

from pathlib import Path
from typing import Annotated

import typer

from ..exceptions import UserError
from .console import messages
from .options import Quiet, from_fields, option
from .request import Output, Request, running


@from_fields
def select(
    context: typer.Context,
    request: Request,
    output: Output,
    forecast: Annotated[bool, running(None, "Print an estimate of the time, and pick nothing.", "--forecast")] = False,
    rerun: Annotated[Path | None, option("FILE.json", "Repeat the run of this record of earlier picks.")] = None,
    quiet: Quiet = False,
) -> None:
    """Pick the rows of a pool to label, best first.

    Writes picks.csv: rank, row (counted from 0), id, cluster, gain (distance from all rows before it) and radius
    (distance of the farthest row that is left). Beside it comes picks.json, a record that --rerun repeats exactly.

    Example: mheal select digits.csv --budget 50

    Example: mheal select digits.csv --budget 50 --labeled labels.csv --estimator forest

    Example: mheal select images --budget 30 --out tasks.json

    Example: mheal select texts.txt --budget 20 --out -
    """
    console = messages(quiet)
    if rerun is not None:
        from .run import rerun as run_again

        _refuse_beside_rerun(context)
        run_again(rerun, output, console)
        return
    if request.pool is None or request.budget is None:
        raise UserError("give a pool and a budget, as in: mheal select pool.csv --budget 100")
    if request.clusters is not None and request.classes is not None and request.clusters != request.classes:
        raise UserError("--classes sets the number of clusters too: give one of --clusters and --classes")
    if request.scheduler is not None and (output.plot is not None or forecast):
        raise UserError("--plot and --forecast need the pool on this machine: leave them out, or leave out --scheduler")
    if forecast:
        from .cost import print_forecast

        print_forecast(request, console)
    else:
        from .run import run

        run(request, output, console)


def _refuse_beside_rerun(context: typer.Context) -> None:
    """The record has these options: given beside it, they would seem to count."""
    beside = [
        "the pool" if parameter.name == "pool" else parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in ("rerun", "out", "format", "checkpoint", "quiet")
        and getattr(context.get_parameter_source(str(parameter.name)), "name", "") == "COMMANDLINE"
    ]
    if beside:
        raise UserError(f"--rerun takes {', '.join(beside)} from the record: leave that out")
