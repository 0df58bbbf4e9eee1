"""What every backend offers: the scaled rows of a pool, and the few operations on them that read the whole pool.

Clustering and the algorithms above are written against `RowStore` alone. A store keeps its rows where they lie: in
this process (`cpu`), on a torch device (`torch`) or on the workers of a Dask cluster (`dask`). What goes in and comes
out is NumPy. Rows are numbered from 0 in the order of the pool, and results do not depend on the backend, but for
rounding.
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
Index = npt.NDArray[Any]  # row numbers, in 4 bytes where these are enough
Groups = Sequence[Index]
Arrays = dict[str, npt.NDArray[Any]]
Work = Callable[..., Arrays]
STATE = 120  # bytes that picking inside a group takes for each of its rows


class Bound(NamedTuple):
    """The best candidate outside the front: its score and row. Of equal scores the lower row is better."""

    score: float
    row: float

    def beaten_by(self, score: float, row: float) -> bool:
        """Whether this candidate may be picked before anything elsewhere."""
        return score >= 0 and (score > self.score or (score == self.score and row < self.row))


PICKED = -1.0  # score of a candidate that can no longer be picked
NOTHING = Bound(PICKED, float("inf"))


class Scores(NamedTuple):
    """What is known of each candidate: squared length, a bound on its score, and how many picks that accounts for."""

    norm2: Floats
    score: Floats
    seen: int | Labels  # one number for all, or one for each


class Picks(Protocol):
    """Points that are labelled or picked, in that order, with their weights; passes that compare the pool with them."""

    count: int

    def add(self, rows: Index, weight: Floats, norm2: Floats | None = None) -> None:
        """Append rows of the pool; `norm2` may hold their squared lengths to the last bit."""

    def taken(self) -> tuple[Floats, Floats]:
        """The points and their weights."""

    def radii(self, weight: Floats) -> "tuple[Float64, Scores | None]":
        """After each pick the largest distance left; and scores to go on from. `weight` is that of candidates."""

    def candidates(
        self, weight: Floats, placed: Floats, groups: Groups | None = None, first: Scores | None = None,
        workers: int | None = None,
    ) -> "Sequence[Candidates]":  # fmt: skip
        """All rows as candidates, or each of some disjoint groups of ascending rows; there must be one pick at least.

        A row counts with `weight` as a candidate and with `placed` once it is picked. `first` may hold scores of all
        rows against the first picks: of `radii`, or of an earlier run.
        """


class Front(Protocol):
    """The candidates with the largest stale scores, brought up to date."""

    bound: Bound  # the best that the other candidates may be

    def pick(self, limit: Bound, stop: int) -> tuple[Rows, Floats]:
        """Pick from the front while its best beats `limit`, at most `stop` picks in all; rows and their scores."""

    def close(self) -> None:
        """Return the scores computed in the front to the candidates it was taken from."""


class Candidates(Protocol):
    """Rows that may be picked. Picks only lower a score, so a stale score is an upper bound.

    A score is the squared distance to the nearest pick times the weights of both ends.
    """

    @property
    def picks(self) -> Picks:
        """The picks that scores are distances from. Groups of candidates may share them, and so keep apart."""

    def exclude(self, rows: Rows) -> None:
        """These rows of the pool cannot be picked."""

    def left(self) -> int:
        """How many can still be picked."""

    def front(self) -> Front:
        """The candidates with the largest scores."""

    def scores(self) -> Scores | None:
        """What a later run needs to continue with identical results; None if runs of this backend cannot be resumed."""


def picks_from_front(candidates: Candidates, elsewhere: Bound, stop: int) -> tuple[Rows, Floats]:
    """Bring the front up to date and pick from it as long as it beats everything elsewhere; rows and their scores."""
    front = candidates.front()
    found = front.pick(max(elsewhere, front.bound, key=lambda bound: (bound.score, -bound.row)), stop)
    front.close()
    return found


def joined(found: Sequence[tuple[Rows, Floats]]) -> tuple[Rows, Floats]:
    """The rows and scores of several fronts one after the other."""
    if not found:
        return np.empty(0, np.int64), np.empty(0)
    rows, scores = (np.concatenate(column) for column in zip(*found, strict=True))
    return rows, scores


class Fitting(Protocol):
    """Rows that are being clustered by direction: each pass assigns every row to its nearest centre."""

    sums: Float64  # (k, d): weighted sum of the unit rows of each centre
    mass: Float64  # (k,): their weight; rows of length 0 have none

    def assign(self, centers: Floats) -> None:
        """One pass with these unit centres. Of equally near centres the first wins."""

    def labels(self) -> Labels:
        """The centre of each row after the last pass."""

    def chords(self) -> Floats:
        """Distance of each unit row from its centre, without cancellation; 0 where a row has no direction."""


class UnitRows(Protocol):
    """What spherical k-means needs of rows: directions, and passes over them."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The floating type of results: float64 for float64 pools, else float32."""

    def nonzero(self) -> npt.NDArray[np.bool_]:
        """Which rows have a direction."""

    def directions(self, rows: Index) -> Floats:
        """These rows made unit, as a plain array."""

    def fitting(self, k: int, weight: Floats | None = None) -> Fitting:
        """Passes that assign every row to one of k centres."""

    def plus_plus(self, rows: Rows, weight: Float64, k: int, rng: np.random.RandomState) -> Rows:
        """k places in `rows` by k-means++ on the sphere, see `seeding.plus_plus`."""
        return plus_plus(self.directions(rows), weight, k, rng)


