"""The rows of a pool in this process: in memory, or in a memory-mapped file that is read part by part."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...runtime.checkpoint import NullCheckpoint
from ...runtime.threads import spans
from ..base import Float64, Floats, Labels, Picks, Rows, Scores
from .fitting import CpuFitting, nearest_centers
from .groups import map_groups
from .lazy_scores import first_scores
from .neighbours import spacing_by_label
from .radii import radii
from .seeding import plus_plus
from .staging import PASS_ROWS, Moments, Sizes, Staged, moments, passes
from .traversal import CpuCandidates, CpuPicks

__all__ = ["Moments", "Points", "Sizes", "moments", "passes"]

CLOSE = 1e-4  # of the squared length: smaller squared distances are computed by differences


class Points(Staged):
    """The rows (X[i] − offset)·scale·factor[i] as a `RowStore`."""

    def assign(self, centers: Floats) -> Labels:
        """The nearest of the unit centres for each row, −1 where a row has no direction."""
        return nearest_centers(self, centers)

    def fitting(self, k: int, weight: Floats | None = None) -> CpuFitting:
        """Passes that assign every row to one of k centres."""
        return CpuFitting(self, k, weight)

    def plus_plus(self, rows: Rows, weight: Float64, k: int, rng: np.random.RandomState) -> Rows:
        """k places in `rows` by k-means++ on the sphere."""
        return plus_plus(self.directions(rows), weight, k, rng)

    def spacing(self, labels: Labels, references: Sequence[Rows], neighbours: Sequence[int]) -> Floats:
        """For each row the mean distance to the nearest references of its label."""
        return spacing_by_label(self, labels, references, neighbours)

    def squared_distances_to(self, point: Floats, rows: npt.NDArray[Any] | None = None) -> Floats:
        """Squared distance of these rows, by default of all, to one point."""
        n = self.shape[0] if rows is None else len(rows)
        members, one = np.arange(n) if rows is None else rows, self.dtype.type(1)
        out, norm2, ones = np.empty(n, self.dtype), np.empty(n, self.dtype), np.ones(n, self.dtype)
        point = np.array(point, self.dtype)
        self.run_parts(
            lambda span: first_scores(*self.source, members, *span, point, one, ones, norm2, out),
            spans(n, self.passes()[0][1]),
        )
        return out

    def picks(self, capacity: int) -> CpuPicks:
        """An empty list of picks with room for so many."""
        return CpuPicks(self, capacity)

    def candidates(
        self,
        picks: Picks,
        weight: Floats | None = None,
        placed: Floats | None = None,
        *,
        first: Scores | None = None,
        workers: int | None = None,
    ) -> CpuCandidates:
        """All rows as candidates."""
        assert isinstance(picks, CpuPicks)
        return CpuCandidates(self, picks, None, weight, placed, first, workers)

    def grouped_candidates(
        self, picks: Picks, groups: Sequence[npt.NDArray[Any]], weight: Floats, placed: Floats
    ) -> Sequence[CpuCandidates]:
        """Candidates in disjoint groups of ascending rows, which share the picks."""
        assert isinstance(picks, CpuPicks)
        return [CpuCandidates(self, picks, rows, weight[rows], placed[rows]) for rows in groups]

    def first_scores(self, rows: Rows) -> Sequence[Scores]:
        """For each of these rows, scores against it alone: one pass serves them all."""
        A = self.array()
        norm2, scores = np.empty(len(A), self.dtype), np.empty((len(rows), len(A)), self.dtype)
        starts = A[rows]
        start2 = np.einsum("ij,ij->i", starts, starts)[:, None]
        for lo, hi in spans(len(A), PASS_ROWS):  # blocks: the temporaries stay small beside the scores
            block, own = A[lo:hi], norm2[lo:hi]
            np.einsum("ij,ij->i", block, block, out=own)
            distance2 = own + start2 - 2 * (block @ starts.T).T
            for d2, start in zip(distance2, starts, strict=True):
                close = np.flatnonzero(d2 < CLOSE * own)  # here the formula above cancels: take differences
                d2[close] = np.square(block[close] - start).sum(axis=1)
            scores[:, lo:hi] = distance2
            self.yield_point()
        return [Scores(norm2, d2, 1) for d2 in scores]

    def radii(self, picks: Picks, weight: Floats) -> tuple[Float64, Scores]:
        """The largest distance left anywhere after each pick, and scores against all of them."""
        assert isinstance(picks, CpuPicks)
        worst, scores = radii(self, picks, weight)
        return np.sqrt(worst), scores

    def map_groups(
        self,
        work: Callable[..., dict[str, npt.NDArray[Any]]],
        groups: Sequence[npt.NDArray[Any]],
        arguments: Sequence[tuple[Any, ...]],
        name: str,
        checkpoint: NullCheckpoint,
    ) -> list[dict[str, npt.NDArray[Any]]]:
        """work(rows of the group as a store, *its arguments, workers) for each group."""
        return map_groups(self, work, groups, arguments, name, checkpoint)
