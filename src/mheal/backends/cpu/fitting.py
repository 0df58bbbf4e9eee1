"""Passes of spherical k-means over rows in memory: exact, with bounds that skip rows.

Rows of length 0 carry no weight. Memory allowing, a copy of the rows quantized to 16 bits is kept as well.
"""

from typing import Any

import numpy as np

from ...runtime.threads import spans
from ..base import Floats, Labels, Rows, made_unit
from . import quantized
from .assignment import BLOCK, assign_part
from .nearest_centers import pack
from .staging import Staged

AT_ONCE = 1 << 25  # bytes of rows between two yield points


class CpuFitting:
    """Rows that are being clustered by direction, with bounds on the chords from each row to its centres."""

    def __init__(self, points: Staged, k: int, weight: Floats | None = None, quantize: bool = True) -> None:
        """`quantize` allows a copy of half the size, which pays for itself in the second pass, where memory allows."""
        n, d = points.shape
        self.points = points
        self.inverse_norm = points.unit().factor
        self.weight = np.ones(n, points.dtype) if weight is None else weight.astype(points.dtype)
        self.C = np.zeros((k, d), points.dtype)
        self.label = np.zeros(n, np.int32)
        self.upper, self.lower = np.zeros(n, points.dtype), np.zeros(n, points.dtype)
        self.sums, self.mass = np.zeros((k, d)), np.zeros(k)
        self.first = True
        few = not quantize or points.limit is not None or not quantized.usable(n, d, k)
        self.quantized = quantized.empty_rows(0 if few else n, d)
        # A number of parts that depends on the pool alone, so that sums do not depend on the number of threads.
        parts = 16 if n < 1 << 21 else 64
        self.parts = spans(n, max(8 * BLOCK, -(-n // (parts * BLOCK)) * BLOCK))
        self.step = max(8, AT_ONCE // (BLOCK * max(1, points.X[:1].nbytes))) * BLOCK

    def assign(self, centers: Floats, exact: bool = False) -> None:
        """One pass with these unit centres; after an exact one `upper` holds the chord from each row to its own."""
        C = np.ascontiguousarray(centers, self.points.dtype)
        moved = np.linalg.norm(C.astype(np.float64) - self.C, axis=1)
        moved = (moved * (1 + 1e-6) + 1e-6 * (moved > 0)).astype(C.dtype)
        self.C = C
        tiles = (C, *pack(C), moved, moved.max())
        small = (self.quantized, *quantized.quantize_centers(C), quantized.tolerance(C.shape[1]))

        def part(span: tuple[int, int]) -> tuple[Any, Any, int]:
            sums, mass = np.zeros_like(self.sums), np.zeros_like(self.mass)
            G = np.empty((BLOCK, C.shape[1]), C.dtype)
            staged = G.view()
            staged.flags.writeable = False
            looks = 0
            for lo in range(*span, self.step):
                looks += assign_part(
                    self.points.X, lo, min(span[1], lo + self.step), self.points.offset, self.points.scale,
                    self.inverse_norm, self.weight, *tiles, *small, self.label, self.upper, self.lower, sums, mass,
                    self.first, exact, G, staged,
                )  # fmt: skip
                self.points.yield_point()
            return sums, mass, looks

        looks = 0
        for sums, mass, more in self.points.run_parts(part, self.parts):
            self.sums += sums
            self.mass += mass
            looks += more
        self.first = False
        if looks > len(self.label) / 4:  # too many rows lie between centres: the copy costs more than it saves
            self.quantized = quantized.empty_rows(0, C.shape[1])

    def labels(self) -> Labels:
        return self.label

    def worst(self, count: int) -> Floats:
        return made_unit(self.points.take(self.worst_rows(count)))

    def worst_rows(self, count: int) -> Rows:
        """Where they are."""
        self.assign(self.C, exact=True)
        usable = np.flatnonzero((self.inverse_norm > 0) & (self.weight > 0))
        return usable[np.argsort(-self.upper[usable], kind="stable")[:count]]

    def squared_chords(self) -> float:
        self.assign(self.C, exact=True)
        counts = self.weight * (self.inverse_norm > 0)
        return sum(float(np.dot(self.upper[a:b].astype(np.float64) ** 2, counts[a:b])) for a, b in self.parts)
