"""`embed`: vectors from images, texts or columns, by the name of a method."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..duplicates import distinct
from ..exceptions import UserError
from ..io.source import Kind
from ..runtime.progress import Progress
from ..sphere import to_sphere
from ..validation import as_array, refuse_nonfinite

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Method:
    """A way to make vectors: what it does, in one line, and of what."""

    summary: str
    kinds: tuple[Kind, ...]


METHODS = {
    "none": Method("the columns as they are (default for vectors and tables)", ("vectors", "table")),
    "pca": Method("pixels or columns, PCA to 90 % of the variance, at most 64 columns", ("images", "vectors", "table")),
    "shapes": Method("pixels and the edges in them, PCA of each (default for images)", ("images",)),
    "pixels": Method("pixels in [0, 1] at a common size", ("images",)),
    "tfidf": Method("words and pairs of words, TF-IDF, SVD to at most 100 columns (default for texts)", ("texts",)),
    "autoencoder": Method("the code of an autoencoder (needs mheal[deep])", ("images", "vectors", "table")),
    "simclr": Method("features learnt from the images alone, 100 epochs, for a GPU (needs mheal[deep])", ("images",)),
    "simclr:EPOCHS": Method("the same, with so many passes over the images", ("images",)),
    "timm:NAME": Method("features of a pretrained timm model (needs timm)", ("images",)),
    "sentence:NAME": Method("a sentence-transformers model (needs sentence-transformers)", ("texts",)),
}
DEFAULTS: dict[Kind, str] = {"vectors": "none", "table": "none", "images": "shapes", "texts": "tfidf"}


@dataclass(frozen=True, eq=False)
class Embedding:
    """Vectors, one sentence on how they were made, and (position, reason) of the images that could not be read."""

    X: Array
    description: str = ""
    skipped: list[tuple[int, str]] = field(default_factory=list)


def embed(
    items: Array | Sequence[Path] | Sequence[str], kind: Kind, method: str | None = None, *, seed: int = 0,
    progress: Progress | None = None,
) -> Embedding:  # fmt: skip
    """Vectors of items. Row i of the result is item i, less the skipped images; equal items have equal vectors.

    Rows have unit length, which `mheal` compares as they are, for all methods but "none", "pixels", "autoencoder" and
    PCA of a table. Rows of fewer than 8 columns keep their length.

    Parameters
    ----------
    items : an array (kind "vectors" or "table"), image files or texts
    kind : "vectors", "table", "images" or "texts"
    method : a name in METHODS; None: the default of the kind
    seed : of the methods that are randomized
    progress : called with (done, total, what)
    """
    method, model = _known(method or DEFAULTS[kind], kind)
    if kind == "texts":
        X, description = _of_texts(items, method, model, seed, progress)
        return Embedding(X, description)
    if kind == "images":
        return _of_images(items, method, model, seed, progress)
    if method == "none":
        return Embedding(np.asanyarray(items))
    X = as_array(items)
    if not np.isfinite(X).all():
        refuse_nonfinite(X)
    same = distinct(X)
    X, description = _of_columns(X, kind, method, seed, progress)
    return Embedding(X if same is None else X[same.first][same.place], description)


def _known(method: str, kind: Kind) -> tuple[str, str]:
    """The method's name as in METHODS and the model's name, where it has one."""
    name, colon, model = method.partition(":")
    if colon:
        name = next((key for key in METHODS if key.startswith(f"{name}:")), "")
    ours = [key for key, entry in METHODS.items() if kind in entry.kinds]
    if name not in METHODS or bool(colon) != bool(model):
        raise UserError(f"there is no method {method!r}: for {kind} use {_either(ours)}")
    if name not in ours:
        raise UserError(f"{method!r} does not work on {kind}: use {_either(ours)}")
    return name, model


def _either(names: list[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _of_columns(X: Array, kind: Kind, method: str, seed: int, progress: Progress | None) -> tuple[Array, str]:
    if method == "autoencoder":
        return _autoencoded(X, seed, progress)
    from .pca import pca

    if kind == "table":  # columns of a table have units of their own
        from sklearn.preprocessing import StandardScaler

        return pca(StandardScaler().fit_transform(X), seed)
    X, description = pca(X, seed)
    return to_sphere(X), description


def _of_texts(texts: Any, method: str, model: str, seed: int, progress: Progress | None) -> tuple[Array, str]:
    if method == "tfidf":
        from .texts import tfidf

        return tfidf(texts, seed)
    from .pretrained import sentence_features

    X = to_sphere(sentence_features(texts, model, progress))
    return X, f"sentence-transformers model {model}, {X.shape[1]} columns"


def _of_images(paths: Any, method: str, model: str, seed: int, progress: Progress | None) -> Embedding:
    epochs = _epochs(model) if method == "simclr:EPOCHS" else None
    if method == "timm:NAME":
        from .pretrained import timm_features

        X, skipped = timm_features(paths, model, progress)
        _refuse_none(X, paths, skipped)
        return Embedding(to_sphere(X), f"images, timm model {model}, {X.shape[1]} columns", skipped)
    from .images import read_pixels

    pixels = read_pixels(paths, progress)
    _refuse_none(pixels.values, paths, pixels.skipped)
    if method == "pixels":
        description = f"{pixels.description}, {pixels.values.shape[1]:,} columns"
        return Embedding(pixels.values, description, pixels.skipped)
    same = distinct(pixels.values)  # equal images are learnt from once, and then have the same vectors
    X, made = _of_pixels(
        pixels.values if same is None else pixels.values[same.first], pixels.shape, method, epochs, seed, progress
    )
    description = f"{pixels.description}, {made}"
    return Embedding(X if same is None else X[same.place], description, pixels.skipped)


def _of_pixels(
    X: Array, shape: tuple[int, ...], method: str, epochs: int | None, seed: int, progress: Progress | None
) -> tuple[Array, str]:
    if method == "shapes":
        from .edges import shapes

        return shapes(X, shape, seed, progress)
    if method == "pca":
        return _of_columns(X, "vectors", method, seed, progress)
    if method == "autoencoder":
        return _autoencoded(X, seed, progress)
    from .pretrained import simclr_features

    images = np.rint(255 * X).clip(0, 255).astype(np.uint8).reshape(len(X), *shape)
    X = simclr_features(images, epochs, seed, progress)  # of unit length already
    return X, f"SimCLR to {X.shape[1]} columns"


def _refuse_none(X: Array, paths: Sequence[Path], skipped: list[tuple[int, str]]) -> None:
    if len(X) == 0:
        first, reason = skipped[0]
        raise UserError(f"none of the {len(paths):,} images can be read; the first, {paths[first].name}: {reason}")


def _epochs(written: str) -> int:
    if not written.isdecimal() or int(written) == 0:
        raise UserError(f"simclr:EPOCHS takes a whole number of at least 1, as in simclr:100, not {written!r}")
    return int(written)


def _autoencoded(X: Array, seed: int, progress: Progress | None) -> tuple[Array, str]:
    from .pretrained import autoencoder_features

    code = autoencoder_features(X, seed, progress)
    return code, f"autoencoder to {code.shape[1]} columns"
