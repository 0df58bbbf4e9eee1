"""`mheal select`: pick the rows of a pool to label, best first."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from ..exceptions import UserError
from .console import messages
from .options import INPUTS, Output, Quiet, Request, from_fields, option, running

RERUN = (
    "Repeat the run that this record describes. Files outside its folder, a cluster, and an estimator or embedding of "
    "your own must be given again."
)
AGAIN = (*INPUTS, "estimator", "embed", "scheduler")  # options that may be given with --rerun


@from_fields
def select(
    context: typer.Context,
    request: Request,
    output: Output,
    forecast: Annotated[bool, running(None, "Estimate time and memory, and pick nothing.", "--forecast")] = False,
    rerun: Annotated[Path | None, option("FILE.mheal.json", RERUN)] = None,
    quiet: Quiet = False,
) -> None:
    """Pick the rows of a pool to label, best first.

    Writes picks.csv, one line per pick: rank, row number (from 0), id, cluster, gain (distance to the nearest row
    labelled or picked before, relative to the local spacing), radius (largest such distance of any row after the pick),
    reason, the row's cells, and an empty column label. Fill in that column and give the file to --labeled.
    picks.csv.mheal.json records the run, for --rerun.

    Example: mheal select digits.csv --budget 50

    Example: mheal select digits.csv --budget 50 --labeled labels.csv --estimator forest

    Example: mheal select images --budget 30 --out tasks.json

    Example: mheal select texts.txt --budget 20 --out -
    """
    console = messages(quiet)
    if rerun is not None:
        from .run import rerun as run_again

        run_again(rerun, _typed_again(context, request), output, console)
        return
    if request.pool is None or request.budget is None:
        raise UserError("give a pool and a budget, as in: mheal select pool.csv --budget 100")
    if request.scheduler is not None and (output.plot is not None or forecast):
        raise UserError("--plot and --forecast need the pool on this machine: leave them out, or leave out --scheduler")
    if forecast:
        from .cost import print_forecast

        print_forecast(request, console)
    else:
        from .run import run

        run(request, output, console)


def _typed_again(context: typer.Context, request: Request) -> dict[str, Any]:
    """The options that were typed with --rerun. Only those in AGAIN are allowed: the record has the others."""
    about_output = [field.name for field in fields(Output) if field.name != "plot"]
    typed = [
        parameter
        for parameter in context.command.params
        if parameter.name not in ("rerun", "quiet", *about_output)
        and getattr(context.get_parameter_source(str(parameter.name)), "name", "") == "COMMANDLINE"
    ]
    if beside := [parameter.opts[0] for parameter in typed if parameter.name not in AGAIN]:
        raise UserError(f"--rerun takes {', '.join(beside)} from the record: leave it out")
    return {str(parameter.name): getattr(request, str(parameter.name)) for parameter in typed}
