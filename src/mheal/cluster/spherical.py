"""SphericalKMeans, k-means for directions, as a scikit-learn estimator; and Lloyd's iterations on the sphere."""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..backends.base import Fitting, Floats, Labels, Rows, UnitRows
from ..backends.cpu.points import Points
from ..backends.cpu.sparse import SparseRows
from ..exceptions import UserError
from ..parameters import Count, NotNegative, Seed, check_parameters, declared
from ..validation import refuse_range

ROW_BLOCK = 4096  # rows whose cosines exist at one time
SEEDING = 4096  # k-means++ draws from a sample of this many rows, or 20 per centre if that is more, to save time
WORST = 16  # candidates for the centre of each empty cluster, since some may be equal
NONE = 1e-9  # a share of the largest weight or sum: a smaller weight is an empty cluster, a smaller sum has cancelled
CANCELS = 1e-3  # a share of the total weight: a smaller inertia is computed from differences


@declared
class SphericalKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """k-means for directions: clusters that minimise Σ (1 − cos(x, c)) (Eq. 9).

    Only the direction of a row counts. Rows of length 0 have no direction and get label 0. Each iteration is exact: the
    bounds that skip rows do not change the result. Results do not depend on the number of threads.

    Parameters
    ----------
    n_clusters : number of clusters
    init : "k-means++", "random" (rows of X, as in the paper) or an array (n_clusters, n_features)
    n_init : number of runs, of which the best is kept. "auto": 10 for "random", else 1
    max_iter : largest number of iterations of a run
    tol : stop when the squared movement of the centres is at most this fraction of the mean variance of a column
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    cluster_centers_ : (n_clusters, n_features) unit vectors
    labels_ : (n_samples,) the cluster of each row, int32
    inertia_ : the objective, Σ w (1 − cos)
    n_iter_ : iterations of the best run

    Examples
    --------
    >>> import numpy as np, mheal
    >>> X = np.array([[1.0, 0.1], [2.0, 0.1], [0.1, 1.0], [0.2, 3.0]])
    >>> labels = mheal.SphericalKMeans(n_clusters=2, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    n_clusters: Count = 8
    _: KW_ONLY
    init: Literal["k-means++", "random"] | Annotated[npt.ArrayLike, "array-like"] = "k-means++"
    n_init: Count | Literal["auto"] = "auto"
    max_iter: Count = 60
    tol: NotNegative = 1e-4
    random_state: Annotated[Seed, "random_state", np.random.Generator] = None

    def fit(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> "SphericalKMeans":
        """Find clusters of the rows of X, (n_samples, n_features), dense, memory-mapped or CSR; y is ignored."""
        X = self._validate(X, reset=True)
        weight, exponent = None, 0
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            exponent = int(np.frexp(weight.max())[1])  # a power of 2 scales weights exactly to at most 1
            weight = np.ldexp(weight, -exponent)
        check_parameters(self)
        if self.n_clusters > X.shape[0]:
            raise UserError(
                f"n_samples={X.shape[0]} should be >= n_clusters={self.n_clusters}: use at most {X.shape[0]} clusters"
            )
        if sparse.issparse(X):
            self.fit_rows(SparseRows(X), weight)
        else:
            rows = Points.raw(X)
            refuse_range(rows.norms(), X)
            self.fit_rows(rows, weight)
        self.inertia_: float = float(np.ldexp(self.inertia_, exponent))
        return self

    def fit_rows(self, rows: UnitRows, weight: Floats | None = None) -> "SphericalKMeans":
        """As `fit`, for checked rows in a store of any backend."""
        seed = self.random_state
        if isinstance(seed, np.random.Generator):
            seed = np.random.RandomState(seed.bit_generator)
        rng = check_random_state(seed)

        if not isinstance(self.init, str):
            runs = 1
        elif self.n_init == "auto":
            runs = 10 if self.init == "random" else 1
        else:
            runs = int(self.n_init)
        found = (lloyd(rows, self._seed(rows, weight, rng), weight, self.max_iter, self.tol) for _ in range(runs))
        best = min(found, key=lambda result: result.inertia)
        self.cluster_centers_, self.labels_, self.inertia_, self.n_iter_ = best
        self._n_features_out = len(self.cluster_centers_)
        return self

    def predict(self, X: Any) -> Labels:
        """The label of each row of X, (n_samples,): the centre with the largest cosine."""
        return np.concatenate([cosine.argmax(axis=1) for _, cosine in self._blocks(X)]).astype(np.int32)

    def transform(self, X: Any) -> Floats:
        """Chord between each row of X, projected to the sphere, and each centre: (n_samples, n_clusters)."""
        out = []
        for U, cosine in self._blocks(X):
            chord = np.sqrt(np.maximum(2.0 - 2.0 * cosine, 0.0))
            row, center = np.nonzero(cosine > 0.999)  # here the root would magnify rounding: use differences
            near = U[row].toarray() if sparse.issparse(U) else U[row]
            chord[row, center] = np.linalg.norm(near - self.cluster_centers_[center], axis=1)
            out.append(chord)
        return np.concatenate(out)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the objective on X; rows of length 0 are ignored."""
        total = 0.0
        for U, cosine in self._blocks(X):
            lost = 1.0 - cosine.max(axis=1)
            total += float(lost[np.asarray(abs(U).sum(axis=1)).ravel() > 0].sum())
        return -total

    def _blocks(self, X: Any) -> Iterator[tuple[Any, Floats]]:
        """Blocks of rows of X, divided by their lengths, and their cosines with all centres."""
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        centers = self.cluster_centers_.astype(X.dtype, copy=False)
        for lo in range(0, X.shape[0], ROW_BLOCK):
            U = normalize(X[lo : lo + ROW_BLOCK])
            yield U, np.asarray(U @ centers.T)

    def _validate(self, X: Any, reset: bool) -> Any:
        X = np.asarray(X) if hasattr(X, "__dlpack__") and not isinstance(X, np.ndarray) else X  # of another library
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order="C",
            accept_large_sparse=False, copy=False, ensure_all_finite=sparse.issparse(X) or not reset,
        )  # fmt: skip

    def _seed(self, X: UnitRows, weight: Floats | None, rng: np.random.RandomState) -> Floats:
        """The initial unit centres."""
        if not isinstance(self.init, str):
            given = np.array(self.init, dtype=X.dtype, order="C")
            if given.shape != (self.n_clusters, X.shape[1]):
                raise UserError(f"init has shape {given.shape}, needs ({self.n_clusters}, {X.shape[1]})")
            return normalize(given)
        usable = _usable(X.nonzero(), weight)
        if len(usable) == 0:  # no row has a direction: any will do
            return np.full((self.n_clusters, X.shape[1]), X.shape[1] ** -0.5, X.dtype)
        if len(usable) < self.n_clusters:  # too few directions: let rows repeat
            usable = np.resize(usable, self.n_clusters)
        if self.init == "random":
            return X.directions(rng.choice(usable, self.n_clusters, replace=False))
        size = max(SEEDING, 20 * self.n_clusters)
        if len(usable) > size:
            usable = np.sort(rng.choice(usable, size, replace=False))
        w = np.ones(len(usable)) if weight is None else weight[usable]
        return X.directions(usable[X.plus_plus(usable, w, self.n_clusters, rng)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Clustering(NamedTuple):
    """The result of one run: unit centres, a label per row, Σ w(1 − cos), and the number of iterations."""

    centers: Floats
    labels: Labels
    inertia: float
    n_iter: int


def lloyd(
    rows: UnitRows, centers: Floats, weight: Floats | None = None, max_iter: int = 60, tol: float = 1e-4
) -> Clustering:
    """Spherical k-means from these unit centres; rows of length 0 have no weight.

    It stops when the centres' squared movement is at most `tol` times the mean variance of a column of unit rows.
    """
    C = centers.astype(rows.dtype)
    fitting = rows.fitting(len(C), weight)

    def farthest(count: int) -> Floats:
        usable = _usable(rows.nonzero(), weight)
        return rows.directions(usable[np.argsort(-fitting.chords()[usable], kind="stable")[:count]])

    iteration, enough = 0, 0.0
    for iteration in range(1, max_iter + 1):
        fitting.assign(C)
        if iteration == 1 and fitting.mass.sum() > 0:
            mean = fitting.sums.sum(axis=0) / fitting.mass.sum()
            enough = tol * max(0.0, 1.0 - float(mean @ mean)) / len(mean)
        new = _updated(C, fitting, farthest)
        moved = np.linalg.norm(new.astype(np.float64) - C, axis=1)
        C = new
        if float(moved @ moved) <= enough:
            break
    fitting.assign(C)  # labels that belong to the final centres
    return Clustering(C, fitting.labels(), _inertia(C, fitting, weight), iteration)


def _updated(C: Floats, fitting: Fitting, farthest: Callable[[int], Floats]) -> Floats:
    """New centres normalise(Σ x̂). Empty clusters move to different rows that are farthest from their centres."""
    length = np.linalg.norm(fitting.sums, axis=1)
    alive = length > NONE * length.max()
    new = C.astype(np.float64)
    new[alive] = fitting.sums[alive] / length[alive, None]
    empty = np.flatnonzero(fitting.mass < NONE * fitting.mass.max())
    if len(empty):
        worst = farthest(WORST * len(empty))
        _, first_seen = np.unique(worst, axis=0, return_index=True)
        chosen = worst[np.sort(first_seen)[: len(empty)]].astype(np.float64)
        new[empty] = np.resize(chosen, (len(empty), C.shape[1]))
    return new.astype(C.dtype)


def _usable(nonzero: npt.NDArray[np.bool_], weight: Floats | None) -> Rows:
    """Rows with a length and a weight above 0."""
    return np.flatnonzero(nonzero if weight is None else nonzero & (weight > 0))


def _inertia(C: Floats, fitting: Fitting, weight: Floats | None) -> float:
    """Σ w(1 − cos) for the current labels and centres; rows of length 0 are left out."""
    total = float(fitting.mass.sum())
    inertia = total - float(np.vdot(fitting.sums, C.astype(np.float64)))  # Σ w·cos = Σ c·(sum of c's unit rows)
    if inertia > CANCELS * total:
        return inertia
    chord2 = np.square(fitting.chords(), dtype=np.float64)  # the difference above cancels if rows are close to centres
    return float(chord2.sum() if weight is None else chord2 @ weight) / 2
