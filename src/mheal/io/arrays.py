"""Pools that are arrays already: .npy, memory-mapped, and .npz."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import UserError
from ..runtime.files import reading

Array = npt.NDArray[Any]
HINT = " (is it complete, and of numbers only?)"


def read_arrays(files: list[Path], name: str | None = None) -> tuple[Array, str]:
    """The rows of all shards, and a description of their columns.

    One .npy file is its memory map, not a copy. Of an .npz file it is the array called `name`, or X, or the only one
    with rows and columns. Further dimensions, as of images, are flattened.
    """
    arrays = [_checked(load_array(file, _pool_name(file, name), HINT), file) for file in files]
    widths = ["×".join(map(str, array.shape[1:])) for array in arrays]
    for file, width in zip(files, widths, strict=True):
        if width != widths[0]:
            wrong = f"{file.name} has {width} columns, but {files[0].name} has {widths[0]}"
            raise UserError(f"{wrong}: shards must have the same columns")
    X = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
    flattened = f" ({widths[0]} flattened)" if X.ndim > 2 else ""
    X = X if X.ndim == 2 else X.reshape(len(X), -1)
    return X, f"{X.shape[1]:,} column{'s' if X.shape[1] > 1 else ''}{flattened}"


def load_array(file: Path, name: str | None, hint: str) -> Array:
    """A .npy file as a memory map, or the array of that name (by default X) in an .npz file."""
    with reading(file, hint):
        if file.suffix.lower() == ".npy":
            return np.lib.format.open_memmap(file, mode="r")
        with _archive(file) as archive:
            return archive[name or "X"]


def array_names(file: Path) -> list[str]:
    """The names of the arrays in an .npz file."""
    with reading(file, HINT), _archive(file) as archive:
        return list(archive)


def _archive(file: Path) -> np.lib.npyio.NpzFile:
    archive = np.load(file, allow_pickle=False)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError("it is no archive of arrays")
    return archive


def _pool_name(file: Path, name: str | None) -> str | None:
    """The name of the array that is the pool; None for a .npy file."""
    if file.suffix.lower() == ".npy":
        return None
    names = array_names(file)
    if name is not None and name not in names:
        raise UserError(f"{file.name} has no array {name!r}: it has {', '.join(names)}")
    if name is not None or "X" in names:
        return name or "X"
    shapes = {key: load_array(file, key, HINT).shape for key in names}
    wide = [key for key, shape in shapes.items() if len(shape) >= 2]
    if len(wide) != 1:
        held = ", ".join(f"{key} {shape}" for key, shape in shapes.items()) or "none"
        raise UserError(f"{file.name}: which array is the pool? Write {file.name}:NAME (it has {held})")
    return wide[0]


def _checked(array: Array, file: Path) -> Array:
    if array.dtype.kind not in "fiub":
        raise UserError(f"{file.name} holds {array.dtype}, not real numbers: convert it before saving")
    if array.ndim < 2:
        remedy = "save X.reshape(-1, 1) if it is one feature"
        raise UserError(f"{file.name} has shape {array.shape}, but a pool has rows and columns: {remedy}")
    if 0 in array.shape:
        raise UserError(f"{file.name} is empty, shape {array.shape}: it needs at least one row and one column")
    return array
