"""The lazy farthest-first traversal on the device: most distances are never computed.

Scores of candidates may be outdated (stale): they are upper bounds. The few per cent with the largest scores, the
front, are copied and updated by matrix products. The largest of the front form a smaller front, and so on until one
fits the device's cache. Its rows are picked while they beat all others, in bursts that do not wait for the device. A
burst may pick too many. Picks that do not beat the other candidates are then discarded, and the scores restored. Ties
go to the lowest row.
"""

from collections.abc import Callable, Sequence
from functools import cache, cached_property

import numpy as np
import torch

from ..base import NOTHING, PICKED, Bound, Float64, Floats, Groups, Index, Rows, Scores, joined, picks_from_front
from .distances import nearest, radii
from .graphs import capture
from .scaled import Scaled

FRONT = 1 << 29  # bytes of the front at most
CACHE = 1 << 18  # bytes of a CPU's cache that candidates may take: each pick reads all of them
FEWEST = 512  # rows at least whose scores are kept exact


class TorchPicks:
    """The labelled and picked points, in order, and their weights, on the device."""

    def __init__(self, points: Scaled, capacity: int) -> None:
        self.points, self.count = points, 0
        self.P = torch.empty((capacity, points.shape[1]), dtype=points.rows.dtype, device=points.device)
        self.weight = self.P.new_empty(capacity)

    def add(self, rows: Index, weight: Floats, norm2: Floats | None = None) -> None:
        self.append(self.points.gather(self.points.index(rows)), self.points.floats(weight))

    def append(self, P: torch.Tensor, weight: torch.Tensor) -> None:
        new = slice(self.count, self.count + len(P))
        self.P[new], self.weight[new] = P, weight
        self.count += len(P)

    def taken(self) -> tuple[Floats, Floats]:
        return self.P[: self.count].cpu().numpy(), self.weight[: self.count].cpu().numpy()

    def radii(self, weight: Floats) -> tuple[Float64, None]:
        return radii(self.points, self.P[: self.count], self.weight[: self.count], weight), None

    def candidates(
        self, weight: Floats, pick_weight: Floats, groups: Groups | None = None, first: Scores | None = None,
        workers: int | None = None,
    ) -> "list[TorchCandidates]":  # fmt: skip
        """As in `Picks`. With workers=1 other threads share the device, so no CUDA graph is captured."""
        both = self.points.floats(weight), self.points.floats(pick_weight)
        own: Sequence[Index | None] = [None] if groups is None else groups
        return [self._group(rows, *both, workers != 1) for rows in own]

    def _group(
        self, members: Index | None, weight: torch.Tensor, pick_weight: torch.Tensor, graphs: bool
    ) -> "TorchCandidates":
        """Candidates for these ascending rows, by default all, with scores against the first picks."""
        points, sizes = self.points, self.points.sizes
        own = torch.arange(points.shape[0], device=points.device) if members is None else points.index(members)
        n, seen = len(own), min(sizes.first, self.count)
        weight, norm2, score = weight[own], weight.new_empty(n), weight.new_empty(n)
        for lo, Z in points.chunks(members):
            part = slice(lo, lo + len(Z))
            norm2[part] = Z.square().sum(1)
            score[part] = nearest(Z, norm2[part], self.P[:seen], self.weight[:seen], sizes) * weight[part]
        since = torch.full((n,), seen, dtype=torch.int32, device=points.device)
        cached = min(n, sizes.cached or _rows_that_fit(points.device, points.shape[1] * points.dtype.itemsize))
        room = cache(lambda: CachedCandidates(cached, self, graphs))
        fewest = min(n // 4, points.rows.room)  # many rows of a pool on the host, so that transfers are few
        return TorchCandidates(self, (own, weight, pick_weight[own], norm2, score, since), room, cached, fewest)


class TorchCandidates:
    """Ascending rows of the pool that may be picked, with their weights and scores."""

    def __init__(
        self, picks: TorchPicks, known: Sequence[torch.Tensor], room: "Callable[[], CachedCandidates]", size: int,
        fewest: int = 0,
    ) -> None:  # fmt: skip
        """`known`: rows, weights as candidates and once picked, squared lengths, scores, picks that these account for.

        `room` returns buffers in the cache for `size` rows. The front has at least `fewest` rows.
        """
        self.rows, self.weight, self.pick_weight, self.norm2, self.score, self.seen = known
        self.picks, self.room, self.size, self.fewest = picks, room, size, fewest

    def gather(self, at: torch.Tensor) -> torch.Tensor:
        """A copy of the points at these positions."""
        return self.picks.points.gather(self.rows[at])

    def exclude(self, rows: Rows) -> None:
        at = torch.searchsorted(self.rows, self.picks.points.index(rows))
        self.score[at] = PICKED

    def left(self) -> int:
        return int((self.score >= 0).sum())

    def best(self) -> tuple[float, float]:
        score, at = self.score.max(dim=0)
        best, row = torch.stack([score.double(), self.rows[at].double()]).tolist()
        return best, row

    def scores(self) -> None:
        """None: a run on a device cannot be resumed in the middle of its picks."""

    def front(self) -> "TorchFront":
        points = self.picks.points
        size = min(len(self.rows) // points.sizes.share, FRONT // (points.shape[1] * points.dtype.itemsize))
        size = max(size, self.fewest)
        if size < 4 * self.size:  # small enough to use a front that fits the cache
            size = self.size
        with torch.cuda.device_of(self.score):
            front = TorchFront(self, *self._largest(size))
            front.catch_up()
        return front

    def _largest(self, size: int) -> tuple[torch.Tensor, Bound]:
        """Positions of the largest scores, and a bound on the others."""
        if size >= len(self.rows):
            return (self.score >= 0).nonzero()[:, 0], NOTHING
        least = self.score.topk(size, sorted=False).values.min()
        above, tied = self.score > least, self.score == least
        kept = above | (tied & (tied.cumsum(0) <= size - above.sum()))
        left = tied & ~kept
        row = torch.where(left.any(), self.rows[left.to(torch.int8).argmax()].double(), torch.inf)
        return kept.nonzero()[:, 0], Bound(*torch.stack([least.double(), row]).tolist())


class TorchFront(TorchCandidates):
    """The best of other candidates, with a contiguous copy of their points."""

    def __init__(self, of: TorchCandidates, at: torch.Tensor, bound: Bound) -> None:
        known = of.rows, of.weight, of.pick_weight, of.norm2, of.score, of.seen
        super().__init__(of.picks, [A[at] for A in known], of.room, of.size)
        self.of, self.at, self.bound, self.G = of, at, bound, of.gather(at)

    def gather(self, at: torch.Tensor) -> torch.Tensor:
        return self.G[at]

    def catch_up(self) -> None:
        """Update all scores with the picks that they do not account for yet."""
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
        if len(self.rows) <= self.size:
            with torch.cuda.device_of(self.score):
                return self.room().pick(self, limit, stop)
        found = []
        while self.picks.count < stop and limit.beaten_by(*self.best()):  # too many rows: use a smaller front
            found.append(picks_from_front(self, limit, stop))
        return joined(found)

    def close(self) -> None:
        self.of.score[self.at], self.of.seen[self.at] = self.score, self.seen


class CachedCandidates:
    """Buffers for at most `size` candidates, the same for every burst, so that a CUDA graph can be replayed."""

    def __init__(self, size: int, picks: TorchPicks, graph: bool) -> None:
        P = picks.P
        self.picks, self.graph, self.device, self.burst = picks, graph and P.is_cuda, P.device, picks.points.sizes.burst
        self.G, self.difference = P.new_zeros((size, P.shape[1])), P.new_empty((size, P.shape[1]))
        self.weight, self.pick_weight, self.score = P.new_zeros(size), P.new_zeros(size), P.new_empty(size)
        self.before = P.new_empty(size)
        self.gain, self.at = P.new_empty(self.burst), torch.empty(self.burst, dtype=torch.int64, device=P.device)

    def pick(self, front: TorchFront, bound: Bound, stop: int) -> tuple[Rows, Floats]:
        """Pick from a front with exact scores while its best beats the bound. Returns rows and their scores."""
        n = len(front.rows)
        self.G[:n], self.weight[:n], self.pick_weight[:n] = front.G, front.weight, front.pick_weight
        self.score[:n], self.score[n:] = front.score, PICKED
        picked = [np.empty((2, 0))]
        replay = self.graph and stop - self.picks.count >= 2 * self.burst  # with fewer picks the capture costs more
        while self.picks.count < stop:
            wanted = min(self.burst, stop - self.picks.count)
            if replay:  # the last burst may make more picks than are wanted
                self._graph.replay()
            else:
                self._burst(wanted)
            found = front.rows[self.at[:wanted].clamp_max(n - 1)].double()
            some = torch.stack([found, self.gain[:wanted].double()]).cpu().numpy()
            good = next((at for at, (row, gain) in enumerate(some.T) if not bound.beaten_by(gain, row)), wanted)
            at = self.at[:good]
            self.picks.append(self.G[at], self.pick_weight[at])
            picked.append(some[:, :good])
            if good < (self.burst if replay else wanted):
                self.score.copy_(self.before)
                self.score[at] = PICKED
                break
            front.seen.fill_(self.picks.count)
        front.score.copy_(self.score[:n])
        rows, scores = np.concatenate(picked, axis=1)
        return rows.astype(np.int64), scores.astype(self.picks.points.dtype)

    @cached_property
    def _graph(self) -> torch.cuda.CUDAGraph:
        kept = self.score.clone()
        graph = capture(lambda: self._burst(self.burst), torch.cuda.Stream(self.device))
        self.score.copy_(kept)
        return graph

    def _burst(self, wanted: int) -> None:
        """Make `wanted` picks: each is the best candidate, and lowers the scores of the others."""
        self.before.copy_(self.score)
        for t in range(wanted):
            at = self.at[t : t + 1]
            torch.max(self.score[None], dim=1, out=(self.gain[t : t + 1], at))
            torch.sub(self.G, self.G.index_select(0, at), out=self.difference)
            distance2 = self.difference.square_().sum(1).mul_(self.weight).mul_(self.pick_weight.index_select(0, at))
            torch.minimum(self.score, distance2, out=self.score)
            self.score.index_fill_(0, at, PICKED)


def _rows_that_fit(device: torch.device, row_bytes: int) -> int:
    """The number of rows that fit, with their differences, into the cache of this device."""
    room = torch.cuda.get_device_properties(device).L2_cache_size // 4 if device.type == "cuda" else CACHE // 2
    return max(FEWEST, room // row_bytes)
