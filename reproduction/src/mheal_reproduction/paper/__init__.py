"""§6–7: the paper's experiments, one module for each table or figure; `mheal reproduce NAME` runs them.

Every module has run(out, data, seeds, quick, progress), which writes raw rows, a page with tables and verdicts, and
pictures into the folder `out`, skips what is there already, and returns the page.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, cast

from mheal.runtime.progress import Progress

# out, data, seeds (None: the experiment's own number), quick, progress → the page, in Markdown
Run = Callable[[Path, Path | None, int | None, bool, Progress], str]


class Part(NamedTuple):
    """Some datasets and lines of a table; an empty tuple stands for all."""

    datasets: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


class Experiment(NamedTuple):
    """A line of the list of experiments."""

    about: str
    cost: str  # at full size
    datasets: tuple[str, ...]
    module: str
    in_parts: bool = False  # whether its function takes a Part, too


_IMAGES = ("mnist", "fashion_mnist")
_UCI = ("skin", "shuttle", "magic04", "jm1", "covtype", "nomao")
_CLUSTERING = Experiment(
    "clustering accuracy of K-means, GMM and SphericalKMeans, on pixels and with DEC (Table 1, Figure 9)",
    "about 1.5 hours on one core, and under an hour on a GPU",
    _IMAGES,
    ".table1",
)
_MATCHING = Experiment(
    "how well ℓ0, ℓ1, ℓ2 MHE and others match the pool's distribution (Table 2, Figure 10)",
    "20 minutes on a GPU, hours without",
    _IMAGES,
    ".table2",
)


def _images_table(about: str, module: str) -> Experiment:
    return Experiment(about, "hours on a GPU", ("mnist", "cifar10", "cifar100"), module, in_parts=True)


EXPERIMENTS: dict[str, Experiment] = {
    "theorem1": Experiment("Theorem 1's bounds over IWAL's own", "a second", (), ".theorem1"),
    "figure6": Experiment(
        "how fast IWAL and MHEAL prune 10,000 hyperplanes", "11 minutes on one core", _UCI, ".figure6"
    ),
    "figure7": Experiment("the test error of what the pruning leaves", "12 minutes on one core", _UCI, ".figure7"),
    "figure8": Experiment(
        "labels bought until the best hyperplane's error is reached", "13 minutes on one core", _UCI, ".figure8"
    ),
    "table1": _CLUSTERING,
    "figure9": _CLUSTERING,
    "table2": _MATCHING,
    "figure10": _MATCHING,
    "figure11": Experiment(
        "networks trained on images in and out of the version space",
        "minutes on a GPU, hours without",
        _IMAGES,
        ".figure11",
    ),
    "figure12": Experiment(
        "learning curves of an SVM with up to 100 labels",
        "about 3.5 hours on one core",
        ("phishing", "adult", "satimage", "mnist"),
        ".figure12",
    ),
    "table3": _images_table("networks that learn from few images, bought by every strategy (Figures 13–15)", ".table3"),
    "table4": _images_table("the same where 10,000 images are there twice (Figures 16–18)", ".table4"),
    "table5": _images_table("the same where 10,000 copies have wrong labels (Figures 19–21)", ".table5"),
}


def load(name: str, part: Part | None = None) -> Run:
    """The function that runs the experiment `name`, or a part of it."""
    if name not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {name!r}: choose from {', '.join(EXPERIMENTS)}")
    run = import_module(EXPERIMENTS[name].module, __name__).run
    if part is None or part == Part():
        return cast(Run, run)
    if not EXPERIMENTS[name].in_parts:
        parts = ", ".join(other for other, one in EXPERIMENTS.items() if one.in_parts)
        raise ValueError(f"{name} is run as a whole: leave out --dataset and --line, which are for {parts}")
    return partial(run, part=part)
