"""The methods of Tables 3, 4 and 5 by title, in the order of display, and the paper's name of each."""

from collections.abc import Mapping

Counterparts = Mapping[str, str | None]  # title of a method → the paper's name of it

_PRINTED = {
    "Random": None, "K-means": "K-means", "K-medoids": "K-medoids", "Hierarchical": "Hierarchical",
    "Max Entropy": "Max Entropy", "Variation Ratios": "Variation Ratios", "Core-set": "Core-set", "BALD": "BALD",
}  # fmt: skip
_DEEP = {"CDAL+CoreSet": "CDAL+CoreSet", "CDAL+RL": "CDAL+RL", "VAAL": "VAAL", "MHEAL (paper)": "MHEAL"}
_CODES = ("MHEAL (paper), codes", "Core-set, codes", "TypiClust", "MaxHerding")
_SIMCLR = ("K-means", "Core-set", "TypiClust", "MaxHerding", "MHEAL", "MHEAL with model")

DIGITS: Counterparts = {
    **_PRINTED, "BatchBALD": None, "BADGE": None, **_DEEP, **dict.fromkeys(_CODES), "MHEAL": None,
    "MHEAL with model": None,
}  # fmt: skip
PHOTOGRAPHS: Counterparts = {**_PRINTED, **_DEEP, "MHEAL": None, **{f"{title}, SimCLR": None for title in _SIMCLR}}
COUNTERPARTS: Counterparts = {**DIGITS, **PHOTOGRAPHS}


def titles(name: str) -> Counterparts:
    """Those of a dataset."""
    return DIGITS if name == "mnist" else PHOTOGRAPHS
