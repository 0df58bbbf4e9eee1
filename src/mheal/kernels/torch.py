"""The torch backend: a tensor stays on its device, and the picks are those of the CPU up to ties and rounding.

The pool is standardised into a copy on the device. Every pick is one pass over it, queued without waiting
for the result, so that a GPU is kept busy.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt
import torch

CHUNK = 1 << 16  # rows whose scores against centres or references exist at one time
Task = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int]
CLOSE = 64  # nearest candidates whose distance to a pick is computed by differences


class Points:
    """Rows of a tensor, standardised or made unit."""

    backend: ClassVar[str] = "torch"

    def __init__(self, Z: torch.Tensor, factor: torch.Tensor | None = None) -> None:
        self.Z = Z
        self.factor = factor if factor is not None else _inverse(_norms(Z))
        self.dtype = np.dtype(np.float64 if Z.dtype == torch.float64 else np.float32)
        self.shape = (Z.shape[0], Z.shape[1])

    @classmethod
    def raw(cls, X: torch.Tensor) -> "Points":
        """The rows as they are."""
        _require_finite(X)
        return cls(X)

    @classmethod
    def standardized(cls, X: torch.Tensor) -> "Points":
        """Columns of mean 0 and standard deviation 1; constant columns become 0."""
        _require_finite(X)
        shift = X[0].double()
        total = sum((part.double() - shift).sum(0) for part in X.split(CHUNK)) / len(X)
        square = sum((part.double() - shift).square().sum(0) for part in X.split(CHUNK)) / len(X)
        deviation = (square - total.square()).clamp_min(0).sqrt()
        mean = total + shift
        constant = deviation <= 8 * torch.finfo(X.dtype).eps * mean.abs()
        scale = torch.where(constant, 0.0, 1.0 / torch.where(constant, 1.0, deviation))
        return cls((X - mean.to(X.dtype)) * scale.to(X.dtype))

    def unit(self) -> "Points":
        """The same points projected to the unit sphere; points of length 0 stay 0."""
        return Points(self.Z * self.factor[:, None])

    def constant(self) -> bool:
        """Whether all points coincide with the mean."""
        return not bool(self.Z.any())

    def norms(self) -> npt.NDArray[Any]:
        """Length of each point."""
        return _norms(self.Z).cpu().numpy()

    def take(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """These points as a plain array."""
        return self.Z[self.index(rows)].cpu().numpy()

    def subset(self, rows: npt.NDArray[np.int64]) -> "Points":
        """These points alone."""
        return Points(self.Z[self.index(rows)])

    def array(self) -> npt.NDArray[Any]:
        """All points as a plain array."""
        return self.Z.cpu().numpy()

    def first_scores(self, rows: npt.NDArray[np.int64]) -> list[None]:
        """Nothing to share between starts: a pass over the pool costs little here."""
        return [None] * len(rows)

    def mean(self) -> npt.NDArray[np.float64]:
        """The mean of all points."""
        return (sum(part.double().sum(0) for part in self.Z.split(CHUNK)) / len(self.Z)).cpu().numpy()

    def index(self, rows: npt.NDArray[np.int64]) -> torch.Tensor:
        """Row numbers on the device."""
        return torch.as_tensor(np.ascontiguousarray(rows), dtype=torch.int64, device=self.Z.device)

    def floats(self, values: Any) -> torch.Tensor:
        """Numbers on the device."""
        return torch.as_tensor(np.asarray(values), dtype=self.Z.dtype, device=self.Z.device)

    # What spherical k-means asks for (cluster.plain.UnitRows).

    def nearest(self, C: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """The most similar centre of each row, and its cosine."""
        centers = self.floats(C).T
        best = [(part @ centers).max(dim=1) for part in self.Z.split(CHUNK)]
        cosine = torch.cat([b.values for b in best]) * self.factor
        labels = torch.cat([b.indices for b in best])
        return labels.to(torch.int32).cpu().numpy(), cosine.double().cpu().numpy()

    def sums(self, labels: npt.NDArray[np.int32], weight: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.float64]:
        """Weighted sum of the unit rows of each label, (k, d), in float64."""
        label = self.index(labels.astype(np.int64))
        w = torch.as_tensor(weight, device=self.Z.device) * self.factor.double()
        total = torch.zeros((k, self.shape[1]), dtype=torch.float64, device=self.Z.device)
        for lo in range(0, self.shape[0], CHUNK):
            part = slice(lo, lo + CHUNK)
            member = torch.zeros((k, len(label[part])), dtype=torch.float64, device=self.Z.device)
            member[label[part], torch.arange(len(label[part]), device=self.Z.device)] = w[part]
            total += member @ self.Z[part].double()
        return total.cpu().numpy()

    def directions(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """These points made unit."""
        at = self.index(rows)
        return (self.Z[at] * self.factor[at, None]).cpu().numpy()

    def nonzero(self) -> npt.NDArray[np.bool_]:
        """Which rows have a direction."""
        return (self.factor > 0).cpu().numpy()


class Picks:
    """What has been picked so far, on the device."""

    def __init__(self, points: Points, capacity: int) -> None:
        self.points = points
        self.P = points.Z.new_empty((capacity, points.shape[1]))
        self.weight = points.Z.new_empty(capacity)
        self.count = 0

    def add(self, rows: npt.NDArray[np.int64], weight: npt.NDArray[Any]) -> None:
        """Put rows of the pool behind the others."""
        new = slice(self.count, self.count + len(rows))
        self.P[new] = self.points.Z[self.points.index(rows)]
        self.weight[new] = self.points.floats(weight)
        self.count += len(rows)

    def add_point(self, point: npt.NDArray[Any]) -> None:
        """Put a point that is no row of the pool behind the others."""
        self.P[self.count], self.weight[self.count] = self.points.floats(point), 1
        self.count += 1

    def taken(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The points picked and their weights."""
        return self.P[: self.count].cpu().numpy(), self.weight[: self.count].cpu().numpy()


