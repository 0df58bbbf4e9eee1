"""Where to start in a cluster: vector rotation around its centre (Eq. 10–11)."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from .energy import first_max
from .project import Floats, Rows, Seed, as_matrix, unit_rows

Kind = Literal["tangent", "chord"]


def directions(U: npt.ArrayLike, center: npt.ArrayLike, kind: Kind = "tangent") -> Floats:
    """Unit directions from the centre to each row of U, (n, d); a row at the centre has none and gets 0.

    The paper's γ_c^x is "the geodesic from c to x". "tangent" is where that great circle leaves c, x −
    (xᵀc)c; "chord" is the straight line x − c. Rows of U are unit vectors; the centre is made one.
    """
    U = as_matrix(U)
    c = unit_rows(np.asarray(center, dtype=U.dtype)[None, :])[0][0]
    if kind == "tangent":
        away = U - np.outer(U @ c, c)
    elif kind == "chord":
        away = U - c
    else:
        raise ValueError(f"kind must be 'tangent' or 'chord', got {kind!r}")
    D, length = unit_rows(away)
    D[length <= 16 * np.finfo(U.dtype).eps] = 0  # what rounding leaves of x − c points nowhere
    return D


def rotation_starts(
    U: npt.ArrayLike,
    center: npt.ArrayLike,
    m: int = 10,
    kind: Kind = "tangent",
    first: int | None = None,
    random_state: Seed = None,
) -> Rows:
    """min(m, n) different rows of U; each lies, from the centre, most opposite to the one before it.

    Eq. 10–11 without repetition: the printed recursion 2-cycles (see `printed_rotation`), so rows already
    taken are left out. The first row is `first`, or random. Ties go to the lowest row, and a row at the
    centre, which has no direction, comes after all others.
    """
    D, current = _begin(U, center, kind, m, first, random_state)
    nowhere = ~D.any(axis=1)
    taken = np.zeros(len(D), dtype=bool)
    rows = np.empty(min(m, len(D)), dtype=np.int64)
    for t in range(len(rows)):
        rows[t] = current
        taken[current] = True
        opposition = -(D @ D[current])  # Eq. 11, less the constant 1
        opposition[nowhere] = -2.0
        opposition[taken] = -np.inf
        current = _farthest(opposition)
    return rows


def printed_rotation(U: npt.ArrayLike, center: npt.ArrayLike, m: int = 10, first: int = 0) -> Rows:
    """The m rows that Eq. 11 gives when taken literally: after a few steps it alternates between two.

    Each row is the one most opposed to its predecessor alone, and opposition is mutual. Kept for the record.
    """
    D, current = _begin(U, center, "tangent", m, first, None)
    rows = np.empty(m, dtype=np.int64)
    for t in range(m):
        rows[t] = current
        current = _farthest(-(D @ D[current]))
    return rows


def _begin(
    U: npt.ArrayLike, center: npt.ArrayLike, kind: Kind, m: int, first: int | None, random_state: Seed
) -> tuple[Floats, int]:
    D = directions(U, center, kind)
    if len(D) == 0:
        raise ValueError("cannot start in a cluster without rows")
    if m < 1:
        raise ValueError(f"m must be at least 1, got {m}")
    if first is None:  # the paper does not say where ŵ⁰ comes from
        first = int(np.random.default_rng(random_state).integers(len(D)))
    if not 0 <= first < len(D):
        raise ValueError(f"first must be a row between 0 and {len(D) - 1}, got {first}")
    return D, first


def _farthest(opposition: Floats) -> int:
    return int(first_max(opposition, 8 * float(np.finfo(opposition.dtype).eps)))
