"""Spreading picks: over the whole pool, or cluster by cluster, and merging what the clusters give."""

import heapq
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .kernels import backend
from .kernels.groups import grouped
from .kernels.points import PASS_ROWS, FirstScores, Points, passes
from .kernels.radii import radii
from .kernels.threads import run_parts, single_threaded_blas, spans, thread_count
from .pool.workspace import Memory
from .solve.charge import Charge
from .solve.max_min import traverse
from .sphere.energy import hyperspherical_energy
from .sphere.starts import rotation_starts

Indices = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
STATE = 120  # bytes that spreading inside a cluster takes for each of its rows


@dataclass(frozen=True)
class Spread:
    """Rows in pick order, the distance of each from those before it, and the largest distance left after it."""

    rows: Indices
    gain: npt.NDArray[np.float64]
    radius: npt.NDArray[np.float64]

    def __add__(self, then: "Spread") -> "Spread":
        """These picks, then those."""
        columns = ((getattr(self, name), getattr(then, name)) for name in ("rows", "gain", "radius"))
        return Spread(*(np.concatenate(pair) for pair in columns))

    @classmethod
    def nothing(cls, radius: float) -> "Spread":
        """No picks, and what is left uncovered."""
        return cls(np.empty(0, np.int64), np.empty(0), np.array([radius]))


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
    first = labeled if len(labeled) else _densest(points, charge)
    rows, score, left = _traverse(points, budget - (len(labeled) == 0), first, charge, stages)
    rows = rows if len(labeled) else np.concatenate([first, rows])
    return _as_spread(rows, score, left)


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
    before = np.array([_nearest_before(P, P_weight, own, i) for i in range(len(labeled), len(chosen))])

    def measure() -> dict[str, npt.NDArray[Any]]:
        radius, first = _radii(points, picks, candidate)
        scores = {} if first is None else {"norm2": first[0], "score": first[1]}
        return {"radius": radius[-len(lead) :], **scores}

    measured = stages.once("radii", measure)
    start = Spread(lead, before, measured["radius"])
    if len(lead) == budget:
        return start
    more = budget - len(lead), chosen, charge, stages
    if "norm2" not in measured:
        return start + _as_spread(*_traverse(points, *more))
    # Passed on rather than kept: a run that is taken up later has scores of its own.
    return start + _as_spread(*_traverse(points, *more, (measured.pop("norm2"), measured.pop("score"))))


def _traverse(
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


def _nearest_before(P: Floats, weight: Floats, own: Floats, i: int) -> float:
    """The distance of pick i from the nearest pick before it; infinite for the first."""
    if i == 0:
        return np.inf
    return float(np.sqrt((np.square(P[:i] - P[i]).sum(axis=1) * weight[:i]).min() * own[i]))


def spread_quota(
    points: Any,
    budget: int,
    labeled: Indices,
    labels: npt.NDArray[np.int32],
    k: int,
    charge: Charge | None,
) -> Spread:
    """Clusters take turns, each with its point farthest from every pick of any cluster."""
    members = _members(labels, k)
    turns = _turns(members, labels[labeled], budget)
    weight, candidate = charge or (np.ones(points.shape[0], points.dtype),) * 2
    picks = backend(points).Picks(points, len(labeled) + budget)
    start = labeled
    if len(labeled) == 0:
        own = members[turns[0]]
        start = own[[np.argmax(candidate[own]) if charge is not None else _nearest_to_mean(points, own)]].astype(
            np.int64
        )
    picks.add(start, weight[start])
    traversals = [backend(points).Traversal(picks, m, candidate[m], weight[m]) for m in members]
    for c, traversal in enumerate(traversals):
        traversal.exclude(start[labels[start] == c])
    rows = [] if len(labeled) else list(start)
    gain = [np.inf] * len(rows)
    for c in turns[len(rows) :]:
        row, score = traversals[c].extend(1)
        rows.append(row[0])
        gain.append(float(np.sqrt(score[0])))
    return Spread(np.array(rows), np.array(gain), _radii(points, picks, candidate)[0][-budget:])


def _radii(points: Any, picks: Any, weight: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], FirstScores | None]:
    """The largest distance left anywhere after each pick, labelled rows included; every point against every pick.

    With it, where the points are on the CPU, what a traversal needs to go on after these picks.
    """
    if isinstance(points, Points):
        worst, first = radii(points, picks, weight)
        return np.sqrt(worst), first
    return backend(points).radii(points, picks, weight), None


