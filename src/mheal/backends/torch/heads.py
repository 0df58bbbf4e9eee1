"""The candidates that may be picked next, few enough for the device's cache: a burst of picks without a look back.

The burst may run past the point where somebody outside the heads would be next. Those picks are
discarded, and the scores of the heads go back to what they were before the burst.
"""

from functools import cached_property

import torch

from .candidates import PICKED, Bound, Gathered
from .graphs import capture
from .picks import Picks

BURST = 16  # picks between two looks at what they gave


class Heads:
    """Room for at most `size` candidates, in the same place for every burst, so that a graph can be replayed."""

    def __init__(self, size: int, picks: Picks, graph: bool) -> None:
        P = picks.P
        self.picks, self.use_graph, self.device = picks, graph and P.is_cuda, P.device
        self.G, self.difference = P.new_zeros((size, P.shape[1])), P.new_empty((size, P.shape[1]))
        self.weight, self.placed, self.score = P.new_zeros(size), P.new_zeros(size), P.new_empty(size)
        self.before = P.new_empty(size)
        self.gain, self.at = P.new_empty(BURST), torch.empty(BURST, dtype=torch.int64, device=P.device)

    def pick(self, those: Gathered, bound: Bound, stop: int) -> list[tuple[float, float]]:
        """Pick from these, whose scores are exact, while they beat the bound; returns row and score of each pick."""
        n = len(those)
        self.G[:n], self.weight[:n], self.placed[:n] = those.G, those.weight, those.placed
        self.score[:n], self.score[n:] = those.score, PICKED
        picked: list[tuple[float, float]] = []
        while self.picks.count < stop:
            wanted = min(BURST, stop - self.picks.count)
            made = self._burst(wanted)
            rows = those.rows[self.at[:wanted].clamp_max(n - 1)].double()
            rows, gain = torch.stack([rows, self.gain[:wanted].double()]).tolist()
            good = 0
            while good < wanted and bound.beaten_by(gain[good], rows[good]):
                good += 1
            at = self.at[:good]
            self.picks.append(self.G[at], self.placed[at])
            picked += zip(rows[:good], gain[:good], strict=True)
            if good < made:
                self.score.copy_(self.before)
                self.score[at] = PICKED
                break
            those.seen.fill_(self.picks.count)
        those.score.copy_(self.score[:n])
        return picked

    def _burst(self, wanted: int) -> int:
        """Make these picks, or more: as many as it returns."""
        if not self.use_graph:
            self._steps(wanted)
            return wanted
        self._graph.replay()
        return BURST

    @cached_property
    def _graph(self) -> torch.cuda.CUDAGraph:
        kept = self.score.clone()
        graph = capture(lambda: self._steps(BURST), self.device)
        self.score.copy_(kept)
        return graph

    def _steps(self, wanted: int) -> None:
        self.before.copy_(self.score)
        for t in range(wanted):
            self._step(t)

    def _step(self, t: int) -> None:
        """One pick: the best of the heads, and what it leaves of the scores of the others."""
        at = self.at[t : t + 1]
        torch.max(self.score[None], dim=1, out=(self.gain[t : t + 1], at))
        torch.sub(self.G, self.G.index_select(0, at), out=self.difference)
        distance2 = self.difference.square_().sum(1).mul_(self.weight).mul_(self.placed.index_select(0, at))
        torch.minimum(self.score, distance2, out=self.score)
        self.score.index_fill_(0, at, PICKED)
