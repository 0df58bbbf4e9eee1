"""The strategies that pick rows, MHEAL and its competitors, by name or by class.

>>> from mheal.strategies import TypiClust, get
>>> get("typiclust") is TypiClust
True
"""

from difflib import get_close_matches

from ..exceptions import UserError
from ..paper import PaperMHEAL
from ..selector import MHEAL
from ..strategy import Pool, Strategy
from ..uncertainty import Model
from .bayesian import BALD, BatchBALD, MaxEntropy, VariationRatios
from .clustering import KMeans, KMedoids, TypiClust
from .coverage import CoreSet, MaxHerding, ProbCover, UHerding
from .deep import VAAL, CDALReinforced
from .design import TED, SupportPoints
from .diversity import BADGE, GEN, CDALCoreSet
from .hierarchical import Hierarchical
from .kernel_ridge import ALDR, SPAL
from .random import Random, Stratified
from .uncertainty import Entropy, LeastConfidence, Margin, QueryByCommittee

__all__ = [
    "ALDR", "BADGE", "BALD", "GEN", "MHEAL", "SPAL", "TED", "VAAL", "BatchBALD", "CDALCoreSet", "CDALReinforced",
    "CoreSet", "Entropy", "Hierarchical", "KMeans", "KMedoids", "LeastConfidence", "Margin",
    "MaxEntropy", "MaxHerding", "Model", "PaperMHEAL", "Pool", "ProbCover", "QueryByCommittee", "Random", "Strategy",
    "Stratified", "SupportPoints", "TypiClust", "UHerding", "VariationRatios", "describe", "get", "names",
]  # fmt: skip
_ALL: tuple[type[Strategy], ...] = (
    MHEAL, PaperMHEAL, Random, Stratified, CoreSet, KMeans, KMedoids, TypiClust, ProbCover, MaxHerding, TED,
    SupportPoints, Margin, LeastConfidence, Entropy, QueryByCommittee, GEN, SPAL, ALDR, Hierarchical, UHerding, BADGE,
    MaxEntropy, VariationRatios, BALD, BatchBALD, CDALCoreSet, CDALReinforced, VAAL,
)  # fmt: skip
_BY_NAME = {cls.name: cls for cls in _ALL}


def names() -> list[str]:
    """The names of all strategies, ours first."""
    return list(_BY_NAME)


def get(name: str) -> type[Strategy]:
    """The class of the strategy called `name`."""
    if name not in _BY_NAME:
        close = get_close_matches(str(name).lower(), _BY_NAME, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else f"choose from {', '.join(_BY_NAME)}"
        raise UserError(f"there is no strategy {name!r}: {hint}")
    return _BY_NAME[name]


def describe() -> list[type[Strategy]]:
    """The classes of all strategies; their attributes include name, title, kind, `needs`, summary and cost."""
    return list(_ALL)
