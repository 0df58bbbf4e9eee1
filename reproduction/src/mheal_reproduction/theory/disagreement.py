"""The disagreement coefficient of Eq. 13 and 14, measured on data."""

from typing import NamedTuple

import numpy as np

from .hyperplanes import Float32, Float64, Hyperplanes, logistic
from .iwal import query_probability


class Disagreement(NamedTuple):
    """The disagreement coefficient, and how many hypotheses it was computed from."""

    theta: float  # E_x sup_{h in the ball} max_y |ℓ(h(x), y) − ℓ(h*(x), y)| / r
    ball: int  # hypotheses within r of h*, itself included: with 1, theta is 0 and meaningless


def disagreement_coefficient(
    hyperplanes: Hyperplanes, X: Float32, center: int, radius: float = 0.1, scale: float = 1.0
) -> Disagreement:
    """θ on the rows of X around hypothesis number `center`, losses divided by `scale`.

    The printed formula lacks the absolute value and the maximum over y, without which it is not a distance.
    """
    ball = np.flatnonzero(distances(hyperplanes, X, center) <= radius * scale)
    reach = 0.0
    for part, z in Hyperplanes(hyperplanes.weights[ball], hyperplanes.biases[ball]).blocks(X):
        middle = hyperplanes.margins(X[part], [center])[:, 0]
        # The loss is monotone in the margin: the farthest hypothesis has the smallest or the largest one.
        below = query_probability(z.min(axis=1), middle, scale)
        above = query_probability(middle, z.max(axis=1), scale)
        reach += float(np.maximum(below, above).sum(dtype=np.float64))
    return Disagreement(reach / len(X) / radius, len(ball))


def distances(hyperplanes: Hyperplanes, X: Float32, center: int) -> Float64:
    """ρ(h, h*) = E_x max_y |ℓ(h(x), y) − ℓ(h*(x), y)| of every hypothesis h from number `center`."""
    total = np.zeros(len(hyperplanes))
    for part, z in hyperplanes.blocks(X):
        middle = hyperplanes.margins(X[part], [center])
        positive = logistic(z) - logistic(middle)
        negative = positive + (z - middle)  # ℓ(h, −1) = ℓ(h, 1) + h
        total += np.maximum(np.abs(positive), np.abs(negative)).sum(axis=0, dtype=np.float64)
    return total / len(X)
