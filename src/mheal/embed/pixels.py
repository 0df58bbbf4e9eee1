"""Image files as pixels of one size."""

import struct
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError, features

from ..io.locate import UNDECODED
from ..runtime.files import first_line
from ..runtime.progress import Progress
from ..runtime.threads import run_parts, spans

SMALL = 64  # images that all have the same size, at most this, keep it
COMMON = (32, 32)  # others are resized to this width and height
DEEP = ("I;16", "I;16L", "I;16B", "I", "F")  # modes of more than 8 bits per pixel, in one channel
GREY = ("1", "L", "LA", *DEEP)
WHITES = (1, 255, 4095, 65535)  # possible values of white in images of more than 8 bits
MOST = 100_000_000  # largest number of pixels; Pillow warns above 89 million and refuses twice as many
LARGE = 10_000_000  # pixels; larger images are decoded one at a time
BAND = 1_000_000  # pixels that are converted together
HUGE = 1e30  # largest value of a pixel; differences of larger values may overflow float32
FORMATS = (  # other formats start programs
    *("PNG", "JPEG", "BMP", "DIB", "GIF", "WEBP", "TIFF", "JPEG2000", "PPM"),
    *(["AVIF"] if "avif" in features.modules and features.check_module("avif") else []),
)
TOO_MANY = f"it has more than {MOST // 1_000_000} million pixels: make it smaller"
CHUNK = 256  # images between two reports of progress
BROKEN = (OSError, SyntaxError, ValueError, TypeError, EOFError, struct.error)
_one_large = Lock()


def read_pixels(
    paths: Sequence[Path], progress: Progress | None = None
) -> tuple[npt.NDArray[np.float32], str, list[tuple[int, str]]]:
    """All images at one size: their own if it is common to all and at most 64 × 64, else 32 × 32.

    Returns pixels in [0, 1], (images, height, width) if all images are grey, else (images, height, width, 3); a
    description; and (position, reason) of the images that could not be read. Only the first page or frame of a file is
    read. Images of more than 8 bits are scaled together, so that they keep their relative brightness.
    """
    looks = in_chunks(partial(opened, work=lambda image: (image.size, image.mode)), paths, "opening images", progress)
    seen = [look for look in looks if not isinstance(look, str)]
    sizes = {size for size, _ in seen}
    size = min(sizes) if len(sizes) == 1 and max(min(sizes)) <= SMALL else COMMON
    grey = all(mode in GREY for _, mode in seen)
    values = np.empty((len(paths), size[1], size[0], *([] if grey else [3])), np.float32)
    both = [*zip(paths, values, strict=True)]
    reasons = in_chunks(lambda one: opened(one[0], partial(_fill, one[1])), both, "reading images", progress)
    for mode in DEEP:
        if alike := [at for at, look in enumerate(looks) if not reasons[at] and look[1] == mode]:
            values[alike] = _scaled(values[alike])
    if skipped := [(at, reason) for at, reason in enumerate(reasons) if reason]:
        values = np.delete(values, [at for at, _ in skipped], axis=0)
    return values, f"images {size[0]}×{size[1]} {'grey' if grey else 'RGB'}", skipped


