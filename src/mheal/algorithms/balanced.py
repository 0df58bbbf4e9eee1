"""Max-min over the whole pool, in which clusters take turns."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..backends import backend
from .density import Charge
from .result import Indices, Spread
from .starts import nearest_to_mean, uncovered
from .turns import members_of, turns_of


def spread_quota(
    points: Any,
    budget: int,
    labeled: Indices,
    labels: npt.NDArray[np.int32],
    k: int,
    charge: Charge | None,
) -> Spread:
    """Clusters take turns, each with its point farthest from every pick of any cluster."""
    members = members_of(labels, k)
    turns = turns_of(members, labels[labeled], budget)
    weight, candidate = charge or (np.ones(points.shape[0], points.dtype),) * 2
    picks = backend(points).Picks(points, len(labeled) + budget)
    start = labeled
    if len(labeled) == 0:
        own = members[turns[0]]
        start = own[[np.argmax(candidate[own]) if charge is not None else nearest_to_mean(points, own)]].astype(
            np.int64
        )
    picks.add(start, weight[start])
    traversals = [backend(points).Traversal(picks, m, candidate[m], weight[m]) for m in members]
    for c, traversal in enumerate(traversals):
        traversal.exclude(start[labels[start] == c])
    rows = [] if len(labeled) else list(start)
    gain = [np.inf] * len(rows)
    for c in turns[len(rows) :]:
        row, score = traversals[c].extend(1)
        rows.append(row[0])
        gain.append(float(np.sqrt(score[0])))
    return Spread(np.array(rows), np.array(gain), uncovered(points, picks, candidate)[0][-budget:])
