"""Clusters that share the budget: picks inside each of them (Algorithm 2), or clusters in turn over the whole pool."""

import heapq
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..backends.base import Floats, Labels, Rows, RowStore
from ..backends.cpu.grouping import members_of
from ..energy import first_max, hyperspherical_energy
from ..runtime.checkpoint import NullCheckpoint
from ..sphere import unit_rows
from .density import DensityWeights
from .farthest_first import Ranking, densest, extend, traverse

Kind = Literal["tangent", "chord"]

ROUNDING = 1e-7  # of a log-product of chords, for each pair: what rounding may change


def spread_balanced(
    rows: RowStore, n: int, labeled: Rows, labels: Labels, k: int, weights: DensityWeights | None = None
) -> Ranking:
    """Clusters take turns, each with its row farthest from every pick of any cluster."""
    members = members_of(labels, k)
    turns = turns_of(members, labels[labeled], n)
    weight, candidate = weights or DensityWeights.equal(rows)
    picks = rows.picks(len(labeled) + n)
    start = labeled if len(labeled) else np.array([densest(rows, weights, members[turns[0]])])
    picks.add(start, weight[start])
    candidates = picks.candidates(candidate, weight, groups=members)
    for c, own in enumerate(candidates):
        own.exclude(start[labels[start] == c])
    picked = [] if len(labeled) else list(start)
    gain = [np.inf] * len(picked)
    for c in turns[len(picked) :]:
        row, score = extend(candidates[c], 1)
        picked.append(row[0])
        gain.append(float(np.sqrt(score[0])))
    return Ranking(np.array(picked), np.array(gain), picks.radii(candidate)[0][-n:])


def spread_within_clusters(
    rows: RowStore, n: int, labeled: Rows, labels: Labels, centers: Floats, weights: DensityWeights | None = None, *,
    balance_clusters: bool, n_starts: int, start_length: int | Literal["balanced"], direction: Kind,
    rng: np.random.RandomState, checkpoint: NullCheckpoint | None = None,
) -> Ranking:  # fmt: skip
    """Algorithm 2, steps 4–9: farthest-first inside each cluster, as if there were no other, then merged."""
    k = len(centers)
    members = members_of(labels, k)
    seeds = rng.randint(2**31, size=k)
    turns = turns_of(members, labels[labeled], n)
    wanted = np.bincount(turns, minlength=k)
    if not balance_clusters:  # any cluster might win every turn
        wanted = np.minimum(n, [len(m) - np.count_nonzero(labels[labeled] == c) for c, m in enumerate(members)])
    parts = [Ranking.nothing(np.inf)] * k
    jobs: dict[int, tuple[Any, ...]] = {}
    for c, own in enumerate(members):
        known = np.searchsorted(own, np.sort(labeled[labels[labeled] == c]))
        if len(known) == len(own):
            parts[c] = Ranking.nothing(0.0)
        elif wanted[c] or len(known):
            own_weights = None if weights is None else weights.take(own)
            how = {"n_starts": n_starts, "start_length": start_length, "direction": direction, "seed": int(seeds[c])}
            jobs[c] = (own, int(wanted[c]), known, own_weights, centers[c], how)
    run = checkpoint or NullCheckpoint()
    done = rows.map_groups(spread_cluster, [members[c] for c in jobs], list(jobs.values()), "cluster", run)
    for c, found in zip(jobs, done, strict=True):
        parts[c] = Ranking(**found)
    return merge(parts, turns if balance_clusters else None, n)


