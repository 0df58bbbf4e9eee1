"""Figure 7: the test error of the best hyperplane that survives the pruning, and Theorem 1's error bound."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mheal.runtime.progress import Progress

from ...report import Values, compare, opening, percent, table, tally, verdict, write_page
from ...theory.hyperplanes import Rows
from ...theory.pruning import MODES, Pruning
from ...theory.theorem1 import bound_ratio
from .panels import panels
from .streams import DATASETS, Measured, Stream, collect, rows_of, shuffles

SHOWN = (10, 100, 1000)
POOLED = "MHEAL, pooled"
BOUND_ROUNDS = (300, 3000, 30_000, 300_000)


def run(out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress) -> str:
    """Measure, and write rows.jsonl, figure7.png and README.md into `out`."""
    wanted = shuffles(seeds, quick)
    collect(out, data, wanted, quick, progress, measure)
    return write(out, len(wanted), quick)


def write(out: Path, seeds: int | None, quick: bool) -> str:
    """Write figure7.png and README.md from the rows in `out`."""
    rows, shuffled = rows_of(out, seeds)
    values = Values(rows)
    lines = {}
    for mode in MODES:
        for name in DATASETS:
            for learner in _learners(mode):
                places = values.places(name, mode, learner, "error")
                lines[mode, name, learner] = (places, values.grid(name, mode, learner, "error", places))
    title = f"Test error of the best living hyperplane after t rounds: mean and 95 % interval, {shuffled} shuffles"
    panels(out / "figure7.png", lines, "rounds t", "test error", title)
    return write_page(out, page(values, shuffled, quick), rows)


def measure(stream: Stream) -> Measured:
    """Test error and test loss of the hypotheses in use, in every mode, and those of h*."""
    at = np.array(stream.rounds) - 1
    for mode, learners in MODES.items():
        for learner, rule in learners.items():
            pruning = stream.prune(mode, learner, sampled=mode == "true-iwal")
            yield mode, learner, "best survives", 0, _survival(stream, pruning)
            used = {learner: pruning.winners[:, at]}
            if rule.regional:
                used[POOLED] = np.array(list(_pooled(stream, pruning)))[None, :]
            for who, winners in used.items():
                for what, by_cluster in (("error", stream.errors), ("loss", stream.test_losses)):
                    scores = stream.score(by_cluster, winners)
                    yield from ((mode, who, what, t, float(v)) for t, v in zip(stream.rounds, scores, strict=True))
    best: Rows = np.array([[stream.best]])
    yield "best", "h*", "error", 0, float(stream.score(stream.errors, best)[0])
    yield "best", "h*", "loss", 0, float(stream.score(stream.test_losses, best)[0])


def _survival(stream: Stream, pruning: Pruning) -> float:
    """Share of the learners (one, or one a cluster) whose best hypothesis in hindsight is alive at the end."""
    alive = []
    for region, trace in enumerate(pruning.traces):
        own = pruning.regions == region
        best = stream.best if own.all() else int(stream.hyperplanes.losses(stream.X[own], stream.y[own]).argmin())
        alive.append(trace.pruned_at[best] > len(trace.best))
    return float(np.mean(alive))


def _pooled(stream: Stream, pruning: Pruning) -> Iterator[int]:
    """At each reported round, the hypothesis of smallest total loss among those alive in at least one cluster."""
    weights, total, start = pruning.weights, np.zeros(len(stream.hyperplanes)), 0
    for t in stream.rounds:
        rows = slice(start, t)
        total += stream.hyperplanes.losses(stream.X[rows], stream.y[rows], weights[rows]) * (t - start)
        start = t
        yield int(np.where(pruning.alive(t), total, np.inf).argmin())


def page(values: Values, seeds: int, quick: bool) -> str:
    """The page in Markdown."""
    verdicts, lower = [], {}
    for mode in MODES:
        for learner in _learners(mode)[1:]:
            answers = [better(values, name, mode, learner) for name in DATASETS]
            ends = [better(values, name, mode, learner, at_end=True) for name in DATASETS]
            lower[mode, learner] = ends.count("yes")
            cells = (tally(answers), tally(ends), verdict(answers + ends))
            verdicts.append([f"{mode}: {learner}", "yes on 6 of 6", *cells])
    survival = [[name, *(_alive(values, name, mode) for mode in MODES)] for name in DATASETS]
    bounds = [
        [f"{T:,}", *(f"{bound_ratio(T, k, 10_000, regional=size):.1f}" for k in (3, 10) for size in (10_000, 1))]
        for T in BOUND_ROUNDS
    ]
    many, one = lower["control", "MHEAL"], lower["control", POOLED]
    return f"""# Figure 7: generalisation error
