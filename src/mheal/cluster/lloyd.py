"""Lloyd's iterations on the sphere (Eq. 9) for one given start."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backends.cpu import quantized as codes
from ..backends.cpu.assignment import BLOCK, assign_part
from ..backends.cpu.nearest_centers import pack
from ..backends.cpu.points import Points, passes
from ..runtime.threads import rest, resting, run_parts, spans

AT_ONCE = 1 << 25  # bytes of rows between two rests

Progress = Callable[[int, float], None]  # iteration, squared distance the centres moved


@dataclass(frozen=True)
class Clustering:
    """What one run gave: unit centres, a label per row, Σ w(1 − cos), and how many iterations it took."""

    centers: npt.NDArray[Any]
    labels: npt.NDArray[np.int32]
    inertia: float
    n_iter: int


class Lloyd:
    """Spherical k-means on the rows of `points`, which need not be unit; rows of length 0 carry no weight."""

    def __init__(
        self, points: Points, centers: npt.NDArray[Any], weight: npt.NDArray[Any] | None = None, coded: bool = True
    ) -> None:
        """`coded` allows half a copy of the rows, which pays for itself in the second pass, where memory allows."""
        n, d = points.shape
        k = len(centers)
        self.points = points
        self.inverse_norm = points.unit().factor
        self.weight = np.ones(n, points.dtype) if weight is None else weight.astype(points.dtype)
        self.C = centers.astype(points.dtype)
        self.labels = np.zeros(n, np.int32)
        self.upper, self.lower = np.zeros(n, points.dtype), np.zeros(n, points.dtype)
        self.sums, self.mass = np.zeros((k, d)), np.zeros(k)
        self.moved = np.zeros(k, points.dtype)
        self.first = True
        self.codes = codes.empty_codes(n if coded and not resting() and codes.usable(n, d, k) else 0, d)
        # A number of parts that depends on the pool alone, so that sums do not depend on the number of threads.
        parts = 16 if n < 1 << 21 else 64
        self.parts = spans(n, max(8 * BLOCK, -(-n // (parts * BLOCK)) * BLOCK))
        self.step = max(8, AT_ONCE // (BLOCK * max(1, points.X[:1].nbytes))) * BLOCK

    def assign(self, exact: bool = False) -> None:
        """E-step: labels, and the sums of unit rows that the next centres are made of.

        After an exact one `upper` holds the chord from each row to its own centre.
        """
        centers = (self.C, *pack(self.C), self.moved, self.moved.max())
        coded = (self.codes, *codes.encode_centers(self.C), codes.tolerance(self.C.shape[1]))

        def part(span: tuple[int, int]) -> tuple[Any, Any, int]:
            sums, mass = np.zeros_like(self.sums), np.zeros_like(self.mass)
            G = np.empty((BLOCK, self.C.shape[1]), self.C.dtype)
            staged = G.view()
            staged.flags.writeable = False
            looks = 0
            for lo in range(*span, self.step):
                looks += assign_part(
                    self.points.X, lo, min(span[1], lo + self.step), self.points.offset, self.points.scale,
                    self.inverse_norm, self.weight, *centers, *coded, self.labels, self.upper, self.lower, sums, mass,
                    self.first, exact, G, staged,
                )  # fmt: skip
                rest()
            return sums, mass, looks

        looks = 0
        for sums, mass, more in run_parts(part, self.parts):
            self.sums += sums
            self.mass += mass
            looks += more
        self.first = False
        if looks > len(self.labels) / 4:  # too many rows lie between centres: their codes cost more than they save
            self.codes = codes.empty_codes(0, self.C.shape[1])

    def update(self) -> float:
        """M-step: c = normalise(Σ x̂); empty clusters move to the worst served rows. Returns Σ‖Δc‖²."""
        length = np.linalg.norm(self.sums, axis=1)
        empty = np.flatnonzero(self.mass < 1e-9 * self.mass.max())
        alive = length > 1e-9 * length.max()
        new = self.C.astype(np.float64)
        new[alive] = self.sums[alive] / length[alive, None]
        if len(empty) and (self.inverse_norm > 0).any():
            new[empty] = self._worst_served(len(empty))
        centers = new.astype(self.C.dtype)
        moved = np.linalg.norm(centers.astype(np.float64) - self.C, axis=1)
        self.C, self.moved = centers, (moved * (1 + 1e-6) + 1e-6 * (moved > 0)).astype(self.C.dtype)
        return float(moved @ moved)

    def _worst_served(self, n: int) -> npt.NDArray[np.float64]:
        """Unit rows farthest from their own centre, mutually different where possible."""
        self.assign(exact=True)
        usable = np.flatnonzero(self.inverse_norm > 0)
        candidates = usable[np.argsort(-self.upper[usable], kind="stable")[: 16 * n]]
        _, first_seen = np.unique(self.points.directions(candidates), axis=0, return_index=True)
        chosen = candidates[np.sort(first_seen)[:n]]
        return np.resize(self.points.directions(chosen).astype(np.float64), (n, self.C.shape[1]))

    def run(self, max_iter: int, tol: float, progress: Progress | None = None) -> Clustering:
        """Iterate until the centres rest, or move by less than `tol` times the mean variance of a column."""
        iteration, enough = 0, 0.0
        for iteration in range(1, max_iter + 1):
            self.assign()
            if iteration == 1 and self.mass.sum() > 0:
                mean = self.sums.sum(axis=0) / self.mass.sum()
                enough = tol * max(0.0, 1.0 - float(mean @ mean)) / len(mean)
            shift = self.update()
            if progress:
                progress(iteration, shift)
            if shift <= enough:
                break
        self.assign()  # labels that belong to the final centres
        return Clustering(self.C, self.labels, self._inertia(), iteration)

    def _inertia(self) -> float:
        """Σ w(1 − cos) for the present labels and centres; rows without a direction count for nothing."""
        total = float(self.mass.sum())
        inertia = total - float(np.vdot(self.sums, self.C.astype(np.float64)))  # Σ w·cos = Σ c·(sum of c's unit rows)
        if inertia > 1e-3 * total:
            return inertia
        self.assign(exact=True)  # that difference cancels where all rows are close to their centres
        # 1 − cos is half the squared chord.
        return sum(self._squares(lo, hi) for lo, hi in self.parts) / 2

    def _squares(self, lo: int, hi: int) -> float:
        counts = self.weight[lo:hi] * (self.inverse_norm[lo:hi] > 0)
        return float(np.dot(self.upper[lo:hi].astype(np.float64) ** 2, counts))


def assign_once(points: Points, centers: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """The nearest of the unit centres for each row, −1 where a row has no direction; nothing else is kept of a row."""
    labels = np.empty(points.shape[0], np.int32)

    def part(span: tuple[int, int]) -> None:
        lo, hi = span
        some = Points(points.X[lo:hi], points.offset, points.scale, points.factor[:0])
        lloyd = Lloyd(some, centers, coded=False)
        lloyd.parts = [(0, hi - lo)]  # in this thread
        lloyd.assign()
        labels[lo:hi] = np.where(some.nonzero(), lloyd.labels, -1)

    run_parts(part, passes(points.X))
    return labels
