"""The lazy farthest-first traversal on the device: most distances are never computed.

All candidates have stale scores, which are upper bounds. The few per cent with the largest, the front, are gathered and
caught up by matrix products; of these, again, the few with the largest; and so on, until they fit the device's cache.
From those rows are picked as long as they beat everything outside. Ties go to the lowest row.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from ..base import NOTHING, PICKED, Bound, Float64, Floats, Groups, Index, Rows, Scores
from .cached import CachedCandidates
from .distances import nearest
from .picks import PickList
from .radii import radii

FRONT = 1 << 29  # bytes of the front at most
CACHE = 1 << 20  # bytes of a processor's cache that rows may take
FEWEST = 512  # rows whose scores are kept exact


class Scored:
    """Rows of the pool, ascending, with what is known of each."""

    def __init__(
        self, picks: PickList, rows: torch.Tensor, weight: torch.Tensor, placed: torch.Tensor, norm2: torch.Tensor,
        score: torch.Tensor, seen: torch.Tensor, room: Callable[[], CachedCandidates], size: int,
    ) -> None:  # fmt: skip
        """`seen` is how many picks a score has seen; `room` gives the place in the cache, for `size` rows."""
        self.picks, self.rows, self.weight, self.placed = picks, rows, weight, placed
        self.norm2, self.score, self.seen, self.room, self.size = norm2, score, seen, room, size

    def gather(self, at: torch.Tensor) -> torch.Tensor:
        """A copy of the points of some of them."""
        return self.picks.points.gather(self.rows[at])

    def exclude(self, rows: Rows) -> None:
        """These rows of the pool cannot be picked."""
        at = torch.searchsorted(self.rows, self.picks.points.index(rows))
        self.score[at] = PICKED

    def left(self) -> int:
        """How many can still be picked."""
        return int((self.score >= 0).sum())

    def best(self) -> tuple[float, float]:
        """The largest score, stale or not, and its row."""
        score, at = self.score.max(dim=0)
        best, row = torch.stack([score.double(), self.rows[at].double()]).tolist()
        return best, row

    def scores(self) -> None:
        """A run on a device is not resumed in the middle of its picks."""

    def front_size(self) -> int:
        """Rows in the front; no more than fit the cache where they are few."""
        points = self.picks.points
        size = min(len(self.rows) // points.sizes.share, FRONT // (points.shape[1] * points.dtype.itemsize))
        return self.size if size < 4 * self.size else size

    def front(self) -> "TorchFront":
        """The candidates with the largest scores (of equal ones the lowest rows), brought up to date."""
        with torch.cuda.device_of(self.score):
            front = TorchFront(self, *self._largest(self.front_size()))
            front.catch_up()
        return front

    def _largest(self, size: int) -> tuple[torch.Tensor, Bound]:
        """Places of the largest scores, and the best elsewhere."""
        if size >= len(self.rows):
            return (self.score >= 0).nonzero()[:, 0], NOTHING
        least = self.score.topk(size, sorted=False).values.min()
        above, tied = self.score > least, self.score == least
        kept = above | (tied & (tied.cumsum(0) <= size - above.sum()))
        left = tied & ~kept
        row = torch.where(left.any(), self.rows[left.to(torch.int8).argmax()].double(), torch.inf)
        return kept.nonzero()[:, 0], Bound(*torch.stack([least.double(), row]).tolist())


class TorchFront(Scored):
    """Some of other candidates, whose points lie side by side."""

    def __init__(self, of: Scored, at: torch.Tensor, bound: Bound) -> None:
        super().__init__(
            of.picks, of.rows[at], of.weight[at], of.placed[at], of.norm2[at], of.score[at], of.seen[at], of.room,
            of.size,
        )  # fmt: skip
        self.of, self.at, self.bound, self.G = of, at, bound, of.gather(at)

    @property
    def inner(self) -> "TorchFront | None":
        """The front as candidates, where it is too large to pick from at once."""
        return self if len(self.rows) > self.size else None

    def gather(self, at: torch.Tensor) -> torch.Tensor:
        """A copy of the points of some of them."""
        return self.G[at]

    def catch_up(self) -> None:
        """Apply the picks that each has missed."""
        picks, sizes = self.picks, self.picks.points.sizes
        seen, order = self.seen.sort()
        oldest = seen[:: sizes.catch_up].tolist()
        for at, first in zip(order.split(sizes.catch_up), oldest, strict=True):
            if first < picks.count:
                new = slice(first, picks.count)
                missed = nearest(self.G[at], self.norm2[at], picks.P[new], picks.weight[new], sizes)
                self.score[at] = torch.minimum(self.score[at], missed * self.weight[at])
        self.seen.fill_(picks.count)

    def pick(self, limit: Bound, stop: int) -> tuple[Rows, Floats]:
        """Pick from the front while it beats the limit; the rows and their scores."""
        with torch.cuda.device_of(self.score):
            picked = self.room().pick(self.G, self.rows, self.weight, self.placed, self.score, self.seen, limit, stop)
        rows = np.array([row for row, _ in picked], np.int64)
        return rows, np.array([score for _, score in picked], self.picks.points.dtype)

    def close(self) -> None:
        """The scores go back to the candidates that the front was taken from."""
        self.of.score[self.at], self.of.seen[self.at] = self.score, self.seen


class TorchCandidates(Scored):
    """Rows that may be picked, by default all, and their scores."""

    def __init__(
        self, picks: PickList, members: Index | None, weight: torch.Tensor, placed: torch.Tensor, graphs: bool
    ) -> None:
        """`members` are ascending rows of the pool."""
        points, sizes = picks.points, picks.points.sizes
        own = torch.arange(points.shape[0], device=points.device) if members is None else points.index(members)
        n, seen = len(own), min(sizes.first, picks.count)
        cached = min(n, sizes.cached or rows_that_fit(points.device, points.shape[1] * points.dtype.itemsize))
        norm2, score = weight.new_empty(n), weight.new_empty(n)
        since = torch.full((n,), seen, dtype=torch.int32, device=points.device)
        super().__init__(picks, own, weight[own], placed[own], norm2, score, since, self._cached, cached)
        self._graphs = graphs
        self._room: CachedCandidates | None = None
        for lo, Z in points.chunks_of(members):
            part = slice(lo, lo + len(Z))
            norm2[part] = Z.square().sum(1)
            near = nearest(Z, norm2[part], picks.P[:seen], picks.weight[:seen], sizes)
            score[part] = near * self.weight[part]

    def _cached(self) -> CachedCandidates:
        if self._room is None:
            self._room = CachedCandidates(self.size, self.picks, self._graphs)
        return self._room

    def front_size(self) -> int:
        """Of a pool on the host as many as there is room for, so that the transfers are few."""
        points = self.picks.points
        size = min(len(self.rows) // points.sizes.share, FRONT // (points.shape[1] * points.dtype.itemsize))
        size = max(size, min(len(self.rows) // 4, points.rows.room))
        return self.size if size < 4 * self.size else size


class TorchPicks(PickList):
    """Rows that are labelled or picked, and the passes that compare the pool with them."""

    def radii(self, weight: Floats) -> tuple[Float64, None]:
        """The largest distance left anywhere after each pick."""
        return radii(self.points, self, weight), None

    def candidates(
        self, weight: Floats | None = None, placed: Floats | None = None, *, groups: Groups | None = None,
        first: Scores | None = None, workers: int | None = None,
    ) -> list[TorchCandidates]:  # fmt: skip
        """All rows as candidates, or some groups. One worker: others work beside it, and no CUDA graph is captured."""
        points = self.points
        w = self.weight.new_ones(points.shape[0]) if weight is None else points.floats(weight)
        more = w if placed is None else points.floats(placed)
        own: Sequence[Index | None] = [None] if groups is None else groups
        return [TorchCandidates(self, rows, w, more, workers != 1) for rows in own]


def rows_that_fit(device: torch.device, row_bytes: int) -> int:
    """How many rows and their differences stay in the cache of this device."""
    cache = torch.cuda.get_device_properties(device).L2_cache_size // 4 if device.type == "cuda" else CACHE // 2
    return max(FEWEST, cache // row_bytes)
