"""Hugging Face datasets: pick rows of a Dataset by a column of vectors."""

from typing import Any

import numpy as np

from ..api import select as pick
from ..exceptions import UserError
from ..selection import Selection
from . import missing

try:
    from datasets import Dataset
except ImportError as error:
    raise missing("hugging_face", "datasets") from error


def select(dataset: Dataset, n: int, features: Any, *, label: str | None = None, **options: Any) -> Selection:
    """Pick n rows of the dataset that have no label.

    features : name of a column of vectors or of numbers, a list of such names, or an array with a row for each row
    label : name of the column of labels; a row is unlabelled where it is None or, as in `ClassLabel` columns, −1
    options : other arguments of `mheal.select`
    """
    if isinstance(features, str | list) and (not isinstance(features, list) or isinstance(features[0], str)):
        names = [features] if isinstance(features, str) else features
        if unknown := [name for name in [*names, *([label] if label else [])] if name not in dataset.column_names]:
            raise UserError(f"the dataset has no column {unknown[0]!r}: it has {', '.join(dataset.column_names)}")
        columns = dataset.select_columns(names).with_format("numpy")
        arrays = [np.asarray(columns[name][:]) for name in names]
        features = np.column_stack([array.reshape(len(array), -1) for array in arrays])
    if label is not None:
        known = [None if value == -1 else value for value in dataset[label][:]]
        if any(value is not None for value in known):
            options["y"] = known
    return pick(features, n, **options)


def picked(dataset: Dataset, picks: Selection) -> Dataset:
    """The picked rows, best first, with columns pick_rank (from 1), pick_row, pick_cluster, …, pick_reason."""
    found = dataset.select(picks.indices.tolist())
    for name, column in picks.to_frame().to_dict(as_series=False).items():
        found = found.add_column(f"pick_{name}", column)
    return found


def marked(dataset: Dataset, picks: Selection) -> Dataset:
    """The whole dataset with a column pick_rank: 1 for the best pick, None for the rows that are not picked."""
    ranks: list[int | None] = [None] * len(dataset)
    for rank, row in enumerate(picks, 1):
        ranks[row] = rank
    return dataset.add_column("pick_rank", ranks)
