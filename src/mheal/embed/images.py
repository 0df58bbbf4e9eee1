"""Image files as pixels of one size."""

import struct
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps, UnidentifiedImageError

from ..runtime.files import first_line
from ..runtime.progress import Progress
from ..runtime.threads import run_parts, spans

SMALL = 64  # images that share a size up to this keep it
COMMON = (32, 32)  # others are resized to this width and height
DEEP = ("I;16", "I;16L", "I;16B", "I", "F")  # more than 8 bits a pixel, in one channel
GREY = ("1", "L", "LA", *DEEP)
WHITES = (1, 255, 4095, 65535)  # what white may be in images of more than 8 bits
MOST = 100_000_000  # pixels of an image; Pillow warns of more than 89 million, and refuses twice as many
LARGE = 10_000_000  # pixels; images of more are decoded one after another
TOO_MANY = f"it has more than {MOST // 1_000_000} million pixels: make it smaller"
Made = TypeVar("Made")
CHUNK = 256  # images between two reports of progress
BROKEN = (OSError, SyntaxError, ValueError, TypeError, EOFError, struct.error)
_one_large = Lock()


def read_pixels(
    paths: Sequence[Path], progress: Progress | None = None
) -> tuple[npt.NDArray[np.float32], str, list[tuple[int, str]]]:
    """Every image at one size: their own if they share one of at most 64 × 64, else 32 × 32. Grey if all are grey.

    Returns pixels in [0, 1], (images, height, width) or, unless all are grey, (images, height, width, 3); their size
    and colours, in words; and (position, reason) of the images that could not be read. Of pages and frames the first
    counts. Images of more than 8 bits are scaled together, so that a bright one stays brighter than others.
    """
    headers = partial(opened, work=lambda image: (image.size, image.mode))
    looks = in_chunks(headers, paths, "opening images", progress)
    seen = [look for look in looks if not isinstance(look, str)]
    sizes = {size for size, _ in seen}
    size = min(sizes) if len(sizes) == 1 and max(min(sizes)) <= SMALL else COMMON
    grey = all(mode in GREY for _, mode in seen)
    values = np.empty((len(paths), size[1], size[0], *([] if grey else [3])), np.float32)

    def decode(at: int) -> str | None:
        return opened(paths[at], lambda image: _fill(values[at], image, size, grey))

    reasons = in_chunks(decode, range(len(paths)), "reading images", progress)
    skipped = [(at, reason) for at, reason in enumerate(reasons) if reason]
    for mode in DEEP:
        if alike := [at for at, look in enumerate(looks) if not reasons[at] and look[1] == mode]:
            values[alike] = _scaled(values[alike])
    if skipped:
        values = np.delete(values, [at for at, _ in skipped], axis=0)
    return values, f"images {size[0]}×{size[1]} {'grey' if grey else 'RGB'}", skipped


def upright(image: Image.Image) -> Image.Image:
    """The image as a viewer shows it: rotated as its EXIF data say, transparent parts white."""
    turned = ImageOps.exif_transpose(image)
    if turned.mode in DEEP or ("A" not in turned.getbands() and "transparency" not in turned.info):
        return turned
    white = Image.new("RGBA", turned.size, "white")
    flat = Image.alpha_composite(white, turned.convert("RGBA"))
    return flat.convert("L" if turned.mode == "LA" else "RGB")


def shown(image: Image.Image) -> Image.Image:
    """The image upright, in RGB; one of more than 8 bits from black to white by its own range."""
    turned = upright(image)
    if turned.mode not in DEEP:
        return turned.convert("RGB")
    values = _finite(np.asarray(turned, np.float32))
    low = values.min()
    bytes_ = (values - low) * (255 / max(float(values.max() - low), 1e-30))
    return Image.fromarray(np.rint(bytes_).astype(np.uint8)).convert("RGB")


def opened(path: Path, work: Callable[[Image.Image], Made]) -> Made | str:
    """What `work` makes of the opened image; the reason if it cannot be read. One of too many pixels is not decoded."""
    try:
        with Image.open(path) as image:
            pixels = image.width * image.height
            if pixels > MOST:
                return TOO_MANY
            with _one_large if pixels > LARGE else nullcontext():
                return work(image)
    except UnidentifiedImageError:
        return "it is not an image"
    except Image.DecompressionBombError:
        return TOO_MANY
    except BROKEN as error:
        return first_line(error, "it is broken")


def in_chunks(work: Callable[[Any], Any], parts: Sequence[Any], what: str, progress: Progress | None) -> list[Any]:
    """Results of `work` on each part, by several threads, with a report after every few hundred."""
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # `opened` refuses what is too large
        for lo, hi in spans(len(parts), CHUNK):
            results += run_parts(work, parts[lo:hi])
            if progress is not None:
                progress(hi, len(parts), what)
    return results


def _fill(out: npt.NDArray[np.float32], image: Image.Image, size: tuple[int, int], grey: bool) -> None:
    image.draft(None, (4 * size[0], 4 * size[1]))  # a JPEG can be read at a fraction of its size, much faster
    image = upright(image)
    deep = image.mode in DEEP
    if deep:
        image = Image.fromarray(_finite(np.asarray(image, np.float32)))
    else:
        image = image.convert("L" if grey else "RGB")
    if image.size != size:
        image = image.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
    values = np.asarray(image, np.float32)
    out[...] = values[..., None] if deep and not grey else values if deep else values / 255


def _finite(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    if not np.isfinite(values).all():
        raise ValueError("it holds NaN or infinity")
    return values


def _scaled(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Images of more than 8 bits in [0, 1]: by the least white that all stay below, else by their range."""
    low, high = float(values.min()), float(values.max())
    white = next((white for white in WHITES if low >= 0 and high <= white), None)
    low, high = (0.0, float(white)) if white else (low, high)
    return (values - np.float32(low)) / np.float32(max(high - low, 1e-30))
