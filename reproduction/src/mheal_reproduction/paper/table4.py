"""Table 4 and Figures 16–18 (§7.6): the experiment of Table 3 with images that are there twice.

10,000 training images are in the pool a second time; a copy costs a label like any other image and teaches nothing new.
What the paper leaves open is set in `image_tables`.
"""

from pathlib import Path

from mheal.runtime.progress import Progress

from . import Part, image_tables


def run(
    out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress, part: Part | None = None
) -> str:
    """Measure what is missing, or a part of it, write rows, pictures and the page into `out`, and return the page."""
    return image_tables.run("repeated", out, data, seeds, quick, progress, part)