def spread_cluster(
    own: RowStore, members: npt.NDArray[Any], n: int, labeled: Rows, weights: DensityWeights | None, center: Floats,
    how: dict[str, Any], workers: int | None,
) -> dict[str, npt.NDArray[Any]]:  # fmt: skip
    """A ranking of n rows of one cluster, which are these members of the pool; `labeled` are places among them.

    Eq. 12: the farthest-first sequence from the start whose first `start_length` picks have the largest chord product.
    """
    if len(labeled):
        rows, score, left = traverse(own, n, labeled, weights, workers=workers)
        return asdict(Ranking.of_scores(members[rows], score, left) if len(rows) else Ranking.nothing(np.sqrt(left)))

    def sequence(start: int, picks: int) -> tuple[Rows, Floats, float]:
        rows, score, left = traverse(own, picks - 1, np.array([start]), weights, workers=workers)
        return np.append(start, rows), score, left

    if weights is not None:
        starts = [densest(own, weights)]
    else:
        first = int(np.random.default_rng(how["seed"]).integers(len(members)))  # ŵ⁰: the paper leaves it open
        starts = rotation_starts(own.array(), center, how["n_starts"], how["direction"], first)
    if len(starts) == 1:
        rows, score, left = sequence(starts[0], n)
    else:
        length = min(n if how["start_length"] == "balanced" else int(how["start_length"]), len(members))
        runs = [sequence(start, length) for start in starts]
        product = np.array([-hyperspherical_energy(own.take(rows), normalize=False) for rows, _, _ in runs])
        # Two starts that are each other's farthest rows give the same set, and their products differ by rounding only.
        winner = int(np.flatnonzero(product >= product.max() - ROUNDING * length * (length - 1) / 2)[0])
        rows, score, left = runs[winner] if length == n else sequence(starts[winner], n)
    return asdict(Ranking.of_scores(members[rows], score, left))


def rotation_starts(U: Floats, center: Floats, m: int, kind: Kind, first: int) -> list[int]:
    """min(m, n) different rows of U from `first` on; each lies, from the centre, most opposite to the one before it.

    Eq. 10–11 without repetition: the printed recursion ends in a cycle of two, so rows already taken are left out.
    Ties go to the lowest row, and a row at the centre, which has no direction, comes after all others.

    Directions are not formed: with a = xᵀc, tangent ones have (x − ac)ᵀ(y − bc) = xᵀy − ab for unit c, and chords
    xᵀy − a − b + 1.
    """
    c = unit_rows(center[None].astype(U.dtype))[0][0]
    along, norm2, eps = U @ c, np.einsum("ij,ij->i", U, U), float(np.finfo(U.dtype).eps)
    length2 = norm2 - along**2 if kind == "tangent" else norm2 - 2 * along + 1
    nowhere = length2 <= 64 * eps  # what rounding leaves of a point at the centre points nowhere
    length = np.sqrt(np.where(nowhere, 1, length2))
    rows = [first]
    while len(rows) < min(m, len(U)):
        row = rows[-1]
        dots = U @ U[row] + (-along * along[row] if kind == "tangent" else 1 - along - along[row])
        opposition = np.zeros(len(U), U.dtype) if nowhere[row] else -dots / (length * length[row])
        opposition[nowhere] = -2.0
        opposition[rows] = -np.inf
        rows.append(int(first_max(opposition, 8 * eps)))
    return rows


def turns_of(members: list[npt.NDArray[Any]], labeled: Labels, n: int) -> Rows:
    """Which cluster picks next: the one with the fewest labels, of several the largest, as long as it has rows left.

    Any prefix is as balanced as can be: each cluster gets n/k picks, the largest ones the remainder.
    """
    counts = np.bincount(labeled, minlength=len(members))
    queue = [(int(counts[c]), -len(m), c) for c, m in enumerate(members) if len(m) > counts[c]]
    heapq.heapify(queue)
    turns = np.empty(n, np.int64)
    for t in range(n):
        count, size, c = heapq.heappop(queue)
        turns[t] = c
        if count + 1 < -size:
            heapq.heappush(queue, (count + 1, size, c))
    return turns


def merge(parts: list[Ranking], turns: Rows | None, n: int) -> Ranking:
    """One order for all: clusters take turns or, without turns, the largest gain goes first."""
    at = np.zeros(len(parts), np.int64)
    rows, gain, radius = np.empty(n, np.int64), np.empty(n), np.empty(n)
    sizes = np.array([len(p.rows) for p in parts])
    left = np.array([p.gain[0] if len(p.gain) else p.radius[-1] for p in parts])
    for t in range(n):
        c = int(turns[t]) if turns is not None else int(np.argmax(np.where(at < sizes, left, -1)))
        rows[t], gain[t] = parts[c].rows[at[c]], parts[c].gain[at[c]]
        left[c] = parts[c].radius[at[c]]
        at[c] += 1
        radius[t] = left.max()
    return Ranking(rows, gain, radius)
