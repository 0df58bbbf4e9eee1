"""One lazy epoch of a partition (see kernels/traversal.py): what the workers do between two turns of the client.

A partition keeps a stale score for each row, which is an upper bound, and how many picks that score has seen. In an
epoch it brings those up to date that reach a bound, and sends the best of them to the client, who picks among them.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...algorithms.density import charge_at
from ..cpu.grouping import row_type
from ..cpu.lazy_scores import CHUNK, NOWHERE, PICKED, catch_up, first_scores, stale
from ..cpu.points import Points
from ..cpu.radii import radii as all_radii
from ..cpu.traversal import Picks
from .charges import Law
from .clusters import Assigned
from .partitions import Metric, Rows, task, writable

Floats = npt.NDArray[Any]


class Picked(NamedTuple):
    """Rows that are picked or labelled, their points, squared lengths and weights."""

    rows: Rows
    P: Floats
    norm2: Floats
    weight: Floats


class Scores(NamedTuple):
    """Upper bounds on the scores of a partition's rows, and how many picks they have seen."""

    score: Floats
    seen: npt.NDArray[np.int32]


class Fixed(NamedTuple):
    """What does not change: squared lengths, weights as candidates and once picked, and the groups rows compete in."""

    norm2: Floats
    candidate: Floats
    weight: Floats
    group: npt.NDArray[np.int32]


class Front(NamedTuple):
    """Rows that travel to the client, ascending, with all that picking among them needs.

    limit, limit_row : in each group, the best score that stays behind, and its row
    sample, sample_group : some scores of the partition, to choose the next bound from
    """

    rows: Rows
    G: Floats
    score: Floats
    norm2: Floats
    candidate: Floats
    weight: Floats
    group: npt.NDArray[np.int32]
    limit: Floats
    limit_row: Rows
    sample: Floats
    sample_group: npt.NDArray[np.int32]


class Begun(NamedTuple):
    """A partition before the first epoch; radii are those after each pick so far, where they are asked for."""

    fixed: Fixed
    scores: Scores
    radii: npt.NDArray[np.float64] | None


class Epoch(NamedTuple):
    """A partition after an epoch."""

    scores: Scores
    front: Front


@task
def begin(
    X: Floats, first: int, assigned: Assigned, spacing: Floats | None,
    metric: Metric, law: Law | None, picked: Picked, grouped: bool, with_radii: bool, step: int,
) -> Begun:  # fmt: skip
    """Scores against the first pick, those of a sample against all, and the largest distances that all picks leave."""
    points = metric.points(X, assigned.norms)
    weight, candidate = weights_of(points, spacing, law)
    group = assigned.labels if grouped else np.broadcast_to(np.int32(0), len(X))
    if with_radii:  # which gives scores against all picks
        worst, (norm2, score) = all_radii(points, _picks(points, picked), candidate)
        seen = np.full(len(X), len(picked.rows), np.int32)
        return Begun(Fixed(norm2, candidate, weight, group), Scores(score, seen), worst)
    norm2, score = np.empty(len(X), points.dtype), np.empty(len(X), points.dtype)
    first_scores(
        points.X, points.offset, points.scale, points.factor, _every(len(X)), 0, len(X),
        picked.P[0].copy(), picked.weight[0], candidate, norm2, score,
    )  # fmt: skip
    fixed, scores = Fixed(norm2, candidate, weight, group), Scores(score, np.ones(len(X), np.int32))
    _catch_up(points, picked, fixed, scores, np.arange(0, len(X), step))
    return Begun(fixed, scores, None)


@task
def radii(
    X: Floats, first: int, assigned: Assigned, spacing: Floats | None,
    metric: Metric, law: Law | None, picked: Picked,
) -> npt.NDArray[np.float64]:  # fmt: skip
    """The largest score left after each pick."""
    points = metric.points(X, assigned.norms)
    return all_radii(points, _picks(points, picked), weights_of(points, spacing, law)[1])[0]


