"""Spreading picks over a pool on a cluster: the three ways of mheal.spread."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...algorithms import starts
from ...algorithms.density import Charge
from ...algorithms.result import Spread, as_spread
from ...algorithms.turns import merge, turns_of
from ...algorithms.within_clusters import spread_cluster
from ...runtime.progress import Progress
from ..cpu.lazy_scores import first_scores
from ..cpu.points import Points
from .clusters import Assigned
from .epochs import weights_of
from .field import Field
from .partitions import Metric, Rows, task, writable
from .traversal import ClusterTraversal

Floats = npt.NDArray[Any]


def spread_pool(field: Field, budget: int, labeled: Rows, lead: Rows | None, progress: Progress | None) -> Spread:
    """Max-min over the whole pool, away from labelled rows; starts with `lead`, or at the densest point."""
    if lead is not None and len(lead):
        return _after_lead(field, budget, labeled, lead, progress)
    first = labeled if len(labeled) else np.array([_densest(field)])
    n = budget - (len(labeled) == 0)
    found = _traversed(ClusterTraversal(field, first, _most(field, first, n), progress=progress), n)
    return as_spread(found[0] if len(labeled) else np.concatenate([first, found[0]]), *found[1:])


def _after_lead(field: Field, budget: int, labeled: Rows, lead: Rows, progress: Progress | None) -> Spread:
    chosen = np.concatenate([labeled, lead])
    n = budget - len(lead)
    traversal = ClusterTraversal(field, chosen, _most(field, chosen, n) if n else 0, with_radii=True, progress=progress)
    P, _, weight = (A[: len(chosen)] for A in traversal.arrays)
    ends = P.astype(np.float64), weight.astype(np.float64), field.charge(chosen).candidate.astype(np.float64)
    gain = np.array([starts.nearest_before(*ends, i) for i in range(len(labeled), len(chosen))])
    start = Spread(lead, gain, traversal.first_radii()[-len(lead) :])
    return start + as_spread(*_traversed(traversal, n)) if n else start


def _most(field: Field, chosen: Rows, n: int) -> int:
    """One more than wanted, where there is one: its score is what the others leave."""
    return min(n + 1, field.shape[0] - len(chosen))


def _traversed(traversal: ClusterTraversal, n: int) -> tuple[Rows, Floats, float]:
    traversal.extend(n + 1)
    rows, score = traversal.found()
    return rows[:n], score[:n], float(score[n]) if len(score) > n else 0.0


def spread_quota(field: Field, budget: int, labeled: Rows, progress: Progress | None) -> Spread:
    """Clusters take turns, each with its point farthest from every pick of any cluster."""
    turns = turns_of(_sized(field), field.clusters.labels_of(labeled), budget)
    start = labeled if len(labeled) else np.array([_densest(field, int(turns[0]))])
    given = len(start) - len(labeled)  # 1 where the first pick is the start
    traversal = ClusterTraversal(field, start, budget - given, grouped=True, progress=progress)
    for c in turns[given:]:
        traversal.extend(1, int(c))
    rows, score = traversal.found()
    gain = np.sqrt(score.astype(np.float64))
    return Spread(
        np.concatenate([start[:given], rows]), np.concatenate([np.full(given, np.inf), gain]),
        traversal.radii()[-budget:],
    )  # fmt: skip


def spread_clusters(
    field: Field, budget: int, labeled: Rows, quota: bool, ways: dict[str, Any], rng: np.random.RandomState
) -> Spread:
    """Algorithm 2: the rows of each cluster come together on one worker, which spreads its picks among them."""
    pool, clusters = field.pool, field.clusters
    seeds = rng.randint(2**31, size=len(clusters.centers))
    of_labeled = clusters.labels_of(labeled)
    turns = turns_of(_sized(field), of_labeled, budget)
    wanted = np.bincount(turns, minlength=len(seeds))
    if not quota:  # any cluster might win every turn
        wanted = np.minimum(budget, clusters.sizes - np.bincount(of_labeled, minlength=len(seeds)))
    known = [np.sort(labeled[of_labeled == c]) for c in range(len(seeds))]
    parts: list[Spread | None] = [None] * len(seeds)
    for c, size in enumerate(clusters.sizes.tolist()):
        if len(known[c]) == size:
            parts[c] = Spread.nothing(0.0)
        elif wanted[c] == 0 and len(known[c]) == 0:
            parts[c] = Spread.nothing(np.inf)
    looked_at = [c for c, part in enumerate(parts) if part is None]
    split = pool.each(_split, *field.own, shared=[field.metric, field.law, looked_at])
    pieces = {c: [p for p in range(len(pool)) if clusters.counts[p, c]] for c in looked_at}
    order = [(c, p) for c in looked_at for p in pieces[c]]
    taken = dict(zip(order, pool.run(_piece, [(split[p], c) for c, p in order]), strict=True))
    tasks = [
        (
            [taken[c, p] for p in pieces[c]],
            int(wanted[c]),
            known[c],
            clusters.centers[c],
            {**ways, "seed": int(seeds[c])},
        )
        for c in looked_at
    ]
    del split, taken
    for c, part in zip(looked_at, pool.gather(pool.run(_spread, tasks, [field.charges is not None])), strict=True):
        parts[c] = part
    return merge(parts, turns if quota else None, budget)  # type: ignore[arg-type]  # none is None any more


def _sized(field: Field) -> list[Any]:
    """Something as long as each cluster."""
    return [range(size) for size in field.clusters.sizes.tolist()]


def _densest(field: Field, cluster: int | None = None) -> int:
    """The row to start from, of one cluster or of all: of largest weight or, uncharged, nearest to the mean."""
    pool = field.pool
    if field.charges is not None and cluster is None:
        return field.charges.densest(pool.first)
    target = None
    if field.charges is None:
        sums = pool.gather(pool.each(_sum, *field.own, shared=[field.metric, cluster]))
        target = (np.sum([s for s, _ in sums], axis=0) / sum(n for _, n in sums)).astype(field.dtype)
    found = pool.gather(pool.each(_nearest, *field.own, shared=[field.metric, field.law, cluster, target]))
    return int(min(best for best in found if best is not None)[1])


class _Piece(NamedTuple):
    """Some rows of a cluster, their points and weights."""

    rows: Rows
    G: Floats
    weight: Floats
    candidate: Floats


@task
def _split(
    X: Floats, first: int, assigned: Assigned, spacing: Floats | None, metric: Metric, law: Any, wanted: list[int]
) -> dict[int, _Piece]:
    points = metric.points(X, assigned.norms)
    weight, candidate = weights_of(points, spacing, law)
    members = {c: np.flatnonzero(assigned.labels == c) for c in wanted}
    return {c: _Piece(first + own, points.take(own), weight[own], candidate[own]) for c, own in members.items()}


def _piece(split: dict[int, _Piece], c: int) -> _Piece:
    return split[c]


@task
def _spread(
    pieces: list[_Piece], wanted: int, labeled: Rows, center: Floats, how: dict[str, Any], charged: bool
) -> Spread:
    """The picks of one cluster."""
    rows, G, weight, candidate = (np.concatenate(column) for column in zip(*pieces, strict=True))
    charge = Charge(weight, candidate) if charged else None
    first = np.searchsorted(rows, labeled)
    return spread_cluster(Points.raw(G), rows, wanted, first, charge, writable(center), **how, workers=1)


@task
def _sum(
    X: Floats, first: int, assigned: Assigned, spacing: Any, metric: Metric, cluster: int | None
) -> tuple[npt.NDArray[np.float64], int]:
    """The sum of the points, of one cluster or all, and how many they are."""
    points = metric.points(X, assigned.norms)
    if cluster is not None:
        points = points.subset(np.flatnonzero(assigned.labels == cluster))
    n = points.shape[0]
    return (points.mean() * n if n else np.zeros(X.shape[1])), n


@task
def _nearest(
    X: Floats, first: int, assigned: Assigned, spacing: Floats | None,
    metric: Metric, law: Any, cluster: int | None, target: Floats | None,
) -> tuple[float, int] | None:  # fmt: skip
    """How far the nearest point is from the target, and its row; without one, the least of −weight."""
    rows = np.arange(len(X)) if cluster is None else np.flatnonzero(assigned.labels == cluster)
    if len(rows) == 0:
        return None
    points = metric.points(X, assigned.norms)
    score = np.empty(len(rows), points.dtype)
    if target is None:
        score = -weights_of(points, spacing, law)[0][rows]
    else:
        first_scores(
            points.X, points.offset, points.scale, points.factor, rows, 0, len(rows),
            writable(target), points.dtype.type(1), np.ones(len(rows), points.dtype), np.empty_like(score), score,
        )  # fmt: skip
    best = int(np.argmin(score))
    return float(score[best]), first + int(rows[best])
