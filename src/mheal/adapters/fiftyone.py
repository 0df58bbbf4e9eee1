"""FiftyOne: pick samples of a dataset or view by a field of vectors; the picks come back as a tag and fields.

The functions only call methods of the dataset, so this module does not import FiftyOne.
"""

from typing import Any

import numpy as np

from ..api import select as pick
from ..exceptions import UserError
from ..selection import Selection


def select(samples: Any, n: int, features: Any, *, label: str | None = None, **options: Any) -> Selection:
    """Pick n samples that have no label. Row numbers are positions in `samples`.

    samples : a fiftyone.Dataset or a view of one
    features : name of a field that holds a vector for each sample, or an array with a row for each sample
    label : the labels so far, such as "ground_truth.label"; None where a sample has none
    options : other arguments of `mheal.select`
    """
    if isinstance(features, str):
        vectors = samples.values(features)
        if any(vector is None for vector in vectors):
            raise UserError(f"sample {[v is None for v in vectors].index(True)} has no {features}: compute it first")
        features = np.array([np.ravel(vector) for vector in vectors])
    if len(features) != len(samples):
        raise UserError(f"there are {len(features)} rows for {len(samples)} samples: give a row for each sample")
    known = [] if label is None else samples.values(label)
    if any(value is not None for value in known):
        options["y"] = known
    return pick(features, n, **options)


def mark(samples: Any, picks: Selection, tag: str = "mheal") -> Any:
    """Tag the picked samples, and set their fields {tag}_rank, {tag}_cluster, {tag}_gain and {tag}_reason.

    Returns a view of them, best first. Tags and fields of earlier picks with the same tag are removed.
    """
    samples.match_tags(tag).untag_samples(tag)
    ids = samples.values("id")
    view = samples.select([ids[row] for row in picks], ordered=True)
    view.tag_samples(tag)
    frame = picks.to_frame()
    for name in ("rank", "cluster", "gain", "reason"):
        values = dict(zip((ids[row] for row in picks), frame[name].to_list(), strict=True))
        samples.set_values(f"{tag}_{name}", [values.get(name_of) for name_of in ids])
    return view
