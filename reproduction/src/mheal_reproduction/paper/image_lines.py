"""The lines of Tables 3, 4 and 5: which strategies buy labels, how, and what they look at.

Lines that look at no network plan all their labels from features, but for Hierarchical, which looks at the labels it
buys. Lines that do look at one buy 10 labels a round on MNIST, as Gal et al. do, from 10,000 images drawn at random if
they ask the network for twenty draws (and CDAL+RL, which compares all pairs), else from all. On CIFAR they begin with
as many random labels as the first column has, because a network that has seen 20 photographs knows nothing worth
asking, and then buy what the next column allows; CDAL+RL and VAAL, which train a network of their own, do so
everywhere. MHEAL, asking needs no random labels: it begins as MHEAL does. K-medoids works on 10,000 rows drawn at
random, so with as many labels it is Random, or nearly.
"""

from dataclasses import dataclass
from typing import Any, Literal

from mheal.strategies import get

from ..networks.labelling import Method
from .published import BUDGETS

FIRST = 20  # labels that are there at the start
COLUMNS = {  # numbers of labels: the tables', and more for the curves of MNIST
    "mnist": (20, 50, 100, 150, 200, 300, 400, 500),
    "cifar10": BUDGETS["cifar10"],
    "cifar100": BUDGETS["cifar100"],
}
CLASSES = {"mnist": 10, "cifar10": 10, "cifar100": 100}
SHAPES = {"mnist": (1, 28, 28), "cifar10": (3, 32, 32), "cifar100": (3, 32, 32)}
ROUND, CANDIDATES, DRAWS = 10, 10_000, 20
TREE_ROUNDS = {"mnist": 50, "cifar10": 500, "cifar100": 500}  # labels a round of Hierarchical
VAAL_BATCHES = 1000
COPIES: Literal["once"] = "once"  # our default for images


@dataclass(frozen=True)
class Line:
    """A line of the tables: how it buys, which features it looks at, and with how many labels it starts."""

    method: Method
    features: str = "codes"  # or "dec", "simclr", "pixels"; "none": it looks at nothing, or at a network alone
    printed: str | None = None  # the line of the paper that it answers
    first: int = FIRST


def lines(name: str, image_shape: tuple[int, int, int] | None = None, quick: bool = False) -> dict[str, Line]:
    """Every line of a dataset, by title."""
    image_shape = image_shape or SHAPES[name]
    few = name == "mnist"
    start = FIRST if few else COLUMNS[name][0]
    batch, some = (ROUND, CANDIDATES) if few else (None, None)

    def asking(
        strategy: str, printed: str | None = None, batch: int | None = batch, candidates: int | None = None, **more: Any
    ) -> Line:
        method = Method(get(strategy)(**more), network=True, batch=batch, candidates=candidates)
        return Line(method, "none", printed, start)

    def drawing(strategy: str, printed: str | None = None) -> Line:
        return asking(strategy, printed, candidates=some, draws=DRAWS)

    def planning(strategy: str, features: str = "codes", printed: str | None = None, **parameters: Any) -> Line:
        return Line(Method(get(strategy)(**parameters)), features, printed)

    vaal = get("vaal")(image_shape=image_shape, iterations=1 if quick else VAAL_BATCHES)
    found = {
        "Random": Line(Method(get("random")()), "none", first=start),
        "K-means": planning("kmeans", printed="K-means"),
        "K-medoids": planning("kmedoids", printed="K-medoids"),
        "Hierarchical": Line(Method(get("hierarchical")(), batch=TREE_ROUNDS[name]), printed="Hierarchical"),
        "Max Entropy": drawing("max-entropy", "Max Entropy"),
        "Variation Ratios": drawing("variation-ratios", "Variation Ratios"),
        "Core-set": Line(Method(get("coreset")(), features="network", batch=batch), "none", "Core-set", start),
        "BALD": drawing("bald", "BALD"),
        "BatchBALD": drawing("batchbald"),
        "BADGE": asking("badge"),
        "CDAL+CoreSet": asking("cdal-coreset", "CDAL+CoreSet"),
        "CDAL+RL": asking("cdal-rl", "CDAL+RL", batch=None, candidates=some),
        "VAAL": Line(Method(vaal), "pixels", "VAAL", start),
        "MHEAL (paper)": planning("mheal-paper", "dec", "MHEAL", n_clusters=CLASSES[name]),
        "MHEAL (paper), codes": planning("mheal-paper", n_clusters=CLASSES[name]),
        "Core-set, codes": planning("coreset"),
        "TypiClust": planning("typiclust"),
        "MaxHerding": planning("maxherding"),
        "MHEAL": planning("mheal", copies=COPIES),
    }
    both = Method(get("mheal-asking")(copies=COPIES), network=True, batch=batch)
    if few:
        return found | {"MHEAL, asking": Line(both)}
    for title in ("BatchBALD", "BADGE", "MHEAL (paper), codes", "Core-set, codes", "TypiClust", "MaxHerding"):
        del found[title]  # not worth their price with thousands of labels, or better on the features below
    strategies = {"K-means": "kmeans", "Core-set": "coreset", "TypiClust": "typiclust", "MaxHerding": "maxherding"}
    for title, strategy in strategies.items():
        found[f"{title}, SimCLR"] = planning(strategy, "simclr")
    found["MHEAL, SimCLR"] = planning("mheal", "simclr", copies=COPIES)
    return found | {"MHEAL, asking, SimCLR": Line(both, "simclr")}


def answers() -> dict[str, str | None]:
    """Titles of all lines, in the order of display, and the line of the paper that each answers."""
    every = lines("mnist") | lines("cifar10")
    return {title: line.printed for title, line in every.items()}
