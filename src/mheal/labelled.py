"""Which rows of a pool are labelled, and their classes, from what `labeled` and `y` say."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .exceptions import UserError
from .validation import as_labeled

Rows = npt.NDArray[np.int64]


def split_labels(labeled: Any, y: Any, n: int) -> tuple[Rows, npt.NDArray[Any]]:
    """The labelled rows among n, and their labels as they were given; no labels where y is None.

    labeled : row numbers, a mask over the rows, a Selection, or None
    y : a label for each labelled row, or for each of the n rows: without `labeled` those of them that are not missing
        (None or NaN) are the labelled ones
    """
    if hasattr(labeled, "indices"):
        labeled = labeled.indices
    if y is None:
        return as_labeled(labeled, n), np.empty(0, np.int64)
    labels = _as_column(y)
    if labeled is None:
        if len(labels) != n:
            raise UserError(
                f"y has {len(labels)} labels, and X has {n} rows: name their rows in `labeled`, or give one for each "
                "row of X, None where it is missing"
            )
        rows = np.flatnonzero(~_missing(labels))
        return rows, labels[rows]
    rows = as_labeled(labeled, n)
    if len(labels) == n != len(rows):
        labels = labels[rows]
    if len(labels) != len(rows):
        raise UserError(f"y has {len(labels)} labels, but labeled names {len(rows)} rows: give one for each")
    missing = _missing(labels)
    if missing.any():
        row = int(rows[missing.argmax()])
        raise UserError(f"y has no label for row {row}, which `labeled` names: label it, or leave it out of `labeled`")
    return rows, labels


def _as_column(y: Any) -> npt.NDArray[Any]:
    if hasattr(y, "detach"):
        y = y.detach().cpu().numpy()
    # NumPy would turn a missing label among strings into the string "nan".
    labels = np.asarray(y, object if isinstance(y, list | tuple) else None)
    if labels.ndim != 1:
        raise UserError(f"y must be one column of labels, but has shape {labels.shape}")
    return labels


def _missing(labels: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Where a label is None, NaN or pandas' NA."""
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind != "O":
        return np.zeros(len(labels), bool)
    return np.array([v is None or type(v).__name__ == "NAType" or bool(v != v) for v in labels], bool)