class Traversal:
    """Candidates and their scores: squared distance to the nearest pick, times both weights."""

    def __init__(
        self,
        picks: Picks,
        members: npt.NDArray[np.int64] | None = None,
        weight: npt.NDArray[Any] | None = None,
        placed: npt.NDArray[Any] | None = None,
        workers: int | None = None,
        first: None = None,
    ) -> None:
        points = picks.points
        self.picks = picks
        self.members = np.arange(points.shape[0]) if members is None else members
        self.Z = points.Z if members is None else points.Z[points.index(members)]
        self.weight = points.Z.new_ones(len(self.members)) if weight is None else points.floats(weight)
        self.placed = self.weight if placed is None else points.floats(placed)
        self.norm2 = self.Z.square().sum(1)
        self.score = torch.full_like(self.weight, torch.inf)
        self.seen = 0
        self._catch_up()

    def exclude(self, rows: npt.NDArray[np.int64]) -> None:
        """These rows of the pool cannot be picked."""
        self.score[self.picks.points.index(np.searchsorted(self.members, rows))] = -1

    def scores(self) -> npt.NDArray[Any]:
        """The score of each candidate."""
        return self.score.cpu().numpy()

    def extend(self, n: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
        """Pick n more rows of the pool; returns them and their scores, fewer if the candidates run out."""
        picks = self.picks
        self._catch_up()
        n = min(n, int((self.score >= 0).sum()))
        picked = torch.empty(n, dtype=torch.int64, device=self.Z.device)
        gain = self.Z.new_empty(n)
        for t in range(n):
            gain[t], picked[t] = self.score.max(dim=0)
            at = picked[t : t + 1]
            picks.P[picks.count], picks.weight[picks.count] = self.Z[at][0], self.placed[at][0]
            picks.count += 1
            self._catch_up()
            self.score[at] = -1
        return self.members[picked.cpu().numpy()], gain.cpu().numpy()

    def _catch_up(self) -> None:
        """Apply the picks that were added since the last time."""
        for t in range(self.seen, self.picks.count):
            point, weight = self.picks.P[t], self.picks.weight[t]
            distance2 = (self.norm2 + point @ point - 2 * (self.Z @ point)).clamp_min(0)
            # Next to a pick the formula above cancels: take differences for the closest.
            close = distance2.topk(min(CLOSE, len(distance2)), largest=False).indices
            distance2[close] = (self.Z[close] - point).square().sum(1)
            self.score = torch.minimum(self.score, distance2 * self.weight * weight)
        self.seen = self.picks.count


def spacing(points: Points, tasks: Sequence[Task]) -> list[npt.NDArray[Any]]:
    """For each task (members, references, neighbours): how far, on average, each member's nearest references are."""
    return [_spacing(points, *task) for task in tasks]


def _spacing(
    points: Points, members: npt.NDArray[np.int64], references: npt.NDArray[np.int64], neighbours: int
) -> npt.NDArray[Any]:
    R, reference = points.Z[points.index(references)], points.index(references)
    out = []
    for part in points.index(members).split(max(1, CHUNK * 64 // len(references))):
        distance = torch.cdist(points.Z[part], R)
        distance[part[:, None] == reference[None, :]] = torch.inf
        out.append(distance.topk(neighbours, largest=False).values.mean(1))
    return torch.cat(out).cpu().numpy()


def as_pool(X: torch.Tensor) -> torch.Tensor:
    """The tensor as float32 or float64, rows by columns; the same one-line errors as for arrays."""
    if X.is_complex() or X.is_sparse:
        raise TypeError(f"X is a {X.dtype} {X.layout} tensor: pass dense real numbers")
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns, but has {X.ndim} dimension(s): try X.reshape(len(X), -1)")
    if 0 in X.shape:
        raise ValueError(f"X is empty, shape {tuple(X.shape)}: it needs at least one row and one column")
    X = X.detach()
    if X.dtype in (torch.float32, torch.float64):
        return X
    return X.float() if X.element_size() <= 2 else X.double()  # whichever holds the numbers exactly


def _norms(Z: torch.Tensor) -> torch.Tensor:
    return torch.cat([part.double().square().sum(1).sqrt() for part in Z.split(CHUNK)]).to(Z.dtype)


def _inverse(norms: torch.Tensor) -> torch.Tensor:
    return torch.where(norms > 0, 1.0 / norms, 0.0).to(norms.dtype)


def _require_finite(X: torch.Tensor) -> None:
    for lo in range(0, len(X), CHUNK):
        bad = ~torch.isfinite(X[lo : lo + CHUNK])
        if bool(bad.any()):
            _refuse(X, lo, bad)


def _refuse(X: torch.Tensor, lo: int, bad: torch.Tensor) -> NoReturn:
    row, column = (int(v) for v in bad.nonzero()[0])
    value = "NaN" if bool(X[lo + row, column].isnan()) else "infinity"
    raise ValueError(f"X has {value} at row {lo + row}, column {column}: drop such rows or fill them in")
