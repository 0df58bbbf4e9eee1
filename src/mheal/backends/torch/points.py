"""The rows of a pool on a torch device, or on the host and streamed through the device."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ...runtime.checkpoint import NullCheckpoint
from ...runtime.threads import run_parts, thread_count
from ..base import Candidates, Float64, Floats, Labels, Picks, Rows, Scores
from .candidates import TorchCandidates
from .distances import nearest
from .fitting import TorchFitting
from .neighbours import spacing_by_label
from .picks import TorchPicks
from .placed import Placed
from .radii import radii
from .seeding import plus_plus


class Points(Placed):
    """The rows (x − offset)·scale, possibly made unit, as a `RowStore`."""

    def assign(self, centers: Floats) -> Labels:
        """The nearest of the unit centres for each row, −1 where a row has no direction."""
        fitting = self.fitting(len(centers))
        fitting.assign(centers)
        labels = fitting.labels()
        labels[~self.nonzero()] = -1
        return labels

    def fitting(self, k: int, weight: Floats | None = None) -> TorchFitting:
        """Passes that assign every row to one of k centres."""
        return TorchFitting(self, k, weight)

    def plus_plus(self, rows: Rows, weight: Float64, k: int, rng: np.random.RandomState) -> Rows:
        """k places in `rows` by k-means++ on the sphere."""
        return plus_plus(self, rows, weight, k, rng)

    def spacing(self, labels: Labels, references: Sequence[Rows], neighbours: Sequence[int]) -> Floats:
        """For each row the mean distance to the nearest references of its label."""
        return spacing_by_label(self, labels, references, neighbours)

    def squared_distances_to(self, point: Floats, rows: npt.NDArray[Any] | None = None) -> Floats:
        """Squared distance of these rows, by default of all, to one point."""
        target = self.floats(point)[None]
        parts = [nearest(Z, Z.square().sum(1), target, target.new_ones(1), self.sizes) for _, Z in self.chunks_of(rows)]
        return torch.cat(parts).cpu().numpy()

    def picks(self, capacity: int) -> TorchPicks:
        """An empty list of picks with room for so many."""
        return TorchPicks(self, capacity)

    def candidates(
        self,
        picks: Picks,
        weight: Floats | None = None,
        placed: Floats | None = None,
        *,
        first: Scores | None = None,
        workers: int | None = None,
    ) -> Candidates:
        """All rows as candidates. One worker means that others work beside it: no CUDA graphs are captured then."""
        assert isinstance(picks, TorchPicks)
        return TorchCandidates(picks, None, weight, placed, workers != 1)

    def grouped_candidates(
        self, picks: Picks, groups: Sequence[npt.NDArray[Any]], weight: Floats, placed: Floats
    ) -> Sequence[Candidates]:
        """Candidates in disjoint groups of ascending rows, which share the picks."""
        assert isinstance(picks, TorchPicks)
        return [TorchCandidates(picks, rows, weight[rows], placed[rows]) for rows in groups]

    def first_scores(self, rows: Rows) -> Sequence[None]:
        """Nothing to share between starts: a pass over the pool costs little here."""
        return [None] * len(rows)

    def radii(self, picks: Picks, weight: Floats) -> tuple[Float64, None]:
        """The largest distance left anywhere after each pick."""
        assert isinstance(picks, TorchPicks)
        return radii(self, picks, weight), None

    def map_groups(
        self,
        work: Callable[..., dict[str, npt.NDArray[Any]]],
        groups: Sequence[npt.NDArray[Any]],
        arguments: Sequence[tuple[Any, ...]],
        name: str,
        checkpoint: NullCheckpoint,
    ) -> list[dict[str, npt.NDArray[Any]]]:
        """work(rows of the group as a store, *its arguments, workers) for each group."""
        workers = max(1, min(thread_count(), len(groups)))
        inner = None if workers == 1 else 1

        def one(g: int) -> dict[str, npt.NDArray[Any]]:
            own = self.subset(groups[g])
            return checkpoint.stage(f"{name} {g}", lambda: work(own, *arguments[g], inner), part=True)

        order = sorted(range(len(groups)), key=lambda g: -len(groups[g]))  # the largest first
        done = run_parts(one, order, workers)
        return [result for _, result in sorted(zip(order, done, strict=True), key=lambda pair: pair[0])]
