"""Farthest-first traversal: the sequential max-min of Eq. 8, also known as k-center greedy.

It is lazy. Picks only lower the score of a candidate, so a score computed earlier is an upper bound. In each epoch the
candidates with the largest bounds, the front, are computed anew; then rows are picked from the front as long as they
beat the best bound outside it. The picks are exactly those of the plain loop, and ties go to the lowest row.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backends.base import NOTHING, Candidates, Floats, Rows, RowStore, Scores, joined, picks_from_front
from ..backends.cpu.points import Points
from ..cluster.sampled import SAMPLE, auto_clusters, sampled_clusters
from ..cluster.spherical import SphericalKMeans
from ..runtime.checkpoint import NullCheckpoint
from ..sphere import HEAD
from ..validation import LONGEST, as_array, as_budget, as_labeled, as_start, refuse_range
from .density import OUTLIER_FRACTION, DensityWeights, density_weights, local_spacing

Float64 = npt.NDArray[np.float64]
AfterEpoch = Callable[[Rows, Floats], None]  # rows picked so far, and their scores


@dataclass(frozen=True)
class Ranking:
    """Rows in pick order, the distance of each from those before it, and the largest distance left after it."""

    rows: Rows
    gain: Float64
    radius: Float64

    def __add__(self, then: "Ranking") -> "Ranking":
        return Ranking(*(np.append(a, b) for a, b in zip(vars(self).values(), vars(then).values(), strict=True)))

    @classmethod
    def nothing(cls, radius: float) -> "Ranking":
        """No picks, and the largest distance that is left."""
        return cls(np.empty(0, np.int64), np.empty(0), np.array([radius]))

    @classmethod
    def of_scores(cls, rows: Rows, score: Floats, left: float) -> "Ranking":
        """Scores are squared distances; the first row may have none, since nothing came before it."""
        distance = np.sqrt(np.maximum(np.append(score, left).astype(np.float64), 0))
        if len(score) < len(rows):
            distance = np.append(np.inf, distance)
        return cls(rows.astype(np.int64), distance[:-1], distance[1:])


def farthest_first(
    X: Any, n: int, start: int | None = None, chosen: Sequence[int] | Rows = (), *, density_power: float | None = None,
    outlier_fraction: float = OUTLIER_FRACTION, random_state: int | None = 0,
) -> Rows:  # fmt: skip
    """n rows of X, (rows, columns), in pick order: each is the farthest (Euclidean) from its nearest predecessor.

    `chosen` are rows to keep away from and not to return. `start` is the first pick; without it the first pick is the
    farthest from `chosen` or, if there are none either, row 0. Ties go to the lowest row, and a duplicate of a pick is
    taken only when nothing else is left. On unit rows this is Eq. 8: the chord orders rows as the geodesic does. The
    radius of what is left is at most twice the best possible (Gonzalez 1985). A sparse X with over 512 columns is first
    reduced to 128 by truncated SVD.

    With a `density_power` distances are measured relative to the local spacing (see `algorithms.density`), and the
    sparsest rows, a share `outlier_fraction` of all, come last. Without `start` and `chosen` the densest row is first.

    >>> farthest_first([[0.0], [1.0], [9.0], [10.0]], 3)
    array([0, 3, 1])
    """
    X = as_array(X)
    chosen = as_labeled(chosen, len(X))
    n = as_budget(n, len(X) - len(chosen))
    rows, weights, first = Points.raw(X), None, 0
    if density_power is not None:
        rng = np.random.RandomState(random_state)
        refuse_range(rows.norms(), X[:HEAD])  # and NaN and infinity by their place, before rows are sampled
        kmeans = SphericalKMeans(auto_clusters(len(X)), max_iter=10, tol=1e-3, random_state=rng)
        labels, centers = sampled_clusters(rows, kmeans, SAMPLE, rng)
        spacing = local_spacing(rows, labels, len(centers))
        weights, first = density_weights(spacing, density_power, outlier_fraction), int(np.argmin(spacing))
    if start is None and len(chosen) == 0:
        start = first
    first_pick = np.empty(0, np.int64) if start is None else np.array([as_start(start, len(X), chosen)])
    if len(first_pick) == n:
        return first_pick
    found, score, _ = traverse(rows, n - len(first_pick), np.append(chosen, first_pick), weights)
    if not LONGEST**-2 < score[0] < LONGEST**2:  # mostly because rows are equal
        refuse_range(rows.norms(), X[:HEAD])
    return np.append(first_pick, found)


def extend(candidates: Candidates, n: int, after_epoch: AfterEpoch | None = None) -> tuple[Rows, Floats]:
    """n more rows and their scores, fewer if the candidates run out. Their picks are extended by these rows."""
    found: list[tuple[Rows, Floats]] = []
    stop = candidates.picks.count + min(n, candidates.left())
    while candidates.picks.count < stop:
        found.append(picks_from_front(candidates, NOTHING, stop))
        if after_epoch is not None:
            after_epoch(*joined(found))
    return joined(found)


def traverse(
    rows: RowStore, n: int, chosen: Rows, weights: DensityWeights | None = None, *, first: Scores | None = None,
    workers: int | None = None, checkpoint: NullCheckpoint | None = None,
) -> tuple[Rows, Floats, float]:  # fmt: skip
    """n rows of the pool in farthest-first order, the score of each, and the largest score left after them.

    `chosen` holds at least one row, to keep away from; none of them is picked again. `first` may hold scores against
    the first of `chosen`. With a checkpoint that stores results a run resumes from the last epoch that was saved.
    """
    observed, checkpoint = checkpoint is not None, checkpoint or NullCheckpoint()
    before, gain, norm2 = np.empty(0, np.int64), np.empty(0, rows.dtype), None
    if stored := checkpoint.load_partial("picks"):
        before, gain, norm2 = stored["rows"], stored["gain"], stored["norm2"][stored["rows"]]
        first = Scores(stored["norm2"], stored["score"], stored["seen"])
    picks = rows.picks(len(chosen) + n + 1)
    weight, candidate = weights or DensityWeights.equal(rows)
    for some, known in ((chosen, None), (before, norm2)):
        if len(some):
            picks.add(some, weight[some], known)
    candidates = picks.candidates(candidate, weight, first=first, workers=workers)[0]
    candidates.exclude(chosen)

    def after_epoch(new: Rows, scores: Floats) -> None:
        checkpoint.report(min(n, len(before) + len(new)), n, "picks")
        known = candidates.scores()
        if known is not None:
            checkpoint.save_partial(
                "picks", lambda: {"rows": np.append(before, new), "gain": np.append(gain, scores), **known._asdict()}
            )

    # One more than wanted: its score is what the others leave.
    new, scores = extend(candidates, n + 1 - len(before), after_epoch if observed else None)
    picked, scores = np.append(before, new), np.append(gain, scores)
    return picked[:n], scores[:n], float(scores[n]) if len(scores) > n else 0.0


def spread(
    rows: RowStore, n: int, labeled: Rows, weights: DensityWeights | None = None, lead: Rows | None = None,
    checkpoint: NullCheckpoint | None = None,
) -> Ranking:  # fmt: skip
    """n rows of the whole pool, far from labelled rows (Eq. 8).

    `lead` are rows already chosen in another way: they come first, and their distances are measured like all others.
    Without labels and `lead` the densest row starts.
    """
    checkpoint = checkpoint or NullCheckpoint()
    if lead is None or not len(lead):
        start = labeled if len(labeled) else np.array([densest(rows, weights)])
        found, score, left = traverse(rows, n - (len(labeled) == 0), start, weights, checkpoint=checkpoint)
        return Ranking.of_scores(found if len(labeled) else np.concatenate([start, found]), score, left)
    lead = lead[:n]
    chosen = np.concatenate([labeled, lead])
    weight, candidate = weights or DensityWeights.equal(rows)
    picks = rows.picks(len(chosen))
    picks.add(chosen, weight[chosen])
    P, P_weight = (A.astype(np.float64) for A in picks.taken())
    own = candidate[chosen].astype(np.float64)
    before = np.full(len(lead), np.inf)
    for i in range(max(1, len(labeled)), len(chosen)):
        nearest = (np.square(P[:i] - P[i]).sum(axis=1) * P_weight[:i]).min()
        before[i - len(labeled)] = np.sqrt(nearest * own[i])

    def measure() -> dict[str, npt.NDArray[Any]]:
        radius, scores = picks.radii(candidate)
        known = {} if scores is None else {"norm2": scores.norm2, "score": scores.score}
        return {"radius": radius[-len(lead) :], **known}

    measured = checkpoint.stage("radii", measure)
    leading = Ranking(lead, before, measured["radius"])
    if len(lead) == n:
        return leading
    first = None
    if "norm2" in measured:  # passed on rather than kept: the traversal changes the scores
        first = Scores(measured.pop("norm2"), measured.pop("score"), len(chosen))
    then = traverse(rows, n - len(lead), chosen, weights, first=first, checkpoint=checkpoint)
    return leading + Ranking.of_scores(*then)


def densest(rows: RowStore, weights: DensityWeights | None, members: npt.NDArray[Any] | None = None) -> int:
    """The row to start from: the densest of these (all by default) or, without weights, the nearest to their mean."""
    if weights is not None:
        return int(np.argmax(weights.candidate) if members is None else members[np.argmax(weights.candidate[members])])
    at = int(np.argmin(rows.squared_distances_to(rows.mean(members), members)))
    return at if members is None else int(members[at])
