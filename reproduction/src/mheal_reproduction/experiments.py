"""The paper's experiments by name.

Every experiment has a module with two functions. `run` measures the rows that a folder lacks and adds them, then calls
`write`. `write` makes the page and the pictures from the rows alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from mheal.exceptions import UserError
from mheal.runtime.progress import Progress

# out, data, seeds (None: the experiment's own number), quick, progress → the page, in Markdown
Run = Callable[[Path, Path | None, int | None, bool, Progress], str]
# out, seeds (None: all that have rows), quick → the page, in Markdown
Write = Callable[[Path, int | None, bool], str]


class Part(NamedTuple):
    """Some datasets and methods of a table; an empty tuple means all."""

    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """An entry of the list of experiments."""

    about: str
    cost: str  # at full size
    datasets: tuple[str, ...]
    module: str  # below mheal_reproduction.paper
    folder: str  # of its results, shared by a table and its figures
    options: dict[str, Any] = field(default_factory=dict)  # passed to both functions
    in_parts: bool = False  # whether `run` also accepts a Part


class Loaded(NamedTuple):
    """An experiment that can be run."""

    folder: str
    run: Run
    write: Write


_IMAGES = ("mnist", "fashion_mnist")
_UCI = ("skin", "shuttle", "magic04", "jm1", "covtype", "nomao")
_CLUSTERING = Experiment(
    "clustering accuracy of K-means, GMM and SphericalKMeans, on pixels and with DEC (Table 1, Figure 9)",
    "about 1.5 hours on one core, and under an hour on a GPU",
    _IMAGES,
    "table1.experiment",
    "table1",
)
_MATCHING = Experiment(
    "how well ℓ0, ℓ1, ℓ2 MHE and others match the pool's distribution (Table 2, Figure 10)",
    "20 minutes on a GPU, hours without",
    _IMAGES,
    "table2.experiment",
    "table2",
)


def _pruning(name: str, about: str, cost: str) -> Experiment:
    return Experiment(about, f"{cost} on one core", _UCI, f"pruning.{name}", name)


def _labelling(kind: str, table: str, about: str) -> Experiment:
    datasets = ("mnist", "cifar10", "cifar100")
    return Experiment(about, "hours on a GPU", datasets, "images.experiment", table, {"kind": kind}, in_parts=True)


EXPERIMENTS: dict[str, Experiment] = {
    "theorem1": Experiment("Theorem 1's bounds over IWAL's own", "a second", (), "theorem1", "theorem1"),
    "geometry": Experiment(
        "version space, least energies, pipeline, tube and rotation as pictures (Figures 1–5)",
        "half a minute",
        (),
        "geometry.experiment",
        "geometry",
    ),
    "complexity": Experiment(
        "the costs that the paper states for its searches, counted and measured",
        "a minute on one core",
        (),
        "complexity",
        "complexity",
    ),
    "figure6": _pruning("figure6", "how fast IWAL and MHEAL prune 10,000 hyperplanes", "11 minutes"),
    "figure7": _pruning("figure7", "the test error of the hyperplanes that remain", "12 minutes"),
    "figure8": _pruning("figure8", "labels needed until the best hyperplane's error is reached", "13 minutes"),
    "table1": _CLUSTERING,
    "figure9": _CLUSTERING,
    "table1_variants": Experiment(
        "Table 1 with standardised pixels, codes of any length, and 70,000 images",
        "20 minutes on a GPU, and as many on one core",
        _IMAGES,
        "table1.variants_page",
        "table1_variants",
    ),
    "table2": _MATCHING,
    "figure10": _MATCHING,
    "figure11": Experiment(
        "networks trained on images in and out of the version space",
        "minutes on a GPU, hours without",
        _IMAGES,
        "figure11.experiment",
        "figure11",
    ),
    "figure12": Experiment(
        "learning curves of an SVM with up to 100 labels",
        "about 3.5 hours on one core",
        ("phishing", "adult", "satimage", "mnist"),
        "figure12.experiment",
        "figure12",
    ),
    "table3": _labelling("clean", "table3", "networks that learn from few labelled images (Figures 13–15)"),
    "table4": _labelling("repeated", "table4", "the same where 10,000 images occur twice (Figures 16–18)"),
    "table5": _labelling("noisy", "table5", "the same where 10,000 copies have wrong labels (Figures 19–21)"),
    "clusters": Experiment(
        "Figure 12 with other numbers of clusters, and random rows of the clusters as control",
        "an hour on one core",
        ("phishing", "adult", "satimage", "mnist"),
        "readings.curves",
        "clusters",
    ),
    "digits": Experiment(
        "Algorithm 2 on scikit-learn's digits with other numbers of clusters",
        "two minutes on one core",
        (),
        "readings.digits",
        "digits",
    ),
    "readings": Experiment(
        "Table 3 on MNIST under the readings of Algorithm 2 that the paper leaves open: clusters, start, features",
        "an hour on a GPU; days on one core, the most informative rows first",
        ("mnist",),
        "readings.experiment",
        "readings",
    ),
}


def load(name: str, part: Part | None = None) -> Loaded:
    """The functions of the experiment `name`; with `part`, `run` does only that part."""
    if name not in EXPERIMENTS:
        raise UserError(f"there is no experiment {name!r}: choose from {', '.join(EXPERIMENTS)}")
    one = EXPERIMENTS[name]
    module = import_module(f".paper.{one.module}", __package__)
    options = dict(one.options)
    if part is not None and part != Part():
        if not one.in_parts:
            parts = ", ".join(other for other, entry in EXPERIMENTS.items() if entry.in_parts)
            raise UserError(f"{name} is run as a whole: leave out --dataset and --method, which are for {parts}")
        options["part"] = part
    return Loaded(one.folder, partial(module.run, **options), partial(module.write, **one.options))
