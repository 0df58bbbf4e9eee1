"""Figure 11 (§7.3): networks that learn from random images in, or out of, what the paper calls the version space.

It projects the training images to two principal components, gives each the energy E_0 of its five nearest neighbours,
and takes the 30 % of largest energy for in-version-space. Large energy means close neighbours, so that part is dense;
the paper calls it the boundary, so the sparse 30 % are tried too, and each both among all images and within clusters.
A draw is a random order of all images. Every part takes its first images in that order, so smaller budgets are nested
and parts are paired; the draw and the budget set a network's first weights. All networks are trained alike.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter

from .. import datasets
from ..deep.recipes import Recipe, mnist
from ..learn.statistics import t_interval
from ..pool.files import replacing
from ..pool.source import Progress
from ..strategies.networks import network
from .report import Floats, Values, compare, percent, table, tally, write_page
from .rows import KEY, RawRows
from .version_space import neighbourhood_energy, split

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
CURVES_AT_ONCE = 2  # with six budgets, twelve networks fill a GPU
COMPARISONS = (("in", "out"), ("in", "random"), ("out", "random"))
LOOKS = {"in": ("#0072B2", "-"), "out": ("#D55E00", "-"), "random": ("#555555", "--")}  # Okabe and Ito's palette

Members = npt.NDArray[np.bool_]
Budgets = tuple[int, ...]
Curve = tuple[str, str, int]  # setting, method, draw


@dataclass(frozen=True)
class Size:
    """What a quick run makes smaller."""

    budgets: Budgets
    images: int | None  # of the training set, drawn once; None: all
    tests: int | None  # the first of the test set
    recipe: Recipe

    @property
    def protocol(self) -> dict[str, Any]:
        """What rows of one folder have in common."""
        return asdict(self) | {"neighbours": NEIGHBOURS, "share": SHARE, "clusters": CLUSTERS}


def size_of(quick: bool) -> Size:
    """The size of a run."""
    recipe = mnist()
    if quick:
        return Size((20, 50), 2000, 200, replace(recipe, steps=60, batch=8))
    return Size((20, 50, 100, 200, 300, 500), None, None, recipe)


def run(out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress) -> str:
    """Measure, and write rows.jsonl, figure11.png and README.md into `out`."""
    size = size_of(quick)
    rows = RawRows(out, "figure11", size.protocol)
    draws = seeds or (2 if quick else 10)
    curves = [(setting, method, draw) for draw in range(draws) for setting, method in LINES]
    for at, name in enumerate(DATASETS):
        missing = [curve for curve in curves if not rows.has(name, *_key(curve))]
        if missing:
            steps = range((at + 1) * len(curves) - len(missing), len(DATASETS) * len(curves))
            _measure(rows, name, missing, data, size, steps, progress)
    progress(len(DATASETS) * len(curves), len(DATASETS) * len(curves), "done")
    values = Values(rows.where(seed=range(draws)))
    _draw(out / "figure11.png", values, size.budgets, draws)
    return write_page(out, _page(values, size, draws, quick))


def _measure(
    rows: RawRows, name: str, missing: list[Curve], data: Path | None, size: Size, steps: range, progress: Progress
) -> None:
    """Add the parts of a dataset, then its missing curves, group after group; `steps` counts curves for progress."""
    training, classifier = (network(file, "Figure 11") for file in ("training", "classifier"))
    X, y, X_test, y_test = load(name, data, size)
    plane = Plane.of(X)
    members = plane.members()
    for setting in (*SETTINGS, "all"):
        if not rows.has(name, "parts", setting, 0):
            found = {method: plane.describe(members[s, method], y, setting) for s, method in LINES if s == setting}
            rows.add([dict(zip(KEY, (name, "parts", setting, 0), strict=True)) | found])
    with training.Trainer(X, size.recipe, classes=CLASSES, places=CURVES_AT_ONCE * len(size.budgets)) as trainer:
        for start in range(0, len(missing), CURVES_AT_ONCE):
            progress(steps[start], steps.stop, name)
            group = missing[start : start + CURVES_AT_ONCE]
            tasks = [(members[setting, method], draw, n) for setting, method, draw in group for n in size.budgets]
            drawn = [draw_images(*task) for task in tasks]
            seeds = [1000 * draw + n for _, draw, n in tasks]
            networks = trainer.train([(images, y[images]) for images in drawn], seeds)
            accuracy = classifier.accuracies(networks, X_test, y_test).reshape(len(group), -1)
            rows.add(
                dict(zip(KEY, (name, *_key(curve)), strict=True))
                | {"accuracy": dict(zip(size.budgets, line, strict=True))}
                for curve, line in zip(group, accuracy, strict=True)
            )


def load(name: str, data: Path | None, size: Size) -> tuple[npt.NDArray[Any], ...]:
    """The training images and their classes, and those of the official test set."""
    arrays = datasets.load(name, data)
    if len(arrays) != 4:
        raise ValueError(f"{datasets.path(name, data)} has no test set: X_test and y_test are needed")
    X, y, X_test, y_test = arrays
    if size.images is not None and size.images < len(X):
        some = np.sort(np.random.default_rng(0).choice(len(X), size.images, replace=False))
        X, y = X[some], y[some]
    return X, y, X_test[: size.tests], y_test[: size.tests]


def draw_images(members: Members, draw: int, count: int) -> npt.NDArray[np.int64]:
    """The first `count` members in the random order of a draw, which is one for all parts."""
    if members.sum() < count:
        raise ValueError(f"a part has {members.sum()} images, and {count} are to be drawn")
    order = np.random.default_rng(draw).permutation(len(members))
    return order[members[order]][:count]


@dataclass(frozen=True)
class Plane:
    """The images on two principal components."""

    codes: Floats
    spacing: Floats  # mean distance to the nearest neighbours
    energy: Floats
    cluster: npt.NDArray[np.int64]
    centres: Floats  # one a cluster

    @classmethod
    def of(cls, images: npt.NDArray[Any]) -> "Plane":
        """Project and cluster images of bytes."""
        from sklearn.cluster import KMeans
        from sklearn.decomposition import PCA
        from sklearn.neighbors import NearestNeighbors

        X = images.reshape(len(images), -1).astype(np.float32) / np.float32(255)
        codes = PCA(2, svd_solver="covariance_eigh").fit_transform(X).astype(np.float64)
        spacing = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(codes).kneighbors()[0].mean(axis=1)
        found = KMeans(CLUSTERS, n_init=10, random_state=0).fit(codes)
        energy = neighbourhood_energy(codes, NEIGHBOURS)
        return cls(codes, spacing, energy, found.labels_.astype(np.int64), found.cluster_centers_)

    def members(self) -> dict[tuple[str, str], Members]:
        """Which images each line draws from, by setting and method."""
        parts = {RANDOM: np.ones(len(self.codes), bool)}
        for setting, (sign, clustered) in SETTINGS.items():
            inside = split(sign * self.energy, SHARE, self.cluster if clustered else None)
            parts |= {(setting, "in"): inside, (setting, "out"): ~inside}
        return parts

    def describe(self, members: Members, classes: npt.NDArray[Any], setting: str) -> dict[str, float]:
        """How many, how dense and how far from the middle (of the cluster, if it sets the threshold); class shares."""
        clustered = SETTINGS.get(setting, (1, False))[1]
        middle = self.centres[self.cluster] if clustered else self.codes.mean(axis=0)
        counts = np.bincount(classes[members], minlength=CLASSES)
        return {
            "images": int(members.sum()),
            "spacing": float(self.spacing[members].mean()),
            "radius": float(np.linalg.norm(self.codes - middle, axis=1)[members].mean()),
        } | {f"class {c}": count / members.sum() for c, count in enumerate(counts)}


def _key(curve: Curve) -> tuple[str, str, int]:
    """Method, setting and seed, as rows have them."""
    setting, method, draw = curve
    return method, setting, draw


def _page(values: Values, size: Size, draws: int, quick: bool) -> str:
    opening = "Quick run: small sizes, not the paper's.\n" if quick else ""
    budgets, recipe = size.budgets, size.recipe
    gains = "\n\n".join(
        f"### {better.capitalize()} minus {worse}\n{_gains(values, budgets, better, worse)}"
        for better, worse in COMPARISONS
    )
    comparisons = len(SETTINGS) * len(DATASETS) * len(budgets)
    return f"""# Figure 11: in- and out-version-space sampling
{opening}{draws} draws. The paper shows curves and gives no numbers. It says that "sampling representative data in
in-version-space has significant superiority than that of sampling in out-of-version-space", where in-version-space is
"the top 30 % training data with large" E_0, "covering decision boundaries".
Protocol: `mheal.paper.figure11`; parts: `mheal.paper.version_space`. Networks: the CNN of Gal et al., {recipe.steps:,}
steps of {recipe.batch} images moved by up to {recipe.shift} pixel, whatever the budget. Random, the sparse part and
thresholds within {CLUSTERS} k-means clusters are not in the paper, which leaves budgets and thresholds open.

