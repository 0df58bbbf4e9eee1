"""Duplicates: rows that equal an earlier row in every column."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

BLOCK = 1 << 19  # numbers that are compared together, few enough for the CPU's cache

Rows = npt.NDArray[np.int64]


class Distinct(NamedTuple):
    """The rows of a pool that differ from all earlier rows."""

    first: Rows  # these rows, ascending
    place: Rows  # for every row of the pool: the position in `first` of the row that it equals

    def places(self, rows: Rows) -> Rows:
        """The positions in `first` of these rows, without repetition, in the order of the rows."""
        places = self.place[rows]
        return places[np.sort(np.unique(places, return_index=True)[1])]


def distinct(X: Any, block: int = BLOCK) -> Distinct | None:
    """The distinct rows of an array or tensor of floats; None if no row equals another.

    Also None if X has NaN or infinity, for which other checks raise an error.

    block : numbers that are compared together
    """
    step = max(1, block // X.shape[1])
    hashes = _hashes(X, step)
    if hashes is None:
        return None
    leader = np.arange(len(hashes))
    waiting = leader[np.argsort(hashes, kind="stable")]  # rows that may equal an earlier one, by hash, then ascending
    while len(waiting):
        new = np.append(True, hashes[waiting[1:]] != hashes[waiting[:-1]])
        first = waiting[new][np.cumsum(new) - 1]  # the first row with the same hash
        waiting, first = waiting[~new], first[~new]
        equal = _equal(X, waiting, first, step)
        leader[waiting[equal]] = first[equal]
        waiting = waiting[~equal]  # these have the same hash by chance, and may equal each other
    first = np.flatnonzero(leader == np.arange(len(leader)))
    return None if len(first) == len(leader) else Distinct(first, np.searchsorted(first, leader))


def _equal(X: Any, some: Rows, others: Rows, step: int) -> npt.NDArray[np.bool_]:
    """Whether each row of `some` equals the row at the same position of `others`."""
    found = np.empty(len(some), bool)
    for lo in range(0, len(some), step):
        part = slice(lo, lo + step)
        found[part] = (_host(X[some[part]]) == _host(X[others[part]])).all(axis=1)
    return found


def _hashes(X: Any, step: int) -> npt.NDArray[np.uint64] | None:
    """A hash of each row. Equal rows have equal hashes; others have them only by chance. None if X is not finite."""
    factors = np.random.default_rng(0).integers(2**63, size=X.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    half, hashes = np.uint64(32), np.empty(len(X), np.uint64)
    for lo in range(0, len(X), step):
        A = _host(X[lo : lo + step]) + 0.0  # −0 equals 0, but its bits do not
        if not np.isfinite(A).all():
            return None
        bits = A.view(np.uint32).astype(np.uint64) if A.dtype == np.float32 else A.view(np.uint64)
        bits ^= bits >> half  # short numbers have all their bits in the upper half
        bits *= factors
        bits ^= bits >> half
        hashes[lo : lo + step] = bits.sum(axis=1)
    return hashes


def _host(X: Any) -> npt.NDArray[Any]:
    """Rows of an array or of a tensor on any device, as a NumPy array."""
    return X.cpu().numpy() if hasattr(X, "cpu") else np.asarray(X)
