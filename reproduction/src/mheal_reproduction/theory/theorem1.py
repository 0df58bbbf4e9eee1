"""The two bounds of Theorem 1 and those of IWAL as numbers, and their ratios.

MHEAL is IWAL in each of k clusters, for τ = T / k rounds each. The paper calls its bounds tighter than IWAL's, which
the ratios do not confirm. Constants hidden in O(·) are taken as 1.
"""

from math import exp, log, sqrt

import numpy as np
import numpy.typing as npt

from mheal.exceptions import UserError


def iwal_bound(T: float, n_hypotheses: int, delta: float = 0.05, sum_p: float | None = None) -> float:
    """IWAL's bound of R(h_T) − R(h*) after T > 1 rounds, with probability 1 − δ.

    sum_p is Σ p_t; T, the worst case, without it.
    """
    if T <= 1:
        raise UserError(f"the bound needs more than 1 round (log T must be positive), got {T:g}")
    spent = T if sum_p is None else sum_p
    first = sqrt(spent) + 6 * sqrt(log(2 * (3 + T) * T**2 / delta))
    return 2 / T * first * sqrt(log(16 * T**2 * n_hypotheses**2 * log(T) / delta))


def mheal_bound(T: float, k: int, n_hypotheses: int, delta: float = 0.05, sum_p: npt.ArrayLike | None = None) -> float:
    """Theorem 1's error bound: k times the largest of IWAL's bounds in the k clusters, at τ = T / k rounds.

    n_hypotheses is the size of the largest class; sum_p is Σ p_t of each cluster (or of all alike), τ without it. The
    proof needs τ > 3.
    """
    spent = T / k if sum_p is None else float(np.max(sum_p))
    return k * iwal_bound(T / k, n_hypotheses, delta, spent)


def bound_ratio(T: float, k: int, n_hypotheses: int, delta: float = 0.05, regional: int | None = None) -> float:
    """Theorem 1's error bound divided by IWAL's at the same T, with p_t = 1: above 1, Theorem 1's is looser.

    `regional` is the size of the clusters' hypothesis classes where it differs from IWAL's.
    """
    ours = mheal_bound(T, k, n_hypotheses if regional is None else regional, delta)
    return ours / iwal_bound(T, n_hypotheses, delta)


def iwal_label_bound(
    T: float, theta: float, risk: float, n_hypotheses: int, delta: float = 0.05, asymmetry: float = 1.0
) -> float:
    """IWAL's bound of the labels queried in T rounds, 8K(θR*T + √(R*T log(T|H|/δ)) + log³(T|H|/δ)).

    It is Theorem 1's with one cluster of one region.
    """
    return mheal_label_bound(T, 1, theta, [risk], [1.0], n_hypotheses, delta, asymmetry)


def mheal_label_bound(
    T: float,
    k: int,
    theta: float,
    risks: npt.ArrayLike,
    masses: npt.ArrayLike,
    n_hypotheses: int,
    delta: float = 0.05,
    asymmetry: float = 1.0,
) -> float:
    """Theorem 1's bound of the labels queried in T rounds, for the cluster where it is largest.

    risks, masses : R*_j and p_j, j = 1 … N_i. The paper sums over the N_i samples of a cluster. The work that it builds
        on sums over regions, so that log³ is multiplied by their number, not by the number of samples.
    """
    tau = T / k
    mass = np.broadcast_to(np.asarray(risks, np.float64), np.shape(masses)) * np.asarray(masses, np.float64) * tau
    logarithm = log(tau * n_hypotheses * mass.size / delta)
    inside = theta * mass.sum() + np.sqrt(mass * logarithm).sum() + mass.size * logarithm**3
    return float(8 * k * asymmetry * inside)


def slope_asymmetry(largest_margin: float) -> float:
    """K_ℓ of the logistic loss for margins in [−B, B]: e^B."""
    return exp(largest_margin)
