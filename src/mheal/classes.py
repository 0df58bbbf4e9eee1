"""Labels as they come in: one class per row, or a one-line error."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .exceptions import UserError, UserTypeError


def as_classes(labels: Any) -> tuple[npt.NDArray[Any] | None, str]:
    """Labels that a classifier can learn from; or None, and why not, for those that need no classifier."""
    try:
        found = as_labels(labels, len(labels))
    except (TypeError, ValueError) as error:
        return None, f"the labels are no classes ({error})"
    sizes = np.unique(found, return_counts=True)[1]
    if len(sizes) == 1:
        return None, "all labels are alike"
    if 2 * len(sizes) > len(found):
        return None, "most labels are there once, as no classes are"
    return found, ""


def as_labels(y: Any, n: int) -> npt.NDArray[Any]:
    """One label for each of n rows, as integers, booleans or strings; whole floats become integers."""
    # NumPy would turn a missing label among strings into the string "nan".
    labels = np.asarray(y, object if isinstance(y, list | tuple) else None)
    if labels.ndim != 1:
        raise UserError(f"y must be one column of labels, but has shape {labels.shape}")
    if len(labels) != n:
        raise UserError(f"y has {len(labels)} labels, but X has {n} rows: there must be one for each")
    if labels.dtype.kind == "O":
        labels = _from_objects(labels)
    if labels.dtype.kind == "f":
        _refuse(np.isnan(labels))
        fractions = labels != np.round(labels)
        if fractions.any():
            row = int(fractions.argmax())
            raise UserError(f"y has {labels[row]} at row {row}: labels must be classes, not measurements")
        labels = labels.astype(np.int64)
    if labels.dtype.kind not in "iubU":
        raise UserTypeError(f"y has dtype {labels.dtype}: labels must be whole numbers or strings")
    return labels


def _from_objects(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    _refuse(np.array([label is None or label != label for label in labels]))  # NaN alone differs from itself
    kinds = {type(label).__name__ for label in labels}
    if len({"str" if kind in ("str", "str_") else "number" for kind in kinds}) > 1:
        raise UserTypeError(f"y mixes {' and '.join(sorted(kinds))}: make all labels strings or all of them numbers")
    return np.array(labels.tolist())


def _refuse(missing: npt.NDArray[np.bool_]) -> None:
    if missing.any():
        raise UserError(f"y has no label at row {int(missing.argmax())}: drop such rows or label them")
