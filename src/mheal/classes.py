"""Labels: one definition of classes for arrays, lists, tables and files, and of the rows that have a label."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .exceptions import UserError, UserTypeError, shortened
from .validation import as_labeled

Rows = npt.NDArray[np.int64]

FEW = 20  # at most this many different fractions can be classes: half stars are, prices are not
_LARGEST = 2**53  # larger whole floats may be rounded
_REMEDY = "labels must be all whole numbers or all strings"


def as_classes(labels: Any, name: str = "y", n: int | None = None) -> npt.NDArray[Any]:
    """Labels as an array of integers, booleans or strings, one for each row and none missing.

    Whole floats become integers. Up to 20 different fractions become strings ("0.5", "1.0"); more are considered
    measurements, which raise an error.

    labels : array, list, tuple, or a pandas or polars series
    name : name of the labels in error messages
    n : expected number of labels
    """
    values = as_column(labels, name)
    if n is not None and len(values) != n:
        raise UserError(f"{name} has {len(values):,} labels, but X has {n:,} rows: there must be one for each")
    absent = missing(values)
    if absent.any():
        raise UserError(f"{name} has no label at row {int(absent.argmax())}: drop such rows or label them")
    if values.dtype.kind == "O":
        values = _from_objects(values, name)
    if values.dtype.kind not in "iubfU":
        raise UserTypeError(f"{name} holds {values.dtype}: {_REMEDY}")
    return _from_floats(values, name) if values.dtype.kind == "f" else values


def why_not_classes(classes: npt.NDArray[Any]) -> str | None:
    """Why a classifier cannot learn from these labels; None if it can."""
    different = np.unique(classes)
    if len(different) == 1:
        return f"all labels are {different[0].item()!r}: there is nothing to learn from one class"
    if 2 * len(different) > len(classes):
        counts = f"{len(different):,} different values in {len(classes):,} rows"
        return f"there are {counts}: these are ids or measurements, not classes"
    return None


def with_one_row(classes: npt.NDArray[Any]) -> str | None:
    """A phrase that names the classes with one row only; None if there are none."""
    different, counts = np.unique(classes, return_counts=True)
    rare = different[counts == 1].tolist()
    named = f"class {rare[0]!r} has" if len(rare) == 1 else f"classes {shortened(rare)} each have"
    return f"{named} 1 row only" if rare else None


def missing(labels: Any) -> npt.NDArray[np.bool_]:
    """Which labels are missing: None, NaN, NA, or an empty string."""
    values = as_column(labels)
    if values.dtype.kind in "OU":
        return np.fromiter((is_blank(value) for value in values), bool, len(values))
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)


def is_blank(value: Any) -> bool:
    """Whether one label is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def as_column(labels: Any, name: str = "y") -> npt.NDArray[Any]:
    """Labels as an array with one dimension; missing labels stay as they are."""
    if hasattr(labels, "detach"):
        labels = labels.detach().cpu().numpy()
    # NumPy would turn None among strings into the string "None".
    values = np.fromiter(labels, object, len(labels)) if isinstance(labels, list | tuple) else np.asarray(labels)
    if values.ndim != 1:
        raise UserError(f"{name} must be one column of labels, but has shape {values.shape}")
    return values


def split_labels(labeled: Any, y: Any, n: int) -> tuple[Rows, Rows, npt.NDArray[Any]]:
    """The rows that cannot be picked, those of them whose class is known, and these classes as given.

    Without y no class is known: the rows of `labeled` are returned twice, and no classes.

    labeled : row numbers, a mask over the rows, a Selection, or None
    y : a label for each row of `labeled`, or for each of the n rows, None or NaN for a missing one. If `labeled` is
        None, the labelled rows are those with a label in y; else rows of `labeled` without one are being labelled
    """
    rows = as_labeled(labeled, n)
    if y is None:
        return rows, rows, np.empty(0, np.int64)
    labels = as_column(y)
    absent = missing(labels)
    if labeled is None:
        if len(labels) != n:
            remedy = "name their rows in `labeled`, or give one for each row of X, None for a missing one"
            raise UserError(f"y has {len(labels)} labels, and X has {n} rows: {remedy}")
        rows = np.flatnonzero(~absent)
        return rows, rows, labels[rows]
    if len(labels) == n != len(rows):
        known = rows[~absent[rows]]
        return rows, known, labels[known]
    if len(labels) != len(rows):
        raise UserError(f"y has {len(labels)} labels, but labeled names {len(rows)} rows: give one for each")
    if absent.any():
        row = int(rows[absent.argmax()])
        raise UserError(f"y has no label for row {row}, which `labeled` names: label it, or leave it out of `labeled`")
    return rows, rows, labels


def _from_objects(values: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    kinds = " and ".join(sorted({type(value).__name__ for value in values}))
    if not all(isinstance(value, str | bool | int | float | np.generic) for value in values):
        raise UserTypeError(f"{name} holds {kinds}: {_REMEDY}")
    if len({isinstance(value, str) for value in values}) > 1:
        raise UserTypeError(f"{name} mixes {kinds}: {_REMEDY}")
    return np.array(values.tolist())


def _from_floats(numbers: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    if ((numbers == np.round(numbers)) & (np.abs(numbers) < _LARGEST)).all():
        return numbers.astype(np.int64)
    different = np.unique(numbers)
    if len(different) > FEW:
        held = f"{len(different):,} different numbers such as {different[0]:g}"
        raise UserError(f"{name} holds measurements ({held}), not classes: bin them into a few classes first")
    return np.array([str(number) for number in numbers.tolist()])
