"""The local spacing of every row, found on the workers, and the density charge that follows from it."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from distributed import Future

from ...algorithms.density import Charge, charge_at, levels_of
from ...algorithms.local_spacing import COMPARISONS, FEWER, FEWEST, REFERENCES, _asked, _thin
from ..cpu.grouping import grouped
from ..cpu.neighbours import _spacing_part
from .clusters import Assigned, Clusters
from .partitions import Metric, Partitions, Rows, task, writable

Pieces = list[tuple[int, Rows, npt.NDArray[Any]]]
EVERYWHERE = -1  # stands for a cluster of all rows


class Law(NamedTuple):
    """How spacing becomes charge in this pool."""

    power: float
    typical: float
    sparse: Any


class Charges:
    """Spacing of every row: by partition on the workers, and once on the client (4 bytes a row)."""

    def __init__(self, pool: Partitions, spacing: list[Future], power: float, trim: float) -> None:
        self.spacing = spacing
        self.values = np.concatenate(pool.gather(spacing))
        self.law = Law(power, *levels_of(self.values, trim))

    def at(self, rows: Rows) -> Charge:
        """The charge of these rows."""
        return charge_at(self.values[rows], *self.law)

    def densest(self, parts: Rows) -> int:
        """The row of the largest weight; `parts` are the first rows of partitions."""
        tops = [int(lo + np.argmax(charge_at(self.values[lo:hi], *self.law).weight)) for lo, hi in _pairs(parts)]
        return tops[int(np.argmax(self.at(np.array(tops)).weight))]


def find_charges(pool: Partitions, metric: Metric, clusters: Clusters, power: float, trim: float) -> Charges:
    """Charges as in memory, from the same reference rows of each cluster."""
    n = pool.shape[0]
    most = min(REFERENCES, max(FEWER, COMPARISONS // n))
    asked: dict[int, int] = {}  # the neighbours that members of a cluster look for
    ordinals: dict[int, Rows] = {}
    for c, size in enumerate(clusters.sizes.tolist()):
        candidates = size if size > FEWEST else n
        references = _thin(candidates, most)
        asked[c] = _asked(len(references), candidates)
        ordinals[c if size > FEWEST else EVERYWHERE] = references
    everywhere = ordinals.pop(EVERYWHERE, None)
    anywhere = [] if everywhere is None else [pool.fetch(everywhere, metric)]
    references = pool.client.submit(_collected, clusters.members(ordinals, metric), everywhere, anywhere, pure=False)
    spacing = pool.each(_spacing, clusters.assigned, shared=[metric, references, asked])
    return Charges(pool, spacing, power, trim)


def _pairs(first: Rows) -> list[tuple[int, int]]:
    return list(zip(first[:-1].tolist(), first[1:].tolist(), strict=True))


def _collected(found: list[Pieces], everywhere: Rows | None, anywhere: list[npt.NDArray[Any]]) -> dict[int, Any]:
    """The reference rows of each cluster, and their points."""
    by_cluster: dict[int, list[tuple[Rows, npt.NDArray[Any]]]] = {}
    for pieces in found:
        for c, rows, R in pieces:
            by_cluster.setdefault(c, []).append((rows, R))
    out: dict[int, Any] = {
        c: tuple(np.concatenate(column) for column in zip(*pieces, strict=True)) for c, pieces in by_cluster.items()
    }
    if everywhere is not None:
        out[EVERYWHERE] = (everywhere, anywhere[0])
    return out


@task
def _spacing(
    X: npt.NDArray[Any],
    first: int,
    assigned: Assigned,
    metric: Metric,
    references: dict[int, Any],
    asked: dict[int, int],
) -> npt.NDArray[Any]:
    """The spacing of a partition's rows; references are counted from its first row, as its members are."""
    points = metric.points(X, assigned.norms)
    source = points.X, points.offset, points.scale, points.factor
    out = np.empty(len(X), points.dtype)
    order, ends = grouped(writable(assigned.labels), len(asked))
    for c in np.flatnonzero(np.diff(ends)):
        members = order[ends[c] : ends[c + 1]]
        rows, R = references.get(int(c)) or references[EVERYWHERE]
        found, R = np.empty(len(members), points.dtype), writable(R)
        norm2 = np.einsum("ij,ij->i", R, R)
        _spacing_part(*source, members, 0, len(members), rows - first, R, norm2, asked[int(c)], found)
        out[members] = found
    return out
