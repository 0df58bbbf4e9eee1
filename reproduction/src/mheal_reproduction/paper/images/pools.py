"""The pools of Tables 3, 4 and 5: all training images, some of them twice, some copies with a wrong label."""

import numpy as np

from ...networks.labelling import ImagePool, Rows

KINDS = ("clean", "repeated", "noisy")
EXTRA = 10_000  # rows added to a repeated or noisy pool


def image_pool(labels: Rows, kind: str, seed: int) -> ImagePool:
    """The pool of a seed: every training image; if repeated, 10,000 of them twice; if noisy, these copies
    mislabelled."""
    rows = np.arange(len(labels))
    if kind == "clean":
        return ImagePool(rows, labels)
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    copied = rng.choice(len(labels), min(EXTRA, len(labels) // 5), replace=False)
    given = labels[copied]
    if kind == "noisy":
        classes = int(labels.max()) + 1
        given = (given + rng.integers(1, classes, len(given))) % classes  # any class but the right one
    order = rng.permutation(
        len(rows) + len(copied)
    )  # shuffled, because a strategy that takes the first of equal rows would otherwise never pick a copy
    return ImagePool(np.append(rows, copied)[order], np.append(labels, given)[order])


def share_of_copies(pool: ImagePool, picks: Rows) -> float:
    """Share of the labels that were spent on a second copy of a labelled image."""
    return 1 - len(np.unique(pool.images[picks])) / len(picks)


def share_of_wrong(pool: ImagePool, truth: Rows, picks: Rows) -> float:
    """Share of the labels that are wrong."""
    return float((pool.labels[picks] != truth[pool.images[picks]]).mean())