def upright(image: Image.Image, enough: tuple[int, int]) -> Image.Image:
    """The image in mode L, RGB or F, rotated according to its EXIF data, with white for transparent parts.

    enough : width and height that are needed. An image of more than four times that is averaged down in bands of rows,
        since a copy of a large image in another mode may take gigabytes
    """
    image.draft(None, (4 * enough[0], 4 * enough[1]))  # a JPEG can be read at a fraction of its size, much faster
    image.load()
    factor = max(1, min(image.width // (4 * enough[0]), image.height // (4 * enough[1])))
    step = factor * max(1, BAND // (factor * image.width))
    tops = range(0, image.height, step)
    bands = [_flat(image.crop((0, top, image.width, min(top + step, image.height)))).reduce(factor) for top in tops]
    small = Image.new(bands[0].mode, (bands[0].width, sum(band.height for band in bands)))
    for top, band in zip(tops, bands, strict=True):
        small.paste(band, (0, top // factor))
    small.getexif()[ExifTags.Base.Orientation] = image.getexif().get(ExifTags.Base.Orientation, 1)
    return ImageOps.exif_transpose(small)


def _flat(image: Image.Image) -> Image.Image:
    """The image in mode L, RGB or, if it has more than 8 bits, F."""
    if image.mode in DEEP:
        values = np.asarray(image, np.float32)
        if not (np.abs(values) < HUGE).all():
            raise ValueError(f"it holds NaN or values beyond {HUGE:g}")
        return Image.fromarray(values)
    mode = "L" if image.mode in GREY else "RGB"
    if "A" in image.getbands() or "transparency" in image.info:
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image.convert("RGBA"))
    return image.convert(mode)


def upright_rgb(image: Image.Image, side: int) -> Image.Image:
    """The image upright, in RGB, with at least `side` pixels a side if it has them.

    An image of more than 8 bits is scaled so that its darkest pixel is black and its brightest white.
    """
    small = upright(image, (side, side))
    if small.mode == "F":
        low, high = np.asarray(small).min(), np.asarray(small).max()
        scale = 255 / max(float(high - low), 1e-30)
        small = small.point(lambda value: value * scale - low * scale).convert("L")
    return small.convert("RGB")


def opened(path: Path, work: Callable[[Image.Image], Any]) -> Any:
    """The result of `work` on the opened image, or the reason why it cannot be read. Too large ones are refused."""
    suffix = path.suffix.lower()
    no_decoder = f"there is no decoder for {suffix} here: save it as PNG or JPEG"
    if suffix in UNDECODED:
        return no_decoder
    try:
        str(path).encode()  # names that are not UTF-8 cannot be written to the output
        if not path.stat().st_size:
            return "it is empty"
        with Image.open(path, formats=FORMATS) as image:
            pixels = image.width * image.height
            if pixels > MOST:
                return TOO_MANY
            with _one_large if pixels > LARGE else nullcontext():
                return work(image)
    except UnidentifiedImageError:
        return no_decoder if suffix == ".avif" and "AVIF" not in FORMATS else "it is not an image"
    except UnicodeEncodeError:
        return "its name is not UTF-8: rename it"
    except Image.DecompressionBombError:
        return TOO_MANY
    except BROKEN as error:
        return first_line(error, "it is broken")


def in_chunks(work: Callable[[Any], Any], parts: Sequence[Any], what: str, progress: Progress | None) -> list[Any]:
    """Results of `work` on each part, computed by several threads. Progress is reported after every chunk."""
    results = []
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="PIL")  # a file is read, or skipped with a reason
        for lo, hi in spans(len(parts), CHUNK):
            results += run_parts(work, parts[lo:hi])
            if progress is not None:
                progress(hi, len(parts), what)
    return results


def _fill(out: npt.NDArray[np.float32], image: Image.Image) -> None:
    height, width = out.shape[:2]
    small = upright(image, (width, height))
    if small.mode != "F":
        small = small.convert("L" if out.ndim == 2 else "RGB")
    values = np.asarray(small.resize((width, height), Image.Resampling.BILINEAR), np.float32)
    out.reshape(height, width, -1)[...] = values.reshape(height, width, -1) / (1 if small.mode == "F" else 255)


def _scaled(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Images of more than 8 bits, scaled to [0, 1] by the smallest of WHITES that none exceeds, or by their range."""
    low, high = float(values.min()), float(values.max())
    white = next((white for white in WHITES if low >= 0 and high <= white), None)
    low, high = (0.0, float(white)) if white else (low, high)
    return (values - np.float32(low)) / np.float32(max(high - low, 1e-30))
