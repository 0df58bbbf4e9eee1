"""Which rows of a pool are labelled, and their classes, from what `labeled` and `y` say."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .classes import as_column, missing
from .exceptions import UserError
from .validation import as_labeled

Rows = npt.NDArray[np.int64]


def split_labels(labeled: Any, y: Any, n: int) -> tuple[Rows, npt.NDArray[Any]]:
    """The labelled rows among n, and their labels as they were given; no labels where y is None.

    labeled : row numbers, a mask over the rows, a Selection, or None
    y : a label for each labelled row, or for each of the n rows: without `labeled` those of them that are not missing
        (None or NaN) are the labelled ones
    """
    if y is None:
        return as_labeled(labeled, n), np.empty(0, np.int64)
    labels = as_column(y)
    if labeled is None:
        if len(labels) != n:
            raise UserError(
                f"y has {len(labels)} labels, and X has {n} rows: name their rows in `labeled`, or give one for each "
                "row of X, None where it is missing"
            )
        rows = np.flatnonzero(~missing(labels))
        return rows, labels[rows]
    rows = as_labeled(labeled, n)
    if len(labels) == n != len(rows):
        labels = labels[rows]
    if len(labels) != len(rows):
        raise UserError(f"y has {len(labels)} labels, but labeled names {len(rows)} rows: give one for each")
    absent = missing(labels)
    if absent.any():
        row = int(rows[absent.argmax()])
        raise UserError(f"y has no label for row {row}, which `labeled` names: label it, or leave it out of `labeled`")
    return rows, labels
