"""Farthest-first traversal in lazy epochs on the device: exact, with most distances never computed.

All candidates have stale scores, upper bounds. The few per cent with the largest are gathered and caught up by matrix
products; of these, again, the few with the largest; and so on, until they fit the device's cache. From those heads
picks are made, as long as they beat everything outside. Ties go to the lowest row.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ...runtime.threads import spans
from .candidates import NOTHING, PICKED, Bound, Candidates
from .distances import nearest
from .heads import BURST, Heads
from .picks import Picks
from .rows import chunk_rows

SHARE = 24  # one candidate in this many goes to the front,
FRONT = 1 << 29  # but at most so many bytes
FIRST = 256  # picks that all candidates are compared with at the beginning
CACHE = 1 << 20  # bytes of a processor's cache that heads may take
FEWEST = 512  # heads


class Traversal:
    """Candidates and their scores: squared distance to the nearest pick, times both weights."""

    def __init__(
        self,
        picks: Picks,
        members: npt.NDArray[Any] | None = None,
        weight: npt.NDArray[Any] | None = None,
        placed: npt.NDArray[Any] | None = None,
        workers: int | None = None,
        first: None = None,
    ) -> None:
        """`picks` holds one at least; candidates are `members` (ascending rows of the pool), by default all.

        A member counts with `weight` as a candidate, with `placed` (by default the same) once it is picked. One worker
        says that others work beside it, so that no graphs are captured.
        """
        points = picks.points
        self.picks, self.graphs = picks, workers != 1
        self.members = None if members is None else members.astype(np.int64)
        n = points.shape[0] if members is None else len(members)
        own = torch.arange(n, device=points.device) if members is None else points.index(members)
        ones = picks.weight.new_ones(n)
        w = ones if weight is None else points.floats(weight)
        self.all = Candidates(
            points.gather if members is None else lambda at: points.gather(own[at]),
            torch.arange(n, device=points.device),
            torch.empty_like(ones), w, w if placed is None else points.floats(placed), torch.empty_like(ones),
            torch.full((n,), min(FIRST, picks.count), dtype=torch.int32, device=points.device),
        )  # fmt: skip
        parts = ((lo, points.gather(own[lo:hi])) for lo, hi in spans(n, chunk_rows(points.shape[1])))
        for lo, Z in points.chunks() if members is None else parts:
            part = slice(lo, lo + len(Z))
            self.all.norm2[part] = Z.square().sum(1)
            self.all.score[part] = nearest(Z, self.all.norm2[part], picks, 0, min(FIRST, picks.count)) * w[part]
        self.heads = min(n, heads_that_fit(points.device, points.shape[1] * points.dtype.itemsize))

    def exclude(self, rows: npt.NDArray[np.int64]) -> None:
        """These rows of the pool cannot be picked."""
        at = rows if self.members is None else np.searchsorted(self.members, rows)
        self.all.score[self.picks.points.index(at)] = PICKED

    def scores(self) -> npt.NDArray[Any]:
        """Upper bounds on the score of each candidate; exact as long as there are few picks."""
        return self.all.score.cpu().numpy()

    def extend(self, n: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
        """Pick n more rows of the pool; returns them and their scores, fewer if the candidates run out."""
        n = min(n, int((self.all.score >= 0).sum()))
        heads = Heads(self.heads, self.picks, self.graphs and n >= 2 * BURST)
        with torch.cuda.device_of(self.all.score):
            picked = self._advance(self.all, NOTHING, self.picks.count + n, heads)
        at = np.array([row for row, _ in picked], np.int64)
        gain = np.array([score for _, score in picked], self.picks.points.dtype)
        return at if self.members is None else self.members[at], gain

    def _advance(self, those: Candidates, bound: Bound, stop: int, heads: Heads) -> list[tuple[float, float]]:
        """Pick from these while they beat the bound."""
        picked: list[tuple[float, float]] = []
        while self.picks.count < stop and bound.beaten_by(*those.best()):
            front, elsewhere = those.front(self._front_size(those))
            few = those.take(front)
            few.catch_up(self.picks)
            limit = max(bound, elsewhere, key=lambda b: (b.score, -b.row))
            if len(front) <= self.heads:
                picked += heads.pick(few, limit, stop)
            else:
                picked += self._advance(few, limit, stop, heads)
            those.put(front, few)
        return picked

    def _front_size(self, those: Candidates) -> int:
        points = self.picks.points
        size = min(len(those) // SHARE, FRONT // (points.shape[1] * points.dtype.itemsize))
        if those is self.all:  # of a pool on the host as many as there is room for, so that the journeys are few
            size = max(size, min(len(those) // 4, points.rows.room))
        return self.heads if size < 4 * self.heads else size


def heads_that_fit(device: torch.device, row_bytes: int) -> int:
    """How many points and their differences stay in the cache of this device."""
    cache = torch.cuda.get_device_properties(device).L2_cache_size // 4 if device.type == "cuda" else CACHE // 2
    return max(FEWEST, cache // row_bytes)
