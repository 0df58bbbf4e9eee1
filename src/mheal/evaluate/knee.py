"""The knee of a curve that falls steeply, then slowly."""

import numpy as np
import numpy.typing as npt

from ..exceptions import UserError


def knee(x: npt.ArrayLike, y: npt.ArrayLike) -> float | None:
    """The x at which a decreasing convex curve turns: beyond it, more of x buys little.

    Both axes are scaled to [0, 1]; the knee is the point farthest below the chord from the first point to the last
    (the first of several such), as in Kneedle. It depends on where the curve was cut off: it is a hint, not a law.
    None where no point lies below the chord: the curve is straight, bulges upwards or does not fall.

    >>> knee([10, 20, 30, 40, 50], [9.0, 5.0, 1.0, 0.5, 0.0])
    30.0
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise UserError(f"x and y must be lists of the same length, got shapes {x.shape} and {y.shape}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise UserError("x and y must be finite: leave out the budgets at which the curve is infinite")
    if (np.diff(x) <= 0).any():
        raise UserError("x must increase: sort the points by x")
    if len(x) < 3 or y[-1] >= y[0]:
        return None
    below = (y[0] - y) / (y[0] - y[-1]) - (x - x[0]) / (x[-1] - x[0])  # along y, √2 times the distance
    farthest = int(np.argmax(np.round(below, 12)))  # rounding apart, the first
    return float(x[farthest]) if below[farthest] > 1e-9 else None
