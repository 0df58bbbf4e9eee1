"""Spreading picks: over the whole pool, or cluster by cluster, and merging what the clusters give."""

import heapq
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .kernels import backend
from .kernels.threads import run_parts, single_threaded_blas, spans
from .solve.charge import Charge
from .solve.max_min import traverse
from .sphere.energy import hyperspherical_energy
from .sphere.starts import rotation_starts

Indices = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
RADII_ROWS = 2048  # rows compared with all picks at a time


@dataclass(frozen=True)
class Spread:
    """Rows in pick order, the distance of each from those before it, and the largest distance left after it."""

    rows: Indices
    gain: npt.NDArray[np.float64]
    radius: npt.NDArray[np.float64]

    @classmethod
    def nothing(cls, radius: float) -> "Spread":
        """No picks, and what is left uncovered."""
        return cls(np.empty(0, np.int64), np.empty(0), np.array([radius]))


def spread_pool(
    points: Any, budget: int, labeled: Indices, charge: Charge | None, lead: Indices | None = None
) -> Spread:
    """Max-min over the whole pool (Eq. 8), away from labelled rows; starts with `lead`, or at the densest point."""
    if lead is not None and len(lead):
        return _after_lead(points, budget, labeled, charge, lead[:budget])
    first = labeled if len(labeled) else _densest(points, charge)
    rows, score, left = traverse(points, budget - (len(labeled) == 0), first, charge)
    rows = rows if len(labeled) else np.concatenate([first, rows])
    return _as_spread(rows, score, left)


def _after_lead(points: Any, budget: int, labeled: Indices, charge: Charge | None, lead: Indices) -> Spread:
    """Rows that were picked otherwise come first; their distances are measured as those of all others."""
    chosen = np.concatenate([labeled, lead])
    ones = np.ones(points.shape[0], points.dtype)
    weight, candidate = (ones, ones) if charge is None else charge
    picks = backend(points).Picks(points, len(chosen))
    picks.add(chosen, weight[chosen])
    P, P_weight = (A.astype(np.float64) for A in picks.taken())
    own = candidate[chosen].astype(np.float64)
    before = np.array([_nearest_before(P, P_weight, own, i) for i in range(len(labeled), len(chosen))])
    start = Spread(lead, before, _radii(points, picks, candidate)[-len(lead) :])
    if len(lead) == budget:
        return start
    rest = _as_spread(*traverse(points, budget - len(lead), chosen, charge))
    return Spread(*(np.concatenate([getattr(start, name), getattr(rest, name)]) for name in ("rows", "gain", "radius")))


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
    members = [np.flatnonzero(labels == c) for c in range(k)]
    turns = _turns(members, labels[labeled], budget)
    ones = np.ones(points.shape[0], points.dtype)
    weight, candidate = (ones, ones) if charge is None else charge
    picks = backend(points).Picks(points, len(labeled) + budget)
    start = labeled
    if len(labeled) == 0:
        own = members[turns[0]]
        start = own[_densest(points.subset(own), None if charge is None else charge.take(own))]
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
    return Spread(np.array(rows), np.array(gain), _radii(points, picks, candidate)[-budget:])


