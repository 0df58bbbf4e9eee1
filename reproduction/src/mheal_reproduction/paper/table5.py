"""Table 5 and Figures 19–21 (§7.7): the experiment of Table 3 with wrong labels.

10,000 training images are in the pool a second time, these copies with a wrong label; the test images are clean.
What the paper leaves open is set in `image_tables`.
"""

from pathlib import Path

from mheal.runtime.progress import Progress

from . import Part, image_tables


def run(
    out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress, part: Part | None = None
) -> str:
    """Measure what is missing, or a part of it, write rows, pictures and the page into `out`, and return the page."""
    return image_tables.run("noisy", out, data, seeds, quick, progress, part)
