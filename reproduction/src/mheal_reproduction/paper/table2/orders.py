"""The selections of §7.2 and alternatives, as orders of a whole pool whose first m rows are the subset of size m.

The paper names its three selections by the exponent of the energy. ℓ0 is max-min (Eq. 8), here over the whole pool, on
raw pixels and on unit rows, and inside clusters (Algorithm 2). ℓ1 is "a heuristic search with a random beginning". ℓ2
is descent along Eq. 3 with learning rate 0.001 from the random subset of the same seed. Its points leave the rows of
the pool and are replaced by the nearest rows at the end, so each size has its own subset.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from mheal import MHEAL, PaperMHEAL
from mheal.sphere import unit_rows
from mheal.strategies.common import median_distance

from .pairwise import Kernel, Pairs, greedy, match, on_device

Rows = npt.NDArray[np.int64]
CLUSTERS = 10
ROWS_A_CELL = 60  # k-means medoids: 1,000 cells for 60,000 rows
CLOSEST = 1e-6  # squared chord below which rows are equal in float32
STEPS, RATE, BATCH, CLIP = 200, 1e-3, 2000, 1.0  # ℓ2


class Pool:
    """The rows to choose from, as an array and as pairs, as they are and on the sphere."""

    def __init__(self, X: npt.NDArray[np.float32]) -> None:
        self.X = X

    @cached_property
    def raw(self) -> Pairs:
        """Pairs of rows as they are."""
        return Pairs(on_device(self.X))

    @cached_property
    def unit(self) -> Pairs:
        """Pairs of unit rows."""
        return Pairs(on_device(unit_rows(self.X)[0].astype(np.float32)))

    @cached_property
    def gaussian(self) -> Kernel:
        """exp(−‖x − y‖²/2h²); h is the median distance between rows."""
        h = median_distance(self.X, np.random.default_rng(0))
        return lambda D: self.raw.xp.exp(D * (-0.5 / h**2))


def subsets(method: str, pool: Pool, sizes: Sequence[int], seed: int, steps: int = STEPS) -> list[Rows]:
    """The rows that `method` picks for each size, in pick order; `steps` of descent are ℓ2's."""
    if method == "l2":
        start = random(pool, seed)
        return [descended(pool.unit, start[:m], seed, steps) for m in sizes]
    order = ORDERS[method](pool, seed).copy()  # a Selection's rows are read-only, which torch does not like
    return [order[:m] for m in sizes]


def random(pool: Pool, seed: int) -> Rows:
    """Uniformly at random."""
    return np.random.default_rng(seed).permutation(len(pool.X))


def max_min(pairs: Pairs, seed: int) -> Rows:
    """ℓ0: the row farthest from its nearest predecessor, from a random start."""
    score = pairs.xp.full((len(pairs),), pairs.xp.inf, dtype=pairs.X.dtype, device=pairs.X.device)

    def nearer(score: Any, D: Any) -> None:
        pairs.xp.minimum(score, D, out=score)

    return greedy(pairs, score, nearer, _start(pairs, seed))


def algorithm_2(pool: Pool, seed: int) -> Rows:
    """ℓ0 in 10 spherical clusters that take turns, with starts chosen as printed, for a sixth of the pool.

    If the budget were all rows, every start would have the same product.
    """
    quota = max(1, len(pool.X) // 6 // CLUSTERS)
    return PaperMHEAL(CLUSTERS, start_length=quota, random_state=seed).select(pool.X, len(pool.X)).indices


def least_energy(pairs: Pairs, seed: int) -> Rows:
    """ℓ1: the row that adds least to Σ 1/‖x − y‖, from a random start."""

    def repel(score: Any, D: Any) -> None:
        score -= 1 / pairs.xp.clip(D, CLOSEST, None) ** 0.5

    return greedy(pairs, pairs.xp.zeros_like(pairs.doubles(pairs.norm2)), repel, _start(pairs, seed))


def herding(pairs: Pairs, kernel: Kernel, seed: int) -> Rows:
    """The row that leaves the smallest discrepancy between picks and pool under the kernel, from a random start.

    With t picks it is the largest (t + 1)·E k(x, ·) − Σ_j k(x, x_j): kernel herding without replacement. Under −‖x − y‖
    these are support points, picked one after the other.
    """
    mean = pairs.means(kernel)

    def herd(score: Any, D: Any) -> None:
        score += mean
        score -= kernel(D)

    return greedy(pairs, mean + 0, herd, _start(pairs, seed))


def medoids(pool: Pool, seed: int) -> Rows:
    """Rows nearest to the centres of k-means clusters of 60 rows on average; the clusters take turns."""
    from sklearn.cluster import KMeans

    cells = max(1, len(pool.X) // ROWS_A_CELL)
    kmeans = KMeans(cells, init="random", n_init=1, max_iter=30, random_state=seed).fit(pool.X)
    distance = np.square(pool.X - kmeans.cluster_centers_[kmeans.labels_]).sum(axis=1)
    nearest = np.lexsort((distance, kmeans.labels_))
    sizes = np.bincount(kmeans.labels_, minlength=cells)
    turn = np.arange(len(nearest)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return nearest[np.argsort(turn, kind="stable")]


def descended(pairs: Pairs, start: Rows, seed: int, steps: int) -> Rows:
    """ℓ2: the unit rows `start` descend E_2, then each takes the nearest row that no earlier one has."""
    return match(pairs, descend(pairs, start, np.random.default_rng(seed), steps))


def descend(pairs: Pairs, start: Rows, rng: np.random.Generator, steps: int, batch: int = BATCH) -> Any:
    """These unit rows after so many steps of Riemannian gradient descent of E_2, learning rate 0.001.

    In a step every point moves once, along the gradient of its batch of at most `batch` points, drawn anew each step.
    The gradient between close points grows as chord⁻³, so gradients longer than 1 are clipped to 1.
    """
    W = pairs.X[pairs.array(start)]
    for _ in range(steps):
        for part in np.array_split(rng.permutation(len(W)), -(-len(W) // batch)):
            at = pairs.array(part)
            W[at] = _step(pairs.xp, W[at])
    return W


def _step(xp: Any, P: Any) -> Any:
    chord2 = xp.clip(2 - 2 * (P @ P.T), CLOSEST, None)
    push = 1 / (chord2 * chord2)
    push -= xp.diag(xp.diag(push))
    G = -2 * (push.sum(1)[:, None] * P - push @ P)  # Eq. 3
    G -= (G * P).sum(1)[:, None] * P
    length = (G * G).sum(1) ** 0.5
    P = P - G * (RATE / xp.clip(length / CLIP, 1, None))[:, None]
    return P / ((P * P).sum(1) ** 0.5)[:, None]


def _start(pairs: Pairs, seed: int) -> int:
    return int(np.random.default_rng(seed).integers(len(pairs)))


ORDERS: dict[str, Callable[[Pool, int], Rows]] = {
    "random": random,
    "l0-raw": lambda pool, seed: max_min(pool.raw, seed),
    "l0-unit": lambda pool, seed: max_min(pool.unit, seed),
    "l0-clusters": algorithm_2,
    "l1": lambda pool, seed: least_energy(pool.unit, seed),
    "k-means": medoids,
    "herding": lambda pool, seed: herding(pool.raw, pool.gaussian, seed),
    "support-points": lambda pool, seed: herding(pool.raw, lambda D: -(D**0.5), seed),
    "mheal": lambda pool, seed: MHEAL(random_state=seed).select(pool.raw.X, len(pool.X)).indices,
}
