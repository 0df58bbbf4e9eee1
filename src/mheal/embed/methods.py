"""`embed`: vectors from images, texts or columns, by the name of a method."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import numpy.typing as npt

from ..duplicates import distinct
from ..exceptions import UserError
from ..io.source import Kind
from ..runtime.files import first_line
from ..runtime.progress import Progress
from ..runtime.threads import spans
from ..sphere import to_sphere
from ..validation import as_array, refuse_nonfinite
from . import registered
from .features import pca, shapes
from .texts import tfidf

Array = npt.NDArray[Any]
Skipped = list[tuple[int, str]]  # (position, reason) of images that cannot be read
IMAGES_AT_ONCE, TEXTS_AT_ONCE = 64, 256  # given to a pretrained model together
DETAIL = 512  # pixels a side that such a model can use

METHODS: dict[str, tuple[Kind, ...]] = {  # and the kinds of items that they embed
    "none": ("vectors", "table"),  # the columns as they are
    "pca": ("images", "vectors", "table"),  # pixels or columns, PCA to 90 % of the variance, at most 64 columns
    "shapes": ("images",),  # pixels and the edges in them, PCA of each
    "pixels": ("images",),  # in [0, 1], at a common size
    "tfidf": ("texts",),  # words or characters, TF-IDF, SVD to at most 100 columns
    "autoencoder": ("images", "vectors", "table"),  # its code
    "simclr": ("images",),  # features learnt from the images alone, 100 epochs, for a GPU
    "simclr:EPOCHS": ("images",),  # the same, with this many passes over the images
    "timm:NAME": ("images",),  # features of a pretrained model
    "sentence:NAME": ("texts",),  # features of a pretrained model
}
ADDED: tuple[Kind, ...] = ("images", "vectors", "table")  # kinds of items that methods of other packages embed
NEEDED = {"autoencoder": "mheal[deep]", "simclr": "mheal[deep]", "timm:NAME": "timm", "dec": "mheal-reproduction"}
NEEDED |= {"sentence:NAME": "sentence-transformers"}  # what to install for which method
DEFAULTS: dict[Kind, str] = {"vectors": "none", "table": "none", "images": "shapes", "texts": "tfidf"}


@dataclass(frozen=True, eq=False)
class Embedding:
    """Vectors of items, and how they were made."""

    X: Array
    description: str = ""  # in a few words
    skipped: Skipped = field(default_factory=list)
    notes: list[tuple[str, list[int]]] = field(default_factory=list)  # on some of the items; and their positions


def embed(
    items: Array | Sequence[Path] | Sequence[str], kind: Kind, method: str | None = None, *, seed: int = 0,
    progress: Progress | None = None,
) -> Embedding:  # fmt: skip
    """Vectors of items. Row i of the result is item i, less the skipped images; equal items have equal vectors.

    Rows have unit length, which `mheal` compares as they are, for all methods but "none", "pixels", "autoencoder", PCA
    of a table and those of other packages. Rows of fewer than 8 columns keep their length.

    Parameters
    ----------
    items : a (rows, columns) array (kind "vectors" or "table"), image files (kind "images") or texts (kind "texts")
    method : a name in METHODS, or one that an installed package adds (see `registered`); None: the default of the kind
    seed : of the methods that are randomized
    progress : called with (done, total, what)
    """
    method, option = _known(method or DEFAULTS[kind], kind)
    given: Any = items
    if method == "none":
        return Embedding(np.asanyarray(given))
    if method == "tfidf":
        X, description, notes = tfidf(given, seed)
        return Embedding(X, description, notes=notes)
    if method == "sentence:NAME":
        X = to_sphere(_sentence_features(given, option, progress))
        return Embedding(X, f"sentence-transformers model {option}, {X.shape[1]} columns")
    X, looks, skipped = _numbers(given, kind, method, option, progress)
    rows = X.reshape(len(X), -1)
    if method in ("pixels", "timm:NAME"):
        return Embedding(rows, f"{looks}, {rows.shape[1]:,} columns", skipped)
    same = distinct(rows)
    once = same is not None and (kind == "images" or method not in METHODS)  # equal items are learnt from once
    V, made = _learnt(X[same.first] if same and once else X, kind, method, option, seed, progress)
    if same is not None:
        V = V[same.place] if once else V[same.first][same.place]
    return Embedding(V, ", ".join(filter(None, (looks, made))), skipped)


def _known(method: str, kind: Kind) -> tuple[str, str]:
    """The method's name, as in METHODS or as a package has registered it, and what stands behind the colon."""
    first, colon, option = method.partition(":")
    complete = bool(colon) == bool(option)
    name = next((key for key in METHODS if key.startswith(f"{first}:")), "") if colon else first
    ours = [key for key, kinds in METHODS.items() if kind in kinds]
    if complete and name in ours:
        if name == "simclr:EPOCHS" and not (option.isdecimal() and int(option)):
            raise UserError(f"simclr:EPOCHS takes a whole number of at least 1, as in simclr:100, not {option!r}")
        return name, option
    added = sorted(registered.found().names - METHODS.keys()) if kind in ADDED else []
    if complete and first in added:
        return first, option
    *most, last = ours + added
    needed = [f"{package} for {name}" for name, package in NEEDED.items() if kind in METHODS.get(name, ADDED)]
    choice = f"use {', '.join(most)} or {last} (needed: {', '.join(needed)})"
    raise UserError(f"there is no method {method!r} for {kind}: {choice}")


