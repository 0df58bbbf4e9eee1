"""The rows of a pool on the device or on the host, scaled on the fly."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch

from ...one_hot import column_moments, offset_and_scale, sample_rows
from ..base import Float64, Floats, Index
from .rows import OnDevice, OnHost, Sizes, refuse_nonfinite, source


class Scaled:
    """The rows (x − offset)·scale·inverse; `inverse`, one over each row's length, projects them to the sphere."""

    def __init__(
        self, rows: OnDevice | OnHost, offset: torch.Tensor | None = None, scale: torch.Tensor | None = None,
        inverse: torch.Tensor | None = None,
    ) -> None:  # fmt: skip
        self.rows, self.offset, self.scale, self.inverse = rows, offset, scale, inverse
        self.device, self.sizes = rows.device, rows.sizes

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64 if self.rows.dtype == torch.float64 else np.float32)

    @classmethod
    def raw(cls, X: Any, device: Any = None, limit: float | None = None, sizes: Sizes | None = None) -> Self:
        """The rows as they are. For `device` and `limit` (in bytes) see `rows.source`."""
        points = cls(source(X, device, limit, sizes))
        if not bool(points.lengths.isfinite().all()):
            refuse_nonfinite(points.rows.chunks())
        return points

    @classmethod
    def standardized(cls, X: Any, device: Any = None, limit: float | None = None, sizes: Sizes | None = None) -> Self:
        """Columns of mean 0 and standard deviation 1; constant columns become 0."""
        rows = source(X, device, limit, sizes)
        mean, deviation = _moments(rows)
        if not np.isfinite(deviation).all():
            refuse_nonfinite(rows.chunks())
        points = cls(rows)
        points.offset, points.scale = map(points.floats, offset_and_scale(mean, deviation, points.dtype))
        return points

    def unit(self) -> Self:
        return type(self)(self.rows, self.offset, self.scale, self.inverse_lengths)

    def chunks(self, rows: Index | None = None) -> Iterator[tuple[int, torch.Tensor]]:
        """Chunks of these rows (by default all): position of the first row, and the points. Do not modify or store."""
        if rows is None:
            for lo, X in self.rows.chunks():
                yield lo, self._transformed(X, slice(lo, lo + len(X)))
        else:
            at = self.index(rows)
            for lo, hi in self.sizes.chunks(len(rows), self.shape[1]):
                yield lo, self.gather(at[lo:hi])

    def pieces(self, size: int) -> Iterator[tuple[slice, torch.Tensor]]:
        """All rows in order, at most `size` at a time: a slice of row numbers, and the points."""
        for lo, Z in self.chunks():
            for at in range(0, len(Z), size):
                part = Z[at : at + size]
                yield slice(lo + at, lo + at + len(part)), part

    def gather(self, at: torch.Tensor) -> torch.Tensor:
        """A copy of the points of these rows, on the device."""
        return self._transformed(self.rows.gather(at), at)

    def _transformed(self, X: torch.Tensor, at: slice | torch.Tensor) -> torch.Tensor:
        if self.offset is not None:
            X = (X - self.offset).mul_(self.scale)
        return X if self.inverse is None else X * self.inverse[at, None]

    @cached_property
    def lengths(self) -> torch.Tensor:
        """Length of each row, on the device."""
        parts = [torch.linalg.vector_norm(Z, dim=1, dtype=torch.float64) for _, Z in self.chunks()]
        return torch.cat(parts).to(self.rows.dtype)

    @cached_property
    def inverse_lengths(self) -> torch.Tensor:
        """One over the length of each row, 0 for rows of length 0."""
        return torch.where(self.lengths > 0, 1.0 / self.lengths, 0.0).to(self.rows.dtype)

    def constant(self) -> bool:
        return self.scale is not None and not bool(self.scale.any())

    def norms(self) -> Floats:
        return self.lengths.cpu().numpy()

    def take(self, rows: Index) -> Floats:
        return self.gather(self.index(rows)).cpu().numpy()

    def subset(self, rows: Index) -> Self:
        return type(self)(OnDevice(self.gather(self.index(rows)), self.sizes))

    def array(self) -> Floats:
        return np.concatenate([Z.cpu().numpy() for _, Z in self.chunks()])

    def mean(self, rows: Index | None = None) -> Float64:
        n = self.shape[0] if rows is None else len(rows)
        return (sum(Z.sum(0, dtype=torch.float64) for _, Z in self.chunks(rows)) / n).cpu().numpy()

    def index(self, rows: npt.NDArray[Any]) -> torch.Tensor:
        """Row numbers on the device."""
        return torch.as_tensor(np.ascontiguousarray(rows, np.int64), device=self.device)

    def floats(self, values: Any) -> torch.Tensor:
        """Numbers on the device."""
        return torch.as_tensor(np.asarray(values), dtype=self.rows.dtype, device=self.device)


def _moments(rows: OnDevice | OnHost) -> tuple[Float64, Float64]:
    """The mean of each column and the number to divide it by. Sums are in float64: float32 would lose digits."""
    n = rows.shape[0]
    shift = rows.gather(torch.zeros(1, dtype=torch.int64, device=rows.device))[0].double()
    total, square = torch.zeros_like(shift), torch.zeros_like(shift)
    for _, X in rows.chunks():
        centred = X - shift  # in float64; keeps the squares small where the mean is far from zero
        total += centred.sum(0)
        square += centred.square_().sum(0)
    sample = rows.gather(torch.as_tensor(sample_rows(n), device=rows.device)).cpu().numpy()
    return column_moments(torch.stack([total, square]).cpu().numpy(), shift.cpu().numpy(), n, sample)
