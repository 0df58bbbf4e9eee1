"""Things that are not vectors yet, made vectors: pixels, PCA, TF-IDF, and networks by name."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..duplicates import distinct
from ..exceptions import UserError
from ..io.source import Kind
from ..runtime.progress import Progress
from ..runtime.threads import single_threaded_blas
from ..sphere import FEW, to_sphere
from ..validation import as_array, refuse_nonfinite

COMPONENTS = 64
NO_EDGES = 0.1  # those whose rows differ by less, in the mean, are noise
VARIANCE = 0.9  # what the others hold says little


@dataclass(frozen=True)
class Method:
    """A way to make vectors: what it does, in one line, and of what."""

    summary: str
    kinds: tuple[Kind, ...]


METHODS = {
    "none": Method("the columns as they are (default for vectors and tables)", ("vectors", "table")),
    "pca": Method(
        "pixels or columns, PCA to 90 % of the variance, at most 64 columns",
        ("images", "vectors", "table"),
    ),
    "shapes": Method("pixels and the edges in them, PCA of each (default for images)", ("images",)),
    "pixels": Method("pixels in [0, 1] at a common size", ("images",)),
    "tfidf": Method("words and pairs of words, TF-IDF, SVD to at most 100 columns (default for texts)", ("texts",)),
    "autoencoder": Method("the code of an autoencoder (needs mheal[deep])", ("images", "vectors", "table")),
    "simclr": Method("features learnt from the images alone, 100 passes, for a GPU (needs mheal[deep])", ("images",)),
    "simclr:EPOCHS": Method("the same, with so many passes over the images", ("images",)),
    "timm:NAME": Method("what a pretrained timm model sees (needs timm)", ("images",)),
    "sentence:NAME": Method("a sentence-transformers model (needs sentence-transformers)", ("texts",)),
}
DEFAULTS: dict[Kind, str] = {"vectors": "none", "table": "none", "images": "shapes", "texts": "tfidf"}


@dataclass(frozen=True, eq=False)
class Embedding:
    """Vectors, one sentence on how they were made, and (position, reason) of the images that could not be read."""

    X: npt.NDArray[Any]
    description: str = ""
    skipped: list[tuple[int, str]] = field(default_factory=list)


def embed(
    items: npt.NDArray[Any] | Sequence[Path] | Sequence[str],
    kind: Kind,
    method: str | None = None,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Embedding:
    """Vectors of the items: an array (vectors, table), image files or texts. Without a method, the kind's default.

    Shapes, PCA (not of tables), TF-IDF, SimCLR and pretrained networks give rows of unit length, if these have 8
    columns or more; they are then compared as they are.
    Row i of the result is item i, less the skipped images.
    """
    method, model = _known(method or DEFAULTS[kind], kind)
    if kind == "texts":
        return _embed_texts(items, method, model, seed, progress)
    if kind == "images":
        return _embed_images(items, method, model, seed, progress)
    if method == "none":
        return Embedding(np.asanyarray(items))
    X = as_array(items)
    if not np.isfinite(X).all():
        refuse_nonfinite(X)
    made, same = _embed_array(X, kind, method, seed, progress), distinct(X)
    if same is None:
        return made
    return replace(made, X=made.X[same.first][same.place])  # copies are the same to the last bit


def _embed_array(X: npt.NDArray[Any], kind: Kind, method: str, seed: int, progress: Progress | None) -> Embedding:
    if method == "autoencoder":
        return _autoencoded(X, seed, progress)
    if kind == "table":  # columns of a table have units of their own
        from sklearn.preprocessing import StandardScaler

        return Embedding(*_pca(StandardScaler().fit_transform(X), seed))
    X, description = _pca(X, seed)
    return Embedding(to_sphere(X), description)


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


def _embed_texts(texts: Any, method: str, model: str, seed: int, progress: Progress | None) -> Embedding:
    if method == "tfidf":
        from .texts import tfidf

        return Embedding(*tfidf(texts, seed))
    from .pretrained import sentence_features

    X = to_sphere(sentence_features(texts, model, progress))
    return Embedding(X, f"sentence-transformers model {model}, {X.shape[1]} columns")


def _embed_images(paths: Any, method: str, model: str, seed: int, progress: Progress | None) -> Embedding:
    epochs = _epochs(model) if method == "simclr:EPOCHS" else None
    if method == "timm:NAME":
        from .pretrained import timm_features

        X, skipped = timm_features(paths, model, progress)
        X = to_sphere(X)
        description = f"images, timm model {model}, {X.shape[1]} columns"
    else:
        from .images import read_pixels

        pixels = read_pixels(paths, progress)
        X, description, skipped = pixels.values, pixels.description, pixels.skipped
    if len(X) == 0:
        first, reason = skipped[0]
        raise UserError(f"none of the {len(paths):,} images can be read; the first, {paths[first].name}: {reason}")
    same = None if method in ("timm:NAME", "pixels") else distinct(X)
    if same is not None:  # what is made of an image once is the same for its copies, to the last bit
        X = same.of(X)
    if method == "shapes":
        X, reduced = _shapes(X, pixels.shape, seed, progress)
        description += f", {reduced}"
    elif method == "pca":
        X, reduced = _pca(X, seed)
        X, description = to_sphere(X), f"{description}, {reduced}"
    elif method == "autoencoder":
        code = _autoencoded(X, seed, progress)
        X, description = code.X, f"{description}, {code.description}"
    elif method.startswith("simclr"):
        from .pretrained import simclr_features

        images = np.rint(255 * X).clip(0, 255).astype(np.uint8).reshape(len(X), *pixels.shape)
        X = simclr_features(images, epochs, seed, progress)  # of unit length already
        description += f", SimCLR to {X.shape[1]} columns"
    elif method == "pixels":
        description += f", {X.shape[1]:,} columns"
    return Embedding(X if same is None else X[same.place], description, skipped)


def _shapes(
    X: npt.NDArray[Any], shape: tuple[int, ...], seed: int, progress: Progress | None
) -> tuple[npt.NDArray[Any], str]:
    """Principal columns of pixels and of edges, side by side, worth the same; of images without edges only pixels."""
    from .edges import edges

    pixels, of_pixels = _pca(X, seed)
    lines, of_lines = _pca(edges(X.reshape(len(X), *shape), progress), seed)
    if len(X) == 1 or not lines.any() or _mean_length(lines) < NO_EDGES:
        return to_sphere(pixels), of_pixels
    parts = [part / _mean_length(part) if part.shape[1] < FEW else to_sphere(part) for part in (pixels, lines)]
    return to_sphere(np.hstack(parts)), f"pixels: {of_pixels}, edges: {of_lines}"


def _mean_length(X: npt.NDArray[Any]) -> float:
    """The root of the mean square of the rows' lengths; 1 where all are 0."""
    return float(np.sqrt(np.square(X, dtype=np.float64).sum(axis=1).mean())) or 1.0