def _radii(points: Any, picks: Any, weight: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The largest distance left anywhere after each pick, labelled rows included; every point against every pick."""
    worst, largest = _radii_in(np.dtype(np.float32), points, picks, weight)
    if worst.min() < 1e-4 * largest:  # there float32 would cancel
        worst, _ = _radii_in(np.dtype(np.float64), points, picks, weight)
        worst[worst < 1e-12 * largest] = 0  # what cancellation leaves of a pick's distance from itself
    return np.sqrt(worst)


def _radii_in(
    dtype: np.dtype[Any], points: Any, picks: Any, weight: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.float64], float]:
    """The same, squared and in this precision, and the largest squared length."""
    P, P_weight = (A.astype(dtype) for A in picks.taken())
    P_norm2 = np.einsum("ij,ij->i", P, P)

    def part(span: tuple[int, int]) -> tuple[npt.NDArray[Any], float]:
        worst, largest = np.zeros(len(P), dtype), 0.0
        for lo in range(span[0], span[1], RADII_ROWS):
            rows = np.arange(lo, min(span[1], lo + RADII_ROWS))
            G = points.take(rows).astype(dtype)
            norm2 = np.einsum("ij,ij->i", G, G)
            distance2 = norm2 + (P_norm2[:, None] - 2 * P @ G.T)
            distance2 *= weight[rows].astype(dtype)
            distance2 *= P_weight[:, None]
            for above, mine in pairwise(distance2):  # the nearest pick so far; a row for each pick vectorises
                np.minimum(above, mine, out=mine)
            np.maximum(worst, distance2.max(axis=1), out=worst)
            largest = max(largest, float((norm2 * weight[rows]).max()))
        return worst, largest

    with single_threaded_blas():
        parts = run_parts(part, spans(points.shape[0], 1 << 14))
    return np.max([worst for worst, _ in parts], axis=0).astype(np.float64), max(largest for _, largest in parts)


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
) -> Spread:
    """Algorithm 2, steps 4–9: max-min inside each cluster, as if there were no other, then merged."""
    k = len(centers)
    members = [np.flatnonzero(labels == c) for c in range(k)]
    seeds = rng.randint(2**31, size=k)
    turns = _turns(members, labels[labeled], budget)
    wanted = np.bincount(turns, minlength=k)
    if not quota:  # any cluster might win every turn
        wanted = np.minimum(budget, [len(m) - np.count_nonzero(labels[labeled] == c) for c, m in enumerate(members)])

    def spread(c: int) -> Spread:
        """One cluster, on a copy of its rows that lies together."""
        first = np.searchsorted(members[c], np.sort(labeled[labels[labeled] == c]))
        if len(first) == len(members[c]):
            return Spread.nothing(0.0)
        if wanted[c] == 0 and len(first) == 0:
            return Spread.nothing(np.inf)
        own = points.subset(members[c])
        own_charge = None if charge is None else charge.take(members[c])
        if len(first):
            rows, score, left = traverse(own, wanted[c], first, own_charge, workers=1)
            return _as_spread(members[c][rows], score, left) if len(rows) else Spread.nothing(float(np.sqrt(left)))
        if own_charge is not None:
            candidates = _densest(own, own_charge)
        else:
            candidates = rotation_starts(own.array(), centers[c], n_starts, direction, random_state=int(seeds[c]))
        length = int(wanted[c]) if start_length == "quota" else int(start_length)
        return _best_start(own, members[c], candidates, int(wanted[c]), length, own_charge)

    order = sorted(range(k), key=lambda c: -len(members[c]))  # the largest first, so that threads end together
    with single_threaded_blas():
        done = run_parts(spread, order)
    parts = [part for _, part in sorted(zip(order, done, strict=True), key=lambda pair: pair[0])]
    return _merge(parts, turns if quota else None, budget)


def _best_start(own: Any, members: Indices, candidates: Indices, n: int, length: int, charge: Charge | None) -> Spread:
    """Eq. 12: the max-min sequence from the candidate whose first `length` picks have the largest product of chords."""

    def sequence(start: np.int64, picks: int, first: Any = None) -> tuple[Indices, npt.NDArray[Any], float]:
        rows, score, left = traverse(own, picks - 1, np.array([start]), charge, workers=1, first=first)
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


def _turns(members: list[Indices], labeled: npt.NDArray[np.int32], budget: int) -> Indices:
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
        return np.array([int(np.argmax(charge.weight))])
    kernels = backend(points)
    picks = kernels.Picks(points, 1)
    picks.add_point(points.mean())
    return np.array([int(np.argmin(kernels.Traversal(picks).scores()))])


def _as_spread(rows: Indices, score: npt.NDArray[Any], left: float) -> Spread:
    """Scores are squared distances; the first row may have none, since nothing came before it."""
    distance = np.sqrt(np.maximum(np.append(score, left).astype(np.float64), 0))
    gain = distance[:-1] if len(score) == len(rows) else np.append(np.inf, distance[:-1])
    radius = distance[1:] if len(score) == len(rows) else distance
    return Spread(rows.astype(np.int64), gain, radius)