![Test accuracy against labels](figure11.png)

## Verdicts
{table(["reading", "claim", "ours", "verdict"], _verdicts(values, budgets))}

{_summary(values, budgets)}

## Differences in accuracy
Points, mean over the draws, and whether the first is above the second: 95 % t interval of the difference, paired by
draw. Of the {comparisons} comparisons at single budgets in a table, chance alone makes about
{0.05 * comparisons:.0f} differ. The last column is the mean over the budgets, on which verdicts rest.

{gains}

## The parts
Distance: mean over the five nearest neighbours. Radius: mean distance from the middle, which is that of the cluster
where clusters have thresholds of their own. Then the share of each class in per cent, and how far shares are off the
pool's: half the sum of the differences. In has {SHARE:.0%} of the images, so whatever the split, out is
{SHARE / (1 - SHARE):.2f} times as far off the pool as in: the smaller part has the less balanced classes.

{table(["dataset", "part", "images", "distance", "radius", *map(str, range(CLASSES)), "off"], _parts(values))}

## Accuracy, %
Mean ± standard deviation over the draws.

{table(["dataset", "setting", "method", *map(str, budgets)], _accuracies(values, budgets))}
"""


def _verdicts(values: Values, budgets: Budgets) -> Iterator[list[str]]:
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


def _summary(values: Values, budgets: Budgets) -> str:
    """Which sign gives what the paper shows, and whether it is worth anything."""
    lines, winners = [], []
    for sign in ("dense", "sparse"):
        pairs = [(name, setting) for name in DATASETS for setting in SETTINGS if setting.startswith(sign)]
        answers = {
            (better, worse): [_above(values, *pair, budgets, better, worse) for pair in pairs]
            for better, worse in COMPARISONS
        }
        winners += [f"the {sign} one"] if set(answers["in", "out"]) == {"yes"} else []
        said = "; ".join(f"{better} above {worse}: {tally(found)}" for (better, worse), found in answers.items())
        lines.append(f"- In is the {sign} part, both datasets and thresholds: {said}.")
    sign = " and ".join(winners) or "neither"
    return "\n".join([f"The sign that gives in above out throughout: {sign}. On the mean over the budgets:", *lines])


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


def _draw(path: Path, values: Values, budgets: Budgets, draws: int) -> None:
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
