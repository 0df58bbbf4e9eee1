"""What the workers do: pure functions of a partition, of results of earlier tasks on it, and of small arrays."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..base import PICKED, Floats, Labels, Rows
from ..cpu.grouping import grouped, row_type
from ..cpu.lazy_scores import CHUNK, NOWHERE, catch_up, first_scores, stale
from ..cpu.neighbours import spacing_of
from ..cpu.points import Points
from ..cpu.traversal import CpuPicks
from .partitions import task, writable
from .transform import Transform


class Picked(NamedTuple):
    """Rows that are picked or labelled, their points, squared lengths and weights."""

    rows: Rows
    P: Floats
    norm2: Floats
    weight: Floats


class Fixed(NamedTuple):
    """Does not change: squared lengths, weights as candidates and once picked, and the groups rows compete in."""

    norm2: Floats
    candidate: Floats
    placed: Floats
    group: Labels


class State(NamedTuple):
    """Upper bounds on the scores of a partition's rows, and how many picks they have seen."""

    score: Floats
    seen: npt.NDArray[np.int32]


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
    placed: Floats
    group: Labels
    limit: Floats
    limit_row: Rows
    sample: Floats
    sample_group: Labels


@task
def lengths(X: Floats, first: int, transform: Transform) -> Floats:
    """Length of each row."""
    return transform.points(X).norms()


@task
def total(X: Floats, first: int, norms: Floats, rows: Rows | None, transform: Transform) -> npt.NDArray[np.float64]:
    """The sum of these rows, by default of all."""
    points = transform.points(X, norms)
    n = len(X) if rows is None else len(rows)
    return points.mean(rows) * n if n else np.zeros(X.shape[1])


@task
def assign(X: Floats, first: int, norms: Floats, transform: Transform, centers: Floats) -> Labels:
    """The nearest centre of each row, −1 for rows without a direction."""
    return transform.points(X, norms).assign(centers)


@task
def spacing(
    X: Floats, first: int, norms: Floats, labels: Labels, transform: Transform,
    known: list[tuple[Rows, Floats]], neighbours: list[int],
) -> Floats:  # fmt: skip
    """Mean distance of each row to the references of its label; references are (rows, points) for each label."""
    points = transform.points(X, norms)
    out = np.empty(len(X), points.dtype)
    order, ends = grouped(writable(labels), len(known))
    for c in np.flatnonzero(np.diff(ends)).tolist():
        members = order[ends[c] : ends[c + 1]]
        rows, R = known[c]
        out[members] = spacing_of(points, members, rows - first, writable(R), neighbours[c])
    return out


@task
def squared_distances_to(
    X: Floats, first: int, norms: Floats, rows: Rows | None, transform: Transform, point: Floats
) -> Floats:
    """Squared distance of these rows, by default of all, to one point."""
    if len(X) == 0 or (rows is not None and len(rows) == 0):
        return np.empty(0, X.dtype)
    return transform.points(X, norms).squared_distances_to(point, None if rows is None else writable(rows))


@task
def all_radii(
    X: Floats, first: int, norms: Floats, weight: Floats, transform: Transform, picked: Picked
) -> tuple[npt.NDArray[np.float64], Floats, Floats]:
    """The largest distance left after each pick; squared lengths, and scores against all picks."""
    points = transform.points(X, norms)
    picks = CpuPicks(points, len(picked.rows))
    picks.P[:], picks.norm2[:], picks.weight[:], picks.count = *picked[1:], len(picked.rows)
    worst, scores = picks.radii(writable(weight))
    return worst, scores.norm2, scores.score


@task
def begin(
    X: Floats, first: int, norms: Floats, candidate: Floats | None, placed: Floats | None, group: Labels | None,
    norm2: Floats | None, score: Floats | None, transform: Transform, picked: Picked, seen: int, step: int,
) -> tuple[Fixed, State]:  # fmt: skip
    """Scores against the first `seen` picks; those of a sample against all."""
    points = transform.points(X, norms)
    candidate = np.ones(len(X), points.dtype) if candidate is None else writable(candidate)
    placed = candidate if placed is None else writable(placed)
    group = np.zeros(len(X), np.int32) if group is None else group
    if norm2 is None or score is None:
        norm2, score = np.empty(len(X), points.dtype), np.empty(len(X), points.dtype)
        first_scores(
            *points.source, _every(len(X)), 0, len(X), picked.P[0].copy(), picked.weight[0], candidate, norm2, score
        )
    fixed = Fixed(norm2, candidate, placed, group)
    state = State(np.where(group < 0, points.dtype.type(PICKED), score), np.full(len(X), seen, np.int32))
    _catch_up(points, picked, fixed, state, np.arange(0, len(X), step))
    return fixed, state


