"""The candidates that may be picked next, few enough for the device's cache: bursts of picks without waiting for it.

A burst may run past the point where a candidate outside would be next. Those picks are discarded, and the scores go
back to what they were before the burst.
"""

from functools import cached_property

import torch

from ..base import PICKED, Bound
from .graphs import capture
from .picks import PickList


class CachedCandidates:
    """Room for at most `size` candidates, in the same place for every burst, so that a graph can be replayed."""

    def __init__(self, size: int, picks: PickList, graph: bool) -> None:
        P = picks.P
        self.picks, self.graph, self.device, self.burst = picks, graph and P.is_cuda, P.device, picks.points.sizes.burst
        self.G, self.difference = P.new_zeros((size, P.shape[1])), P.new_empty((size, P.shape[1]))
        self.weight, self.placed, self.score = P.new_zeros(size), P.new_zeros(size), P.new_empty(size)
        self.before = P.new_empty(size)
        self.gain, self.at = P.new_empty(self.burst), torch.empty(self.burst, dtype=torch.int64, device=P.device)

    def pick(
        self, G: torch.Tensor, rows: torch.Tensor, weight: torch.Tensor, placed: torch.Tensor, score: torch.Tensor,
        seen: torch.Tensor, bound: Bound, stop: int,
    ) -> list[tuple[float, float]]:  # fmt: skip
        """Pick from these rows, whose scores are exact, while they beat the bound; row and score of each pick."""
        n = len(rows)
        self.G[:n], self.weight[:n], self.placed[:n] = G, weight, placed
        self.score[:n], self.score[n:] = score, PICKED
        picked: list[tuple[float, float]] = []
        replay = self.graph and stop - self.picks.count >= 2 * self.burst  # fewer do not pay for the capture
        while self.picks.count < stop:
            wanted = min(self.burst, stop - self.picks.count)
            made = self._burst(wanted, replay)
            found = rows[self.at[:wanted].clamp_max(n - 1)].double()
            numbers, gain = torch.stack([found, self.gain[:wanted].double()]).tolist()
            good = 0
            while good < wanted and bound.beaten_by(gain[good], numbers[good]):
                good += 1
            at = self.at[:good]
            self.picks.append(self.G[at], self.placed[at])
            picked += zip(numbers[:good], gain[:good], strict=True)
            if good < made:
                self.score.copy_(self.before)
                self.score[at] = PICKED
                break
            seen.fill_(self.picks.count)
        score.copy_(self.score[:n])
        return picked

    def _burst(self, wanted: int, replay: bool) -> int:
        """Make these picks, or more: as many as it returns."""
        if not replay:
            self._steps(wanted)
            return wanted
        self._graph.replay()
        return self.burst

    @cached_property
    def _graph(self) -> torch.cuda.CUDAGraph:
        kept = self.score.clone()
        graph = capture(lambda: self._steps(self.burst), self.device)
        self.score.copy_(kept)
        return graph

    def _steps(self, wanted: int) -> None:
        self.before.copy_(self.score)
        for t in range(wanted):
            self._step(t)

    def _step(self, t: int) -> None:
        """One pick: the best of the candidates, and what it leaves of the scores of the others."""
        at = self.at[t : t + 1]
        torch.max(self.score[None], dim=1, out=(self.gain[t : t + 1], at))
        torch.sub(self.G, self.G.index_select(0, at), out=self.difference)
        distance2 = self.difference.square_().sum(1).mul_(self.weight).mul_(self.placed.index_select(0, at))
        torch.minimum(self.score, distance2, out=self.score)
        self.score.index_fill_(0, at, PICKED)
