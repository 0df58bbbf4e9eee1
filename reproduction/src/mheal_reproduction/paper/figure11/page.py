"""The page of Figure 11: accuracy of networks trained on each part, a description of the parts, and a picture."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter

from mheal.evaluate.statistics import t_interval
from mheal.runtime.files import replacing

from ...networks.recipes import Recipe
from ...report import Floats, Values, compare, percent, table, tally

DATASETS = ("mnist", "fashion_mnist")
SETTINGS = {  # the sign of the energy, and whether the threshold is each cluster's own
    "dense, global": (1, False),
    "sparse, global": (-1, False),
    "dense, per cluster": (1, True),
    "sparse, per cluster": (-1, True),
}
RANDOM = ("all", "random")  # its setting and method: the whole pool
LINES = (*((setting, method) for setting in SETTINGS for method in ("in", "out")), RANDOM)
NEIGHBOURS, SHARE, CLUSTERS = 5, 0.3, 10
CLASSES = 10
COMPARISONS = (("in", "out"), ("in", "random"), ("out", "random"))
LOOKS = {"in": ("#0072B2", "-"), "out": ("#D55E00", "-"), "random": ("#555555", "--")}  # Okabe and Ito's palette

Budgets = tuple[int, ...]


def page(values: Values, budgets: Budgets, recipe: Recipe, draws: int, quick: bool) -> str:
    """The whole page, in Markdown."""
    opening = "Quick run: small sizes, not the paper's.\n" if quick else ""
    gains = "\n\n".join(
        f"### {better.capitalize()} minus {worse}\n{_gains(values, budgets, better, worse)}"
        for better, worse in COMPARISONS
    )
    comparisons = len(SETTINGS) * len(DATASETS) * len(budgets)
    judged = list(verdicts(values, budgets))
    claims = {setting: verdict for setting, claim, _, verdict in judged if claim.startswith("in above")}
    return f"""# Figure 11: in- and out-version-space sampling
**Verdict:** the claim that in-version-space samples are superior is {claims["dense, global"]} as printed ("in"
is the dense part of the images) and {claims["sparse, global"]} with the other sign ("in" is the sparse part).

{opening}{draws} draws. The paper shows curves and gives no numbers. It says that "sampling representative data in
in-version-space has significant superiority than that of sampling in out-of-version-space", where in-version-space is
"the top 30 % training data with large" E_0, "covering decision boundaries".
Protocol: `mheal_reproduction.paper.figure11.experiment`; parts: `mheal_reproduction.paper.figure11.version_space`.
The networks are the CNN of Gal et al., trained for {recipe.steps:,} steps of {recipe.batch} images that are shifted by
up to {recipe.shift} pixel, at every budget. Random, the sparse part and thresholds within {CLUSTERS} k-means
clusters are not in the paper, which leaves budgets and thresholds open.

![Test accuracy against labels](figure11.png)

## Verdicts
{table(["reading", "claim", "ours", "verdict"], judged)}

{summary(values, budgets)}

## Differences in accuracy
In points, mean over the draws, and whether the first is above the second: 95 % t interval of the difference, paired by
draw. Of the {comparisons} comparisons at single budgets in a table, about {0.05 * comparisons:.0f} would differ by
chance. Verdicts use the last column, the mean over the budgets.

{gains}

## The parts
"Distance" is the mean distance to the five nearest neighbours. "Radius" is the mean distance to the centre of all
images, or of the cluster where each cluster has its own threshold. Then comes the share of each class in per cent.
"Off" is half the sum of the absolute differences from the pool's shares. As "in" has {SHARE:.0%} of the images, the
shares of "out" are always {SHARE / (1 - SHARE):.2f} times as far off as those of "in".

{table(["dataset", "part", "images", "distance", "radius", *map(str, range(CLASSES)), "off"], _parts(values))}

## Accuracy, %
Mean ± standard deviation over the draws.

{table(["dataset", "setting", "method", *map(str, budgets)], _accuracies(values, budgets))}
"""


def verdicts(values: Values, budgets: Budgets) -> Iterator[list[str]]:
    """A row for each reading of the claims: ours, and the verdict."""
    for setting in SETTINGS:
        means, answers = [], []
        for name in DATASETS:
            inside, outside = (_line(values, name, setting, method, budgets) for method in ("in", "out"))
            means.append(f"{name} {100 * (inside - outside).mean():+.1f}")
            answers += [compare(less, more) for less, more in zip(outside.T, inside.T, strict=True)]
        words = f"in minus out, mean over the budgets: {', '.join(means)} points; at single budgets {tally(answers)}"
        whole = [_above(values, name, setting, budgets, "in", "out") for name in DATASETS]
        yield [setting, "in above out on both datasets", words, _verdict(whole)]
    for setting in ("dense, global", "dense, per cluster"):
        outer, found = [], []
        for name in DATASETS:
            (near, inner), (far, rim) = (
                [_part(values, name, setting, part, what) for what in ("spacing", "radius")] for part in ("in", "out")
            )
            outer.append("yes" if near > far and inner > rim else "no" if near < far and inner < rim else "mixed")
            found.append(f"{name}: distance {near:.3f} against {far:.3f}, radius {inner:.2f} against {rim:.2f}")
        claim = "the images of largest energy are the boundary: sparser and farther out than the others"
        yield [setting, claim, "; ".join(found), _verdict(outer)]


def _verdict(answers: list[str]) -> str:
    if set(answers) == {"yes"}:
        return "reproduced"
    return "refuted" if set(answers) == {"no"} else "not reproduced"


def summary(values: Values, budgets: Budgets) -> str:
    """Sentences on which sign of the energy gives the paper's order, and on which part is ahead."""
    lines, winners = [], []
    for sign in ("dense", "sparse"):
        pairs = [(name, setting) for name in DATASETS for setting in SETTINGS if setting.startswith(sign)]
        answers = {
            (better, worse): [_above(values, *pair, budgets, better, worse) for pair in pairs]
            for better, worse in COMPARISONS
        }
        winners += [f"the {sign} one"] if set(answers["in", "out"]) == {"yes"} else []
        found = "; ".join(f"{better} above {worse}: {tally(one)}" for (better, worse), one in answers.items())
        lines.append(f"- In is the {sign} part, both datasets and thresholds: {found}.")
    sign = " and ".join(winners) or "neither"
    return "\n".join([f'"In" is above "out" throughout with the sign: {sign}. On the mean over the budgets:', *lines])


