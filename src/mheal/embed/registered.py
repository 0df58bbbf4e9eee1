"""Embedding methods that other installed packages add.

A package names its function in its pyproject.toml, and `--embed dec` then finds it:

    [project.entry-points."mheal.embeddings"]
    dec = "package.module:function"

It is called as function(X, option=, seed=, progress=), and returns a row of finite numbers for each of X.

X : for a table or an array its columns, (rows, columns); for images their pixels in [0, 1], (images, height, width) or
    (images, height, width, 3). No two rows are equal
option : the text after the colon, such as "20" in dec:20; else ""
seed : for randomized methods
progress : called with (done, total, what); or None
"""

from importlib.metadata import entry_points
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import UserError, user_code
from ..runtime.progress import Progress

GROUP = "mheal.embeddings"


def found() -> Any:
    """The methods that installed packages add, as entry points with their `names`. The packages are not imported."""
    with user_code("cannot list the methods that installed packages add", "look for a damaged entry_points.txt"):
        return entry_points(group=GROUP)


def encode(
    X: npt.NDArray[Any], name: str, option: str, seed: int, progress: Progress | None
) -> tuple[npt.NDArray[Any], str]:
    """Vectors by the method of this name, and a description."""
    entry = found()[name]
    whose = f"the method {name!r} of {entry.dist.name if entry.dist else entry.module}"
    with user_code(f"{whose} cannot be loaded from {entry.value}", "install that package again, or another version"):
        function = entry.load()
    if not callable(function):
        raise UserError(f"{whose} is not a function: {entry.value}")
    with user_code(f"{whose} failed", "see its documentation"):
        made = np.asarray(function(X, option=option, seed=seed, progress=progress))
    if made.ndim != 2 or len(made) != len(X) or made.dtype.kind not in "fiu" or not np.isfinite(made).all():
        wrong = f"{whose} returned {made.dtype} {made.shape}"
        raise UserError(f"{wrong}, not a row of finite numbers for each of the {len(X):,} items")
    return made, f"{name} to {made.shape[1]} column{'s' if made.shape[1] > 1 else ''}"
