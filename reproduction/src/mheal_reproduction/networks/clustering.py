"""Deep clustering as a scikit-learn estimator."""

import hashlib
import math
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mheal.exceptions import UserError
from mheal.runtime.progress import Progress

from .checkpoint import Checkpoint
from .dec import PRETRAINING, Recipe, Refined, Refinement, Rows, codes_of, pretrain, soft_labels, untrained
from .initial import Clusterer, initial_clusters
from .stack import Stack, fast_matmul
from .tensors import as_labels, as_tensor, device_of, scale_of, stacked

Variant = Literal["dec", "idec"]


class DeepClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Clusters of the codes of an autoencoder (d-500-500-2000-code and back), refined by DEC.

    All columns should have the same scale, as pixels have, because all are divided by the largest absolute value. Uses
    the GPU if there is one.

    Parameters
    ----------
    n_clusters : int
    clusterer : "spherical", "kmeans" or "gmm"; finds the first centres among the codes
    center : bool; whether the mean of the codes is subtracted before spherical clustering. True: DEC starts at the
        means of the clusters. False, as in the paper's tables: at their directions times the mean length of the codes
    code : int; columns of the code
    variant : "dec", or "idec", which keeps the decoder while it clusters
    augment : bool; whether rows are images that are shifted and rotated a little each time the network sees them
    image_shape : (height, width) or (height, width, channels) of those images; None: square and grey
    pretrain_epochs : int or None; epochs of training the autoencoder. None: 300, or as many as make 5,000 batches
    pretrain_rate : learning rate of the autoencoder; the usual 1 may diverge on photographs, where 0.1 does not
    max_iter : int; maximum number of batches of DEC
    update_interval : int or None; batches between two target distributions. None: half an epoch, but at least 30
    tol : float; stop when fewer than this share of the labels change between two targets
    widths : widths of the encoder's hidden layers
    random_state : int, RandomState or None
    device : "cpu", "cuda", … or None
    checkpoint : file that is written after pretraining and at every target; if it exists, fit resumes from it
    progress : callable(done, total, what) or None

    Attributes
    ----------
    labels_ : (n_samples,) int32
    initial_labels_ : labels before DEC
    cluster_centers_ : (n_clusters, code)
    n_iter_ : int; batches of DEC
    history_ : list of KL(p‖q), one per target

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
        widths: tuple[int, ...] = Recipe.widths,
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
        self.widths = widths
        self.random_state = random_state
        self.device = device
        self.checkpoint = checkpoint
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> "DeepClustering":
        """Train on the rows of X; y is ignored."""
        X = validate_data(self, X, dtype=np.float32, order="C")
        recipe, seed = self._recipe(*X.shape), self._seed()
        self.scale_ = scale_of(X)
        data = as_tensor(X, self.scale_, device_of(self.device))
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
                centers = stacked([start], data.device)
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
        return as_labels(soft_labels(codes[None], centers[None])[0].argmax(dim=1))

    def _codes(self, X: Any) -> torch.Tensor:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float32, order="C")
        data = as_tensor(X, self.scale_, device_of(self.device))
        rows = Rows(data, torch.arange(len(X), device=data.device)[None])
        with fast_matmul(data.device):
            return codes_of(self.encoder_.to(data.device), rows)[0]

    def _keep(self, found: Refined) -> "DeepClustering":
        self.labels_, self.cluster_centers_ = as_labels(found.labels), found.centers.cpu().numpy()
        self.encoder_: Stack = found.encoder.to(torch.device("cpu"))
        self.n_iter_, self.history_ = found.n_iter, found.history
        self._n_features_out = self.code
        return self

    def _recipe(self, n: int, columns: int) -> Recipe:
        """Check the parameters and return them as a Recipe."""
        for name in ("n_clusters", "code", "pretrain_epochs", "max_iter", "update_interval"):
            value, least = getattr(self, name), 0 if name in ("pretrain_epochs", "max_iter") else 1
            left_to_us = value is None and name in ("pretrain_epochs", "update_interval")
            if not left_to_us and (not isinstance(value, Integral) or value < least):
                raise UserError(f"{name} must be a whole number ≥ {least}, got {value!r}")
        if not isinstance(self.pretrain_rate, Real) or not self.pretrain_rate > 0:
            raise UserError(f"pretrain_rate must be a positive number, got {self.pretrain_rate!r}")
        if not isinstance(self.tol, Real) or self.tol < 0:
            raise UserError(f"tol must be a number ≥ 0, got {self.tol!r}")
        for name, allowed in (("clusterer", get_args(Clusterer)), ("variant", get_args(Variant))):
            if getattr(self, name) not in allowed:
                raise UserError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}")
        if self.n_clusters > n:
            raise UserError(f"n_samples={n} should be >= n_clusters={self.n_clusters}: ask for at most {n} clusters")
        return Recipe(
            self.n_clusters, self.code, self.variant, self._images(columns) if self.augment else None,
            self.pretrain_epochs, self.max_iter, self.update_interval, self.tol,
            self.pretrain_rate, tuple(self.widths),
        )  # fmt: skip

    def _images(self, columns: int) -> tuple[int, ...]:
        side = math.isqrt(columns)
        shape = tuple(self.image_shape) if self.image_shape is not None else (side, side)
        if len(shape) not in (2, 3) or math.prod(shape) != columns:
            raise UserError(
                f"rows of {columns} columns are no images of {' × '.join(map(str, shape))}: "
                "set image_shape=(height, width) or (height, width, channels), or augment=False"
            )
        return shape

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _belongs(self, X: npt.NDArray[np.float32], recipe: Recipe) -> str:
        """The text that identifies these data and parameters in a checkpoint."""
        seed = self.random_state if isinstance(self.random_state, Integral) else None
        return hashlib.sha256(X.data).hexdigest() + f" {X.shape} {recipe} {self.clusterer} {self.center} {seed}"