def _gains(values: Values, budgets: Budgets, better: str, worse: str) -> str:
    rows = []
    for name in DATASETS:
        for setting in SETTINGS:
            high, low = (_line(values, name, setting, method, budgets) for method in (better, worse))
            pairs = [*zip(high.T, low.T, strict=True), (high.mean(axis=1), low.mean(axis=1))]
            rows.append([name, setting, *(f"{100 * (a - b).mean():+.1f}, {compare(b, a)}" for a, b in pairs)])
    return table(["dataset", "setting", *map(str, budgets), "mean"], rows)


def _above(values: Values, name: str, setting: str, budgets: Budgets, better: str, worse: str) -> str:
    """Whether one is above the other, on the mean over the budgets."""
    high, low = (_line(values, name, setting, method, budgets).mean(axis=1) for method in (better, worse))
    return compare(low, high)


def _line(values: Values, name: str, setting: str, method: str, budgets: Budgets) -> Floats:
    """Accuracies, (draws, budgets)."""
    return values.grid(name, "all" if method == "random" else setting, method, "accuracy", budgets)


def _part(values: Values, name: str, setting: str, part: str, what: str) -> float:
    return float(values(name, setting, "parts", part, what)[0])


def _parts(values: Values) -> Iterator[list[str]]:
    for name in DATASETS:
        shares = {line: np.array([_part(values, name, *line, f"class {c}") for c in range(CLASSES)]) for line in LINES}
        for line, share in shares.items():
            images, spacing, radius = (_part(values, name, *line, what) for what in ("images", "spacing", "radius"))
            off = np.abs(share - shares[RANDOM]).sum() / 2
            title = "all" if line == RANDOM else f"{line[1]}: {line[0]}"
            numbers = [f"{images:,.0f}", f"{spacing:.3f}", f"{radius:.2f}"]
            yield [name, title, *numbers, *map(percent, share), percent(off)]


def _accuracies(values: Values, budgets: Budgets) -> Iterator[list[str]]:
    for name in DATASETS:
        for setting, method in LINES:
            line = _line(values, name, setting, method, budgets)
            spread = line.std(axis=0, ddof=1) if len(line) > 1 else np.full(len(budgets), np.nan)
            cells = [
                percent(mean) + (f" ± {percent(sd)}" if np.isfinite(sd) else "")
                for mean, sd in zip(line.mean(axis=0), spread, strict=True)
            ]
            yield [name, setting, method, *cells]


def draw(path: Path, values: Values, budgets: Budgets, draws: int) -> None:
    """One row of panels a dataset, one column a setting: mean and 95 % t interval."""
    figure = Figure(figsize=(12, 5.6), layout="constrained")
    axes = figure.subplots(len(DATASETS), len(SETTINGS), squeeze=False, sharex=True, sharey="row")
    for row, name in zip(axes, DATASETS, strict=True):
        for ax, setting in zip(row, SETTINGS, strict=True):
            _panel(ax, {method: _line(values, name, setting, method, budgets) for method in LOOKS}, budgets)
            ax.set_title(f"{name}: {setting}", fontsize=10)
        row[0].set_ylabel("test accuracy")
    for ax in axes[-1]:
        ax.set_xlabel("labels")
    lines = axes[0][0].get_lines()
    figure.legend(lines, list(LOOKS), loc="outside lower center", ncols=len(LOOKS), frameon=False)
    figure.suptitle(f"Random images of one part: mean and 95 % interval, {draws} draws", x=0.01, ha="left", fontsize=11)
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=120, metadata={"Software": None})


def _panel(ax: Any, lines: Mapping[str, Floats], budgets: Budgets) -> None:
    for method, accuracy in lines.items():
        colour, style = LOOKS[method]
        mean, half = t_interval(accuracy)
        if np.isfinite(half).all():
            low, high = np.maximum(mean - half, 0), np.minimum(mean + half, 1)
            ax.fill_between(budgets, low, high, color=colour, alpha=0.13, linewidth=0)
        ax.plot(budgets, mean, color=colour, linestyle=style, linewidth=1.6)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(budgets))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter("{x:.0f}")
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
