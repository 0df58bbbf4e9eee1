"""Copies: rows that equal an earlier one, number for number."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

BLOCK = 1 << 19  # numbers that are worked on at one time, few enough for a cache

Rows = npt.NDArray[np.int64]


class Distinct(NamedTuple):
    """The rows of a pool that differ from all before them."""

    first: Rows  # these rows, ascending
    place: Rows  # for every row of the pool: which of `first` it equals

    def of(self, X: Any) -> Any:
        """These rows of an array or a tensor, which is copied."""
        return X[self.first]

    def places(self, rows: Rows) -> Rows:
        """Where in `first` the rows stand that these are or equal, each once."""
        places = self.place[rows]
        return places[np.sort(np.unique(places, return_index=True)[1])]


def distinct(X: Any) -> Distinct | None:
    """Which rows of an array or tensor of floats differ from all before them; None where all do.

    Rows with NaN or infinity are for others to refuse: with them, too, it is None.
    """
    codes = _codes(X)
    if codes is None:
        return None
    leader = np.arange(len(codes))
    waiting = leader[np.argsort(codes, kind="stable")]  # rows that may equal an earlier one, by code, then ascending
    while len(waiting):
        new = np.append(True, codes[waiting[1:]] != codes[waiting[:-1]])
        first = waiting[new][np.cumsum(new) - 1]  # of those with the same code
        waiting, first = waiting[~new], first[~new]
        equal = _equal(X, waiting, first)
        leader[waiting[equal]] = first[equal]
        waiting = waiting[~equal]  # the same code by chance: they may equal each other
    first = np.flatnonzero(leader == np.arange(len(leader)))
    return None if len(first) == len(leader) else Distinct(first, np.searchsorted(first, leader))


def _equal(X: Any, some: Rows, others: Rows) -> npt.NDArray[np.bool_]:
    """Whether each of some rows equals the one beside it."""
    step, found = _rows_of_block(X), np.empty(len(some), bool)
    for lo in range(0, len(some), step):
        part = slice(lo, lo + step)
        found[part] = (_host(X[some[part]]) == _host(X[others[part]])).all(axis=1)
    return found


def _codes(X: Any) -> npt.NDArray[np.uint64] | None:
    """A number for each row that is the same for equal rows, and for others only by chance; None if X is not finite."""
    factors = np.random.default_rng(0).integers(2**63, size=X.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    half, codes = np.uint64(32), np.empty(len(X), np.uint64)
    step = _rows_of_block(X)
    for lo in range(0, len(X), step):
        A = _host(X[lo : lo + step]) + 0.0  # −0 equals 0, but its bits do not
        if not np.isfinite(A).all():
            return None
        bits = A.view(np.uint32).astype(np.uint64) if A.dtype == np.float32 else A.view(np.uint64)
        bits ^= bits >> half  # short numbers have all their bits in the upper half
        bits *= factors
        bits ^= bits >> half
        codes[lo : lo + step] = bits.sum(axis=1)
    return codes


def _rows_of_block(X: Any) -> int:
    return max(1, BLOCK // X.shape[1])


def _host(X: Any) -> npt.NDArray[Any]:
    """Rows of an array, or of a tensor wherever it is."""
    return X.cpu().numpy() if hasattr(X, "cpu") else np.asarray(X)
