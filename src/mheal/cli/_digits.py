"""The experiment behind `mheal demo`: four ways to pick digits, one model, several splits.

Each split keeps 70 % of scikit-learn's 1,797 digits as the pool, by class, and tests on the rest. The model
is scikit-learn's logistic regression as it comes, run to convergence, on pixels standardised over the whole
pool (that needs no labels). Smaller budgets use the first picks of the largest, also in the
paper's mode, which might start elsewhere for them.
"""

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import mheal

from ..runtime.files import replacing

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

BUDGETS = (10, 20, 30, 50, 75, 100)


def _mheal(X: Floats, budget: int, seed: int) -> Rows:
    return mheal.MHEAL(random_state=seed).select(X, budget).indices


def _random(X: Floats, budget: int, seed: int) -> Rows:
    return np.random.default_rng(seed).permutation(len(X))[:budget]


def _k_center(X: Floats, budget: int, seed: int) -> Rows:
    start = int(np.random.default_rng(seed).integers(len(X)))
    return mheal.farthest_first(StandardScaler().fit_transform(X), budget, start=start)


def _paper(X: Floats, budget: int, seed: int) -> Rows:
    return mheal.MHEAL.paper(n_clusters=10, random_state=seed).select(X, budget).indices


STRATEGIES: dict[str, Callable[[Floats, int, int], Rows]] = {
    "MHEAL": _mheal,
    "random": _random,
    "k-center": _k_center,
    "paper's mode": _paper,
}


@dataclass(frozen=True)
class Runs:
    """Accuracy by strategy, seed and budget (the axes), and the images MHEAL picked in the first split."""

    strategies: tuple[str, ...]
    seeds: tuple[int, ...]
    budgets: tuple[int, ...]
    accuracy: Floats
    images: Floats

    @property
    def mean(self) -> Floats:
        """Mean over the seeds: strategy x budget."""
        return self.accuracy.mean(axis=1)

    @property
    def sd(self) -> Floats:
        """Standard deviation over the seeds, 0 for a single one: strategy x budget."""
        return self.accuracy.std(axis=1, ddof=min(1, len(self.seeds) - 1))

    def save(self, path: Path) -> None:
        """Write one row per strategy, seed and budget."""
        with replacing(path) as part, part.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["strategy", "seed", "labels", "accuracy"])
            for (s, r, b), accuracy in np.ndenumerate(self.accuracy):
                rows.writerow([self.strategies[s], self.seeds[r], self.budgets[b], f"{accuracy:.6f}"])

    def verdict(self) -> str:
        """Say what the numbers show, whichever way they point."""
        b = self.budgets.index(50) if 50 in self.budgets else len(self.budgets) // 2
        ours, random = self.mean[:2, b]
        wins = (self.accuracy[0, :, b] > self.accuracy[1, :, b]).sum()
        ahead = f"ahead in {wins} of {len(self.seeds)} splits"
        text = f"With {self.budgets[b]} labels MHEAL "
        if ours > random:
            needs = self._needs(1, ours, b)
            text += f"reaches {ours:.1%}, random {random:.1%} ({ahead}); random {needs} for that."
        else:
            text += f"({ours:.1%}) is no better than random ({random:.1%}; {ahead})."
        best = int(self.mean[:, b].argmax())
        if best > 1:
            text += f" {self.strategies[best]} is best there: {self.mean[best, b]:.1%}."
        behind = [str(n) for i, n in enumerate(self.budgets) if i != b and self.mean[0, i] < self.mean[1, i]]
        if behind and ours > random:
            text += f" It is behind random with {', '.join(behind)}."
        return text

    def _needs(self, strategy: int, accuracy: float, after: int) -> str:
        """How many labels bring `strategy` to `accuracy`, on its mean curve beyond budget number `after`."""
        mean, budgets = self.mean[strategy], self.budgets
        for b in range(after + 1, len(budgets)):
            if mean[b] >= accuracy:
                labels = np.interp(accuracy, mean[b - 1 : b + 1], budgets[b - 1 : b + 1])
                return f"needs about {labels:.0f}"
        return f"needs more than {budgets[-1]}"


def run(budget: int, seeds: Iterable[int]) -> Runs:
    """Pick `budget` rows with every strategy in one split per seed, and score the model on the picks."""
    images, y = load_digits(return_X_y=True)
    budgets = (*(b for b in BUDGETS if b < budget), budget)
    done: list[int] = []
    table: list[list[list[float]]] = []
    first = np.empty((0, 8, 8))
    for seed in seeds:
        pool, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
        scale = StandardScaler().fit(images[pool])
        X, X_test = scale.transform(images[pool]), scale.transform(images[test])
        scores = []
        for name, pick in STRATEGIES.items():
            rows = pick(images[pool], budget, seed)
            if name == "MHEAL" and not done:
                first = images[pool][rows].reshape(-1, 8, 8)
            with threadpool_limits(1):  # tiny fits: threaded BLAS only waits, 60 times as long on busy cores
                scores.append([_score(X[rows[:b]], y[pool][rows[:b]], X_test, y[test]) for b in budgets])
        done.append(seed)
        table.append(scores)
    return Runs(tuple(STRATEGIES), tuple(done), budgets, np.array(table).swapaxes(0, 1), first)


def _score(X: Floats, y: Rows, X_test: Floats, y_test: Rows) -> float:
    if len(np.unique(y)) == 1:  # nothing to learn yet
        return float(np.mean(y_test == y[0]))
    return float(LogisticRegression(max_iter=1000).fit(X, y).score(X_test, y_test))
