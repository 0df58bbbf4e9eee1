"""Deep clustering of many seeds and clusterers as one stack."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import numpy.typing as npt
import torch

from mheal.runtime.progress import Progress

from .dec import Recipe, Refinement, Rows, codes_of, pretrain
from .initial import Clusterer, initial_clusters
from .stack import fast_matmul
from .tensors import as_labels, as_tensor, device_of, scale_of, stacked


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of one seed and clusterer: labels and codes before and after DEC, and DEC's other results."""

    seed: int
    clusterer: Clusterer
    initial_labels: npt.NDArray[np.int32]
    labels: npt.NDArray[np.int32]
    initial_codes: npt.NDArray[np.float32]
    codes: npt.NDArray[np.float32]
    centers: npt.NDArray[np.float32]
    n_iter: int
    history: list[float]
    seconds: float  # seconds of the whole stack, divided by its members


def fit_many(
    X: npt.ArrayLike,
    seeds: Sequence[int],
    *,
    clusterers: Sequence[Clusterer] = ("spherical",),
    rows: npt.ArrayLike | None = None,
    recipe: Recipe | None = None,
    center: bool = True,
    device: str | torch.device | None = None,
    progress: Progress | None = None,
) -> list[Fitted]:
    """Fit every seed with every clusterer, as one stack; results are ordered by seed, then by clusterer.

    One autoencoder is trained per seed; DEC runs for every seed and clusterer. `rows`, (seeds, n), are the rows of X
    that each seed is trained on; None: all. A result equals that of DeepClustering on these rows with this seed.
    `initial_clusters` explains `center`.
    """
    begin, recipe = perf_counter(), recipe or Recipe()
    data = as_tensor(X, scale_of(X), device_of(device))
    index = np.tile(np.arange(len(data)), (len(seeds), 1)) if rows is None else np.asarray(rows)
    mine = Rows(data, torch.as_tensor(index, dtype=torch.int64, device=data.device))
    members = [(place, clusterer) for place in range(len(seeds)) for clusterer in clusterers]
    places = [place for place, _ in members]
    with fast_matmul(data.device):
        encoder, decoder = pretrain(mine, seeds, recipe, progress)
        codes = codes_of(encoder, mine).cpu().numpy()
        starts = [
            initial_clusters(codes[place], name, recipe.n_clusters, seeds[place], center) for place, name in members
        ]
        refined = Refinement(
            mine.take(places),
            [seeds[place] for place in places],
            recipe,
            *(encoder.take(places), decoder.take(places)),
            stacked([centers for centers, _ in starts], data.device),
        ).run(progress)
        last = [
            codes_of(one.encoder, mine.take([place]))[0].cpu().numpy()
            for place, one in zip(places, refined, strict=True)
        ]
    seconds = (perf_counter() - begin) / len(members)
    return [
        Fitted(
            *(seeds[place], name, labels, as_labels(one.labels), codes[place], final),
            *(one.centers.cpu().numpy(), one.n_iter, one.history, seconds),
        )
        for (place, name), (_, labels), one, final in zip(members, starts, refined, last, strict=True)
    ]
