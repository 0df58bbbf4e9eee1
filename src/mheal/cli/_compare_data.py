"""What `mheal compare` works on: the rows of a pool that have labels."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..io.source import Source
from ..io.targets import pool_column, read_target
from ._common import names, read_source, say_source, usable

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, eq=False)
class Labelled:
    """X and y are of the rows that have a label; `said` is where the labels are from, `labels_sha256` their sum."""

    pool: str
    source: Source
    X: Any
    y: Any
    said: str
    labels_sha256: str

    def say(self, console: "Console") -> None:
        """What was read, and what was left out."""
        say_source(self.pool, self.source, console)
        missing = len(self.source.X) - len(self.X)
        if missing:
            console.print(f"{self.said}: {missing:,} rows without a label are left out", markup=False)

    def note(self, n_pool: int, n_test: int) -> str:
        """A paragraph for the report."""
        return (
            f"Data: {Path(self.pool).name}, {len(self.X):,} labelled rows, {self.source.features}. "
            f"Labels: {self.said}. Each split has a pool of {n_pool:,} rows and a test set of {n_test:,}."
        )


def read_labelled(
    pool: str, target: str, console: "Console", *, columns: str | None, without: str | None, id_column: str | None,
    text: str | None, embed: str | None,
) -> Labelled:  # fmt: skip
    """Pool and labels; the column of the labels is no feature."""
    column = pool_column(pool, target)
    kept_out = [*(names(without) or ()), *([target] if column is not None else [])]
    source = read_source(
        pool, console, columns=columns, without=kept_out, id_column=id_column, text=text, embed=embed, say=False
    )
    labels = read_target(target, pool, source, column)
    X = usable(source.X, pool)  # checked before rows are left out, which moves the others
    if len(labels.rows) < len(X):
        X = X[labels.rows]
    total = hashlib.sha256(repr((labels.rows.tolist(), labels.labels.tolist())).encode()).hexdigest()
    return Labelled(pool, source, X, labels.labels, labels.said, total)
