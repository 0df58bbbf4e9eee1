"""Image files as pixels of one size."""

import struct
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps, UnidentifiedImageError

from ..runtime.files import first_line
from ..runtime.progress import Progress
from ..runtime.threads import run_parts, spans

SMALL = 64  # images that share a size up to this keep it
COMMON = (32, 32)  # others are resized to this width and height
DEEP = ("I;16", "I;16L", "I;16B", "I")  # 16 bits a pixel
GREY = ("1", "L", "LA", "F", *DEEP)
Made = TypeVar("Made")
CHUNK = 256  # images between two reports of progress
BROKEN = (OSError, SyntaxError, ValueError, EOFError, struct.error, Image.DecompressionBombError)


def read_pixels(
    paths: Sequence[Path], progress: Progress | None = None
) -> tuple[npt.NDArray[np.float32], str, list[tuple[int, str]]]:
    """Every image at one size: their own if they share one of at most 64 × 64, else 32 × 32. Grey if all are grey.

    Returns pixels in [0, 1], (images, height, width) or, unless all are grey, (images, height, width, 3); their size
    and colours, in words; and (position, reason) of the images that could not be read.
    """
    headers = partial(opened, work=lambda image: (image.size, image.mode in GREY))
    seen = [look for look in in_chunks(headers, paths, "opening images", progress) if not isinstance(look, str)]
    sizes = {size for size, _ in seen}
    size = min(sizes) if len(sizes) == 1 and max(min(sizes)) <= SMALL else COMMON
    grey = all(is_grey for _, is_grey in seen)
    values = np.empty((len(paths), size[1], size[0], *([] if grey else [3])), np.float32)

    def decode(at: int) -> str | None:
        return opened(paths[at], lambda image: _fill(values[at], image, size, grey))

    reasons = in_chunks(decode, range(len(paths)), "reading images", progress)
    skipped = [(at, reason) for at, reason in enumerate(reasons) if reason]
    if skipped:
        values = np.delete(values, [at for at, _ in skipped], axis=0)
    return values, f"images {size[0]}×{size[1]} {'grey' if grey else 'RGB'}", skipped


def upright(image: Image.Image) -> Image.Image:
    """The image as a viewer shows it: rotated as its EXIF data say, transparent parts white."""
    turned = ImageOps.exif_transpose(image)
    if "A" not in turned.getbands() and "transparency" not in turned.info:
        return turned
    white = Image.new("RGBA", turned.size, "white")
    flat = Image.alpha_composite(white, turned.convert("RGBA"))
    return flat.convert("L" if turned.mode == "LA" else "RGB")


def opened(path: Path, work: Callable[[Image.Image], Made]) -> Made | str:
    """What `work` makes of the opened image; the reason if it cannot be read."""
    try:
        with Image.open(path) as image:
            return work(image)
    except UnidentifiedImageError:
        return "it is not an image"
    except BROKEN as error:
        return first_line(error, "it is broken")


def in_chunks(work: Callable[[Any], Any], parts: Sequence[Any], what: str, progress: Progress | None) -> list[Any]:
    """Results of `work` on each part, by several threads, with a report after every few hundred."""
    results = []
    for lo, hi in spans(len(parts), CHUNK):
        results += run_parts(work, parts[lo:hi])
        if progress is not None:
            progress(hi, len(parts), what)
    return results


def _fill(out: npt.NDArray[np.float32], image: Image.Image, size: tuple[int, int], grey: bool) -> None:
    image.draft(None, (4 * size[0], 4 * size[1]))  # a JPEG can be read at a fraction of its size, much faster
    image = upright(image)
    if image.mode in DEEP:
        image = Image.fromarray(np.asarray(image, np.float32) / 257)  # convert() would clip at 255
    if image.mode != "F" or not grey:
        image = image.convert("L" if grey else "RGB")
    if image.size != size:
        image = image.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
    out[...] = np.asarray(image, np.float32) / 255
    if not np.isfinite(out).all():
        raise ValueError("it holds NaN or infinity")