@task
def advance_epoch(
    X: Floats, first: int, norms: Floats, fixed: Fixed, before: State,
    transform: Transform, picked: Picked, excluded: Rows, bounds: Floats, room: Rows, step: int,
) -> tuple[State, Front]:  # fmt: skip
    """Bring up to date what reaches its group's bound; the best of it, `room` rows in each group, is the front."""
    score, seen = before.score.copy(), before.seen.copy()  # a task must not change its arguments
    for gone in (picked.rows, excluded):
        score[gone[(gone >= first) & (gone < first + len(X))] - first] = PICKED
    level = bounds[fixed.group]
    reaching = (score >= level) & (score >= 0)
    front = np.flatnonzero(reaching)
    reaching[::step] = True  # the sample too, or the next bound would be too high to pick anything
    points = transform.points(X, norms)
    _catch_up(points, picked, fixed, State(score, seen), np.flatnonzero(reaching))
    front = front[score[front] >= level[front]]
    front, limit, left = _best(front, score[front], fixed.group[front], room)
    travelling = Front(
        first + front, points.take(front), score[front], fixed.norm2[front], fixed.candidate[front],
        fixed.placed[front], fixed.group[front], limit, np.where(left < NOWHERE, first + left, NOWHERE),
        score[::step].copy(), fixed.group[::step].copy(),
    )  # fmt: skip
    return State(score, seen), travelling


@task
def split(X: Floats, first: int, norms: Floats, group: Labels, transform: Transform, count: int) -> dict[int, Floats]:
    """The rows of each group in this partition."""
    points = transform.points(X, norms)
    return {g: points.take(np.flatnonzero(group == g)) for g in range(count)}


@task
def together(work: Callable[..., Any], pieces: list[Floats], arguments: tuple[Any, ...]) -> Any:
    """Work on the rows of one group, which lie together here."""
    return work(Points.raw(np.concatenate(pieces)), *(_writable(value) for value in arguments), 1)


def piece(parts: dict[int, Floats], g: int) -> Floats:
    """The rows of one group in a partition."""
    return parts[g]


def append(picked: Picked, more: Picked) -> Picked:
    """These picks and then the others."""
    return Picked(*(np.concatenate(pair) for pair in zip(picked, more, strict=True)))


def item(pair: tuple[Any, ...], i: int) -> Any:
    """One of several results."""
    return pair[i]


def sample_of(begun: tuple[Fixed, State], step: int) -> tuple[Floats, Labels]:
    """Some scores of a partition, and the groups of these rows."""
    fixed, state = begun
    return state.score[::step].copy(), fixed.group[::step].copy()


def _writable(value: Any) -> Any:
    """Arrays as the kernels are compiled for, those of a tuple too."""
    if isinstance(value, np.ndarray):
        return writable(value)
    return type(value)(*map(_writable, value)) if isinstance(value, tuple) and hasattr(value, "_fields") else value


def _catch_up(points: Points, picked: Picked, fixed: Fixed, state: State, rows: Rows) -> None:
    """Apply to these rows the picks that their scores have not seen."""
    t = len(picked.rows)
    scratch = np.empty((CHUNK, points.shape[1]), points.dtype), np.empty(CHUNK * CHUNK, points.dtype)
    catch_up(
        *points.source, _every(points.shape[0]), stale(rows, state.seen, t), 0, 1, *(writable(A) for A in picked[1:]),
        t, writable(fixed.candidate), writable(fixed.norm2), *state, *scratch,
    )  # fmt: skip


def _every(n: int) -> npt.NDArray[Any]:
    """All rows of a partition, in the type that kernels are compiled for."""
    return np.arange(n, dtype=row_type(n))


def _best(rows: Rows, score: Floats, group: Labels, room: Rows) -> tuple[Rows, Floats, Rows]:
    """The best rows of each group, lowest first among equals; then the best that found no room: its score, and it.

    Where all found room that is none: PICKED, NOWHERE.
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
