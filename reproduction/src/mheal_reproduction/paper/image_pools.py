"""The pools of Tables 3, 4 and 5: all training images, some of them twice, some copies with a wrong label."""

import numpy as np

from ..networks.labelling import ImagePool, Rows

KINDS = ("clean", "repeated", "noisy")
EXTRA = 10_000  # rows added to a repeated or noisy pool


def image_pool(labels: Rows, kind: str, seed: int) -> ImagePool:
    """The pool of a seed: every training image or, repeated, 10,000 of them twice; noisy, the copies mislabelled."""
    rows = np.arange(len(labels))
    if kind == "clean":
        return ImagePool(rows, labels)
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    copied = rng.choice(len(labels), min(EXTRA, len(labels) // 5), replace=False)
    said = labels[copied]
    if kind == "noisy":
        classes = int(labels.max()) + 1
        said = (said + rng.integers(1, classes, len(said))) % classes  # any class but the right one
    order = rng.permutation(len(rows) + len(copied))  # else strategies that take the first of equals never buy a copy
    return ImagePool(np.append(rows, copied)[order], np.append(labels, said)[order])


def share_of_copies(pool: ImagePool, bought: Rows) -> float:
    """Of the labels bought, the share spent on an image that was bought before."""
    return 1 - len(np.unique(pool.images[bought])) / len(bought)


def share_of_wrong(pool: ImagePool, truth: Rows, bought: Rows) -> float:
    """Of the labels bought, the share that is wrong."""
    return float((pool.labels[bought] != truth[pool.images[bought]]).mean())
