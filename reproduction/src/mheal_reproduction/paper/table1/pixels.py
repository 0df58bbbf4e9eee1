"""Clusters of pixels by the three methods of Table 1."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from mheal.cluster import SphericalKMeans

MAX_ITER = 60
COMPONENTS, REGULARISATION = 50, 1e-3  # of GMM


def cluster(
    method: str, X: npt.NDArray[np.float32], k: int, starts: int, seed: int
) -> tuple[npt.NDArray[Any], int, float]:
    """The cluster of each row, and the iterations and the objective of the best start."""
    if method == "GMM":
        codes = PCA(COMPONENTS, svd_solver="covariance_eigh").fit_transform(X).astype(np.float64)
        gmm = GaussianMixture(
            k, covariance_type="diag", reg_covar=REGULARISATION, n_init=starts, max_iter=MAX_ITER, random_state=seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the paper's limit; the page counts these
            clusters = gmm.fit_predict(codes)
        return clusters, int(gmm.n_iter_), -float(gmm.lower_bound_)
    maker = {"K-means": KMeans, "SphericalKMeans": SphericalKMeans}[method]
    kmeans = maker(k, n_init=starts, max_iter=MAX_ITER, random_state=seed).fit(X)
    return kmeans.labels_, int(kmeans.n_iter_), float(kmeans.inertia_)