**Verdict:** with one constant for both, MHEAL's error at the end is below IWAL's on {many} of {len(DATASETS)} datasets
with a hyperplane for each cluster, and on {one} of {len(DATASETS)} with one hyperplane for all rows.

{opening(seeds, quick)} The claim is that MHEAL's error is below IWAL's on all six datasets.
Protocol: `mheal_reproduction.paper.pruning.streams`; modes: `mheal_reproduction.theory.pruning`.

![Test error against rounds](figure7.png)

In the modes with clusters, "MHEAL" has a hyperplane for each cluster, and "{POOLED}" has one hyperplane for all rows.
Three hyperplanes make a richer classifier than one, so only "{POOLED}" is a fair comparison with IWAL. `literal` and
`excess` have no clusters.

## Is MHEAL's error below IWAL's?
Test error, averaged over the reported rounds and at the end of the stream; 95 % t interval of the paired difference:

{table(["mode", "paper", "ours, all rounds", "ours, at the end", "verdict"], verdicts)}

## Is the best hyperplane still alive at the end?
In per cent of the shuffles (and clusters, each with its own best one). IWAL guarantees 95.

{table(["IWAL / MHEAL", *MODES], survival)}

## Theorem 1's error bound over IWAL's own
The paper calls Theorem 1's bound the tighter one, so the ratio should be below 1. With p_t = 1, δ = 0.05,
|H| = 10,000, and clusters that need all of H or, at best, a single hypothesis:

{table(["T", "k = 3", "k = 3, one hypothesis each", "k = 10", "k = 10, one hypothesis each"], bounds)}

The bound is looser throughout: it is k times the largest of k terms of order 1/√τ with τ = T/k.

## Test error, %
{_errors(values)}
"""


def _learners(mode: str) -> list[str]:
    return [*MODES[mode], *[POOLED] * MODES[mode]["MHEAL"].regional]


def better(values: Values, name: str, mode: str, learner: str, at_end: bool = False) -> str:
    """Whether a learner's error is below IWAL's, on the mean over the reported rounds or at the end."""
    places = values.places(name, mode, "IWAL", "error")[-1 if at_end else 0 :]
    errors = [values.grid(name, mode, who, "error", places).mean(axis=1) for who in (learner, "IWAL")]
    return compare(*errors)


def _alive(values: Values, name: str, mode: str) -> str:
    return " / ".join(percent(values(name, mode, learner, "best survives", 0), 0) for learner in MODES[mode])


def _errors(values: Values) -> str:
    parts = []
    for mode in MODES:
        rows = []
        for name in DATASETS:
            places = values.places(name, mode, "IWAL", "error")
            shown = [t for t in SHOWN if t < places[-1]] + [places[-1]]
            cells = [" / ".join(percent(values(name, mode, who, "error", t)) for who in _learners(mode)) for t in shown]
            target = percent(values(name, "best", "h*", "error", 0))
            rows.append([name, *cells[:-1], *["–"] * (len(SHOWN) - len(cells) + 1), cells[-1], target])
        header = [" / ".join(_learners(mode)), *(f"t = {t:,}" for t in SHOWN), "end", "h*"]
        parts.append(f"### {mode}\n{table(header, rows)}")
    return "\n\n".join(parts)
