"""What rows are worth once there is a model to ask: its doubt of them."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

ASK_FROM = 64  # labels; a model that has seen fewer doubts the wrong rows
DOUBT = 2.0  # power of the doubt
BLOCK = 1 << 16  # rows whose doubt is found together


def margins(scores: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Best score minus second best; one class alone leaves no doubt."""
    if scores.shape[1] < 2:
        return scores[:, 0]
    top = np.partition(scores, -2, axis=1)
    return top[:, -1] - top[:, -2]


class Proba(Protocol):
    """Class probabilities, a row for each row of the pool: an array, or what finds them as parts of it are read."""

    def __len__(self) -> int:
        """How many rows."""

    def __getitem__(self, part: slice, /) -> Any:
        """Some of them, (rows, classes)."""


def worth_of(proba: Proba, power: float = DOUBT) -> npt.NDArray[np.float64] | None:
    """The doubt of each row, 1 − (p₁ − p₂), to a power; None of a model that doubts nothing."""
    doubt = np.empty(len(proba))
    for lo in range(0, len(proba), BLOCK):
        part = np.asarray(proba[lo : lo + BLOCK], np.float64)
        doubt[lo : lo + BLOCK] = np.clip(1 - margins(part), 0, 1)
    return doubt**power if doubt.any() else None
