"""`mheal plan`: how many labels are needed, and when to stop."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from .console import messages, show_report
from .options import Estimator, Force, Labeled, PoolOptions, Quiet, Seed, from_fields, option, parse_share

TARGET = "The accuracy you want, such as 0.9 or 90%; needs labels."
AHEAD = "How many further labels to look ahead. Default: 1000, at most half the pool."


@from_fields
def plan(
    context: typer.Context,
    options: PoolOptions,
    labeled: Labeled = None,
    target_accuracy: Annotated[Any, option("SHARE", TARGET, parser=parse_share)] = None,
    budget: Annotated[int | None, option("N", AHEAD, "--budget", "-b", min=1)] = None,
    batch: Annotated[int, option("N", "How many labels you add at a time.", min=1)] = 50,
    estimator: Estimator = "logistic",
    plot: Annotated[Path | None, option("FILE.png", "Draw the estimate.")] = None,
    force: Force = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Estimate how many labels you need.

    Without labels: how the distance of the farthest row falls with the number of picks, and where it levels off.

    With at least 20 labels: the accuracy to expect from more labels, with an interval; how many labels a target takes;
    and whether to label the next batch.

    Example: mheal plan digits.csv

    Example: mheal plan digits.csv --labeled labels.csv --target-accuracy 0.9
    """
    from ..classes import as_classes
    from ..evaluate import AccuracyPlan, CoveragePlan, accuracy_plan, coverage_plan, horizon, resolve_estimator
    from ..evaluate.learning_curve import check_target
    from ..runtime.outputs import Outputs
    from ..runtime.progress import as_progress
    from .pool import inputs, print_labels, print_source, read, read_with_labels, usable

    console = messages(quiet)
    check_target(target_accuracy, "--target-accuracy")
    resolve_estimator(estimator)
    drawn = [] if plot is None else [("--plot", plot)]
    outputs = context.with_resource(Outputs(drawn, inputs(pool=options.pool, labeled=labeled), force=force))
    source, known = read_with_labels(partial(read, options, console, seed), options, labeled, console)
    X = usable(source.X, options.pool)
    made: CoveragePlan | AccuracyPlan
    with as_progress(True, console) as progress:
        if known.values is None or not len(known.values):
            progress(0, 0, "picking")
            made = coverage_plan(X, budget, labeled=known.rows, target=target_accuracy, random_state=seed)
        else:
            progress(0, 0, "learning from some of the labels, testing on the others")
            labels = as_classes(known.values, ", ".join(Path(file).name for file in labeled or ()))
            made = accuracy_plan(
                X, labels, labeled=known.rows, estimator=estimator, ahead=horizon(len(X), len(labels), budget),
                batch=batch, target=target_accuracy, random_state=seed,
            )  # fmt: skip
    print_source(options.pool, source, console)
    print_labels(labeled, known.values, console)
    show_report([made.table], made.sentences)
    if plot is not None:
        with outputs.writing(plot) as parts:
            parts[0].write_bytes(made.picture())
        console.print(f"Written: {plot}")
