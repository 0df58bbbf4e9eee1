"""Variants of the first picks, tried in the arena before any of them enters mheal.

Each takes the scaled rows of the pool and gives n of them, best first, so that picks for a budget are the first of
those for every larger one. They hold all distances in memory: pools are small here.

Two objectives, both submodular, over a similarity K(x, w) of a row x and a pick w:

- "max": Σ_x max_w K(x, w), facility location;
- "log": Σ_x log(τ + Σ_w K(x, w)), the likelihood of the pool under a density estimated from the picks. With few picks
  it represents the pool, with many it matches its distribution.
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


@numba.njit(cache=True, fastmath=True)
def _max_gains(K: Any, rows: Any, covered: Any, out: Any) -> None:
    for at in range(rows.size):
        total = 0.0
        for x in range(covered.size):
            total += max(K[rows[at], x] - covered[x], 0.0)
        out[at] = total


@numba.njit(cache=True, fastmath=True)
def _log_gains(K: Any, rows: Any, inverse: Any, out: Any) -> None:
    for at in range(rows.size):
        total = 0.0
        for lo in range(0, inverse.size, 4):  # one logarithm for four rows
            product = 1.0
            for x in range(lo, min(lo + 4, inverse.size)):
                product *= 1.0 + K[rows[at], x] * inverse[x]
            total += np.log(product)
        out[at] = total


class Max:
    """Facility location."""

    def __init__(self, K: Array) -> None:
        self.K = K

    def gains(self, rows: Array, picks: Array) -> Array:
        """What each of these rows adds to the picks."""
        covered = self.K[picks].max(axis=0) if len(picks) else np.zeros(len(self.K), np.float32)
        return self.added(rows, covered)

    def start(self) -> Array:
        """What is known of every row before the first pick."""
        return np.zeros(len(self.K), np.float32)

    def add(self, state: Array, row: int) -> None:
        """Another pick."""
        np.maximum(state, self.K[row], out=state)

    def added(self, rows: Array, state: Array) -> Array:
        """What each of these rows would add."""
        out = np.empty(len(rows))
        _max_gains(self.K, rows, state, out)
        return out


class Log(Max):
    """The likelihood of the pool. `floor` is τ."""

    def __init__(self, K: Array, floor: float) -> None:
        super().__init__(K)
        self.floor = np.float32(max(floor, 1e-30))

    def gains(self, rows: Array, picks: Array) -> Array:
        """What each of these rows adds to the picks."""
        return self.added(rows, self.floor + self.K[picks].sum(axis=0))

    def start(self) -> Array:
        """What is known of every row before the first pick."""
        return np.full(len(self.K), self.floor)

    def add(self, state: Array, row: int) -> None:
        """Another pick."""
        state += self.K[row]

    def added(self, rows: Array, state: Array) -> Array:
        """What each of these rows would add."""
        out = np.empty(len(rows))
        _log_gains(self.K, rows, 1 / state.astype(np.float64), out)
        return out


def greedy(f: Max, n: int, picks: Array) -> Array:
    """Picks continued to n by lazy greedy maximisation."""
    state = f.start()
    for row in picks:
        f.add(state, int(row))
    every, picked = np.arange(len(f.K)), list(map(int, picks))
    bound = f.added(every, state)
    bound[picks] = -np.inf
    fresh = np.ones(len(bound), bool)
    while len(picked) < n:
        best = int(bound.argmax())
        if not fresh[best] and bound[best] > 0:
            stale = np.union1d(np.argpartition(-bound, BATCH)[:BATCH], best)
            stale = stale[~fresh[stale] & (bound[stale] > -np.inf)]
            bound[stale], fresh[stale] = f.added(stale, state), True
            continue
        picked.append(best)
        f.add(state, best)
        bound[best], fresh[:] = -np.inf, False
    return np.array(picked)


def staged(f: Max, n: int, near: Array, picks: Array) -> Array:
    """Greedy in stages that double; picks of a stage are then exchanged for better rows nearby, earlier ones stay."""
    size = 10
    while len(picks) < n:
        before, picks = len(picks), greedy(f, min(size, n), picks)
        for at in list(range(before, len(picks))) * 2:
            others = np.delete(picks, at)
            free = np.setdiff1d(near[picks[at]], others)
            picks[at] = free[f.gains(free, others).argmax()]
        size *= 2
    return picks


def energy(D: Array, n: int, picks: Array) -> Array:
    """Picks continued to n, each bringing their distribution closest to the pool's by the energy distance."""
    to_pool, to_picks = D.mean(axis=1, dtype=np.float64), D[picks].sum(axis=0, dtype=np.float64)
    taken = np.zeros(len(D))
    taken[picks] = np.inf
    found = list(map(int, picks))
    while len(found) < n:
        row = int((to_pool - to_picks / (len(found) + 1) + taken).argmin())
        found.append(row)
        taken[row] = np.inf
        to_picks += D[row]
    return np.array(found)


