"""Figure 8: labels needed until the error of the best hyperplane is reached, and Theorem 1's label bound."""

from math import inf
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from mheal.runtime.progress import Progress

from ...report import Values, median, opening, table, tally, verdict, write_page
from ...theory.hyperplanes import Float64, Rows
from ...theory.pruning import CLUSTERS, MODES, THETA, Rule, prune
from ...theory.theorem1 import iwal_label_bound, mheal_label_bound
from .panels import panels
from .streams import DATASETS, ROUNDS, Measured, Stream, collect, rows_of, shuffles

EPSILONS = (0.05, 0.02, 0.01)
PASSIVE = "every label"


def run(out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress) -> str:
    """Measure, and write rows.jsonl, figure8.png and README.md into `out`."""
    wanted = shuffles(seeds, quick)
    collect(out, data, wanted, quick, progress, measure)
    return write(out, len(wanted), quick)


def write(out: Path, seeds: int | None, quick: bool) -> str:
    """Write figure8.png and README.md from the rows in `out`."""
    rows, shuffled = rows_of(out, seeds)
    values = Values(rows)
    lines = {}
    for mode in MODES:
        for name in DATASETS:
            for source, learner in ((mode, "IWAL"), (mode, "MHEAL"), ("passive", PASSIVE)):
                places = values.places(name, source, learner, "error")
                grid = values.grid(name, source, learner, "error", places)
                full = np.isfinite(grid).all(axis=0)  # numbers of labels that every shuffle has reached
                lines[mode, name, learner] = (np.array(places)[full].tolist(), grid[:, full])
    title = f"Test error against labels: mean and 95 % interval, {shuffled} shuffles"
    panels(out / "figure8.png", lines, "labels", "test error", title)
    return write_page(out, page(values, shuffled, quick), rows)


def measure(stream: Stream) -> Measured:
    """Labels until the target error is reached, and until it is kept; the error after so many labels."""
    best: Rows = np.array([[stream.best]])
    target = float(stream.score(stream.errors, best)[0])
    yield "best", "h*", "error", 0, target
    never = prune(stream.hyperplanes, stream.X, stream.y, Rule(inf, excess=True))  # all labels, nothing pruned
    runs = {("passive", PASSIVE): never}
    runs |= {(mode, learner): stream.prune(mode, learner, sampled=True) for mode in MODES for learner in MODES[mode]}
    for (mode, learner), pruning in runs.items():
        labels, errors = pruning.labels, stream.score(stream.errors, pruning.winners)
        yield mode, learner, "labelled", 0, float(labels[-1])
        for epsilon in EPSILONS:
            reached, kept = _labels(labels, errors, target + epsilon)
            yield mode, learner, "reached", epsilon, reached
            yield mode, learner, "kept", epsilon, kept
        for n in ROUNDS:
            after = int(np.searchsorted(labels, n, side="right")) - 1  # the last round before label n + 1
            yield mode, learner, "error", n, float(errors[after]) if labels[-1] >= n else None


def _labels(labels: Rows, errors: Float64, target: float) -> tuple[float | None, float | None]:
    """Labels when the error first reaches the target, and when it reaches it for good; None for never."""
    good = (errors <= target) & (labels > 0)
    if not good.any():
        return None, None
    last_bad = np.flatnonzero(~good)
    start = int(last_bad[-1]) + 1 if len(last_bad) else 0
    return float(labels[good.argmax()]), float(labels[start]) if start < len(good) else None