@task
def advance_epoch(
    X: Floats, first: int, assigned: Assigned, begun: Begun, before: Begun | Epoch,
    metric: Metric, picked: Picked, bounds: Floats, room: Rows, step: int,
) -> Epoch:  # fmt: skip
    """Bring up to date what reaches its group's bound; the best of it, `room` rows in each group, is the front."""
    fixed = begun.fixed
    score, seen = before.scores.score.copy(), before.scores.seen.copy()  # a task must not change what it is given
    score[picked.rows[(picked.rows >= first) & (picked.rows < first + len(X))] - first] = PICKED
    level = bounds[fixed.group]
    reaching = (score >= level) & (score >= 0)
    front = np.flatnonzero(reaching)
    reaching[::step] = True  # the sample too, or the next bound would be too high to pick anything
    points = metric.points(X, assigned.norms)
    _catch_up(points, picked, fixed, Scores(score, seen), np.flatnonzero(reaching))
    front = front[score[front] >= level[front]]
    front, limit, left = _best(front, score[front], fixed.group[front], room)
    travelling = Front(
        first + front, points.take(front), score[front], fixed.norm2[front], fixed.candidate[front],
        fixed.weight[front], fixed.group[front], limit, np.where(left < NOWHERE, first + left, NOWHERE),
        *_sampled(score, fixed, step),
    )  # fmt: skip
    return Epoch(Scores(score, seen), travelling)


def _catch_up(points: Points, picked: Picked, fixed: Fixed, scores: Scores, rows: Rows) -> None:
    """Apply to these rows the picks that their scores have not seen."""
    t = len(picked.rows)
    scratch = np.empty((CHUNK, points.shape[1]), points.dtype), np.empty(CHUNK * CHUNK, points.dtype)
    catch_up(
        points.X, points.offset, points.scale, points.factor, _every(points.shape[0]),
        stale(rows, scores.seen, t), 0, 1, *(writable(A) for A in picked[1:]), t,
        writable(fixed.candidate), writable(fixed.norm2), *scores, *scratch,
    )  # fmt: skip


def _picks(points: Points, picked: Picked) -> Picks:
    """Picks as the kernels have them."""
    picks = Picks(points, len(picked.rows))
    picks.P[:], picks.norm2[:], picks.weight[:], picks.count = picked.P, picked.norm2, picked.weight, len(picked.rows)
    return picks


def _every(n: int) -> npt.NDArray[Any]:
    """All rows of a partition, in the type that kernels are compiled for."""
    return np.arange(n, dtype=row_type(n))


def _best(rows: Rows, score: Floats, group: npt.NDArray[np.int32], room: Rows) -> tuple[Rows, Floats, Rows]:
    """The best rows of each group, lowest first among equals; then the best that found no room: its score, and it.

    Where all found room that is nobody: PICKED, NOWHERE.
    """
    limit, left = np.full(len(room), PICKED, score.dtype), np.full(len(room), NOWHERE)
    kept = []
    for g in range(len(room)):
        own = np.flatnonzero(group == g)
        if len(own) > room[g]:
            order = own[np.argsort(-score[own], kind="stable")]
            limit[g], left[g] = score[order[room[g]]], rows[order[room[g]]]
            own = order[: room[g]]
        kept.append(own)
    return rows[np.sort(np.concatenate(kept))], limit, left


def _sampled(score: Floats, fixed: Fixed, step: int) -> tuple[Floats, npt.NDArray[np.int32]]:
    return score[::step].copy(), fixed.group[::step].copy()


def weights_of(points: Points, spacing: Floats | None, law: Law | None) -> tuple[Floats, Floats]:
    """What points count with once they are picked, and as candidates."""
    if spacing is None or law is None:
        ones = np.ones(points.shape[0], points.dtype)
        return ones, ones
    weight, candidate = charge_at(spacing, *law)
    return weight, candidate


def append(picked: Picked, more: Picked) -> Picked:
    """These picks and then the others."""
    return Picked(*(np.concatenate(pair) for pair in zip(picked, more, strict=True)))


def first_picked(rows: Rows, P: Floats, weight: Floats) -> Picked:
    """Picks from their points."""
    return Picked(rows, P, np.einsum("ij,ij->i", P, P), weight)


def sample_of(begun: Begun, step: int) -> tuple[Floats, npt.NDArray[np.int32]]:
    """Some scores of a partition, and the groups of these rows."""
    return _sampled(begun.scores.score, begun.fixed, step)


def radii_of(begun: Begun) -> npt.NDArray[np.float64] | None:
    """The radii that were found at the beginning."""
    return begun.radii


def front_of(epoch: Epoch) -> Front:
    """What travels to the client."""
    return epoch.front