class RowStore(UnitRows, Protocol):
    """The scaled rows of a pool, where they lie."""

    def take(self, rows: Index) -> Floats:
        """These rows as a plain array."""

    def subset(self, rows: Index) -> "RowStore":
        """These rows alone, copied so that they lie together."""

    def unit(self) -> "RowStore":
        """The same rows projected to the unit sphere; rows of length 0 stay 0."""

    def norms(self) -> Floats:
        """Length of each row before it was made unit. Refuses NaN and infinity by their place."""

    def constant(self) -> bool:
        """Whether scaling has found all rows equal."""

    def mean(self, rows: Index | None = None) -> Float64:
        """The mean of these rows, by default of all."""

    def squared_distances_to(self, point: Floats, rows: Index | None = None) -> Floats:
        """Squared distance of these rows, by default of all, to one point."""

    def spacing(self, labels: Labels, references: Sequence[Rows], neighbours: Sequence[int]) -> Floats:
        """For each row the mean distance to the nearest `neighbours[c]` of `references[c]`, c its label.

        References ascend; a row is not its own neighbour.
        """

    def picks(self, capacity: int) -> Picks:
        """An empty list of picks with room for so many."""

    # What follows from these; a backend may have a faster way.

    def array(self) -> Floats:
        """All rows as a plain array."""
        return self.take(np.arange(self.shape[0]))

    def nonzero(self) -> npt.NDArray[np.bool_]:
        """Which rows have a direction."""
        return self.norms() > 0

    def forget_norms(self) -> None:
        """Free their memory; they can be computed again."""

    def directions(self, rows: Index) -> Floats:
        """These rows made unit, as a plain array."""
        return made_unit(self.take(rows))

    def assign(self, centers: Floats) -> Labels:
        """The nearest of the unit centres for each row, −1 where a row has no direction."""
        fitting = self.fitting(len(centers))
        fitting.assign(centers)
        labels = fitting.labels()
        labels[~self.nonzero()] = -1
        return labels

    def map_groups(
        self, work: Work, groups: Groups, arguments: Sequence[tuple[Any, ...]], name: str, checkpoint: NullCheckpoint
    ) -> list[Arrays]:
        """The results of work(rows of the group as a store, *its arguments, workers) for each of these disjoint groups.

        Each is kept by the checkpoint. `work` is a function of a module, so that it can be sent to another machine.
        """
        store_of, row = self.apart(groups, checkpoint)
        room = (STATE + row) * max(map(len, groups), default=1)
        workers = max(1, min(thread_count(), checkpoint.room() // room))
        inner = None if workers == 1 else 1  # threads, inside a group

        def one(g: int) -> Arrays:
            return checkpoint.stage(f"{name} {g}", lambda: work(store_of(g), *arguments[g], inner), part=True)

        order = sorted(range(len(groups)), key=lambda g: -len(groups[g]))  # the largest first: threads end together
        with single_threaded_blas():
            done = dict(zip(order, run_parts(one, order, workers, checkpoint.yield_point), strict=True))
        return [done[g] for g in range(len(groups))]

    def apart(self, groups: Groups, checkpoint: NullCheckpoint) -> "tuple[Callable[[int], RowStore], int]":
        """The rows of each group as a store, by the group's number; and the bytes of memory that a row takes."""
        return lambda g: self.subset(groups[g]), self.shape[1] * self.dtype.itemsize


def made_unit(A: Floats) -> Floats:
    """The rows of A made unit, in place; rows of length 0 stay 0."""
    norms = np.linalg.norm(A, axis=1, keepdims=True)
    return np.divide(A, norms, out=A, where=norms > 0)
