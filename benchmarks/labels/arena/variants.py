"""Variants of the first picks, tried in the arena before any of them enters mheal. "fl log rank, then spread" has.

Each takes the scaled rows of the pool and gives n of them, best first, so that picks for a budget are the first of
those for every larger one. All but the last step are facility location, Σ_x max_w K(x, w), with another similarity K.
They hold all distances in memory: pools are small here.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

import mheal
from mheal.backends.cpu.distances import squared_distances

Array = npt.NDArray[Any]
NEIGHBOUR = 5  # whose distance is the finest that counts
BATCH = 32  # candidates whose gains are renewed together
NEAREST = 40  # rows that a pick may be exchanged for
NOTHING = np.empty(0, np.int64)


@numba.njit(cache=True, fastmath=True)
def _gains(K: Any, rows: Any, covered: Any, out: Any) -> None:
    for at in range(rows.size):
        total = 0.0
        for x in range(covered.size):
            total += max(K[rows[at], x] - covered[x], 0.0)
        out[at] = total


def gains(K: Array, rows: Array, covered: Array) -> Array:
    """What each of these rows would add."""
    out = np.empty(len(rows))
    _gains(K, rows, covered, out)
    return out


def best_similarity(K: Array, picks: Array) -> Array:
    """Similarity of every row to its nearest pick."""
    return K[picks].max(axis=0) if len(picks) else np.zeros(len(K), K.dtype)


def greedy(K: Array, n: int, picks: Array = NOTHING) -> Array:
    """Picks continued to n by lazy greedy maximisation."""
    covered = best_similarity(K, picks)
    bound = gains(K, np.arange(len(K)), covered)
    bound[picks] = -np.inf
    fresh, picked = np.ones(len(K), bool), picks.tolist()
    while len(picked) < n:
        best = int(bound.argmax())
        if not fresh[best] and bound[best] > 0:
            stale = np.union1d(np.argpartition(-bound, BATCH)[:BATCH], best)
            stale = stale[~fresh[stale] & (bound[stale] > -np.inf)]
            bound[stale], fresh[stale] = gains(K, stale, covered), True
            continue
        picked.append(best)
        np.maximum(covered, K[best], out=covered)
        bound[best], fresh[:] = -np.inf, False
    return np.array(picked)


def staged(K: Array, n: int, near: Array) -> Array:
    """Greedy in stages that double; picks of a stage are then exchanged for better rows nearby, earlier ones stay."""
    size, picks = 10, NOTHING
    while len(picks) < n:
        before, picks = len(picks), greedy(K, min(size, n), picks)
        for at in list(range(before, len(picks))) * 2:
            others = np.delete(picks, at)
            free = np.setdiff1d(near[picks[at]], others)
            picks[at] = free[gains(K, free, best_similarity(K, others)).argmax()]
        size *= 2
    return picks


def energy(D: Array, n: int, picks: Array) -> Array:
    """Picks continued to n, each bringing their distribution closest to the pool's by the energy distance."""
    to_pool, to_picks = D.mean(axis=1, dtype=np.float64), D[picks].sum(axis=0, dtype=np.float64)
    to_pool[picks] = np.inf
    found = picks.tolist()
    while len(found) < n:
        row = int((to_pool - to_picks / (len(found) + 1)).argmin())
        found.append(row)
        to_pool[row] = np.inf
        to_picks += D[row]
    return np.array(found)


