"""The options of `mheal select` as data: a request can be carried out, written down and carried out again."""

import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from .pool import PoolOptions


@dataclass(frozen=True, kw_only=True)
class Request(PoolOptions):
    """The options of `mheal select` that decide which rows are picked. Paths are as typed."""

    budget: int
    strategy: str = "mheal"
    clusters: int | None = None
    labeled: str | None = None
    estimator: str | None = None
    proba: str | None = None
    keep: str | None = None
    deduplicate: bool | None = None  # None: images are deduplicated, other rows are not
    scaling: Any = "auto"  # `mheal.select` checks the name
    max_memory: int | None = None
    scheduler: str | None = None
    device: str | None = None

    PATHS = ("pool", "labeled", "proba", "keep")

    @property
    def uses_model(self) -> bool:
        """Whether a model may be queried: one of the labels, or your own."""
        return self.strategy != "random" and (self.labeled is not None or self.proba is not None)

    def moved(self, start: Path, to: Path) -> "Request":
        """The same with paths that were relative to the folder `start` made relative to `to`."""
        changes: dict[str, Any] = {}
        for name in self.PATHS:
            path = getattr(self, name)
            if path is not None and not os.path.isabs(path):
                changes[name] = os.path.relpath(start / path, to)
        return replace(self, **changes)

    @classmethod
    def of(cls, parameters: dict[str, Any]) -> "Request":
        """From the parameters in a record."""
        known = {f.name for f in fields(cls)}
        return cls(**{name: value for name, value in parameters.items() if name in known})
