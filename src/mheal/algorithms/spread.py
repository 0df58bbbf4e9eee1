"""Max-min over the whole pool."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..backends import backend
from ..backends.cpu.points import FirstScores, Points
from ..runtime.checkpoint import Memory
from .density import Charge
from .farthest_first import traverse
from .result import Indices, Spread, as_spread
from .starts import densest, nearest_before, uncovered


def spread_pool(
    points: Any,
    budget: int,
    labeled: Indices,
    charge: Charge | None,
    lead: Indices | None = None,
    stages: Memory | None = None,
) -> Spread:
    """Max-min over the whole pool (Eq. 8), away from labelled rows; starts with `lead`, or at the densest point."""
    stages = stages or Memory()
    if lead is not None and len(lead):
        return _after_lead(points, budget, labeled, charge, lead[:budget], stages)
    first = labeled if len(labeled) else densest(points, charge)
    rows, score, left = traverse_on(points, budget - (len(labeled) == 0), first, charge, stages)
    rows = rows if len(labeled) else np.concatenate([first, rows])
    return as_spread(rows, score, left)


def _after_lead(
    points: Any, budget: int, labeled: Indices, charge: Charge | None, lead: Indices, stages: Memory
) -> Spread:
    """Rows that were picked otherwise come first; their distances are measured as those of all others."""
    chosen = np.concatenate([labeled, lead])
    weight, candidate = charge or (np.ones(points.shape[0], points.dtype),) * 2
    picks = backend(points).Picks(points, len(chosen))
    picks.add(chosen, weight[chosen])
    P, P_weight = (A.astype(np.float64) for A in picks.taken())
    own = candidate[chosen].astype(np.float64)
    before = np.array([nearest_before(P, P_weight, own, i) for i in range(len(labeled), len(chosen))])

    def measure() -> dict[str, npt.NDArray[Any]]:
        radius, first = uncovered(points, picks, candidate)
        scores = {} if first is None else {"norm2": first[0], "score": first[1]}
        return {"radius": radius[-len(lead) :], **scores}

    measured = stages.once("radii", measure)
    start = Spread(lead, before, measured["radius"])
    if len(lead) == budget:
        return start
    more = budget - len(lead), chosen, charge, stages
    if "norm2" not in measured:
        return start + as_spread(*traverse_on(points, *more))
    # Passed on rather than kept: a run that is taken up later has scores of its own.
    return start + as_spread(*traverse_on(points, *more, (measured.pop("norm2"), measured.pop("score"))))


def traverse_on(
    points: Any, n: int, chosen: Indices, charge: Charge | None, stages: Memory, first: FirstScores | None = None
) -> tuple[Indices, npt.NDArray[Any], float]:
    """As `traverse`, but from where an earlier run stopped; `first` are scores against all of `chosen`."""
    if not isinstance(points, Points):
        return traverse(points, n, chosen, charge)
    kernels = backend(points)
    before, gain = np.empty(0, np.int64), np.empty(0, points.dtype)
    seen: int | npt.NDArray[np.int32] = 1 if first is None else len(chosen)
    if noted := stages.noted("picks"):
        before, gain, seen = noted["rows"], noted["gain"], noted["seen"]
        first = noted["norm2"], noted["score"]
    weight = np.ones(points.shape[0], points.dtype) if charge is None else charge.weight
    picks = kernels.Picks(points, len(chosen) + n + 1)
    picks.add(chosen, weight[chosen])
    picks.add(before, weight[before])
    if first is not None:  # to the last bit what it was when they were picked
        picks.norm2[len(chosen) : picks.count] = first[0][before]
    traversal = kernels.Traversal(
        picks, weight=weight if charge is None else charge.candidate, placed=weight, first=first, seen=seen
    )
    traversal.exclude(chosen)

    def after_epoch(rows: Indices, score: npt.NDArray[Any]) -> None:
        stages.report(min(n, len(before) + len(rows)), n, "picks")
        stages.note("picks", lambda: {
            "rows": np.append(before, rows), "gain": np.append(gain, score), "seen": traversal.seen,
            "norm2": traversal.norm2, "score": traversal.score,
        })  # fmt: skip

    rows, score = traversal.extend(n + 1 - len(before), after_epoch)  # one more: its score is what the others leave
    rows, score = np.append(before, rows), np.append(gain, score)
    return rows[:n], score[:n], float(score[n]) if len(score) > n else 0.0
