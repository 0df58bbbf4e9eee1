"""Farthest-first traversal: the sequential max-min of Eq. 8, also known as k-center greedy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..backends import backend
from ..backends.cpu.points import Points
from ..validation import as_budget, as_labeled, as_pool, as_start

if TYPE_CHECKING:
    from .density import Charge


def max_min(
    X: Any, n: int, start: int | None = None, chosen: Sequence[int] | npt.NDArray[np.int64] = ()
) -> npt.NDArray[np.int64]:
    """n rows of X in pick order: each is the farthest (Euclidean) from its nearest predecessor.

    `chosen` are rows to keep away from and not to return. `start` is the first pick; without it the
    first pick is the farthest from `chosen` or, if there are none either, row 0. Ties go to the lowest row, and
    a duplicate of a pick is taken only when nothing else is left. On unit rows this is Eq. 8: the chord orders
    points as the geodesic does. The radius of what is left is at most twice the best possible (Gonzalez 1985). A
    sparse X with over 512 columns is first reduced to 128 by truncated SVD.

    >>> max_min([[0.0], [1.0], [9.0], [10.0]], 3)
    array([0, 3, 1])
    """
    X = as_pool(X)
    chosen = as_labeled(chosen, len(X))
    n = as_budget(n, len(X) - len(chosen))
    if start is None and len(chosen) == 0:
        start = 0
    if start is None:
        return traverse(Points.raw(X), n, chosen)[0]
    start = as_start(start, len(X), chosen)
    if n == 1:
        return np.array([start])
    rest = traverse(Points.raw(X), n - 1, np.append(chosen, start))[0]
    return np.concatenate([[start], rest])


def traverse(
    points: Any,
    n: int,
    chosen: npt.NDArray[np.int64],
    charge: "Charge | None" = None,
    workers: int | None = None,
    first: Any = None,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any], float]:
    """n rows of the pool in farthest-first order, the score of each, and the largest score left after them.

    `chosen` holds at least one row, to keep away from; none of them is picked again. A score is a squared distance
    times the weights of both ends. `first` may hold one of points.first_scores, for chosen[0] and no charge.
    """
    kernels = backend(points)
    picks = kernels.Picks(points, len(chosen) + n + 1)
    picks.add(chosen, np.ones(len(chosen), points.dtype) if charge is None else charge.weight[chosen])
    weight, placed = (None, None) if charge is None else (charge.candidate, charge.weight)
    traversal = kernels.Traversal(picks, weight=weight, placed=placed, workers=workers, first=first)
    traversal.exclude(chosen)
    rows, score = traversal.extend(n + 1)  # one more than wanted: its score is what the others leave
    return rows[:n], score[:n], float(score[n]) if len(score) > n else 0.0
