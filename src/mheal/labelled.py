"""Which rows of a pool are labelled, and their classes, from what `labeled` and `y` say."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .classes import as_column, missing
from .exceptions import UserError
from .validation import as_labeled

Rows = npt.NDArray[np.int64]


def split_labels(labeled: Any, y: Any, n: int) -> tuple[Rows, Rows, npt.NDArray[Any]]:
    """The rows among n that are not to be picked, those of them that have a label, and these labels as given.

    Without y the classes are not known: all rows of `labeled` have a label, and there are no labels to return.

    labeled : row numbers, a mask over the rows, a Selection, or None
    y : a label for each row of `labeled`, or for each of the n rows, None or NaN where it is missing. Without
        `labeled`, the rows that have one are meant; with it, its rows without one are still being labelled
    """
    if y is None:
        rows = as_labeled(labeled, n)
        return rows, rows, np.empty(0, np.int64)
    labels = as_column(y)
    if labeled is None:
        if len(labels) != n:
            raise UserError(
                f"y has {len(labels)} labels, and X has {n} rows: name their rows in `labeled`, or give one for each "
                "row of X, None where it is missing"
            )
        rows = np.flatnonzero(~missing(labels))
        return rows, rows, labels[rows]
    rows = as_labeled(labeled, n)
    if len(labels) == n != len(rows):
        known = rows[~missing(labels)[rows]]
        return rows, known, labels[known]
    if len(labels) != len(rows):
        raise UserError(f"y has {len(labels)} labels, but labeled names {len(rows)} rows: give one for each")
    absent = missing(labels)
    if absent.any():
        row = int(rows[absent.argmax()])
        raise UserError(f"y has no label for row {row}, which `labeled` names: label it, or leave it out of `labeled`")
    return rows, rows, labels
