"""Read pools and labels from .npy files, which are memory-mapped, and .npz files."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import UserError
from ..runtime.files import reading
from ..runtime.memory import unpacked

Array = npt.NDArray[Any]


@contextmanager
def open_arrays(file: Path) -> Iterator[Mapping[str, Array]]:
    """Yield the arrays of an .npz file by name, read on access; a .npy file is memory-mapped under the name X."""
    with reading(file, " (is it complete, and does it hold only numbers or strings?)"):
        if file.suffix.lower() == ".npy":
            yield {"X": np.lib.format.open_memmap(file, mode="r")}
            return
        archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError("it is not an archive of arrays")
        with archive:
            unpacked(file)
            yield archive


def array_of(arrays: Mapping[str, Array], name: str) -> Array:
    """An array of an .npz file."""
    array: Any = arrays[name]
    if not isinstance(array, np.ndarray):  # np.load returns bytes if the array's header is damaged
        raise ValueError(f"{name!r} is not an array")
    if array.dtype.kind == "U" and (np.ravel(array).view(f"{array.dtype.byteorder}u4") > 0x10FFFF).any():
        raise ValueError(f"{name!r} holds invalid characters")
    return array


def read_arrays(files: list[Path], name: str | None = None) -> tuple[Array, str]:
    """The rows of all shards, and a description of their columns.

    A single .npy file is memory-mapped, not copied. An .npz file gives the array called `name`; without a name X, or
    the only array with rows and columns. Further dimensions, such as those of images, are flattened.
    """
    arrays = [_pool_array(file, name) for file in files]
    widths = ["×".join(map(str, array.shape[1:])) for array in arrays]
    for file, width in zip(files, widths, strict=True):
        if width != widths[0]:
            wrong = f"{file.name} has {width} columns, but {files[0].name} has {widths[0]}"
            raise UserError(f"{wrong}: shards must have the same columns")
    X = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
    flattened = f" ({widths[0]} flattened)" if X.ndim > 2 else ""
    X = X.reshape(len(X), -1)
    return X, f"{X.shape[1]:,} column{'s' if X.shape[1] > 1 else ''}{flattened}"


def _pool_array(file: Path, name: str | None) -> Array:
    """The array in a file that holds the pool."""
    with open_arrays(file) as arrays:
        if name is not None and name not in arrays:
            raise UserError(f"{file.name} has no array {name!r}: it has {', '.join(arrays)}")
        if name is not None or "X" in arrays:
            array = array_of(arrays, name or "X")
        else:
            every = {key: array_of(arrays, key) for key in arrays}
            wide = [array for array in every.values() if array.ndim >= 2]
            if len(wide) != 1:
                held = ", ".join(f"{key} {array.shape}" for key, array in every.items()) or "none"
                raise UserError(f"{file.name}: which array is the pool? Write {file.name}:NAME (it has {held})")
            array = wide[0]
    if array.dtype.kind not in "fiub":
        raise UserError(f"{file.name} holds {array.dtype}, not real numbers: convert it before saving")
    if array.ndim < 2:
        remedy = "save X.reshape(-1, 1) if it is one feature"
        raise UserError(f"{file.name} has shape {array.shape}, but a pool has rows and columns: {remedy}")
    if 0 in array.shape:
        raise UserError(f"{file.name} is empty, shape {array.shape}: it needs at least one row and one column")
    return array
