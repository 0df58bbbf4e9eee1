"""The numbers of Table 2: the paper's as printed, and ours as arrays made of the rows."""

from collections.abc import Iterable, Sequence

import numpy as np

from ...rows import Row
from .matching import Floats, Statistics, random_mean_shift

METHODS = {
    "random": "Random",
    "l2": "ℓ2",
    "l1": "ℓ1",
    "l0-raw": "ℓ0, pixels",
    "l0-unit": "ℓ0, unit rows",
    "l0-clusters": "ℓ0, Algorithm 2",
    "k-means": "k-means medoids",
    "herding": "kernel herding",
    "support-points": "support points",
    "mheal": "MHEAL",
}
L0 = ("l0-raw", "l0-unit", "l0-clusters")
WHO = ("l2", "l1", "l0")
BETA = {"mnist": 0.552, "fashion_mnist": 0.352}  # the paper's
DATASETS = tuple(BETA)
# of each dataset; "l0" is one of our three
PAPER = {
    ("kl", "l2"): (Statistics(0.1723, 0.2751, 0.1396), Statistics(1.5013, 0.4603, 0.5325)),
    ("kl", "l1"): (Statistics(0.1456, 0.2103, 0.1331), Statistics(0.5194, 0.3698, 0.3409)),
    ("kl", "l0"): (Statistics(0.0912, 0.2183, 0.0788), Statistics(0.7869, 0.2451, 0.2788)),
    ("mmd", "l2"): (Statistics(0.0985, 0.0402, 0.0354), Statistics(0.1225, 0.0527, 0.0418)),
    ("mmd", "l1"): (Statistics(0.0945, 0.0338, 0.0385), Statistics(0.1325, 0.0533, 0.0455)),
    ("mmd", "l0"): (Statistics(0.0915, 0.0385, 0.0330), Statistics(0.1180, 0.0494, 0.0406)),
    ("mmd_mean", "l2"): (Statistics(0.0634, 0.0284, 0.0222), Statistics(0.1148, 0.0410, 0.0348)),
    ("mmd_mean", "l1"): (Statistics(0.0690, 0.0290, 0.0238), Statistics(0.1039, 0.0395, 0.0351)),
    ("mmd_mean", "l0"): (Statistics(0.0618, 0.0249, 0.0212), Statistics(0.1010, 0.0364, 0.0359)),
}
COLUMNS = {"kl": "ℓ_KL", "mmd": "ℓ_MMD", "mmd_mean": "MMD_μ"}  # the paper's
PRINTED = {"kl_mean": "kl", "kl_rows": "kl", "mmd": "mmd", "mmd_squared": "mmd", "mmd_mean": "mmd_mean"}
WHOLE = ("pool", "whole", 0)  # method, setting and seed of the row about the pool itself
SPREAD = ("random", "spread", 0)  # and of that about random subsets


class Found:
    """The rows of a run, looked up as arrays."""

    def __init__(self, rows: Iterable[Row], sizes: Sequence[int], seeds: range) -> None:
        self.sizes, self.seeds = tuple(sizes), seeds
        self._rows = {(row["dataset"], row["method"], row["setting"], row["seed"]): row for row in rows}

    def curve(self, name: str, method: str, what: str) -> Floats:
        """(seeds, sizes)."""
        found = [[self._rows[name, method, setting(m), seed][what] for m in self.sizes] for seed in self.seeds]
        return np.array(found, np.float64)

    def loss(self, name: str, method: str, what: str) -> Floats:
        """The curve as a loss, where less is better: for ℓ_KL, the distance from its value at X' = X."""
        curve = self.curve(name, method, what)
        if what == "kl_mean":
            return np.abs(curve - self.fact(name, what))
        return np.abs(curve) if what == "kl_rows" else curve

    def fact(self, name: str, what: str) -> float:
        """A number of the pool itself, by name."""
        return float(self._rows[(name, *WHOLE)][what])

    def formula(self, name: str) -> Floats:
        """The expected MMD_μ of random subsets, one per size."""
        return random_mean_shift(self.fact(name, "trace"), self.sizes, int(self.fact(name, "n")))

    def spread(self, name: str, what: str) -> Floats:
        """The limits of the central 95 % of random orders, for this statistic of MMD_μ."""
        return np.array(self._rows[(name, *SPREAD)][what], np.float64)


def setting(m: int) -> str:
    """How rows name a size."""
    return f"m={m}"
