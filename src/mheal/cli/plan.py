"""`mheal plan`: how many labels are needed, and when to stop."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..exceptions import UserError, UserFileError
from ._common import (
    POOL_HELP,
    Columns,
    Embed,
    Id,
    Seed,
    Text,
    Without,
    messages,
    names,
    progress_bar,
    read_source,
    results,
    say_source,
    show_table,
    usable,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from rich.console import Console

Picture = Callable[[], bytes]  # draws a PNG, if it is asked for
FARTHEST = 1000  # labels that are looked ahead


def plan(
    pool: Annotated[str, typer.Argument(metavar="POOL", help=POOL_HELP)],
    labeled: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Labels you have: a table with row or id, and label; or a Label Studio export."
        ),
    ] = None,
    target_accuracy: Annotated[
        float | None, typer.Option(metavar="SHARE", help="The accuracy you want, such as 0.9; needs labels.")
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            "-b",
            min=1,
            metavar="N",
            help="How many more labels to look ahead. Default: 1000, at most half the pool.",
        ),
    ] = None,
    batch: Annotated[int, typer.Option(min=1, metavar="N", help="How many labels you buy at a time.")] = 50,
    model: Annotated[
        str,
        typer.Option(metavar="NAME", help="What learns from the labels: logistic, svm, knn, forest, logistic+knn."),
    ] = "logistic",
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw it.")] = None,
    columns: Columns = None,
    without: Without = None,
    id_column: Id = None,
    text: Text = None,
    embed: Embed = None,
    seed: Seed = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone.")] = False,
) -> None:
    """How many labels do you need?

    Without labels: how well picks cover the pool as they grow in number, and
    where the gain slows down.

    With at least 20 labels: the accuracy to expect from more of them, how many
    it takes to reach a target, and whether the next batch is worth buying.

    Example: mheal plan digits.csv --without label

    Example: mheal plan digits.csv --without label --labeled labels.csv --target-accuracy 0.9
    """
    import numpy as np

    from ..estimators import MODELS
    from ..io.labels import read_labels
    from ..validation import as_budget

    console = messages(quiet)
    _refuse_bad_options(target_accuracy, plot)
    if model not in MODELS:
        raise UserError(f"there is no model {model!r}: choose from {', '.join(MODELS)}")
    source = read_source(
        pool, console, columns=columns, without=names(without) or (), id_column=id_column, text=text, embed=embed,
        seed=seed, say=False,
    )  # fmt: skip
    X = usable(source.X, pool)
    rows, values = np.empty(0, np.int64), None
    if labeled is not None:
        found = read_labels(labeled, source.ids, len(X), id_column=source.id_column)
        rows, values = found.rows, found.values
    left = len(X) - len(rows)
    ahead = as_budget(max(1, min(FARTHEST, len(X) // 2, left)) if budget is None else budget, left)
    if values is None or not len(values):
        say_source(pool, source, console)
        draw = _cover(X, rows, ahead, target_accuracy, seed, console)
    else:
        labels = _labels(values.tolist(), Path(str(labeled)).name)
        say_source(pool, source, console)
        draw = _forecast(X[rows], labels, model, ahead, min(batch, left), target_accuracy, seed, console)
    if plot is not None:
        from ..runtime.files import replacing

        with replacing(plot) as part:
            part.write_bytes(draw())
        console.print(f"Written: {plot}", markup=False)


def _refuse_bad_options(target: float | None, plot: Path | None) -> None:
    if target is not None and not 0 < target < 1:
        hint = f": write {target / 100:g} for {target:g} %" if 1 < target < 100 else ""
        raise UserError(f"--target-accuracy is a share between 0 and 1, got {target:g}{hint}")
    if plot is not None and plot.suffix.lower() != ".png":
        raise UserError(f"cannot draw {plot.name}: give --plot a name that ends in .png")
    if plot is not None and not plot.parent.is_dir():
        raise UserFileError(f"there is no folder {str(plot.parent)!r} to write {plot.name} to: make it first")


def _labels(values: list[Any], file: str) -> "npt.NDArray[Any]":
    """Labels that a curve can be drawn from."""
    from ..classes import as_classes
    from ..evaluate.resample import FEWEST

    labels = as_classes(values, file)
    if len(labels) < FEWEST:
        raise UserError(f"{file} has {len(labels)} labels: it takes at least {FEWEST} to draw a curve, label some more")
    if len(set(labels.tolist())) == 1:
        raise UserError(f"{file}: all {len(labels)} labels are {values[0]!r}: label items of another class too")
    return labels


def _cover(
    X: Any, rows: "npt.NDArray[np.int64]", ahead: int, target: float | None, seed: int, console: "Console"
) -> Picture:
    """Without labels: how well the picks cover the pool, against their number."""
    import numpy as np

    from ..evaluate import knee
    from ..selector import MHEAL

    with progress_bar(console) as progress:
        progress(0, 0, "picking")
        mheal = MHEAL(random_state=seed)
        picks = mheal.select(X, ahead, rows)
        energy = mheal.energy(X, np.concatenate([rows, picks.indices]))[len(rows) :]
    more = np.arange(1, ahead + 1)
    turn = knee(more, picks.radius)
    out = results()
    known = f", besides the {len(rows):,} labelled rows" if len(rows) else ""
    show_table(
        out,
        f"Picks by MHEAL{known}",
        ["labels", "cover radius", "energy"],
        [[f"{n:,}", f"{picks.radius[n - 1]:.2f}", _energy(energy[n - 1])] for n in _round_numbers(ahead)],
    )
    said = [
        "Cover radius: how far the farthest item is from the nearest pick, in units of the spacing around them. "
        "Energy: the mean over pairs of picks of −log of that distance; it levels off as the picks fill the pool."
    ]
    if turn is None:
        said.append(f"The radius has no knee within {ahead:,} labels: every further label gains about as much.")
    else:
        said.append(
            f"The radius falls steeply up to about {turn:,.0f} labels and slowly from there. That knee is a hint for a "
            "first batch, not a promise: it moves with how far one looks (--budget), and says nothing of accuracy."
        )
    asked = "" if target is None else f"Whether {target:.1%} can be reached is not known without labels. "
    said.append(f"{asked}With 20 labels or more, give them with --labeled to see what accuracy to expect.")
    for sentence in said:
        out.print(sentence, markup=False, soft_wrap=True)

    def draw() -> bytes:
        from ..evaluate.plan_plot import cover_picture

        return cover_picture(more, picks.radius, energy, turn)

    return draw


def _forecast(
    X: Any, labels: Any, model: str, ahead: int, batch: int, target: float | None, seed: int, console: "Console"
) -> Picture:
    """With labels: the accuracy to expect from more of them."""
    from ..evaluate import fit_curve, learning_curve, stop_advice

    with progress_bar(console) as progress:
        progress(0, 0, "learning from some of the labels, testing on the others")
        curve = learning_curve(X, labels, model, seed=seed)
        fit = fit_curve(curve.labels, curve.right, seed=seed)
    now = len(labels)
    steps = sorted({0, min(batch, ahead), *(n for n in _round_numbers(ahead) if n > batch)})
    out = results()
    show_table(
        out,
        f"Accuracy of {model} in %, estimated from {now:,} labels",
        ["labels", "expected", f"{fit.level:.0%} interval"],
        [[f"{now + n:,}", *_percent(*fit.predict(now + n))] for n in steps],
    )
    said = [
        stop_advice(fit, now, batch, target=target).sentence,
        f"Beyond about {2 * now:,} labels the curve is extrapolated: do not lean on it.",
        "Rows that were picked to be spread out, as mheal picks them, are harder than the pool they come from: if "
        "yours were, this reads low: the accuracy on the whole pool is higher, and fewer labels will do.",
    ]
    for sentence in said:
        out.print(sentence, markup=False, soft_wrap=True)

    def draw() -> bytes:
        from ..evaluate.plan_plot import forecast_picture

        return forecast_picture(curve, fit, now, now + ahead, target)

    return draw


def _energy(value: float) -> str:
    return "–" if value != value else f"{value:.3f}".replace("-", "−")  # a single pick has none


def _percent(value: float, low: float, high: float) -> tuple[str, str]:
    return f"{100 * value:.1f}", f"{100 * max(low, 0):.1f} to {100 * min(high, 1):.1f}"


def _round_numbers(last: int) -> list[int]:
    """10, 20, 50, 100, … and the last; from 1 where the last is below 20."""
    numbers = [digit * 10**power for power in range(9) for digit in (1, 2, 5)]
    return [n for n in numbers if n < last and (n >= 10 or last < 20)] + [last]
