"""The methods of Tables 3, 4 and 5: which strategy picks, how often, and from what.

Methods that use no model make all their picks from features; Hierarchical also uses the labels of its earlier picks.
Methods that query the model pick 10 labels per round on MNIST, as Gal et al. do. There they consider all images; those
that sample the dropout twenty times, and CDAL+RL, which compares all pairs, consider 10,000 random images. On CIFAR
they start with as many random labels as the first column has, because a network trained on 20 photographs predicts at
random. Then they pick all labels up to the next column. CDAL+RL and VAAL, which train a network of their own, do so on
every dataset. "MHEAL with model" needs no random labels; it starts as MHEAL does. K-medoids considers 10,000 random
rows, so with as many labels it is close to Random.
"""

from dataclasses import dataclass
from typing import Any

from mheal.strategies import get

from ...networks.labelling import Acquisition
from .size import FULL, Size

FIRST = 20  # labels at the start
CLASSES = {"mnist": 10, "cifar10": 10, "cifar100": 100}
SHAPES = {"mnist": (1, 28, 28), "cifar10": (3, 32, 32), "cifar100": (3, 32, 32)}
ROUND, CANDIDATES, DRAWS = 10, 10_000, 20
TREE_ROUNDS = {"mnist": 50, "cifar10": 500, "cifar100": 500}  # labels a round of Hierarchical
PROTOCOL = {"first": FIRST, "round": ROUND, "candidates": CANDIDATES, "draws": DRAWS, "tree rounds": TREE_ROUNDS}


@dataclass(frozen=True)
class Method:
    """A method of the tables: how it picks, from which features, and with how many labels it starts."""

    acquisition: Acquisition
    features: str = "codes"  # or "dec", "simclr", "pixels"; "none": it uses none, or a network alone
    first: int = FIRST


def methods(name: str, image_shape: tuple[int, int, int] | None = None, size: Size = FULL) -> dict[str, Method]:
    """Every method of a dataset, by title."""
    few = name == "mnist"
    start = FIRST if few else size.columns.get(name, FULL.columns[name])[0]
    batch, some = (ROUND, CANDIDATES) if few else (None, None)

    def querying(strategy: str, batch: int | None = batch, candidates: int | None = None, **more: Any) -> Method:
        acquisition = Acquisition(get(strategy)(**more), "network", batch=batch, candidates=candidates)
        return Method(acquisition, "none", start)

    def sampling(strategy: str) -> Method:
        return querying(strategy, candidates=some, draws=DRAWS)

    def model_free(strategy: str, features: str = "codes", **parameters: Any) -> Method:
        return Method(Acquisition(get(strategy)(**parameters)), features)

    vaal = get("vaal")(image_shape=image_shape or SHAPES[name], iterations=size.vaal_batches)
    found = {
        "Random": Method(Acquisition(get("random")()), "none", first=start),
        "K-means": model_free("kmeans"),
        "K-medoids": model_free("kmedoids"),
        "Hierarchical": Method(Acquisition(get("hierarchical")(), "labels", batch=TREE_ROUNDS[name])),
        "Max Entropy": sampling("max-entropy"),
        "Variation Ratios": sampling("variation-ratios"),
        "Core-set": Method(Acquisition(get("coreset")(), "network", "network", batch=batch), "none", start),
        "BALD": sampling("bald"),
        "BatchBALD": sampling("batchbald"),
        "BADGE": querying("badge"),
        "CDAL+CoreSet": querying("cdal-coreset"),
        "CDAL+RL": querying("cdal-rl", batch=None, candidates=some),
        "VAAL": Method(Acquisition(vaal, "labels"), "pixels", start),
        "MHEAL (paper)": model_free("mheal-paper", "dec", n_clusters=CLASSES[name]),
        "MHEAL (paper), codes": model_free("mheal-paper", n_clusters=CLASSES[name]),
        "Core-set, codes": model_free("coreset"),
        "TypiClust": model_free("typiclust"),
        "MaxHerding": model_free("maxherding"),
        "MHEAL": model_free("mheal", deduplicate=True),
    }
    both = Acquisition(get("mheal")(deduplicate=True), "network", batch=batch)
    if few:
        return found | {"MHEAL with model": Method(both)}
    for title in ("BatchBALD", "BADGE", "MHEAL (paper), codes", "Core-set, codes", "TypiClust", "MaxHerding"):
        del found[title]  # too slow with thousands of labels, or better on the features below
    strategies = {"K-means": "kmeans", "Core-set": "coreset", "TypiClust": "typiclust", "MaxHerding": "maxherding"}
    for title, strategy in strategies.items():
        found[f"{title}, SimCLR"] = model_free(strategy, "simclr")
    found["MHEAL, SimCLR"] = model_free("mheal", "simclr", deduplicate=True)
    return found | {"MHEAL with model, SimCLR": Method(both, "simclr")}
