"""DeepClustering: an autoencoder and DEC as a scikit-learn estimator, and many of them at once."""

import hashlib
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mheal.cluster import SphericalKMeans
from mheal.runtime.progress import Progress

from .checkpoint import Checkpoint
from .dec import PRETRAINING, Recipe, Refined, Refinement, Rows, codes_of, pretrain, soft_labels, untrained
from .stack import Stack, fast_matmul

Clusterer = Literal["spherical", "kmeans", "gmm"]
Variant = Literal["dec", "idec"]
STARTS, MAX_ITER = 10, 60  # of the clusterer


@dataclass(frozen=True, eq=False)
class Fitted:
    """One of many: which it is, labels and codes of its rows before and after DEC, and the rest of DEC's result."""

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
    data = _tensor(X, _scale(X), _device(device))
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
            _stacked([centers for centers, _ in starts], data.device),
        ).run(progress)
        last = [
            codes_of(one.encoder, mine.take([place]))[0].cpu().numpy()
            for place, one in zip(places, refined, strict=True)
        ]
    seconds = (perf_counter() - begin) / len(members)
    return [
        Fitted(
            *(seeds[place], name, labels, _labels(one.labels), codes[place], final),
            *(one.centers.cpu().numpy(), one.n_iter, one.history, seconds),
        )
        for (place, name), (_, labels), one, final in zip(members, starts, refined, last, strict=True)
    ]


