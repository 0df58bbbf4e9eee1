"""The protocol that Figures 6, 7 and 8 share: a dataset as a stream of rows, hyperplanes, clusters.

The paper gives neither splits nor scaling nor repetitions. Here rows with missing values are dropped. There are two
classes; on shuttle the first class is compared with the rest, on covtype the second. At most 20,000 rows are used, half
as the stream and half as the test set. Columns are standardised on the stream and divided by √d, so that margins are of
order 1. Every seed draws its own rows, order, hyperplanes and random numbers for the queries.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mheal import datasets
from mheal.cluster import SphericalKMeans
from mheal.runtime.progress import Progress

from ...report import at_text
from ...rows import RawRows, Row, stored_rows
from ...theory.hyperplanes import Float32, Float64, Hyperplanes, Rows
from ...theory.pruning import CLUSTERS, MODES, Pruning, prune

DATASETS = ("skin", "shuttle", "magic04", "jm1", "covtype", "nomao")
POSITIVE = {"shuttle": 0, "covtype": 1}  # the class against the rest; elsewhere the last of two
ROUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


def shuffles(seeds: int | None, quick: bool) -> range:
    """The seeds of a run: `seeds` of them, else 20, or 2 in a quick run."""
    return range(seeds or (2 if quick else 20))


def sizes(quick: bool) -> dict[str, int]:
    """Rows, stream and test set together, and hyperplanes."""
    return {"rows": 2000, "hyperplanes": 1000} if quick else {"rows": 20_000, "hyperplanes": 10_000}


@dataclass(frozen=True, eq=False)
class Stream:
    """One dataset under one seed."""

    hyperplanes: Hyperplanes
    X: Float32
    y: Rows  # −1 or 1
    regions: Rows  # the cluster of each row
    X_test: Float32
    y_test: Rows
    regions_test: Rows
    draws: Float64  # one uniform number a row of X

    @cached_property
    def scale(self) -> float:
        """The largest loss of any hyperplane on any row: it brings losses into [0, 1]."""
        return self.hyperplanes.largest_loss(self.X)

    @cached_property
    def losses(self) -> Float64:
        """The mean loss of every hyperplane on the whole stream."""
        return self.hyperplanes.losses(self.X, self.y)

    @property
    def best(self) -> int:
        """h*, the hyperplane of smallest loss on the whole stream."""
        return int(self.losses.argmin())

    @cached_property
    def mass(self) -> Float64:
        """The share of the test rows in each cluster."""
        return np.bincount(self.regions_test, minlength=CLUSTERS) / len(self.regions_test)

    @cached_property
    def errors(self) -> Float64:
        """Test error of every hyperplane in every cluster: (clusters, hyperplanes)."""
        return np.array([self.hyperplanes.errors(X, y) if len(X) else np.zeros(len(self.hyperplanes))
                         for X, y in self._test_parts()])  # fmt: skip

    @cached_property
    def test_losses(self) -> Float64:
        """Mean test loss of every hyperplane in every cluster: (clusters, hyperplanes)."""
        return np.array([self.hyperplanes.losses(X, y) if len(X) else np.zeros(len(self.hyperplanes))
                         for X, y in self._test_parts()])  # fmt: skip

    def _test_parts(self) -> list[tuple[Float32, Rows]]:
        parts = [self.regions_test == region for region in range(CLUSTERS)]
        return [(self.X_test[part], self.y_test[part]) for part in parts]

    def score(self, table: Float64, winners: Rows) -> npt.NDArray[Any]:
        """The values in `table` of the hypotheses in use, (clusters or 1, rounds), averaged by the clusters' mass."""
        used = np.broadcast_to(winners, (CLUSTERS, winners.shape[1]))
        return self.mass @ np.take_along_axis(table, used, axis=1)

    def prune(self, mode: str, learner: str, sampled: bool) -> Pruning:
        """One pass: with IWAL's query probabilities and losses scaled to [0, 1], or with every label and raw losses."""
        rule = MODES[mode][learner]
        scale, draws = (self.scale, self.draws) if sampled else (1.0, None)
        return prune(self.hyperplanes, self.X, self.y, rule, regions=self.regions, scale=scale, draws=draws)

    @property
    def rounds(self) -> list[int]:
        """The rounds at which results are reported."""
        return [t for t in ROUNDS if t < len(self.X)] + [len(self.X)]


def stream(name: str, data: Path | None, seed: int, quick: bool) -> Stream:
    """The dataset `name` under this seed."""
    size = sizes(quick)
    X, y, whole = _load(name, data)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(whole)[: size["rows"]]
    X, y = X[rows].astype(np.float64), np.where(y[rows] == POSITIVE.get(name, 1), 1, -1)
    half = len(X) // 2
    spread = X[:half].std(axis=0)
    X = (X - X[:half].mean(axis=0)) / np.where(spread > 0, spread, np.inf)  # constant columns become 0
    X = (X / np.sqrt(X.shape[1])).astype(np.float32)
    clusters = SphericalKMeans(CLUSTERS, random_state=seed).fit(X[:half])
    return Stream(
        Hyperplanes.random(size["hyperplanes"], X.shape[1], rng),
        *(X[:half], y[:half], clusters.labels_.astype(np.int64)),
        *(X[half:], y[half:], clusters.predict(X[half:]).astype(np.int64)),
        rng.random(half),
    )


@lru_cache(maxsize=1)  # the seeds of one dataset are measured one after the other
def _load(name: str, data: Path | None) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Rows]:
    """All rows, their labels, and which of them have no missing values."""
    arrays = datasets.load(name, data)
    X = np.concatenate(arrays[::2])
    return X, np.concatenate(arrays[1::2]), np.flatnonzero(np.isfinite(X).all(axis=1))


Measured = Iterator[tuple[str, str, str, float, float | None]]  # mode, learner, measure, at, value


def collect(
    out: Path, data: Path | None, seeds: range, quick: bool, progress: Progress, measure: Callable[[Stream], Measured]
) -> None:
    """Measure every dataset under every seed, unless its rows are in `out` already."""
    rows = RawRows(out, measure.__module__.rpartition(".")[2], sizes(quick))
    units = [(name, seed) for name in DATASETS for seed in seeds]
    for done, (name, seed) in enumerate(units):
        progress(done, len(units), f"{name}, seed {seed}")
        if not rows.where(dataset=name, seed=seed):
            found: dict[tuple[str, str], Row] = {}
            for mode, learner, what, at, value in measure(stream(name, data, seed, quick)):
                row = found.setdefault(
                    (mode, learner), {"dataset": name, "method": learner, "setting": mode, "seed": seed}
                )
                row.setdefault(what, {})[at_text(at)] = value
            rows.add(found.values())
    progress(len(units), len(units), "done")


def rows_of(out: Path, seeds: int | None) -> tuple[list[Row], int]:
    """The rows in `out` of the first `seeds` seeds (None: of all), and how many seeds these are."""
    rows = [row for row in stored_rows(out) if seeds is None or row["seed"] < seeds]
    return rows, len({row["seed"] for row in rows})
