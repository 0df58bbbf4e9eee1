"""Candidates for the next pick: their scores, stale or not, and the few of them that may be next.

The score of a candidate is its squared distance to the nearest pick so far times both weights. Picks only lower scores,
so one that has not seen the last picks is an upper bound.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch

from .distances import nearest
from .picks import Picks

PICKED = -1.0  # score of a candidate that can no longer be picked
CATCH_UP = 1 << 15  # candidates that are caught up together


class Bound(NamedTuple):
    """The best that can be elsewhere: its score and its row. Of equal scores the lower row is better."""

    score: float
    row: float

    def beaten_by(self, score: float, row: float) -> bool:
        """Whether this candidate may be picked before anything elsewhere."""
        return score >= 0 and (score > self.score or (score == self.score and row < self.row))


NOTHING = Bound(PICKED, float("inf"))


@dataclass
class Candidates:
    """Rows of the pool, ascending, with what is known of each."""

    gather: Callable[[torch.Tensor], torch.Tensor]  # a copy of the points of some of them
    rows: torch.Tensor  # their numbers
    norm2: torch.Tensor
    weight: torch.Tensor  # as a candidate
    placed: torch.Tensor  # once picked
    score: torch.Tensor
    seen: torch.Tensor  # how many picks the score has seen

    def __len__(self) -> int:
        return len(self.rows)

    def best(self) -> tuple[float, float]:
        """The largest score, stale or not, and its row."""
        score, at = self.score.max(dim=0)
        best, row = torch.stack([score.double(), self.rows[at].double()]).tolist()
        return best, row

    def front(self, size: int) -> tuple[torch.Tensor, Bound]:
        """The `size` candidates with the largest scores (of equal ones the lowest rows), and the best elsewhere."""
        if size >= len(self):
            return (self.score >= 0).nonzero()[:, 0], NOTHING
        least = self.score.topk(size, sorted=False).values.min()
        above, tied = self.score > least, self.score == least
        kept = above | (tied & (tied.cumsum(0) <= size - above.sum()))
        left = tied & ~kept
        row = torch.where(left.any(), self.rows[left.to(torch.int8).argmax()].double(), torch.inf)
        return kept.nonzero()[:, 0], Bound(*torch.stack([least.double(), row]).tolist())

    def take(self, at: torch.Tensor) -> "Gathered":
        """A copy of these, their points side by side."""
        G = self.gather(at)
        return Gathered(
            G.__getitem__, self.rows[at], self.norm2[at], self.weight[at], self.placed[at], self.score[at],
            self.seen[at], G,
        )  # fmt: skip

    def put(self, at: torch.Tensor, those: "Gathered") -> None:
        """What has become known about a copy."""
        self.score[at], self.seen[at] = those.score, those.seen


@dataclass
class Gathered(Candidates):
    """Candidates whose points lie side by side."""

    G: torch.Tensor

    def catch_up(self, picks: Picks) -> None:
        """Apply the picks that each has missed."""
        seen, order = self.seen.sort()
        oldest = seen[::CATCH_UP].tolist()
        for at, first in zip(order.split(CATCH_UP), oldest, strict=True):
            if first < picks.count:
                missed = nearest(self.G[at], self.norm2[at], picks, first, picks.count)
                self.score[at] = torch.minimum(self.score[at], missed * self.weight[at])
        self.seen.fill_(picks.count)
