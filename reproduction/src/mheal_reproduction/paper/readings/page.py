"""The page of the readings: accuracy against random labels by number of clusters, and what the energy adds."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from ...report import percent, table
from ...rows import Row
from ..images.methods import DRAWS
from ..images.published import accuracies
from ..images.words import above, mean_and_spread, points, signed
from .grid import BUDGETS, CLUSTERS, CONTROL, NETWORK, PAPER, RANDOM, SVM, k_text, ordered_units, random_setting
from .numbers import PLACES, Found, Standing, compared

PICTURES = {NETWORK: "readings_network.png", SVM: "readings.png"}
LEARNERS = {NETWORK: "The network of Table 3", SVM: "A support vector machine"}


def page(found: Found, seeds: int, quick: bool) -> str:
    """The page in Markdown."""
    standings = [found.standing(one) for one in found.readings]
    sections = "\n\n".join(
        _section(found, learner, [one for one in standings if one.reading.learner == learner])
        for learner in LEARNERS
        if any(one.reading.learner == learner for one in standings)
    )
    size = "Quick run: small sizes, not the paper's.\n" if quick else ""
    return f"""# Readings: Table 3 on MNIST under what Algorithm 2 leaves open
**Verdict:** {verdict(found)}

{size}The paper gives neither the number of clusters k for MNIST's networks, nor whether the 20 labels at the start
count, nor the features and their scaling. A reading is a choice of these. They are compared with the networks, images
and recipe of Table 3:

- **k**: 10, 20, 50, 100, 200, or as many as labels. With k = labels each cluster gives one row, so the energy plays no
  part.
- **start**: with a cold start all labels are picked, and Eq. 12 picks the first row of each cluster. With a warm start
  20 random labels come first and count; a cluster with a labelled row starts from that row, without Eq. 12.
- **features**: "pixels" as they are; "unit pixels", standardised and of unit length as in §5.1; "codes" of an
  autoencoder (784-500-500-2000-10, trained on the images as they are), standardised and of unit length; "moved codes"
  and "DEC codes", those of Table 3, whose autoencoder is trained on slightly shifted and rotated images, before and
  after DEC; "penultimate features" of the network trained on the labels so far, from 20 labels on.
- **quota**: the same number of rows from each cluster, as printed, or "by size", in proportion to its rows.
- **control**: {CONTROL}, that is, as many random rows from each of the same clusters. The difference is what
  the energy adds.

A support vector machine (RBF kernel, pixels), which is not in the paper, is trained on the same labels.
Clusters are the best of ten runs, or of three for more than 20 clusters. Readings with the same features, k and seed
share their clusters.
Protocol: `mheal_reproduction.paper.readings.experiment`.

{_measured(found.rows)}

{_missing(found.rows, seeds)}

{sections}

{_draws(found.rows)}"""


def verdict(found: Found) -> str:
    """Where Algorithm 2 is above Random, and which reading comes nearest to the paper's numbers."""
    words = []
    for learner, title in LEARNERS.items():
        standings = compared(found, learner)
        if not standings:
            continue
        best = max(standings, key=lambda one: one.random.mean)
        energy = [one.energy for one in standings if len(one.control)]
        added = f". The energy adds to random rows of the clusters in {energy.count('above')} of {len(energy)}"
        words.append(
            f"{title} on MNIST: of {len(standings)} readings of Algorithm 2, against Random, {_places(standings)} "
            f"({_above_by_k(standings)}). The best has {_name(best)}: {best.random.words} points against Random"
            f"{added if energy else ''}"
        )
    nearest = _nearest([found.standing(one) for one in found.readings if one.learner == NETWORK])
    if nearest:
        words.append(f"Nearest to the paper's numbers: {_name(nearest)}, {100 * nearest.off:.1f} points off on average")
    return ". ".join(words) + "." if words else "not judged."


def _above_by_k(standings: Sequence[Standing]) -> str:
    """In how many readings of each number of clusters Algorithm 2 is above Random."""
    counts = (
        f"{sum(one.random.place == 'above' for one in some)} of {len(some)} with k = {k_text(k)}"
        for k, some in _by_clusters(standings)
    )
    return f"above in {', '.join(counts)}"


def _places(standings: Sequence[Standing]) -> str:
    return _counts([one.random.place for one in standings])


def _counts(places: Sequence[str]) -> str:
    found = Counter(places)
    return ", ".join(f"{found[place]} {place}" for place in ("above", "level", "below") if found[place])


def _by_clusters(standings: Sequence[Standing]) -> list[tuple[int | None, list[Standing]]]:
    """The readings of each number of clusters that has some."""
    numbers = {one.reading.clusters for one in standings}
    return [(k, [one for one in standings if one.reading.clusters == k]) for k in CLUSTERS if k in numbers]


def _nearest(standings: Sequence[Standing]) -> Standing | None:
    return min(standings, key=lambda one: one.off, default=None)


def _name(one: Standing) -> str:
    return f"k = {k_text(one.reading.clusters)}, {one.reading.features}, {one.reading.start} start"