def page(values: Values, seeds: int, quick: bool) -> str:
    """The page in Markdown."""
    parts, verdicts = [], []
    first: dict[str, list[str]] = {}
    for measure_name, words in (("reached", "first reached"), ("kept", "reached for good")):
        for mode in MODES:
            answers = [[fewer(values, name, mode, measure_name, e) for name in DATASETS] for e in EPSILONS]
            flat = [answer for row in answers for answer in row]
            first.setdefault(mode, flat)
            verdicts.append([f"{mode}, {words}", "yes on 6 of 6", *map(tally, answers), verdict(flat)])
        for epsilon in EPSILONS:
            rows = [_row(values, name, measure_name, epsilon) for name in DATASETS]
            header = ["IWAL / MHEAL", *MODES, PASSIVE]
            parts.append(f"### {words.capitalize()}, ε = {epsilon}\n{table(header, rows)}")
    totals = [[name, *(_cell(values, name, mode, "labelled", 0) for mode in MODES)] for name in DATASETS]
    medians = "\n\n".join(parts)
    return f"""# Figure 8: label complexity
**Verdict:** as printed MHEAL needs fewer labels than IWAL in {first["literal"].count("yes")} of {len(first["literal"])}
comparisons (datasets × ε); with one constant for both and clusters, in {first["control"].count("yes")}, and more
labels in {first["control"].count("no")}.

{opening(seeds, quick)} The claim is that MHEAL needs fewer labels than IWAL on all six datasets.
Protocol: `mheal_reproduction.paper.pruning.streams`; modes: `mheal_reproduction.theory.pruning`. Every mode queries
labels as IWAL does, with probability p_t, and weights them by 1/p_t. Losses are scaled to [0, 1], and the thresholds
apply to scaled losses. "{PASSIVE}" queries every label of the stream and prunes nothing; it is random sampling. In
`control` and `true-iwal` MHEAL uses three hyperplanes, one for each cluster, against IWAL's one.

![Test error against labels](figure8.png)

## Does MHEAL need fewer labels than IWAL?
Labels until the test error is at most that of h* plus ε: sign test over the shuffles at 5 %. A run that never reaches
it counts as the one with more labels.

{table(["mode", "paper", *(f"ε = {e}" for e in EPSILONS), "verdict"], verdicts)}

## Theorem 1's label bound
{_bounds()}

## Labels, median over the shuffles
"–": at least half of the shuffles never reached it.

{medians}

### All labels of the stream
{table(["IWAL / MHEAL", *MODES], totals)}
"""


def fewer(values: Values, name: str, mode: str, measure_name: str, epsilon: float) -> str:
    """Whether MHEAL needs fewer labels, by a sign test."""
    iwal, mheal = (np.nan_to_num(values(name, mode, who, measure_name, epsilon), nan=inf) for who in ("IWAL", "MHEAL"))
    wins, losses = int((mheal < iwal).sum()), int((mheal > iwal).sum())
    if wins + losses == 0 or binomtest(wins, wins + losses).pvalue >= 0.05:
        return "no difference"
    return "yes" if wins > losses else "no"


def _row(values: Values, name: str, measure_name: str, epsilon: float) -> list[str]:
    cells = [_cell(values, name, mode, measure_name, epsilon) for mode in MODES]
    return [name, *cells, median(values(name, "passive", PASSIVE, measure_name, epsilon))]


def _cell(values: Values, name: str, mode: str, measure_name: str, at: float) -> str:
    return " / ".join(median(values(name, mode, learner, measure_name, at)) for learner in MODES[mode])


def _bounds() -> str:
    T, risk, size = 10_000, 0.1, 10_000
    own = iwal_label_bound(T, THETA, risk, size)
    rows = [["IWAL's own, θ = 10", f"{own:,.0f}", "1"]]
    for n, words in ((1, "one region a cluster"), (T // CLUSTERS, "a sum over the samples of a cluster, as printed")):
        bound = mheal_label_bound(T, CLUSTERS, THETA / CLUSTERS, [risk], [1 / n] * n, size)
        rows.append([f"Theorem 1, θ = 3.333, {words}", f"{bound:,.0f}", f"{bound / own:,.1f}"])
    tighter = sum(float(row[2].replace(",", "")) < 1 for row in rows[1:])
    answer = ("larger than IWAL's in both readings", "smaller than IWAL's in one reading", "smaller in both")[tighter]
    return f"""For T = {T:,} rounds, k = {CLUSTERS}, R* = {risk}, |H| = {size:,}, δ = 0.05, slope asymmetry 1 and
constants in O(·) 1:

{table(["bound", "labels", "over IWAL's"], rows)}

Theorem 1's bound is {answer}. All of them allow more labels than there are rounds, so none carries information here."""
