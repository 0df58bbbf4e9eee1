"""The clusters that DEC starts from."""

import warnings
from typing import Literal

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from mheal.cluster import SphericalKMeans

Clusterer = Literal["spherical", "kmeans", "gmm"]
STARTS, MAX_ITER = 10, 60  # starts and iterations of the clusterer


def initial_clusters(
    codes: npt.NDArray[np.float32], clusterer: Clusterer, n_clusters: int, seed: int, center: bool = True
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """Labels, and the centres that DEC starts from: those of K-means, of a mixture, or of spherical clusters.

    The origin of an autoencoder's codes is arbitrary, so their mean is subtracted before spherical clustering, and DEC
    starts at the means of the clusters' members. With `center=False`, as we read the paper, codes are clustered as they
    are, and DEC starts at the clusters' directions times the mean length of the codes.
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