class Pool:
    """Squared distances between all rows and the scales that are read off them."""

    def __init__(self, Z: Array) -> None:
        self.Z = Z
        self.D2 = np.maximum(squared_distances(Z, Z), 0).astype(np.float32)
        np.fill_diagonal(self.D2, 0)
        self.median = float(np.median(self.D2[:: max(1, len(Z) // 100)])) or 1.0
        self.ranked = np.partition(self.D2, (NEIGHBOUR, 20), axis=1)
        self.fine = float(np.median(self.ranked[:, NEIGHBOUR])) or 1e-3 * self.median

    def near(self) -> Array:
        """The nearest rows of each row, itself included."""
        return np.argpartition(self.D2, NEAREST, axis=1)[:, :NEAREST]

    def cauchy(self, scale: float = 1.0) -> Array:
        """1/(1 + d²/h²), the present kernel."""
        h2 = self.median * scale
        return h2 / (h2 + self.D2)

    def capped(self, scale: float = 1.0) -> Array:
        """The same, but not above what a typical row has with its fifth neighbour."""
        h2 = self.median * scale
        return h2 / (h2 + np.maximum(self.D2, self.fine))

    def logarithm(self) -> Array:
        """−log(ε² + d²), shifted to be positive."""
        return np.log((self.D2.max() + self.fine) / (self.D2 + self.fine))

    def several(self) -> Array:
        """The present kernel at four scales."""
        return np.mean([self.cauchy(1 / 4**j) for j in range(4)], axis=0, dtype=np.float32)

    def local(self) -> Array:
        """Distances relative to those of the 20th neighbours."""
        r = np.sqrt(np.maximum(self.ranked[:, 20], self.fine * 1e-2))
        scaled = self.D2 / np.outer(r, r)
        h2 = np.float32(np.median(scaled[:: max(1, len(scaled) // 100)]))
        return (h2 / (h2 + scaled)).astype(np.float32)

    def mutual(self) -> Array:
        """Mutual proximity: how likely both rows find each other nearer than others, by normal distributions."""
        D = np.sqrt(self.D2)
        z = (D - D.mean(axis=1, keepdims=True)) / D.std(axis=1, keepdims=True)
        z = np.maximum(z, z.T)
        return (1 / (1 + np.exp(np.clip(1.7 * (z + 1.5), -30, 30)))).astype(np.float32)

    def riesz(self, p: float) -> Array:
        """The Riesz potential (1 + d²/ε²)^−p of a pick."""
        return (self.fine / (self.fine + self.D2)) ** np.float32(p)

    def dimension(self) -> float:
        """The intrinsic dimension between the 5th and the 20th neighbour."""
        ratio = self.ranked[:, 20] / np.maximum(self.ranked[:, NEIGHBOUR], 1e-9 * self.median)
        typical = np.median(ratio[self.ranked[:, 20] > 0]) if (self.ranked[:, 20] > 0).any() else 1.0
        return float(np.clip(2 * np.log(4) / max(np.log(typical), 1e-3), 1, 30))


NOTHING = np.empty(0, np.int64)


def _max(kernel: str, Z: Array, n: int, rng: Any, *, stages: bool = False, until: int | None = None) -> Array:
    pool = Pool(Z)
    f = Max(getattr(pool, kernel)())
    first = n if until is None else min(until, n)
    picks = staged(f, first, pool.near(), NOTHING) if stages else greedy(f, first, NOTHING)
    return picks if len(picks) == n else energy(np.sqrt(pool.D2), n, picks)


def _then_spread(kernel: str, Z: Array, n: int, rng: Any) -> Array:
    pool = Pool(Z)
    picks = greedy(Max(getattr(pool, kernel)()), min(256, n), NOTHING)
    if len(picks) == n:
        return picks
    more = mheal.select(Z, n - len(picks), labeled=picks, scaling="raw", random_state=0)
    return np.append(picks, more.indices)


def _log(
    kernel: str, Z: Array, n: int, rng: Any, *, p: float | None = None, floor: float = 0.1, stages: bool = False
) -> Array:
    pool = Pool(Z)
    if kernel == "riesz":
        power = p or pool.dimension() / 2
        K, typical = pool.riesz(power), (pool.fine / (pool.fine + pool.median)) ** power
    else:
        K, typical = getattr(pool, kernel)(p or 1.0), 0.5
    f = Log(K, floor * typical)
    return staged(f, n, pool.near(), NOTHING) if stages else greedy(f, n, NOTHING)


VARIANTS: dict[str, Callable[[Array, int, Any], Array]] = {
    "fl": partial(_max, "cauchy"),
    "fl capped": partial(_max, "capped"),
    "fl capped, then spread": partial(_then_spread, "capped"),
    "fl capped staged": partial(_max, "capped", stages=True),
    "fl capped staged, energy from 40": partial(_max, "capped", stages=True, until=40),
    "fl log kernel": partial(_max, "logarithm"),
    "fl log kernel staged": partial(_max, "logarithm", stages=True),
    "fl log kernel, then spread": partial(_then_spread, "logarithm"),
    "fl four scales": partial(_max, "several"),
    "fl local scaling": partial(_max, "local"),
    "fl mutual proximity": partial(_max, "mutual"),
    "log riesz p=1/2": partial(_log, "riesz", p=0.5),
    "log riesz p=1": partial(_log, "riesz", p=1.0),
    "log riesz p=2": partial(_log, "riesz", p=2.0),
    "log riesz p=4": partial(_log, "riesz", p=4.0),
    "log riesz p=d/2": partial(_log, "riesz"),
    "log riesz p=1, floor 1": partial(_log, "riesz", p=1.0, floor=1.0),
    "log riesz p=2, floor 1": partial(_log, "riesz", p=2.0, floor=1.0),
    "log riesz p=1 staged": partial(_log, "riesz", p=1.0, stages=True),
    "log riesz p=2 staged": partial(_log, "riesz", p=2.0, stages=True),
    "log cauchy": partial(_log, "cauchy"),
    "log cauchy h/2": partial(_log, "cauchy", p=0.25),
    "log cauchy h/4": partial(_log, "cauchy", p=1 / 16),
    "log capped h/2": partial(_log, "capped", p=0.25),
    "log capped h/4": partial(_log, "capped", p=1 / 16),
    "log capped h/4, floor 1": partial(_log, "capped", p=1 / 16, floor=1.0),
}
