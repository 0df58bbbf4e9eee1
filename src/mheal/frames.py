"""A pandas or Polars frame as a pool: its features, the rows that are kept, and their labels."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .classes import split_labels
from .exceptions import DataWarning, UserError

if TYPE_CHECKING:
    from .tables.features import Missing

CALLER = 4  # stack levels from a warning here to the caller of `mheal.select`


def frame_pool(
    frame: Any, missing: "Missing", labeled: Any, y: Any
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64] | None, Any, Any]:
    """The features of a frame without columns that repeat the labels; the rows that are kept; `labeled` and y of these.

    If all rows are kept, the rows are None, and `labeled` and y are returned as given.
    """
    from .tables.features import frame_features
    from .tables.table import as_polars, repeating

    of_all = labeled is None and hasattr(y, "iloc") and hasattr(frame, "iloc") and len(y) == len(frame)
    if of_all and not y.index.equals(frame.index) and set(y.index) == set(frame.index):
        raise UserError("y has the rows of X in another order: give y.loc[X.index]")
    n, frame = len(frame), as_polars(frame)
    rows, known, labels = split_labels(labeled, y, n)
    same = repeating(frame[known.tolist()], labels)
    if 0 < len(same) < len(frame.columns):
        frame = frame.drop(same)
        warnings.warn(f"X: left out {', '.join(same)} (the labels themselves)", DataWarning, stacklevel=CALLER)
    made = frame_features(frame, missing, stacklevel=CALLER + 1)
    if made.kept is not None:
        labeled = np.isin(made.kept, rows)
        if y is not None:
            of_rows = np.full(n, None, object)
            of_rows[known] = labels
            y = of_rows[made.kept]
    return made.X, made.kept, labeled, y