def spread_clusters(
    points: Any,
    budget: int,
    labeled: Indices,
    labels: npt.NDArray[np.int32],
    centers: npt.NDArray[Any],
    charge: Charge | None,
    *,
    quota: bool,
    n_starts: int,
    start_length: int | Literal["quota"],
    direction: Literal["tangent", "chord"],
    rng: np.random.RandomState,
    stages: Memory | None = None,
) -> Spread:
    """Algorithm 2, steps 4–9: max-min inside each cluster, as if there were no other, then merged.

    Clusters of a pool on disk are first written to the workspace one after the other, with a single pass over the pool.
    """
    k, stages = len(centers), stages or Memory()
    members = _members(labels, k)
    seeds = rng.randint(2**31, size=k)
    turns = _turns(members, labels[labeled], budget)
    wanted = np.bincount(turns, minlength=k)
    if not quota:  # any cluster might win every turn
        wanted = np.minimum(budget, [len(m) - np.count_nonzero(labels[labeled] == c) for c, m in enumerate(members)])
    apart = _written_apart(points, labels, members, stages) if stages.on_disk and isinstance(points, Points) else None
    room = STATE + (0 if apart else points.shape[1] * points.dtype.itemsize)
    workers = max(1, min(thread_count(), stages.room() // (room * max(map(len, members)))))
    inner = None if workers == 1 else 1  # threads, inside a cluster

    def spread(c: int) -> Spread:
        """One cluster, on rows that lie together."""
        first = np.searchsorted(members[c], np.sort(labeled[labels[labeled] == c]))
        if len(first) == len(members[c]):
            return Spread.nothing(0.0)
        if wanted[c] == 0 and len(first) == 0:
            return Spread.nothing(np.inf)
        own = apart[c] if apart else points.subset(members[c])
        own_charge = None if charge is None else charge.take(members[c])
        if len(first):
            rows, score, left = traverse(own, wanted[c], first, own_charge, workers=inner)
            return _as_spread(members[c][rows], score, left) if len(rows) else Spread.nothing(float(np.sqrt(left)))
        if own_charge is not None:
            candidates = _densest(own, own_charge)
        else:
            candidates = rotation_starts(own.array(), centers[c], n_starts, direction, random_state=int(seeds[c]))
        length = int(wanted[c]) if start_length == "quota" else int(start_length)
        return _best_start(own, members[c], candidates, int(wanted[c]), length, own_charge, inner)

    def kept(c: int) -> Spread:
        return Spread(**stages.once(f"cluster {c}", lambda: asdict(spread(c)), part=True))

    order = sorted(range(k), key=lambda c: -len(members[c]))  # the largest first, so that threads end together
    with single_threaded_blas():
        done = run_parts(kept, order, workers)
    parts = [part for _, part in sorted(zip(order, done, strict=True), key=lambda pair: pair[0])]
    return _merge(parts, turns if quota else None, budget)


def _written_apart(
    points: Points, labels: npt.NDArray[np.int32], members: list[npt.NDArray[Any]], stages: Memory
) -> list[Points]:
    """The points of each cluster, one cluster after the other in a file of the workspace."""
    ends = np.append(0, np.cumsum([len(m) for m in members]))
    A = stages.scratch("clusters-apart", points.shape, points.dtype)

    def write() -> dict[str, npt.NDArray[Any]]:
        place = ends[:-1].copy()  # where the next row of each cluster goes
        for lo, hi in passes(points.X):
            order, cuts = grouped(labels, len(members), lo, hi)
            rows = points.take(order)
            for c in np.flatnonzero(np.diff(cuts)):
                size = cuts[c + 1] - cuts[c]
                A[place[c] : place[c] + size] = rows[cuts[c] : cuts[c + 1]]
                place[c] += size
        A.flush()  # type: ignore[attr-defined]
        return {"ends": ends}

    stages.once("written apart", write)
    return [Points.raw(A[lo:hi]) for lo, hi in pairwise(ends)]


def _members(labels: npt.NDArray[np.int32], k: int) -> list[npt.NDArray[Any]]:
    """The rows of each cluster, ascending."""
    order, ends = grouped(labels, k)
    return [order[lo:hi] for lo, hi in pairwise(ends)]


def _best_start(
    own: Any,
    members: npt.NDArray[Any],
    candidates: Indices,
    n: int,
    length: int,
    charge: Charge | None,
    workers: int | None,
) -> Spread:
    """Eq. 12: the max-min sequence from the candidate whose first `length` picks have the largest product of chords."""

    def sequence(start: np.int64, picks: int, first: Any = None) -> tuple[Indices, npt.NDArray[Any], float]:
        rows, score, left = traverse(own, picks - 1, np.array([start]), charge, workers=workers, first=first)
        return np.concatenate([[start], rows]), score, left

    length = min(length, len(members))
    if len(candidates) == 1:
        best = sequence(candidates[0], n)
    else:
        first = own.first_scores(candidates)
        runs = [sequence(start, length, scores) for start, scores in zip(candidates, first, strict=True)]
        product = np.array([-hyperspherical_energy(own.take(rows), normalize=False) for rows, _, _ in runs])
        # Two starts that are each other's farthest rows give the same set: only rounding tells their products apart.
        rounding = 1e-7 * length * (length - 1) / 2
        winner = int(np.flatnonzero(product >= product.max() - rounding)[0])
        best = runs[winner] if length == n else sequence(candidates[winner], n)
    return _as_spread(members[best[0]], *best[1:])


def _merge(parts: list[Spread], turns: Indices | None, budget: int) -> Spread:
    """One order for all: clusters take turns or, without quotas, the largest gain goes first."""
    at = np.zeros(len(parts), np.int64)
    rows, gain, radius = np.empty(budget, np.int64), np.empty(budget), np.empty(budget)
    sizes = np.array([len(p.rows) for p in parts])
    left = np.array([p.gain[0] if len(p.gain) else p.radius[-1] for p in parts])
    for t in range(budget):
        c = int(turns[t]) if turns is not None else int(np.argmax(np.where(at < sizes, left, -1)))
        rows[t], gain[t] = parts[c].rows[at[c]], parts[c].gain[at[c]]
        left[c] = parts[c].radius[at[c]]
        at[c] += 1
        radius[t] = left.max()
    return Spread(rows, gain, radius)


def _turns(members: list[npt.NDArray[Any]], labeled: npt.NDArray[np.int32], budget: int) -> Indices:
    """Whose turn it is: the cluster with fewest labels so far, the largest of these, as long as it has rows.

    Any prefix is as balanced as can be, and the quotas are budget/k with the remainder to the largest clusters.
    """
    counts = np.bincount(labeled, minlength=len(members))
    queue = [(int(counts[c]), -len(m), c) for c, m in enumerate(members) if len(m) > counts[c]]
    heapq.heapify(queue)
    turns = np.empty(budget, np.int64)
    for t in range(budget):
        count, size, c = heapq.heappop(queue)
        turns[t] = c
        if count + 1 < -size:
            heapq.heappush(queue, (count + 1, size, c))
    return turns


def _densest(points: Any, charge: Charge | None) -> Indices:
    """The point to start from: of largest weight or, uncharged, nearest to the mean."""
    if charge is not None:
        return np.array([int(np.argmax(charge.candidate))])
    return np.array([_nearest_to_mean(points)])


def _nearest_to_mean(points: Any, members: npt.NDArray[Any] | None = None) -> int:
    """Which of these points, by default of all, is nearest to their mean."""
    if members is None:
        mean = points.mean()
    else:
        blocks = (points.take(members[lo:hi]) for lo, hi in spans(len(members), PASS_ROWS))
        mean = np.sum([block.sum(axis=0, dtype=np.float64) for block in blocks], axis=0) / len(members)
    kernels = backend(points)
    picks = kernels.Picks(points, 1)
    picks.add_point(mean)
    return int(np.argmin(kernels.Traversal(picks, members).scores()))


def _as_spread(rows: Indices, score: npt.NDArray[Any], left: float) -> Spread:
    """Scores are squared distances; the first row may have none, since nothing came before it."""
    distance = np.sqrt(np.maximum(np.append(score, left).astype(np.float64), 0))
    gain = distance[:-1] if len(score) == len(rows) else np.append(np.inf, distance[:-1])
    radius = distance[1:] if len(score) == len(rows) else distance
    return Spread(rows.astype(np.int64), gain, radius)
