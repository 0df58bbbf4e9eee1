"""The datasets of the arena, and the half of them that each belongs to.

On the development half variants of a rule may be compared and chosen. The confirmation half only says whether a choice
holds. The draw was committed before anything was measured.
"""

from typing import Literal

import numpy as np

Half = Literal["development", "confirmation"]
SEED = 20261119

# Datasets by kind. A tuple holds versions of the same data, which must not end in different halves.
KINDS: dict[str, tuple[str | tuple[str, ...], ...]] = {
    "numbers": ("penbased", "segment", "spambase", "abalone", "satimage", "magic04", "skin", "nomao", "digits"),
    "categories": (
        ("splice", "lu-splice"), "mushroom", "chess", "fars", "phishing", "adult", "covtype", "hpc", "attrition",
        "credit_data",
    ),
    "imbalanced": ("page-blocks", "mlc_churn", "jm1", "shuttle"),
    "small": (
        "appendicitis", "australian", "banana", "breast", "checkerboard", "diabetes", "gcloudb", "german", "heart",
        "ionosphere", "mammographic",
    ),
    "images and texts": ("reuters-r52", "mnist", "fashion_mnist", "cifar10"),
}  # fmt: skip


def halves(seed: int = SEED) -> dict[str, Half]:
    """The half of each dataset: those of each kind are shuffled, then dealt in turn."""
    rng, found, turn = np.random.default_rng(seed), dict[str, Half](), 0
    for groups in KINDS.values():
        for at in rng.permutation(len(groups)):
            group = groups[at]
            for name in (group,) if isinstance(group, str) else group:
                found[name] = "development" if turn % 2 == 0 else "confirmation"
            turn += 1
    return found


def kind_of(dataset: str) -> str:
    """The kind of a dataset."""
    flat = {kind: [n for g in groups for n in ((g,) if isinstance(g, str) else g)] for kind, groups in KINDS.items()}
    return next(kind for kind, names in flat.items() if dataset in names)


if __name__ == "__main__":
    for name, half in halves().items():
        print(f"{half:12}  {kind_of(name):16}  {name}")
