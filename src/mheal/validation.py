"""Checks of arguments: pools, budgets, labelled rows, probabilities. An error is one line with the remedy."""

from collections.abc import Callable
from operator import index
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .exceptions import UserError, UserTypeError
from .sphere import HEAD, blocks, to_sphere

WIDE = 512  # sparse pools with more columns are reduced by SVD instead of made dense
REDUCED = 128  # columns after the reduction
BLOCK = 1 << 14  # rows that are checked together
LONGEST = 1e15  # largest length of rows with scaling="raw"; the longest row must have at least its inverse
ROUNDED = 0.1  # tolerance of the sum of probabilities, which may be rounded to two decimals


def as_array(X: Any, random_state: Any = 0) -> npt.NDArray[Any]:
    """X as a C-contiguous array of float32 or float64, (rows, columns). It is not copied if it is one already.

    X may be an array of any library on the CPU, memory map, list, pandas or polars frame or SciPy sparse matrix. In a
    frame, categories are one-hot encoded and missing values imputed, with a warning (`mheal.tables`). Other types of
    numbers become float32 if it is exact for them, else float64. A sparse matrix of over 512 columns and 128 rows
    (text) is reduced to 128 columns by truncated SVD, and its rows are scaled to unit length.
    """
    if sparse.issparse(X):
        return _from_sparse(X, random_state)
    if is_frame(X):
        from .tables.features import frame_features

        made = frame_features(X, stacklevel=4)
        if made.kept is not None:
            raise UserError(f"X: {made.notes[0]}: drop such rows, or call mheal.select")
        X = made.X
    if np.ma.is_masked(X):
        raise UserError("X has masked cells: fill them in or drop their rows (X.filled, X.compressed)")
    try:
        A = np.from_dlpack(X) if hasattr(X, "__dlpack__") and not hasattr(X, "__array__") else np.asarray(X)
    except ValueError as error:  # lists
        raise UserError("X has rows of different lengths: give each row the same columns") from error
    except (TypeError, RuntimeError, BufferError) as error:  # each library has its own for an array on a GPU
        raise UserTypeError(f"X of type {type(X).__name__} is no array on the CPU: copy it there first") from error
    if A.dtype.kind in "OUS":
        if A.ndim == 0:
            remedy = "read files first (pandas.read_csv), and collect what is lazy"
            raise UserTypeError(f"X must be an array, a frame or a list of rows, got {type(X).__name__}: {remedy}")
        A = _from_objects(A)
    refuse_dtype(A.dtype)
    refuse_shape(A.shape)
    return np.ascontiguousarray(A, dtype=working_dtype(A.dtype))


def refuse_dtype(dtype: np.dtype[Any]) -> None:
    """Raise an error unless X has real numbers."""
    if dtype.kind not in "fiub":
        raise UserTypeError(f"X has dtype {dtype}: convert it to real numbers; in a frame, dates become days")


def refuse_shape(shape: tuple[int, ...]) -> None:
    """Raise an error unless X has two dimensions and is not empty."""
    if len(shape) != 2:
        hint = "X.reshape(-1, 1) if it is one feature" if len(shape) == 1 else "X.reshape(len(X), -1)"
        raise UserError(f"X must have rows and columns, but has {len(shape)} dimension(s): try {hint}")
    if 0 in shape:
        raise UserError(f"X is empty, shape {shape}: it needs at least one row and one column")


