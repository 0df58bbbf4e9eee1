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
    """One seed and clusterer: labels and codes of its rows before and after DEC, and the rest of DEC's result."""

    seed: int
    clusterer: Clusterer
    initial_labels: npt.NDArray[np.int32]
    labels: npt.NDArray[np.int32]
    initial_codes: npt.NDArray[np.float32]
    codes: npt.NDArray[np.float32]
    centers: npt.NDArray[np.float32]
    n_iter: int
    history: list[float]
    seconds: float  # of the whole stack, divided by its members


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
    """Every seed with every clusterer, as one stack: seed by seed, and for each seed in the order of the clusterers.

    Autoencoders are trained once a seed, DEC once a seed and clusterer. `rows`, (seeds, n), are the rows of X that each
    seed learns from; None: all. A member equals a DeepClustering of those rows with that random_state. `center`: see
    `initial_clusters`.
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
