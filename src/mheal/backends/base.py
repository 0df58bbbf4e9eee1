"""The interface of every backend: the scaled rows of a pool, and the operations that read the whole pool.

Clustering and the algorithms use `RowStore` alone. Its rows are in this process (`cpu`), on a torch device (`torch`) or
on the workers of a Dask cluster (`dask`). Arguments and results are NumPy arrays. Rows are numbered from 0 in the order
of the pool. Results are the same on every backend up to rounding.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ..runtime.checkpoint import NullCheckpoint
from ..runtime.threads import run_parts, single_threaded_blas, thread_count
from .seeding import plus_plus

Floats = npt.NDArray[Any]  # of the store's own floating type
Float64 = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]
Rows = npt.NDArray[np.int64]
Index = npt.NDArray[Any]  # row numbers, int32 or int64
Groups = Sequence[Index]
Arrays = dict[str, npt.NDArray[Any]]
Work = Callable[..., Arrays]
STATE = 120  # bytes of memory per row, besides the row itself, while rows of a group are picked


class Bound(NamedTuple):
    """Score and row of the best candidate outside the front. Among equal scores the lower row is better."""

    score: float
    row: float

    def beaten_by(self, score: float, row: float) -> bool:
        """Whether a candidate with this score and row is better than the bound."""
        return score >= 0 and (score > self.score or (score == self.score and row < self.row))


PICKED = -1.0  # score of a candidate that can no longer be picked
NOTHING = Bound(PICKED, float("inf"))


class Scores(NamedTuple):
    """Squared length of each candidate, an upper bound on its score, and how many picks the bound accounts for."""

    norm2: Floats
    score: Floats
    seen: int | Labels  # one number for all candidates, or one for each


class Picks(Protocol):
    """The labelled points, then the picked ones, with their weights; and their distances to the rows of the pool."""

    count: int

    def add(self, rows: Index, weight: Floats, norm2: Floats | None = None) -> None:
        """Append rows of the pool. `norm2`: their squared lengths, if they are known exactly."""

    def taken(self) -> tuple[Floats, Floats]:
        """All points so far and their weights."""

    def radii(self, weight: Floats) -> "tuple[Float64, Scores | None]":
        """The largest distance left after each pick, and scores to continue from; `weight` is that of candidates."""

    def candidates(
        self, weight: Floats, pick_weight: Floats, groups: Groups | None = None, first: Scores | None = None,
        workers: int | None = None,
    ) -> "Sequence[Candidates]":  # fmt: skip
        """The candidates: all rows, or one object for each disjoint group of ascending rows. Needs at least one pick.

        `weight` is a row's weight as a candidate, `pick_weight` its weight once it is picked. `first` may hold scores
        of all rows against the first picks, from `radii` or from an earlier run.
        """


class Front(Protocol):
    """The candidates with the largest stale scores, brought up to date."""

    bound: Bound  # no candidate outside the front is better

    def pick(self, limit: Bound, stop: int) -> tuple[Rows, Floats]:
        """Pick while the best of the front beats `limit`, up to `stop` picks in all. Returns rows and their scores."""

    def close(self) -> None:
        """Copy the scores computed in the front back to the candidates."""


class Candidates(Protocol):
    """Rows that may be picked. A pick can only lower scores, so an outdated (stale) score is an upper bound.

    A score is the squared distance to the nearest pick times the weights of both rows.
    """

    @property
    def picks(self) -> Picks:
        """The picks that scores measure the distance to. Groups of candidates may share them."""

    def exclude(self, rows: Rows) -> None:
        """Exclude these rows of the pool from being picked."""

    def left(self) -> int:
        """How many can still be picked."""

    def front(self) -> Front:
        """The candidates with the largest scores."""

    def scores(self) -> Scores | None:
        """The state from which a later run continues with identical results; None if this backend cannot resume."""


def picks_from_front(candidates: Candidates, elsewhere: Bound, stop: int) -> tuple[Rows, Floats]:
    """Update a front and pick from it while its best beats all other candidates. Returns rows and their scores."""
    front = candidates.front()
    found = front.pick(max(elsewhere, front.bound, key=lambda bound: (bound.score, -bound.row)), stop)
    front.close()
    return found


def joined(found: Sequence[tuple[Rows, Floats]]) -> tuple[Rows, Floats]:
    """The rows and scores of several fronts, concatenated."""
    if not found:
        return np.empty(0, np.int64), np.empty(0)
    rows, scores = (np.concatenate(column) for column in zip(*found, strict=True))
    return rows, scores


class Fitting(Protocol):
    """The state of spherical k-means: each pass assigns every row to its nearest centre."""

    sums: Float64  # (k, d): weighted sum of the unit rows of each cluster
    mass: Float64  # (k,): total weight of each cluster; rows of length 0 have weight 0

    def assign(self, centers: Floats) -> None:
        """Assign every row to the nearest of these unit centres; ties go to the first."""

    def labels(self) -> Labels:
        """The nearest centre of each row, from the last pass."""

    def chords(self) -> Floats:
        """Distance of each unit row from its centre, computed without cancellation; 0 for rows of length 0."""


class UnitRows(Protocol):
    """The part of `RowStore` that spherical k-means uses: directions of rows, and passes over them."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The floating type of results: float64 for float64 pools, else float32."""

    def nonzero(self) -> npt.NDArray[np.bool_]:
        """Which rows have a direction, that is, a length above 0."""

    def directions(self, rows: Index) -> Floats:
        """These rows divided by their lengths, as a NumPy array."""

    def fitting(self, k: int, weight: Floats | None = None) -> Fitting:
        """A new state of k-means with k centres."""

    def plus_plus(self, rows: Rows, weight: Float64, k: int, rng: np.random.RandomState) -> Rows:
        """k positions in `rows`, drawn by k-means++ on the sphere: see `seeding.plus_plus`."""
        return plus_plus(self.directions(rows), weight, k, rng)


