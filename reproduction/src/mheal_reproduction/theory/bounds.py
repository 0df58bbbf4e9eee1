"""Both sides of every inequality in §3.4 and §4 as numbers, as printed and as corrected.

In `proposition1` and `proposition3` the last row of W is the newest point ŵ_N and the rows before it are 𝒲.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mheal.energy import CLAMP, squared_chords
from mheal.exceptions import UserError
from mheal.sphere import BLOCK, Float64, unit_rows


class Proposition1(NamedTuple):
    """The terms of Proposition 1: log_lower ≤ log_middle ≤ log_product whenever `assumption` holds."""

    shortest: float  # m, the shortest chord from ŵ_N to 𝒲
    pairs: int  # p = N(N−1)/2
    log_lower: float  # m^p
    log_middle: float  # Π_𝒲 · m^(N−1), the corrected middle term
    log_printed: float  # Π_𝒲 · (N−1)m, the printed one, with a sum of N−1 chords instead of their product
    log_product: float  # L, the product of all chords
    assumption: bool  # m ≤ every chord inside 𝒲


class Proposition3(NamedTuple):
    """The terms of Proposition 3: lower ≤ root ≤ longest, and log_product ≤ log_upper, always."""

    longest: float  # M, the longest chord from ŵ_N to 𝒲
    shortest: float  # m, the shortest
    pairs: int  # p
    root: float  # (M^p − m^p)^(1/p), the p-th root of the loss bound ℓ_up
    lower: float  # M − m, the corrected lower bound of the root
    printed_lower: float  # 2(M − m): the printed constant is on the wrong side of 1
    log_product: float  # L: the loss is L − m^p, so ℓ_up bounds it if L ≤ M^p
    log_printed_upper: float  # M^p with the printed M, which overlooks longer chords inside 𝒲
    log_upper: float  # M^p with M the longest chord of all


def proposition1(W: npt.ArrayLike) -> Proposition1:
    """The three terms of Proposition 1 for 𝒲 ∪ {ŵ_N} = the rows of W, with its middle term corrected."""
    inside, newest, pairs = _log_chords(W)
    n1, log_m, log_inside = len(newest), float(newest.min()), float(inside.sum())
    return Proposition1(
        shortest=float(np.exp(log_m)),
        pairs=pairs,
        log_lower=pairs * log_m,
        log_middle=log_inside + n1 * log_m,
        log_printed=log_inside + float(np.log(n1)) + log_m,
        log_product=log_inside + float(newest.sum()),
        assumption=bool(log_m <= inside.min(initial=np.inf) + 1e-12),
    )


def proposition3(W: npt.ArrayLike, pool: npt.ArrayLike | None = None) -> Proposition3:
    """The terms of Proposition 3 for 𝒲 ∪ {ŵ_N} = the rows of W.

    The printed lower bound takes the smallest 2(max − min) over a pool of candidates for ŵ_N; without a pool,
    ŵ_N is the only candidate.
    """
    inside, newest, pairs = _log_chords(W)
    low, high = float(newest.min()), float(newest.max())
    longest, shortest = float(np.exp(high)), float(np.exp(low))
    # M^p − m^p = M^p (1 − (m/M)^p): M^p alone overflows for a few dozen points.
    root = longest * float(np.exp(np.log1p(-np.exp(pairs * (low - high))) / pairs)) if high > low else 0.0
    spread = longest - shortest
    if pool is not None:
        U = unit_rows(W)[0]
        chords = np.sqrt(squared_chords(unit_rows(pool)[0], U[:-1]))
        spread = min(spread, float((chords.max(axis=1) - chords.min(axis=1)).min()))
    return Proposition3(
        longest=longest,
        shortest=shortest,
        pairs=pairs,
        root=root,
        lower=longest - shortest,
        printed_lower=2 * spread,
        log_product=float(inside.sum() + newest.sum()),
        log_printed_upper=pairs * high,
        log_upper=pairs * max(high, float(inside.max(initial=-np.inf))),
    )


def lemma1_bound(kappa: int, eps: float) -> float:
    """1 − 2exp(−κε²/8), the probability Lemma 1 promises: positive only if κε² > 8 log 2 = 5.545."""
    return 1.0 - 2.0 * float(np.exp(-kappa * eps**2 / 8))


def lemma1_coverage(
    x: npt.ArrayLike, kappa: int, eps: float, trials: int = 1000, n: float = 1.0, seed: int = 0
) -> float:
    """How often (1−ε)κ‖x‖² < ‖Px‖² < (1+ε)κ‖x‖² over random κ×d matrices P with entries N(0, 1)/√n.

    Lemma 1 prints the 1/√n; its interval belongs to n = 1.
    """
    rng = np.random.default_rng(seed)
    vector = np.asarray(x, dtype=np.float64)[None, None, :]
    size = float((vector**2).sum())
    hits = 0
    for count in _batches(trials, kappa):
        V = np.broadcast_to(vector, (count, *vector.shape[1:]))
        square = (_project(V, kappa, rng) ** 2).sum(axis=(1, 2)) / n
        hits += int((np.abs(square - kappa * size) < eps * kappa * size).sum())
    return hits / trials


def lemma2_flip_rate(
    d: int, kappa: int, ratio: float, trials: int = 1000, seed: int = 0, on_sphere: bool = False
) -> float:
    """How often ‖Pŵ_1 − Pŵ_2‖ > ‖Pŵ_2 − Pŵ_3‖ although ‖ŵ_1 − ŵ_2‖ = ratio · ‖ŵ_2 − ŵ_3‖, ratio ≤ 1.

    According to Lemma 2, never. Only the two differences matter; here they have independent directions. With
    `on_sphere=True` the three points are unit vectors: ŵ_2 and ŵ_3 are uniform, and ŵ_1 is uniform at its distance
    from ŵ_2.
    """
    if not 0 < ratio <= 1:
        raise UserError(f"ratio must be in (0, 1], got {ratio}")
    rng = np.random.default_rng(seed)
    flips = 0
    for count in _batches(trials, 2 * max(d, kappa)):
        short, long = ratio * _sphere(count, d, rng), _sphere(count, d, rng)
        if on_sphere:
            w2, w3 = short / ratio, long
            side = rng.normal(size=(count, d))
            side -= np.einsum("ij,ij->i", side, w2)[:, None] * w2
            angle = 2 * np.arcsin(ratio * np.linalg.norm(w2 - w3, axis=1) / 2)[:, None]
            w1 = np.cos(angle) * w2 + np.sin(angle) * unit_rows(side)[0]
            short, long = w1 - w2, w2 - w3
        near, far = np.linalg.norm(_project(np.stack([short, long], axis=1), kappa, rng), axis=1).T
        flips += int((near > far).sum())
    return flips / trials


def lemma3_flip_rate(d: int, trials: int = 1000, seed: int = 0) -> float:
    """How often a random d×d projection reverses the order of cos(ŵ_1, ŵ_2) and cos(ŵ_2, ŵ_3).

    According to Lemma 3, never. The ŵ are uniform on the sphere of R^d.
    """
    flips = [after[:, 0] > after[:, 1] for _, after in _cosines(d, trials, seed)]
    return float(np.concatenate(flips).mean())


def lemma3_violation_rate(d: int, eps: float, trials: int = 1000, seed: int = 0) -> float:
    """How often Lemma 3's second inequality (cos(ŵ_1, ŵ_2) − ε)/(1 + ε) < cos(Pŵ_2, Pŵ_3) fails.

    The "constant" e of the lemma depends on the pair and is substituted here. Before the projection,
    cos(ŵ_1, ŵ_2) ≤ cos(ŵ_2, ŵ_3).
    """
    fails = [(before[:, 0] - eps) / (1 + eps) >= after[:, 1] for before, after in _cosines(d, trials, seed)]
    return float(np.concatenate(fails).mean())


def _log_chords(W: npt.ArrayLike) -> tuple[Float64, Float64, int]:
    """Log chords inside 𝒲, log chords from ŵ_N, and the number of all of them."""
    U = unit_rows(W)[0].astype(np.float64, copy=False)
    n = len(U)
    if n < 2:
        raise UserError(f"needs at least 2 rows, got {n}")
    logs = 0.5 * np.log(np.maximum(squared_chords(U, U), CLAMP**2))
    return logs[:-1, :-1][np.triu_indices(n - 1, k=1)], logs[-1, :-1], n * (n - 1) // 2


def _batches(trials: int, width: int) -> Iterator[int]:
    if trials < 1:
        raise UserError(f"trials must be at least 1, got {trials}")
    step = max(1, BLOCK // max(1, width))
    return (min(step, trials - at) for at in range(0, trials, step))


def _sphere(count: int, d: int, rng: np.random.Generator) -> Float64:
    return unit_rows(rng.normal(size=(count, d)))[0]


def _project(V: Float64, kappa: int, rng: np.random.Generator) -> Float64:
    """PV of V (trials, k, d), with a fresh κ×d Gaussian P per trial: (trials, κ, k).

    The rows of P are rotation invariant, so only its action on the span of the k vectors is drawn: κ×k
    numbers with exactly the distribution of the κ×d ones.
    """
    R = np.linalg.qr(V.transpose(0, 2, 1)).R
    return rng.normal(size=(len(V), kappa, R.shape[1])) @ R


def _cosines(d: int, trials: int, seed: int) -> Iterator[tuple[Float64, Float64]]:
    """Pairs (cos 12, cos 23), the first never larger, before and after a d×d projection."""
    rng = np.random.default_rng(seed)
    for count in _batches(trials, 3 * d):
        W = np.stack([_sphere(count, d, rng) for _ in range(3)], axis=1)
        before = np.stack([np.einsum("ti,ti->t", W[:, 1], W[:, end]) for end in (0, 2)], axis=1)
        image = _project(W, d, rng)
        image /= np.linalg.norm(image, axis=1, keepdims=True)
        after = np.stack([np.einsum("ti,ti->t", image[:, :, 1], image[:, :, end]) for end in (0, 2)], axis=1)
        order = before.argsort(axis=1)  # name the pair of smaller cosine 12
        yield np.take_along_axis(before, order, axis=1), np.take_along_axis(after, order, axis=1)