def initial_clusters(
    codes: npt.NDArray[np.float32], clusterer: Clusterer, n_clusters: int, seed: int, center: bool = True
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """Centres for DEC to start from, and labels: K-means' centres, the mixture's means, or means of spherical clusters.

    An autoencoder puts the origin of its codes anywhere, so spherical clusters are found by directions from the codes'
    mean. Not so if `center` is false, as we read the paper: then they are found by directions from the origin, and
    begin in the direction of their centres, at the codes' mean length.
    """
    if clusterer == "gmm":
        mixture = GaussianMixture(n_clusters, max_iter=MAX_ITER, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a start for DEC need not be exact
            labels, centers = mixture.fit_predict(codes.astype(np.float64)), mixture.means_
    elif clusterer == "kmeans":
        kmeans = KMeans(n_clusters, n_init=STARTS, max_iter=MAX_ITER, random_state=seed).fit(codes)
        labels, centers = kmeans.labels_, kmeans.cluster_centers_
    else:
        middle = codes.mean(axis=0) if center else np.zeros_like(codes[0])
        around = codes - middle
        kmeans = SphericalKMeans(n_clusters, n_init=STARTS, max_iter=MAX_ITER, random_state=seed).fit(around)
        labels, centers = kmeans.labels_, middle + kmeans.cluster_centers_ * np.linalg.norm(around, axis=1).mean()
        for cluster in np.unique(labels) if center else ():  # where rows repeat, one may be empty
            centers[cluster] = codes[labels == cluster].mean(axis=0)
    return centers.astype(np.float32), labels.astype(np.int32)


class DeepClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Clusters in the code of an autoencoder, d-500-500-2000-code and back, which DEC then draws together.

    Columns are meant to be on one scale, as pixels are: all are divided by the largest absolute value. Runs on the GPU
    where there is one.

    Parameters
    ----------
    n_clusters : int
    clusterer : "spherical", "kmeans" or "gmm"; finds the first centres among the codes
    center : bool; spherical clusters are found by directions from the mean of the codes, and DEC begins at the means of
        their members; False: by directions from the origin, and it begins in those directions, as in the paper's tables
    code : int; columns of the code
    variant : "dec", or "idec", which keeps the decoder while it clusters
    augment : bool; rows are images, and are shifted and rotated a little whenever they are shown to the network
    image_shape : (height, width) or (height, width, channels) of those images; None: square and grey
    pretrain_epochs : int or None; None: 300, or as many as make 5,000 batches
    pretrain_rate : of learning meanwhile; the usual 1 may diverge on photographs, where 0.1 does not
    max_iter : int; batches of DEC at most
    update_interval : int or None; batches between two targets. None: half an epoch, but 30 at least
    tol : float; stop when fewer than this share of the labels change between two targets
    random_state : int, RandomState or None
    device : "cpu", "cuda", … or None
    checkpoint : file that is written after pretraining and at every target; fit goes on from it if it is there
    progress : callable(done, total, what) or None

    Attributes
    ----------
    labels_ : (n_samples,) int32
    initial_labels_ : the same before DEC
    cluster_centers_ : (n_clusters, code)
    n_iter_ : int; batches of DEC
    history_ : list of KL(p‖q), one a target

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mheal_reproduction.networks.clustering import DeepClustering
    >>> X, y = load_digits(return_X_y=True)
    >>> DeepClustering(pretrain_epochs=1, max_iter=7, random_state=0).fit_predict(X).shape
    (1797,)
    """

    def __init__(
        self,
        n_clusters: int = 10,
        *,
        clusterer: Clusterer = "spherical",
        center: bool = True,
        code: int = Recipe.code,
        variant: Variant = "dec",
        augment: bool = False,
        image_shape: tuple[int, ...] | None = None,
        pretrain_epochs: int | None = None,
        pretrain_rate: float = PRETRAINING[1],
        max_iter: int = Recipe.max_iter,
        update_interval: int | None = None,
        tol: float = Recipe.tol,
        random_state: int | np.random.RandomState | None = None,
        device: str | torch.device | None = None,
        checkpoint: str | Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.clusterer = clusterer
        self.center = center
        self.code = code
        self.variant = variant
        self.augment = augment
        self.image_shape = image_shape
        self.pretrain_epochs = pretrain_epochs
        self.pretrain_rate = pretrain_rate
        self.max_iter = max_iter
        self.update_interval = update_interval
        self.tol = tol
        self.random_state = random_state
        self.device = device
        self.checkpoint = checkpoint
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> "DeepClustering":
        """Train on the rows of X; y is ignored."""
        X = validate_data(self, X, dtype=np.float32, order="C")
        recipe, seed = self._recipe(*X.shape), self._seed()
        self.scale_ = _scale(X)
        data = _tensor(X, self.scale_, _device(self.device))
        rows = Rows(data, torch.arange(len(X), device=data.device)[None])
        checkpoint = None if self.checkpoint is None else Checkpoint(Path(self.checkpoint), self._belongs(X, recipe))
        stored = checkpoint.load(data.device) if checkpoint else None
        with fast_matmul(data.device):
            if stored:
                seed, self.initial_labels_ = stored["seed"], stored["initial_labels"].cpu().numpy()
                encoder, decoder = untrained(rows, [seed], recipe)
                centers = torch.empty(1, recipe.n_clusters, recipe.code, device=data.device)
            else:
                encoder, decoder = pretrain(rows, [seed], recipe, self.progress)
                codes = codes_of(encoder, rows)[0].cpu().numpy()
                start, self.initial_labels_ = initial_clusters(
                    codes, self.clusterer, recipe.n_clusters, seed, self.center
                )
                centers = _stacked([start], data.device)
            refinement = Refinement(rows, [seed], recipe, encoder, decoder, centers)
            if stored:
                refinement.restore(stored["state"])
            about = {"seed": seed, "initial_labels": torch.from_numpy(self.initial_labels_)}
            save = (lambda state: checkpoint.save(about | {"state": state})) if checkpoint else None
            return self._keep(refinement.run(self.progress, save)[0])

    def transform(self, X: Any) -> npt.NDArray[np.float32]:
        """The codes of the rows of X: (n_samples, code)."""
        return self._codes(X).cpu().numpy()

    def predict(self, X: Any) -> npt.NDArray[np.int32]:
        """The cluster of each row of X."""
        codes = self._codes(X)
        centers = torch.from_numpy(self.cluster_centers_).to(codes.device)
        return _labels(soft_labels(codes[None], centers[None])[0].argmax(dim=1))

    def _codes(self, X: Any) -> torch.Tensor:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float32, order="C")
        data = _tensor(X, self.scale_, _device(self.device))
        rows = Rows(data, torch.arange(len(X), device=data.device)[None])
        with fast_matmul(data.device):
            return codes_of(self.encoder_.to(data.device), rows)[0]

    def _keep(self, found: Refined) -> "DeepClustering":
        self.labels_, self.cluster_centers_ = _labels(found.labels), found.centers.cpu().numpy()
        self.encoder_: Stack = found.encoder.to(torch.device("cpu"))
        self.n_iter_, self.history_ = found.n_iter, found.history
        self._n_features_out = self.code
        return self

    def _recipe(self, n: int, columns: int) -> Recipe:
        """The parameters, checked."""
        for name in ("n_clusters", "code", "pretrain_epochs", "max_iter", "update_interval"):
            value, least = getattr(self, name), 0 if name in ("pretrain_epochs", "max_iter") else 1
            left_to_us = value is None and name in ("pretrain_epochs", "update_interval")
            if not left_to_us and (not isinstance(value, Integral) or value < least):
                raise ValueError(f"{name} must be a whole number ≥ {least}, got {value!r}")
        if not isinstance(self.pretrain_rate, Real) or not self.pretrain_rate > 0:
            raise ValueError(f"pretrain_rate must be a positive number, got {self.pretrain_rate!r}")
        if not isinstance(self.tol, Real) or self.tol < 0:
            raise ValueError(f"tol must be a number ≥ 0, got {self.tol!r}")
        for name, allowed in (("clusterer", get_args(Clusterer)), ("variant", get_args(Variant))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}")
        if self.n_clusters > n:
            raise ValueError(f"n_samples={n} should be >= n_clusters={self.n_clusters}: ask for at most {n} clusters")
        return Recipe(
            self.n_clusters, self.code, self.variant, self._images(columns) if self.augment else None,
            self.pretrain_epochs, self.max_iter, self.update_interval, self.tol,
            self.pretrain_rate,
        )  # fmt: skip

    def _images(self, columns: int) -> tuple[int, ...]:
        side = math.isqrt(columns)
        shape = tuple(self.image_shape) if self.image_shape is not None else (side, side)
        if len(shape) not in (2, 3) or math.prod(shape) != columns:
            raise ValueError(
                f"rows of {columns} columns are no images of {' × '.join(map(str, shape))}: "
                "set image_shape=(height, width) or (height, width, channels), or augment=False"
            )
        return shape

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _belongs(self, X: npt.NDArray[np.float32], recipe: Recipe) -> str:
        """What a checkpoint must be about to be ours."""
        seed = self.random_state if isinstance(self.random_state, Integral) else None
        return hashlib.sha256(X.data).hexdigest() + f" {X.shape} {recipe} {self.clusterer} {self.center} {seed}"


def _device(device: str | torch.device | None) -> torch.device:
    return torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))


def _scale(X: npt.ArrayLike) -> float:
    """The largest absolute value, which makes pixels 0 … 1; 1 where all are 0."""
    X = np.asarray(X)
    return float(max(X.max(), -float(X.min()))) or 1.0


def _tensor(X: npt.ArrayLike, scale: float, device: torch.device) -> torch.Tensor:
    return torch.from_numpy((np.asarray(X) / np.float32(scale)).astype(np.float32, copy=False)).to(device)


def _stacked(centers: Sequence[npt.NDArray[np.float32]], device: torch.device) -> torch.Tensor:
    return torch.from_numpy(np.stack(centers)).to(device)


def _labels(labels: torch.Tensor) -> npt.NDArray[np.int32]:
    return labels.to(torch.int32).cpu().numpy()