class RowStore(UnitRows, Protocol):
    """The scaled rows of a pool, in memory, on a device or on a cluster."""

    def take(self, rows: Index) -> Floats:
        """These rows as a NumPy array."""

    def subset(self, rows: Index) -> "RowStore":
        """A store that holds a copy of these rows alone."""

    def unit(self) -> "RowStore":
        """The same rows projected to the unit sphere; rows of length 0 stay 0."""

    def norms(self) -> Floats:
        """Length of each row before projection. Raises an error that names the row of a NaN or infinity."""

    def constant(self) -> bool:
        """Whether standardising has shown that all rows are equal."""

    def mean(self, rows: Index | None = None) -> Float64:
        """The mean of these rows, by default of all."""

    def squared_distances_to(self, point: Floats, rows: Index | None = None) -> Floats:
        """Squared distances of these rows, by default of all, to one point."""

    def spacing(self, labels: Labels, references: Sequence[Rows], neighbours: Sequence[int]) -> Floats:
        """The mean distance of each row of label c to its `neighbours[c]` nearest rows among `references[c]`.

        Each list of references ascends. A row is not its own neighbour.
        """

    def picks(self, capacity: int) -> Picks:
        """An empty list of picks with room for `capacity` of them."""

    # Defaults that use the methods above; a backend may override them with something faster.

    def array(self) -> Floats:
        """All rows as a NumPy array."""
        return self.take(np.arange(self.shape[0]))

    def nonzero(self) -> npt.NDArray[np.bool_]:
        """Which rows have a direction, that is, a length above 0."""
        return self.norms() > 0

    def forget_norms(self) -> None:
        """Free the memory of cached norms; `norms` computes them again."""

    def directions(self, rows: Index) -> Floats:
        """These rows divided by their lengths, as a NumPy array."""
        return made_unit(self.take(rows))

    def assign(self, centers: Floats) -> Labels:
        """The nearest unit centre of each row, −1 for rows of length 0."""
        fitting = self.fitting(len(centers))
        fitting.assign(centers)
        labels = fitting.labels()
        labels[~self.nonzero()] = -1
        return labels

    def map_groups(
        self, work: Work, groups: Groups, arguments: Sequence[tuple[Any, ...]], name: str, checkpoint: NullCheckpoint
    ) -> list[Arrays]:
        """Call work(store of the group's rows, *its arguments, workers) for each of these disjoint groups.

        The checkpoint stores each result. `work` must be a module-level function, so that it can be pickled.
        """
        store_of, row = self.apart(groups, checkpoint)
        room = (STATE + row) * max(map(len, groups), default=1)
        workers = max(1, min(thread_count(), checkpoint.room() // room))
        inner = None if workers == 1 else 1  # threads within a group

        def one(g: int) -> Arrays:
            return checkpoint.stage(f"{name} {g}", lambda: work(store_of(g), *arguments[g], inner), part=True)

        order = sorted(range(len(groups)), key=lambda g: -len(groups[g]))  # largest first, which balances the threads
        with single_threaded_blas():
            done = dict(zip(order, run_parts(one, order, workers, checkpoint.yield_point), strict=True))
        return [done[g] for g in range(len(groups))]

    def apart(self, groups: Groups, checkpoint: NullCheckpoint) -> "tuple[Callable[[int], RowStore], int]":
        """A function from a group's number to a store of its rows, and the bytes of memory that one row takes."""
        return lambda g: self.subset(groups[g]), self.shape[1] * self.dtype.itemsize


def made_unit(A: Floats) -> Floats:
    """Divide the rows of A by their lengths, in place; rows of length 0 stay 0."""
    norms = np.linalg.norm(A, axis=1, keepdims=True)
    return np.divide(A, norms, out=A, where=norms > 0)
