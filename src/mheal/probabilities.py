"""Class probabilities, as models give them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .exceptions import UserError, UserTypeError

BLOCK = 1 << 16  # rows that are checked together
ROUNDED = 0.1  # what probabilities written with two decimals may miss to add up to 1


def as_proba(proba: Any, n: int | None) -> npt.NDArray[Any]:
    """A row of probabilities for each of n rows (None: however many there are), a column a class."""
    if hasattr(proba, "detach"):
        proba = proba.detach().float().cpu().numpy()
    if hasattr(proba, "toarray"):
        raise UserTypeError("proba is sparse: give proba.toarray()")
    if isinstance(proba, np.ma.MaskedArray) and np.ma.is_masked(proba):
        raise UserError("proba has masked cells: predict them too")
    values = np.asarray(proba)
    if values.dtype.kind not in "fiub":
        raise UserTypeError(f"proba must be numbers, got {values.dtype}: give what model.predict_proba(X) returns")
    if values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1):
        raise UserError(
            "proba has one number a row: give a column for each class, for two of them np.column_stack([1 - p, p])"
        )
    if values.ndim != 2 or (n is not None and len(values) != n):
        raise UserError(f"proba has shape {values.shape}, but X has {n} rows: give a row of probabilities for each")
    for lo in range(0, len(values), BLOCK):
        part = values[lo : lo + BLOCK]
        total = part.sum(axis=1, dtype=np.float64)
        bad = ~((part >= 0).all(axis=1) & (np.abs(total - 1) <= ROUNDED))
        if bad.any():
            row = int(bad.argmax())
            wrong = "has a NaN" if np.isnan(part[row]).any() else f"adds up to {total[row]:.4g}"
            if (part[row] < 0).any():
                wrong = f"has {part[row].min():.4g}"
            raise UserError(f"proba {wrong} at row {lo + row}: give probabilities ≥ 0 that add up to 1 in each row")
    return values