def _epochs(written: str) -> int:
    if not written.isdecimal() or int(written) == 0:
        raise UserError(f"simclr:EPOCHS takes a whole number of at least 1, as in simclr:100, not {written!r}")
    return int(written)


def _autoencoded(X: npt.NDArray[Any], seed: int, progress: Progress | None) -> Embedding:
    from .pretrained import autoencoder_features

    code = autoencoder_features(X, seed, progress)
    return Embedding(code, f"autoencoder to {code.shape[1]} columns")


def _pca(X: npt.NDArray[Any], seed: int) -> tuple[npt.NDArray[Any], str]:
    """The directions in which rows differ most: as many as hold 90 % of the variance, at most 64."""
    from sklearn.decomposition import PCA

    most = min(COMPONENTS, len(X) - 1, X.shape[1])
    if most == 0:
        return X, f"{X.shape[1]:,} columns (one different row has no PCA)"
    model = PCA(most, svd_solver="randomized", random_state=seed)
    with single_threaded_blas(), np.errstate(invalid="ignore"):  # the same numbers on any number of cores
        Z = model.fit_transform(X)
    held = np.cumsum(np.nan_to_num(model.explained_variance_ratio_, nan=0.0))  # NaN where all rows are equal
    n = min(most, int(np.searchsorted(held, VARIANCE)) + 1)
    description = f"PCA to {n} column{'s' if n > 1 else ''} ({100 * held[n - 1]:.0f} % of the variance)"
    return np.ascontiguousarray(Z[:, :n], np.float32), description
