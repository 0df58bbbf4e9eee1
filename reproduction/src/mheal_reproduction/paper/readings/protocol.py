"""The settings that rows of the readings depend on, beside their key."""

from dataclasses import asdict
from typing import Any

from mheal.paper import MANY, RUNS_OF_MANY

from ..images.methods import FIRST
from ..images.size import FULL, QUICK, Size
from .grid import BUDGETS
from .picks import RUNS
from .svm import GAMMA_TIMES_VARIANCE, PENALTY

SEEDS, STEPS = 5, 3000  # repetitions, and batches that an autoencoder of "codes" learns from
QUICK_BUDGETS, QUICK_STEPS = (30, 50), 20


def size_of(quick: bool) -> Size:
    """The size of Table 3."""
    return QUICK if quick else FULL


def budgets(quick: bool) -> tuple[int, ...]:
    """Numbers of labels."""
    return QUICK_BUDGETS if quick else BUDGETS


def steps(quick: bool) -> int:
    """Batches that an autoencoder of "codes" learns from."""
    return QUICK_STEPS if quick else STEPS


def protocol(quick: bool) -> dict[str, Any]:
    """All settings, as they are stored in protocol.json."""
    size = size_of(quick)
    return {
        "budgets": budgets(quick),
        "images": size.images,
        "first": FIRST,
        "recipes": {n: asdict(size.recipe("mnist", n)) for n in budgets(quick)},
        "autoencoder": {"steps": steps(quick)},
        "clusterings": {"many": MANY, "runs": RUNS, "runs of many": RUNS_OF_MANY},
        "svm": {"C": PENALTY, "gamma times variance": GAMMA_TIMES_VARIANCE},
    }
