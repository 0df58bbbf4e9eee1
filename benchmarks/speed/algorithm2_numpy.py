"""Algorithm 2 of the paper as one would write it in NumPy, to compare `PaperMHEAL` with.

It is vectorised, updates distances incrementally and repeats no work, and has no other optimisation.
With `lockstep=True`, all restarts of a cluster share one matrix product per step, which is faster.
"""

import numpy as np
from kmeans import numpy_blocked
from sklearn.preprocessing import StandardScaler


def rotation_starts(U: np.ndarray, centre: np.ndarray, m: int, first: int) -> np.ndarray:
    """Eq. 11 without repetition: each start lies, seen from the centre, most opposite to the start before it."""
    direction = U - np.outer(U @ centre, centre)
    direction /= np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-12)
    starts = [first]
    used = np.zeros(len(U), bool)
    while len(starts) < min(m, len(U)):
        used[starts[-1]] = True
        cosine = direction @ direction[starts[-1]]
        cosine[used] = np.inf
        starts.append(int(cosine.argmin()))
    return np.array(starts)


def traverse(U: np.ndarray, start: int, n: int) -> np.ndarray:
    """Eq. 8 on unit rows: the farthest row is the one whose largest cosine to the picks is smallest."""
    nearest = np.full(len(U), -np.inf, U.dtype)
    picks = [start]
    while len(picks) < n:
        np.maximum(nearest, U @ U[picks[-1]], out=nearest)
        picks.append(int(nearest.argmin()))
    return np.array(picks)


def traverse_lockstep(U: np.ndarray, starts: np.ndarray, n: int) -> np.ndarray:
    """As `traverse`, from all starts at once: (starts, n)."""
    nearest = np.full((len(starts), len(U)), -np.inf, U.dtype)
    picks = [np.asarray(starts)]
    while len(picks) < n:
        np.maximum(nearest, U[picks[-1]] @ U.T, out=nearest)
        picks.append(nearest.argmin(axis=1))
    return np.stack(picks, axis=1)


def log_product(W: np.ndarray) -> float:
    """The logarithm of the product of all pairwise chords, which Eq. 12 maximises."""
    W = W.astype(np.float64)
    square = 2 - 2 * (W @ W.T)[np.triu_indices(len(W), 1)]
    return float(0.5 * np.log(np.maximum(square, 1e-24)).sum())


def quotas(sizes: np.ndarray, budget: int) -> np.ndarray:
    """Share the budget equally among clusters; the remainder, and what small clusters cannot use, go to the largest."""
    order = np.argsort(-sizes, kind="stable")
    share = np.full(len(sizes), budget // len(sizes))
    share[order[: budget % len(sizes)]] += 1
    share = np.minimum(share, sizes)
    while (left := min(budget, int(sizes.sum())) - int(share.sum())) > 0:
        open_ones = [i for i in order if share[i] < sizes[i]]
        share[open_ones[:left]] += 1
    return share


def algorithm2(
    X: np.ndarray,
    budget: int,
    centres: np.ndarray,
    m: int = 10,
    iterations: int = 10,
    seeds: np.ndarray | None = None,
    lockstep: bool = False,
) -> np.ndarray:
    """Pick rows of X, best first: scale, project, cluster, start, spread, interleave (largest cluster first).

    `seeds`, one per cluster, draw the first candidate start, which the paper leaves open.
    """
    U = StandardScaler().fit_transform(X)
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    C = numpy_blocked(U, centres, iterations)
    labels = np.concatenate([(U[lo : lo + 4096] @ C.T).argmax(axis=1) for lo in range(0, len(U), 4096)])
    sizes = np.bincount(labels, minlength=len(C))
    share = quotas(sizes, budget)
    seeds = np.arange(len(C)) if seeds is None else seeds
    chosen = []
    for i in np.argsort(-sizes, kind="stable"):
        tau = share[i]
        if not tau:
            continue
        rows = np.flatnonzero(labels == i)
        B = U[rows]
        first = int(np.random.default_rng(int(seeds[i])).integers(len(rows)))
        starts = rotation_starts(B, C[i], m, first)
        if lockstep:
            sequences = list(traverse_lockstep(B, starts, tau))
        else:
            sequences = [traverse(B, start, tau) for start in starts]
        # Two starts that are each other's farthest row give the same set, so a tie but for rounding (1e-7 a
        # pair): the first wins.
        scores = np.array([log_product(B[picks]) for picks in sequences])
        best = np.flatnonzero(scores >= scores.max() - 1e-7 * tau * (tau - 1) / 2)[0]
        chosen.append(rows[sequences[best]])
    longest = max(map(len, chosen))
    return np.array([picks[t] for t in range(longest) for picks in chosen if t < len(picks)])
