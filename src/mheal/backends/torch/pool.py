"""Checks of tensors that come in, with the one-line errors that arrays get."""

from collections.abc import Iterable
from typing import NoReturn

import torch

from ...exceptions import UserError, UserTypeError
from ...validation import refuse_shape


def as_pool(X: torch.Tensor) -> torch.Tensor:
    """The tensor as float32 or float64, rows by columns; the same one-line errors as for arrays."""
    if X.is_complex() or X.is_sparse:
        raise UserTypeError(f"X is a {X.dtype} {X.layout} tensor: pass dense real numbers")
    refuse_shape(tuple(X.shape))
    X = X.detach()
    if X.dtype in (torch.float32, torch.float64):
        return X
    return X.float() if X.element_size() <= 2 else X.double()  # whichever holds the numbers exactly


def refuse_nonfinite(chunks: Iterable[tuple[int, torch.Tensor]]) -> NoReturn:
    """Raise the error that names the first NaN or infinity."""
    for lo, part in chunks:
        bad = ~torch.isfinite(part)
        if bool(bad.any()):
            row, column = (int(v) for v in bad.nonzero()[0])
            value = "NaN" if bool(part[row, column].isnan()) else "infinity"
            raise UserError(f"X has {value} at row {lo + row}, column {column}: drop such rows or fill them in")
    raise UserError("X has numbers whose squares overflow: rescale it")
