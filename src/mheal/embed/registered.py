"""Methods that other installed packages add.

A package names its function in its pyproject.toml, and `--embed dec` then finds it:

    [project.entry-points."mheal.embeddings"]
    dec = "package.module:function"

It is called as function(X, option=, seed=, progress=), and returns a row of finite numbers for each of X.

X : of a table or an array its columns as they are, (rows, columns); of images their pixels in [0, 1], (images, height,
    width) or (images, height, width, 3). No two rows are equal
option : what stands behind the colon, as "20" in dec:20; else ""
seed : of what is randomized
progress : called with (done, total, what); or None
"""

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import UserError
from ..runtime.files import first_line
from ..runtime.progress import Progress

GROUP = "mheal.embeddings"


def names() -> list[str]:
    """Names of the methods that installed packages add. No package is loaded for it."""
    return sorted(_found().names)


def encode(
    X: npt.NDArray[Any], name: str, option: str, seed: int, progress: Progress | None
) -> tuple[npt.NDArray[Any], str]:
    """Vectors by the method of this name; and what they are, in words."""
    entry = _found()[name]
    package = f"the package {entry.dist.name}" if entry.dist else entry.module
    made = np.asarray(_loaded(entry, package)(X, option=option, seed=seed, progress=progress))
    if made.ndim != 2 or len(made) != len(X) or made.dtype.kind not in "fiu" or not np.isfinite(made).all():
        wrong = f"the method {name!r} of {package} returned {made.dtype} {made.shape}"
        raise UserError(f"{wrong}, not a row of finite numbers for each of the {len(X):,} items")
    return made, f"{name} to {made.shape[1]} column{'s' if made.shape[1] > 1 else ''}"


def _found() -> Any:
    try:
        return entry_points(group=GROUP)
    except Exception as error:
        raise UserError(f"cannot list the methods that installed packages add: {first_line(error)}") from error


def _loaded(entry: EntryPoint, package: str) -> Callable[..., Any]:
    """The function. Whatever goes wrong while its package is imported is for the user to mend there."""
    try:
        function = entry.load()
    except Exception as error:
        wrong = f"the method {entry.name!r} of {package} cannot be loaded ({entry.value})"
        raise UserError(f"{wrong}: {first_line(error)}") from error
    if not callable(function):
        raise UserError(f"the method {entry.name!r} of {package} is no function ({entry.value})")
    return function
