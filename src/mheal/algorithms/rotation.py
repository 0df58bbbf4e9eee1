"""Where to start in a cluster: vector rotation around its centre (Eq. 10–11)."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from ..energy import first_max
from ..sphere import Floats, Rows, Seed, as_matrix, unit_rows

Kind = Literal["tangent", "chord"]


def rotation_starts(
    U: npt.ArrayLike,
    center: npt.ArrayLike,
    m: int = 10,
    kind: Kind = "tangent",
    first: int | None = None,
    random_state: Seed = None,
) -> Rows:
    """min(m, n) different rows of U; each lies, from the centre, most opposite to the one before it.

    Eq. 10–11 without repetition: the printed recursion ends in a cycle of two, so rows already taken are
    left out. The first row is `first`, or random. Ties go to the lowest row, and a row at the
    centre, which has no direction, comes after all others.
    """
    U = as_matrix(U)
    current = _first(len(U), m, first, random_state)
    opposition = _Opposition(U, center, kind)
    taken = np.zeros(len(U), dtype=bool)
    rows = np.empty(min(m, len(U)), dtype=np.int64)
    for t in range(len(rows)):
        rows[t] = current
        taken[current] = True
        score = opposition.to(current)
        score[taken] = -np.inf
        current = _farthest(score)
    return rows


class _Opposition:
    """−cos between directions from the centre (Eq. 11 less the constant 1), without forming the directions.

    With a = xᵀc, tangent directions have (x − ac)ᵀ(y − bc) = xᵀy − ab for unit c, and chords xᵀy − a − b + 1.
    """

    def __init__(self, U: Floats, center: npt.ArrayLike, kind: Kind) -> None:
        if kind not in ("tangent", "chord"):
            raise ValueError(f"kind must be 'tangent' or 'chord', got {kind!r}")
        c = unit_rows(np.asarray(center, dtype=U.dtype)[None, :])[0][0]
        self.U, self.kind, self.along = U, kind, U @ c
        norm2 = np.einsum("ij,ij->i", U, U)
        length2 = norm2 - self.along**2 if kind == "tangent" else norm2 - 2 * self.along + 1
        # What rounding leaves of a point at the centre points nowhere.
        self.nowhere = length2 <= 64 * np.finfo(U.dtype).eps
        self.length = np.sqrt(np.where(self.nowhere, 1, length2))

    def to(self, row: int) -> Floats:
        """How much each row lies opposite to this one; −2 for rows at the centre, which have no direction."""
        dots = self.U @ self.U[row]
        if self.kind == "tangent":
            dots -= self.along * self.along[row]
        else:
            dots += 1 - self.along - self.along[row]
        score = -dots / (self.length * self.length[row])
        if self.nowhere[row]:
            score[:] = 0
        score[self.nowhere] = -2.0
        return score


def _first(n: int, m: int, first: int | None, random_state: Seed) -> int:
    """Where the rotation begins, checked; random unless given, since the paper does not say where ŵ⁰ comes from."""
    if n == 0:
        raise ValueError("cannot start in a cluster without rows")
    if m < 1:
        raise ValueError(f"m must be at least 1, got {m}")
    if first is None:
        first = int(np.random.default_rng(random_state).integers(n))
    if not 0 <= first < n:
        raise ValueError(f"first must be a row between 0 and {n - 1}, got {first}")
    return first


def _farthest(opposition: Floats) -> int:
    return int(first_max(opposition, 8 * float(np.finfo(opposition.dtype).eps)))
