"""Max-min inside each cluster, as if there were no other (Algorithm 2)."""

from dataclasses import asdict
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..backends.cpu.grouping import grouped
from ..backends.cpu.points import Points, passes
from ..energy import hyperspherical_energy
from ..runtime.checkpoint import Memory
from ..runtime.threads import run_parts, single_threaded_blas, thread_count
from .density import Charge
from .farthest_first import traverse
from .result import Indices, Spread, as_spread
from .rotation import rotation_starts
from .starts import densest
from .turns import members_of, merge, turns_of

STATE = 120  # bytes that spreading inside a cluster takes for each of its rows


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
    members = members_of(labels, k)
    seeds = rng.randint(2**31, size=k)
    turns = turns_of(members, labels[labeled], budget)
    wanted = np.bincount(turns, minlength=k)
    if not quota:  # any cluster might win every turn
        wanted = np.minimum(budget, [len(m) - np.count_nonzero(labels[labeled] == c) for c, m in enumerate(members)])
    apart = written_apart(points, labels, members, stages) if stages.on_disk and isinstance(points, Points) else None
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
        return spread_cluster(
            own, members[c], int(wanted[c]), first, own_charge, centers[c], n_starts=n_starts,
            start_length=start_length, direction=direction, seed=int(seeds[c]), workers=inner,
        )  # fmt: skip

    def kept(c: int) -> Spread:
        return Spread(**stages.once(f"cluster {c}", lambda: asdict(spread(c)), part=True))

    order = sorted(range(k), key=lambda c: -len(members[c]))  # the largest first, so that threads end together
    with single_threaded_blas():
        done = run_parts(kept, order, workers)
    parts = [part for _, part in sorted(zip(order, done, strict=True), key=lambda pair: pair[0])]
    return merge(parts, turns if quota else None, budget)


def spread_cluster(
    own: Any,
    members: npt.NDArray[Any],
    n: int,
    labeled: Indices,
    charge: Charge | None,
    center: npt.NDArray[Any],
    *,
    n_starts: int,
    start_length: int | Literal["quota"],
    direction: Literal["tangent", "chord"],
    seed: int,
    workers: int | None,
) -> Spread:
    """n picks among the points of one cluster, which are these members of the pool; `labeled` are places among them."""
    if len(labeled):
        rows, score, left = traverse(own, n, labeled, charge, workers=workers)
        return as_spread(members[rows], score, left) if len(rows) else Spread.nothing(float(np.sqrt(left)))
    if charge is not None:
        candidates = densest(own, charge)
    else:
        candidates = rotation_starts(own.array(), center, n_starts, direction, random_state=seed)
    length = n if start_length == "quota" else int(start_length)
    return best_start(own, members, candidates, n, length, charge, workers)


def written_apart(
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


def best_start(
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
    return as_spread(members[best[0]], *best[1:])