class Pool:
    """Squared distances between all rows, and the similarities that are made of them."""

    def __init__(self, Z: Array) -> None:
        self.D2 = np.maximum(squared_distances(Z, Z), 0).astype(np.float32)
        np.fill_diagonal(self.D2, 0)
        self.some = self.D2[:: max(1, len(Z) // 100)]
        self.median = float(np.median(self.some)) or 1.0
        self.ranked = np.partition(self.D2, (NEIGHBOUR, 20), axis=1)
        self.fine = float(np.median(self.ranked[:, NEIGHBOUR])) or 1e-3 * self.median

    def near(self) -> Array:
        """The nearest rows of each row, itself included."""
        count = min(NEAREST, len(self.D2) - 1)
        return np.argpartition(self.D2, count, axis=1)[:, :count]

    def present(self) -> Array:
        """1/(1 + d²/h²) with h the median distance."""
        return self.median / (self.median + self.D2)

    def capped(self) -> Array:
        """The same, but not above what a typical row has with its fifth neighbour."""
        return self.median / (self.median + np.maximum(self.D2, self.fine))

    def beyond(self) -> Array:
        """Distances count from that of a typical fifth neighbour on: 1 there, ½ at the median distance."""
        excess = np.maximum(self.D2 - self.fine, 0)
        return 1 / (1 + excess / max(self.median - self.fine, 1e-6 * self.median))

    def beyond_quartile(self) -> Array:
        """The same, but ½ at the first quartile of the distances."""
        quartile = float(np.quantile(self.some, 0.25))
        excess = np.maximum(self.D2 - self.fine, 0)
        return 1 / (1 + excess / max(quartile - self.fine, 1e-3 * self.median))

    def logarithm(self) -> Array:
        """−log(ε² + d²), shifted to be positive; ε is the distance to a typical fifth neighbour."""
        return np.log((self.D2.max() + self.fine) / (self.D2 + self.fine))

    def four_scales(self) -> Array:
        """The mean of the present similarity at h, h/2, h/4 and h/8."""
        scales = [self.median / 4**j for j in range(4)]
        return np.mean([h2 / (h2 + self.D2) for h2 in scales], axis=0, dtype=np.float32)

    def local(self) -> Array:
        """Distances relative to those of the 20th neighbours."""
        r = np.sqrt(np.maximum(self.ranked[:, 20], self.fine * 1e-2))
        scaled = self.D2 / np.outer(r, r)
        h2 = np.float32(np.median(scaled[:: max(1, len(scaled) // 100)]))
        return h2 / (h2 + scaled)

    def mutual(self, center: float = 1.5) -> Array:
        """Mutual proximity: how near two rows are among all distances of either, by normal distributions."""
        D = np.sqrt(self.D2)
        z = (D - D.mean(axis=1, keepdims=True)) / np.maximum(D.std(axis=1, keepdims=True), 1e-9)
        return 1 / (1 + np.exp(1.7 * (np.clip(np.maximum(z, z.T), -20, 20) + np.float32(center))))

    def mutual_by_median(self) -> Array:
        """Mutual proximity by the median m of a row's distances and the deviation s from it of those below it.

        With z = (distance − m)/s and t = 1.5 + the larger z of the two rows, the similarity is ½ − ½·t/√(1 + t²). Far
        outliers change neither m nor s.
        """
        D = np.sqrt(self.D2)
        middle = len(D) // 2
        nearer = np.partition(D, middle, axis=1)[:, : middle + 1]
        median = nearer[:, -1:].copy()
        z = (D - median) / np.maximum(np.sqrt(np.mean((nearer - median) ** 2, axis=1, keepdims=True)), 1e-9)
        t = np.maximum(z, z.T) + np.float32(1.5)
        return np.float32(0.5) - np.float32(0.5) * t / np.sqrt(1 + t * t)

    def shares(self) -> Array:
        """For each row x (one a line) and each y, the share of the rows that are nearer to x than y is."""
        ordered = np.sort(self.D2, axis=1)
        found = [np.searchsorted(one, row) for one, row in zip(ordered, self.D2, strict=True)]
        return np.array(found, np.float32) / len(self.D2)

    def shares_by_power(self) -> Array:
        """The same by a power law through two quantiles of the distances from x: ½ at the median, 5 % at the other."""
        count = len(self.D2) - 1
        places = max(1, round(0.05 * count)), max(1, count // 2)
        ranked = np.partition(self.D2, places, axis=1)
        near, middle = (np.maximum(ranked[:, [at]], 1e-6 * self.median) for at in places)
        power = np.log(0.5 * count / places[0]) / np.log(np.maximum(middle / near, 1.001))
        return np.float32(0.5) * (self.D2 / middle) ** np.clip(power, 0.5, 25).astype(np.float32)

    def shares_by_deviation(self) -> Array:
        """The same by a logistic curve through the median of the distances from x and their deviation below it."""
        D = np.sqrt(self.D2)
        middle = len(D) // 2
        nearer = np.partition(D, middle, axis=1)[:, : middle + 1]
        median = nearer[:, -1:].copy()
        z = (D - median) / np.maximum(np.sqrt(np.mean((nearer - median) ** 2, axis=1, keepdims=True)), 1e-9)
        return 1 / (1 + np.exp(np.float32(-1.7) * np.clip(z, -20, 20)))

    def log_rank(self, shares: str = "shares", least: float = 0.002) -> Array:
        """−log of the larger of the two shares of rows that are nearer, but not below that of the nearest 0.2 %."""
        P = getattr(self, shares)()
        return np.log((1 + least) / (np.minimum(np.maximum(P, P.T), 1) + np.float32(least))).astype(np.float32)

    def log_rank_coarse(self) -> Array:
        """The same, but not below the nearest 1 %."""
        return self.log_rank(least=0.01)

    def rank_root(self, power: float = 0.5) -> Array:
        """1 minus the root of the larger of the two shares."""
        P = self.shares()
        return (1 - np.maximum(P, P.T) ** np.float32(power)).astype(np.float32)

    def rank_fourth_root(self) -> Array:
        """1 minus its fourth root."""
        return self.rank_root(0.25)

    def mutual_neighbours(self, falling: float = 1.0, fine: int = 1) -> Array:
        """Of the shares 1/2, 1/4, …, 1/512 of the pool, for how many either row is among the nearest of the other.

        falling : the weight of each share relative to that of the one before
        fine : how many shares there are for each that is named above
        """
        count = len(self.D2)
        places = [max(0, int(np.ceil(count * 2 ** (-k / fine))) - 1) for k in range(1, 9 * fine + 1)]
        levels = np.partition(self.D2, places, axis=1)[:, places] * np.float32(1 + 1e-5)
        K = np.zeros_like(self.D2)
        for k, level in enumerate(levels.T):
            K += np.float32(falling**k) * (np.minimum(level[:, None], level) >= self.D2)
        return K

    def mutual_neighbours_fine(self) -> Array:
        """The same, with twice as many shares."""
        return self.mutual_neighbours(fine=2)

    def mutual_neighbours_falling(self) -> Array:
        """The same, the weight of a share being its fourth root."""
        return self.mutual_neighbours(2**-0.25)

    def log_power(self) -> Array:
        """The same, with shares by a power law."""
        return self.log_rank("shares_by_power")

    def log_logistic(self) -> Array:
        """The same, with shares by a logistic curve."""
        return self.log_rank("shares_by_deviation")

    def mutual_wide(self) -> Array:
        """The same, but ½ one deviation below the mean distance."""
        return self.mutual(1.0)

    def mutual_narrow(self) -> Array:
        """The same, but ½ two deviations below the mean distance."""
        return self.mutual(2.0)


def pick(
    kernel: str, Z: Array, n: int, rng: Any, *, stages: bool = False, until: int | None = None, spread: bool = False
) -> Array:
    """n rows by facility location; from `until` on by the energy distance or, as mheal does today, spread out."""
    pool = Pool(Z)
    K = getattr(pool, kernel)()
    first = n if until is None else min(until, n)
    picks = staged(K, first, pool.near()) if stages else greedy(K, first)
    if len(picks) == n:
        return picks
    if not spread:
        return energy(np.sqrt(pool.D2), n, picks)
    more = mheal.select(Z, n - len(picks), labeled=picks, scaling="raw", random_state=0)
    return np.append(picks, more.indices)


VARIANTS: dict[str, Callable[[Array, int, Any], Array]] = {
    "fl": partial(pick, "present"),
    "fl capped": partial(pick, "capped"),
    "fl capped staged": partial(pick, "capped", stages=True),
    "fl capped staged, energy from 40": partial(pick, "capped", stages=True, until=40),
    "fl beyond": partial(pick, "beyond"),
    "fl beyond staged": partial(pick, "beyond", stages=True),
    "fl beyond, then spread": partial(pick, "beyond", until=256, spread=True),
    "fl beyond quartile": partial(pick, "beyond_quartile"),
    "fl log kernel": partial(pick, "logarithm"),
    "fl log kernel staged": partial(pick, "logarithm", stages=True),
    "fl four scales": partial(pick, "four_scales"),
    "fl local scaling": partial(pick, "local"),
    "fl mutual": partial(pick, "mutual"),
    "fl mutual staged": partial(pick, "mutual", stages=True),
    "fl mutual, then spread": partial(pick, "mutual", until=256, spread=True),
    "fl mutual by median, then spread": partial(pick, "mutual_by_median", until=256, spread=True),
    "fl mutual staged, energy from 80": partial(pick, "mutual", stages=True, until=80),
    "fl mutual by median staged, then spread": partial(pick, "mutual_by_median", stages=True, until=256, spread=True),
    "fl log rank, then spread": partial(pick, "log_rank", until=256, spread=True),
    "fl log rank staged, then spread": partial(pick, "log_rank", stages=True, until=256, spread=True),
    "fl log rank coarse staged, then spread": partial(pick, "log_rank_coarse", stages=True, until=256, spread=True),
    "fl rank root staged, then spread": partial(pick, "rank_root", stages=True, until=256, spread=True),
    "fl rank fourth root staged, then spread": partial(pick, "rank_fourth_root", stages=True, until=256, spread=True),
    "fl mutual neighbours staged, then spread": partial(pick, "mutual_neighbours", stages=True, until=256, spread=True),
    "fl mutual neighbours fine staged, then spread": partial(
        pick, "mutual_neighbours_fine", stages=True, until=256, spread=True
    ),
    "fl mutual neighbours falling staged, then spread": partial(
        pick, "mutual_neighbours_falling", stages=True, until=256, spread=True
    ),
    "fl log power staged, then spread": partial(pick, "log_power", stages=True, until=256, spread=True),
    "fl log logistic staged, then spread": partial(pick, "log_logistic", stages=True, until=256, spread=True),
    "fl mutual wide": partial(pick, "mutual_wide"),
    "fl mutual narrow": partial(pick, "mutual_narrow"),
}
