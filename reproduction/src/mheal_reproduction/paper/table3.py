"""Table 3 and Figures 13–15 (§7.5): accuracy of networks that learn from few images, bought by eleven methods and ours.

MNIST with 100 to 500 labels, CIFAR-10 with 1,000 to 10,000, CIFAR-100 with 2,000 to 20,000; every training image is in
the pool once. What the paper leaves open is set in `image_tables`.
"""

from pathlib import Path

from mheal.runtime.progress import Progress

from . import Part, image_tables


def run(
    out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress, part: Part | None = None
) -> str:
    """Measure what is missing, or a part of it, write rows, pictures and the page into `out`, and return the page."""
    return image_tables.run("clean", out, data, seeds, quick, progress, part)