def _numbers(items: Any, kind: Kind, method: str, model: str, progress: Progress | None) -> tuple[Array, str, Skipped]:
    """Finite numbers: columns, pixels, or features of a timm model; of images what they are, and which are skipped."""
    if kind != "images":
        X = as_array(items)
        if not np.isfinite(X).all():
            refuse_nonfinite(X)
        return X, "", []
    if method == "timm:NAME":
        X, looks, skipped = _timm_features(items, model, progress)
    else:
        from .images import read_pixels

        X, looks, skipped = read_pixels(items, progress)
    if len(X) == 0:
        first, reason = skipped[0]
        raise UserError(f"none of the {len(items):,} images can be read; the first, {items[first].name}: {reason}")
    return X, looks, skipped


def _learnt(X: Array, kind: Kind, method: str, option: str, seed: int, progress: Progress | None) -> tuple[Array, str]:
    """Vectors that a method learns from images or columns; and what they are, in words."""
    if method not in METHODS:
        return registered.encode(X, method, option, seed, progress)
    if method == "shapes":
        return shapes(X, seed, progress)
    if method.startswith("simclr"):
        with _needing("simclr"):
            from .simclr import encode as simclr
        images = np.rint(255 * X).clip(0, 255).astype(np.uint8)
        V = simclr(images, seed=seed, epochs=int(option) if option else None, progress=progress)
        return V, f"SimCLR to {V.shape[1]} columns"  # of unit length already
    X = X.reshape(len(X), -1)
    if method == "autoencoder":
        with _needing("autoencoder"):
            from .autoencoder import encode as autoencoder
        V = autoencoder(X, seed=seed, progress=progress)
        return V, f"autoencoder to {V.shape[1]} columns"
    if kind == "table":  # columns of a table have units of their own
        from sklearn.preprocessing import StandardScaler

        return pca(StandardScaler().fit_transform(X), seed)
    X, description = pca(X, seed)
    return to_sphere(X), description


def _timm_features(paths: Sequence[Path], name: str, progress: Progress | None) -> tuple[Array, str, Skipped]:
    """Features of the images by the timm model `name`; what they are; (position, reason) of those that are not read."""
    from .images import in_chunks, opened, upright_rgb

    with _needing("timm:NAME", name):
        timm, torch = import_module("timm"), import_module("torch")
        device = "cuda" if torch.cuda.is_available() else "cpu"
        model = timm.create_model(name, pretrained=True, num_classes=0).eval().to(device)
    transform = timm.data.create_transform(**timm.data.resolve_model_data_config(model), is_training=False)
    prepared = partial(opened, work=lambda image: transform(upright_rgb(image, DETAIL)))
    blocks, skipped = [np.empty((0, 0), np.float32)], []
    for lo, hi in spans(len(paths), IMAGES_AT_ONCE):
        batch = in_chunks(prepared, paths[lo:hi], "", None)
        skipped += [(lo + at, item) for at, item in enumerate(batch) if isinstance(item, str)]
        if tensors := [item for item in batch if not isinstance(item, str)]:
            with torch.inference_mode():
                blocks.append(model(torch.stack(tensors).to(device)).float().cpu().numpy())
        if progress is not None:
            progress(hi, len(paths), f"timm:{name}")
    return to_sphere(np.concatenate(blocks[1:] or blocks)), f"images, timm model {name}", skipped


def _sentence_features(texts: Sequence[str], name: str, progress: Progress | None) -> Array:
    """Features of the texts by the sentence-transformers model `name`."""
    with _needing("sentence:NAME", name):
        model = import_module("sentence_transformers").SentenceTransformer(name)
    blocks = []
    for lo, hi in spans(len(texts), TEXTS_AT_ONCE):
        blocks.append(model.encode(list(texts[lo:hi]), convert_to_numpy=True, show_progress_bar=False))
        if progress is not None:
            progress(hi, len(texts), f"sentence:{name}")
    return np.concatenate(blocks).astype(np.float32, copy=False)


@contextmanager
def _needing(method: str, model: str = "") -> Iterator[None]:
    """While the block runs, a missing package or model is a UserError that says how to get it."""
    package, called = NEEDED[method], method.replace("NAME", model)
    try:
        yield
    except ImportError as error:
        raise UserError(f"the method {called!r} needs {package}: pip install {quote(package)}") from error
    except (RuntimeError, ValueError, OSError) as error:
        raise UserError(f"{package} cannot load the model {model!r}: {first_line(error)}") from error
