"""The strategies that pick rows: MHEAL and its competitors, by name or by class.

>>> from mheal.strategies import TypiClust, get
>>> get("typiclust") is TypiClust
True
"""

from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

from ..exceptions import UserError
from ..strategy import Pool, Strategy

_HOME = {  # name: (module, class); a module is imported when one of its strategies is used
    "mheal": ("mheal.selector", "MHEAL"),
    "mheal-paper": ("mheal.paper", "PaperMHEAL"),
    "random": ("mheal.strategies.random", "Random"),
    "stratified": ("mheal.strategies.random", "Stratified"),
    "coreset": ("mheal.strategies.coverage", "CoreSet"),
    "kmeans": ("mheal.strategies.clustering", "KMeans"),
    "kmedoids": ("mheal.strategies.clustering", "KMedoids"),
    "typiclust": ("mheal.strategies.clustering", "TypiClust"),
    "probcover": ("mheal.strategies.coverage", "ProbCover"),
    "maxherding": ("mheal.strategies.coverage", "MaxHerding"),
    "ted": ("mheal.strategies.design", "TED"),
    "support-points": ("mheal.strategies.design", "SupportPoints"),
    "margin": ("mheal.strategies.uncertainty", "Margin"),
    "least-confidence": ("mheal.strategies.uncertainty", "LeastConfidence"),
    "entropy": ("mheal.strategies.uncertainty", "Entropy"),
    "qbc": ("mheal.strategies.uncertainty", "QueryByCommittee"),
    "gen": ("mheal.strategies.diversity", "GEN"),
    "spal": ("mheal.strategies.kernel_ridge", "SPAL"),
    "aldr": ("mheal.strategies.kernel_ridge", "ALDR"),
    "hierarchical": ("mheal.strategies.hierarchical", "Hierarchical"),
    "uherding": ("mheal.strategies.coverage", "UHerding"),
    "badge": ("mheal.strategies.diversity", "BADGE"),
    "max-entropy": ("mheal.strategies.bayesian", "MaxEntropy"),
    "variation-ratios": ("mheal.strategies.bayesian", "VariationRatios"),
    "bald": ("mheal.strategies.bayesian", "BALD"),
    "batchbald": ("mheal.strategies.bayesian", "BatchBALD"),
    "cdal-coreset": ("mheal.strategies.diversity", "CDALCoreSet"),
    "cdal-rl": ("mheal.strategies.deep", "CDALReinforced"),
    "vaal": ("mheal.strategies.deep", "VAAL"),
}
_NAMES = {class_name: name for name, (_, class_name) in _HOME.items()}
__all__ = ["Description", "Pool", "Strategy", "describe", "get", "names", *_NAMES]


class Description(NamedTuple):
    """What `mheal strategies` shows of a strategy."""

    name: str
    title: str
    kind: str
    needs: str  # "nothing", "labels" or "labels or a model"; and torch
    summary: str
    cost: str


def names() -> list[str]:
    """The names of all strategies, ours first."""
    return list(_HOME)


def get(name: str) -> type[Strategy]:
    """The class of the strategy called `name`."""
    if name not in _HOME:
        close = get_close_matches(str(name).lower(), _HOME, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else f"choose from {', '.join(_HOME)}"
        raise UserError(f"there is no strategy {name!r}: {hint}")
    module, class_name = _HOME[name]
    return getattr(import_module(module), class_name)


def describe() -> list[Description]:
    """Every strategy: what it picks, what it needs and what it costs."""
    found = []
    for cls in map(get, _HOME):
        needs = "labels or a model" if cls.needs_model else "labels" if cls.needs_labels else "nothing"
        needs += " and torch" if cls.needs_torch else ""
        found.append(Description(cls.name, cls.title, cls.kind, needs, cls.summary, cls.cost))
    return found


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return get(_NAMES[name])


def __dir__() -> list[str]:
    return sorted(__all__)