def working_dtype(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    """The type to compute in: float32 if it can represent all numbers of this type exactly, else float64."""
    return np.float32 if dtype == np.float32 or dtype.itemsize <= 2 else np.float64


def as_budget(budget: Any, available: int) -> int:
    """The budget as an int between 1 and the number of rows that can still be picked."""
    n = as_whole(budget, "the budget")
    if n < 1:
        raise UserError(f"the budget must be at least 1, got {n}")
    if available == 0:
        remedy = "name fewer rows as labelled, or write None for the labels that are missing in y"
        raise UserError(f"every row is labelled already, there is nothing left to pick: {remedy}")
    if n > available:
        raise UserError(f"a budget of {n} exceeds the {available} unlabelled rows: choose at most {available}")
    return n


def as_start(start: Any, n: int, chosen: npt.NDArray[np.int64]) -> int:
    """`start` as a row number between 0 and n − 1 that is not in `chosen`."""
    row = as_whole(start, "start")
    if not 0 <= row < n:
        raise UserError(f"start must be a row between 0 and {n - 1}, got {row}")
    if row in chosen:
        raise UserError(f"start is row {row}, which is chosen already: name another")
    return row


def as_labeled(labeled: Any, n: int) -> npt.NDArray[np.int64]:
    """The row numbers in `labeled`, in the order given.

    labeled : row numbers, a boolean mask over the rows, a Selection, or None
    """
    given = () if labeled is None else getattr(labeled, "indices", labeled)
    try:
        rows = np.asarray(given)
    except ValueError:  # lists of different lengths
        rows = np.asarray(given, object)
    if rows.dtype == bool:
        if rows.shape != (n,):
            raise UserError(f"labeled is a mask of shape {rows.shape}, but X has {n} rows")
        return np.flatnonzero(rows)
    if rows.size == 0:
        return np.empty(0, np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        wrong = f"labeled must be a list of row numbers or a boolean mask, got {rows.dtype} {rows.shape}"
        remedy = "join selections with +; X.index.get_indexer turns the names in a frame's index into numbers"
        raise UserTypeError(f"{wrong}: {remedy}")
    outside = (rows < 0) | (rows >= n)
    if outside.any():
        raise UserError(f"labeled names row {rows[outside][0]}, but rows go from 0 to {n - 1}")
    values, counts = np.unique(rows, return_counts=True)
    if (counts > 1).any():
        raise UserError(f"labeled names row {values[counts > 1][0]} twice: keep it once")
    return rows.astype(np.int64)


def as_proba(proba: Any, n: int) -> npt.NDArray[Any]:
    """`proba` as an array of class probabilities, (n, classes)."""
    if hasattr(proba, "detach"):
        proba = proba.detach().float().cpu().numpy()
    if hasattr(proba, "toarray") or np.ma.is_masked(proba):
        raise UserTypeError("proba is sparse or masked: give proba.toarray(), or predict the masked rows too")
    values = np.asarray(proba)
    if values.dtype.kind not in "fiub":
        raise UserTypeError(f"proba must be numbers, got {values.dtype}: give what model.predict_proba(X) returns")
    if values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1):
        raise UserError("proba has one number a row: give a column for each class, such as np.column_stack([1 - p, p])")
    if values.ndim != 2 or len(values) != n:
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


def as_utility(utility: Any, n: int) -> npt.NDArray[np.float64]:
    """`utility` as an array of n numbers ≥ 0, divided by the largest."""
    values = np.asarray(utility)
    if values.dtype.kind not in "fiub":
        raise UserTypeError(f"utility must be numbers, got {values.dtype}")
    if values.shape != (n,):
        raise UserError(f"utility has shape {values.shape}, but X has {n} rows: give one number for each")
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        raise UserError(f"utility is {values[bad][0]!r} at row {bad.argmax()}: it must be a number ≥ 0")
    if not values.any():
        raise UserError("utility is 0 for every row: leave it out")
    return values / float(values.max())


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or Polars frame."""
    return hasattr(X, "to_numpy") and hasattr(X, "columns")


def refuse_range(lengths: npt.NDArray[Any], X: npt.NDArray[Any]) -> None:
    """Raise an error if squared distances between these unscaled rows would overflow or underflow in float32.

    lengths : of all rows. If all are 0, the first rows of X show whether rows are zero or just too short
    """
    longest = float(lengths.max())
    if longest > LONGEST or (longest < 1 / LONGEST and (longest > 0 or (np.asarray(X[:HEAD]) != 0).any())):
        what = f"at most {longest:.2g} long, too {'long' if longest > 1 else 'short'} to compare as they are"
        raise UserError(f'the rows of X are {what}: rescale X, or use scaling="standard"')


def refuse_any_nonfinite(X: npt.NDArray[Any], yield_point: Callable[[], None]) -> None:
    """Raise an error that names the first NaN or infinity of X. `yield_point` is called between blocks of rows."""
    for part in blocks(*X.shape):
        if not np.isfinite(X[part]).all():
            refuse_nonfinite(X)
        yield_point()


def refuse_nonfinite(X: npt.NDArray[Any], first: int = 0) -> NoReturn:
    """Raise the error that names the first NaN or infinity of X, or else its largest number, which overflows.

    first : the row number in the pool of X's first row, if X is a part of the pool
    """
    for lo in range(0, len(X), BLOCK):
        bad = ~np.isfinite(X[lo : lo + BLOCK])
        if bad.any():
            row, column = np.unravel_index(int(bad.argmax()), bad.shape)
            what = "NaN" if np.isnan(X[lo + row, column]) else "infinity"
            at = f"row {first + lo + row}, column {column}"
            raise UserError(f"X has {what} at {at}: drop such rows or fill them in (sklearn.impute.SimpleImputer does)")
    row, column = np.unravel_index(int(np.abs(X).argmax()), X.shape)
    at = f"at row {first + row}, column {column} ({X[row, column]:.3g})"
    raise UserError(f"X overflows {X.dtype} {at}: pass float64 or rescale it")


def as_whole(value: Any, name: str) -> int:
    """A whole number of any integer type as an int."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return index(value)
    except TypeError:
        raise UserTypeError(f"{name} must be a whole number, got {value!r}") from None


def _from_objects(A: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of objects as float64, or an error that names the first object that is not a number."""
    for at, value in np.ndenumerate(A.astype(object)):
        try:
            if isinstance(value, str | bytes):
                raise TypeError
            float(value)
        except (TypeError, ValueError):
            place, remedy = f"row {at[0]}", "embed texts first (mheal.embed.embed)"
            if len(at) > 1:
                place, remedy = f"{place}, column {at[1]}", "give a pandas or polars frame, or encode such columns"
            raise UserTypeError(f"X has {value!r} at {place}, which is not a number: {remedy}") from None
    return A.astype(np.float64)


def _from_sparse(X: Any, random_state: Any) -> npt.NDArray[Any]:
    X = X.tocsr()
    refuse_shape(X.shape)
    refuse_dtype(X.dtype)
    X = X.astype(working_dtype(X.dtype))
    if not np.isfinite(X.data).all():
        at = int(np.flatnonzero(~np.isfinite(X.data))[0])
        row = int(np.searchsorted(X.indptr, at, side="right")) - 1
        raise UserError(f"X has NaN or infinity at row {row}, column {X.indices[at]}: drop or fill such cells")
    if X.shape[1] <= WIDE or min(X.shape) <= REDUCED:
        return np.ascontiguousarray(X.toarray())
    from sklearn.decomposition import TruncatedSVD

    reduced = TruncatedSVD(REDUCED, random_state=random_state).fit_transform(X)
    return to_sphere(reduced.astype(X.dtype, copy=False))
