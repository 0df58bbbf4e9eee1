"""Every strategy by name; a file is imported when its strategy is asked for."""

from importlib import import_module
from typing import NamedTuple

from ..exceptions import UserError
from .base import Strategy

_HOME = {  # name: (file, class)
    "mheal": (".selector", "MHEAL"),
    "mheal-paper": (".paper", "PaperMHEAL"),
    "random": ("random", "Random"),
    "stratified": ("stratified", "Stratified"),
    "coreset": ("coreset", "CoreSet"),
    "kmeans": ("kmeans", "KMeansMedoids"),
    "kmedoids": ("kmedoids", "KMedoids"),
    "typiclust": ("typiclust", "TypiClust"),
    "probcover": ("probcover", "ProbCover"),
    "maxherding": ("maxherding", "MaxHerding"),
    "ted": ("ted", "Ted"),
    "support-points": ("support_points", "SupportPoints"),
    "margin": ("margin", "Margin"),
    "least-confidence": ("least_confidence", "LeastConfidence"),
    "entropy": ("entropy", "Entropy"),
    "qbc": ("qbc", "QueryByCommittee"),
    "gen": ("gen", "Gen"),
    "spal": ("spal", "Spal"),
    "aldr": ("aldr", "Aldr"),
    "hierarchical": ("hierarchical", "Hierarchical"),
    "uherding": ("uherding", "UHerding"),
    "badge": ("badge", "Badge"),
    "max-entropy": ("max_entropy", "MaxEntropy"),
    "variation-ratios": ("variation_ratios", "VariationRatios"),
    "bald": ("bald", "Bald"),
    "batchbald": ("batchbald", "BatchBald"),
    "cdal-coreset": ("cdal", "CdalCoreSet"),
    "cdal-rl": ("cdal_rl", "CdalRl"),
    "vaal": ("vaal", "Vaal"),
}


class Description(NamedTuple):
    """What there is to say about a strategy before using it."""

    name: str
    title: str
    kind: str
    needs: str  # "nothing", "labels" or "a model"; and torch
    summary: str
    cost: str


def names() -> list[str]:
    """The strategies there are, ours first."""
    return list(_HOME)


def get(name: str) -> type[Strategy]:
    """The class of the strategy called `name`."""
    if name not in _HOME:
        raise UserError(f"there is no strategy {name!r}: choose from {', '.join(_HOME)}")
    file, attribute = _HOME[name]
    return getattr(
        import_module(f".{file}", __package__ if not file.startswith(".") else "mheal.strategies"), attribute
    )


def describe() -> list[Description]:
    """Every strategy: what it is, what it needs and what it costs."""
    return [_describe(get(name)) for name in _HOME]


def _describe(cls: type[Strategy]) -> Description:
    needs = "a model" if cls.needs_model else "labels" if cls.needs_labels else "nothing"
    needs += " and torch" if cls.needs_torch else ""
    return Description(cls.name, cls.title, cls.kind, needs, cls.summary, cls.cost)