def _section(found: Found, learner: str, standings: Sequence[Standing]) -> str:
    header = ["features", "start", "k", "seeds", *(f"{n}: ours, control" for n in found.budgets)]
    header += ["against Random", "is", "energy adds", "is"] + ["off the paper's"] * (learner == NETWORK)
    printed = accuracies("clean", "mnist")["MHEAL"]
    lines = [["Random", "–", "–", *_random(found, learner), *["–"] * (len(header) - 4 - len(found.budgets))]]
    lines += (_line(found, one) for one in standings)
    paper = ", ".join(f"{percent(printed[n])} with {n}" for n in BUDGETS)
    note = f"The paper prints {paper} labels. " if learner == NETWORK else ""
    return f"""## {LEARNERS[learner]}
{note}Accuracy in %, mean ± standard deviation over the seeds, then the accuracy of the control. "Against Random" and
"energy adds" (against the control) are differences in points, means over the numbers of labels, with 95 % intervals:
Welch's for the first, paired by seed for the second. One seed is judged by its sign.{_borrowed(learner)}

![Accuracy against the number of clusters]({PICTURES[learner]})

{table(header, lines)}

{_by_k(standings)}

{_by_labels(found, standings)}"""


def _borrowed(learner: str) -> str:
    return " Random includes the seeds of Table 3, trained on a GPU." if learner == NETWORK else ""


def _random(found: Found, learner: str) -> Iterator[str]:
    curves = found.curves(RANDOM, random_setting(learner))
    yield str(len(curves))
    yield from (mean_and_spread(column) if len(curves) else "–" for column in curves.T)


def _line(found: Found, one: Standing) -> list[str]:
    reading = one.reading
    ours, control = (found.curves(method, reading.setting) for method in (PAPER, CONTROL))
    others = control.T if len(control) else [control.ravel()] * len(found.budgets)
    cells = [f"{mean_and_spread(mine)}, {percent(theirs)}" for mine, theirs in zip(ours.T, others, strict=True)]
    about = [reading.features, reading.start, k_text(reading.clusters), str(len(ours))]
    off = [f"{100 * one.off:.1f}"] if reading.learner == NETWORK else []
    return [*about, *cells, one.random.words, one.random.place, points(one.control), one.energy, *off]


def _by_k(standings: Sequence[Standing]) -> str:
    """Accuracy against the number of clusters: over features, starts and quotas."""
    lines = []
    for k, some in _by_clusters([one for one in standings if one.random.seeds]):
        energy = [one for one in some if len(one.control)]
        random, gains = [one.random.mean for one in some], [float(one.control.mean()) for one in energy]
        ranges = [f"{signed(min(of))} to {signed(max(of))}" if of else "–" for of in (random, gains)]
        counts = _counts([one.energy for one in energy]) or "–"
        lines.append([k_text(k), str(len(some)), ranges[0], _places(some), ranges[1], counts])
    if not lines:
        return ""
    header = ["k", "readings", "against Random, points", "are", "energy adds, points", "are"]
    return f"### By the number of clusters\n{table(header, lines)}"


def _by_labels(found: Found, standings: Sequence[Standing]) -> str:
    """What the energy adds at each number of labels."""
    lines = []
    gains = {
        _name(one): found.gain((PAPER, one.reading.setting), (CONTROL, one.reading.setting))
        for one in standings
        if len(one.control)
    }
    for at, n in enumerate(found.budgets if gains else ()):
        best = max(gains, key=lambda name: float(gains[name][:, at].mean()))
        counts = _counts([PLACES[above(gain[:, at])] for gain in gains.values()])
        lines.append([str(n), str(len(gains)), counts, best, points(gains[best][:, at])])
    if not lines:
        return ""
    header = ["labels", "readings", "energy against a random row", "adds most with", "points"]
    return f"### What the energy adds, by the number of labels\n{table(header, lines)}"


def _draws(rows: Sequence[Row]) -> str:
    """The section that compares the mean of dropout samples with one pass without dropout."""
    some = [row for row in rows if "accuracy_of_draws" in row]
    if not some:
        return ""
    single, drawn = (np.array([list(row[key].values()) for row in some]) for key in ("accuracy", "accuracy_of_draws"))
    lines = [
        [n, percent(a), percent(b), f"{signed(float((b - a).mean()))} ± {percent((b - a).std())}"]
        for n, a, b in zip(some[0]["accuracy"], single.T, drawn.T, strict=True)
    ]
    header = ["labels", "one pass", f"mean of {DRAWS} draws", "difference, ± standard deviation"]
    return f"""## Tested with the mean of the draws
As Gal et al. (2017) test, over the {len(some)} networks' rows that have both; all other accuracies are of one pass
without dropout.

{table(header, lines)}
"""


def _measured(rows: Sequence[Row]) -> str:
    spent = Counter[tuple[str, str]]()
    count = Counter[tuple[str, str]]()
    for row in (row for row in rows if "borrowed" not in row):
        spent[row["learner"], row["device"]] += row["seconds"]
        count[row["learner"], row["device"]] += 1
    lines = [
        f"- {learner}: {count[learner, device]} rows, {seconds / 60:.0f} minutes on {device}, shared with other work"
        for (learner, device), seconds in spent.items()
    ]
    return "\n".join(lines)


def _missing(rows: Sequence[Row], seeds: int) -> str:
    """What is not measured yet, and the command that continues."""
    there = {(row["dataset"], row["method"], row["setting"], row["seed"]) for row in rows}
    wanted = ordered_units(seeds)
    missing = [unit for unit in wanted if unit not in there]
    if not missing:
        return "No row is missing."
    kinds = Counter(unit[2].partition(",")[0] for unit in missing)
    spaces = Counter(unit[2].split(", ")[1] for unit in missing)
    parts = ", ".join(f"{n} of {space}" for space, n in spaces.items())
    counts = " and ".join(f"{n} with the {kind}" for kind, n in kinds.items())
    return f"""Missing of {len(wanted):,} rows ({seeds} seeds): {counts}.
By features: {parts}. DEC codes and moved codes take hours to learn without a GPU. The run resumes with
`make reproduce NAME=readings`, or on a GPU with `scripts/sweep.py`, which measures in several processes. The most
informative rows come first."""
