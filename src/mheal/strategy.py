"""The base class of every strategy: it checks the arguments, prepares the pool and picks."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib import import_module
from numbers import Integral
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, Literal, dataclass_transform

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from ._version import __version__
from .backends import form_of, to_numpy
from .backends.cpu.points import Points
from .classes import as_classes, split_labels, why_not_classes
from .estimators import fit_on_pool, resolve_estimator
from .exceptions import UserError
from .frames import frame_pool
from .parameters import Seed, check_parameters, declared, random_streams
from .runtime.checkpoint import Checkpoint, NullCheckpoint, digest, kept_unless_mistaken, mark
from .runtime.memory import MemoryLimit
from .runtime.progress import Progress, as_progress
from .runtime.threads import single_threaded_blas
from .scaling import Scaling, comparable
from .selection import Selection
from .uncertainty import FewLabelsWarning, GivenProbabilities, Model, is_fitted
from .validation import as_array, as_budget, as_proba, as_utility, is_frame, refuse_any_nonfinite, refuse_range

if TYPE_CHECKING:
    from .tables.features import Missing

Array = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
Kind = Literal["ranked", "one-shot", "adaptive"]


@dataclass(frozen=True)
class Pool:
    """The data that a strategy may use: the features of every row, and the known labels.

    X : (rows, columns) array of finite floats; a torch tensor or a Dask array for strategies that accept these
    labeled : rows of X that have a label or are being labelled, in the order given
    labels : their classes, in the same order; empty unless the classes of all these rows are known
    model : the classifier to query, see `Model`; None if there is none
    rng : a random generator; strategies use no other randomness than this and `random_state`
    scaling : as in `mheal.select`; "auto": "raw" for rows of unit length, else "standard"
    random_state : a RandomState of the same seed, for code that is built on scikit-learn
    utility : the user's estimate of how useful each row's label is; None if there is none
    checkpoint : stores intermediate results, reports progress and enforces the memory limit
    """

    X: Any
    labeled: Rows = field(default_factory=lambda: np.empty(0, np.int64))
    labels: Array = field(default_factory=lambda: np.empty(0, np.int64))
    model: Model | None = None
    rng: np.random.Generator = field(default_factory=partial(np.random.default_rng, 0))
    scaling: Scaling = "auto"
    random_state: np.random.RandomState = field(default_factory=partial(np.random.RandomState, 0))
    checkpoint: NullCheckpoint = field(default_factory=NullCheckpoint)
    utility: Scores | None = None

    @property
    def unlabeled(self) -> Rows:
        """Rows of X that can be picked, ascending."""
        free = np.ones(len(self.X), bool)
        free[self.labeled] = False
        return np.flatnonzero(free)

    @cached_property
    def Z(self) -> Array:
        """The scaled rows. Standardising turns constant columns into 0."""
        X = as_array(self.X)
        if self.scaling == "raw":
            refuse_range(Points.raw(X).norms(), X)
            return X
        return (comparable(X) if self.scaling == "auto" else Points.standardized(X)).array()


@dataclass_transform(eq_default=False)
class Strategy(BaseEstimator, ABC):
    """A method that picks rows of X. Subclasses set the class attributes and define `_pick`.

    Parameters are annotated attributes, as in a dataclass, and the annotations declare which values are allowed. A
    subclass may instead define its own `__init__` and, as in scikit-learn, `_parameter_constraints`.

    `kind` describes how picks depend on the budget. "ranked": picks for a small budget are the first picks of a larger
    one. "one-shot": each budget has its own picks, without labels. "adaptive": picks depend on the labels so far.
    """

    name: ClassVar[str]
    title: ClassVar[str]  # name in tables
    summary: ClassVar[str]  # what it picks and when to use it, one line
    cost: ClassVar[str]  # time and memory, one line
    quadratic: ClassVar[bool] = False  # time grows with the square of the rows, in pools of up to 10,000 rows
    kind: ClassVar[Kind] = "ranked"
    needs_model: ClassVar[bool] = False
    needs_labels: ClassVar[bool] = False  # reads the classes, not only which rows are labelled
    needs_torch: ClassVar[bool] = False  # trains a network of its own
    needs: ClassVar[str]  # the three attributes above, in words
    uses_model: ClassVar[bool] = False  # a model is optional; by default it is fitted on the labels
    uses_proba: ClassVar[bool] = False  # class probabilities can replace the model
    uses_utility: ClassVar[bool] = False
    min_labels: ClassVar[int] = 1  # with fewer, no model is used
    default_estimator: ClassVar[str] = "logistic"  # fitted on the labels if no model is given
    backends: ClassVar[frozenset[str]] = frozenset({"cpu"})  # "torch", "dask": accepts tensors, Dask arrays as they are
    resumable: ClassVar[bool] = False  # stores intermediate results in a checkpoint
    limits_memory: ClassVar[bool] = False  # works within memory_limit
    _parameter_constraints: ClassVar[dict[str, Any]] = {}  # as in scikit-learn

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        labels = "labels or a model" if cls.needs_model else "labels" if cls.needs_labels else "nothing"
        cls.needs = f"{labels} and torch" if cls.needs_torch else labels
        declared(cls)

    def select(
        self, X: Any, n: int, *, labeled: Any = None, y: Any = None, estimator: Any = None, proba: Any = None,
        utility: Any = None, scaling: Scaling | None = None, missing: "Missing" = "impute",
        memory_limit: int | None = None, checkpoint: str | Path | NullCheckpoint | None = None,
        random_state: Seed = None, progress: bool | Progress | None = None,
    ) -> Selection:  # fmt: skip
        """Pick n unlabelled rows of X, best first. For the parameters see `mheal.select`.

        random_state=None uses the strategy's own `random_state`, if it has one.
        """
        if random_state is None:
            random_state = getattr(self, "random_state", None)
        if (checkpoint is not None or memory_limit is not None) and not isinstance(random_state, Integral):
            raise UserError("a checkpoint or memory_limit needs an integer random_state, so that a run can be resumed")
        rng, older_rng = random_streams(random_state)
        check_parameters(self)
        index, kept = X.index if hasattr(X, "iloc") else None, None  # of a pandas frame
        if is_frame(X):
            X, kept, labeled, y = frame_pool(X, missing, labeled, y)
            if kept is not None:
                proba, utility = (None if values is None else np.asarray(values)[kept] for values in (proba, utility))
        form = form_of(X)
        X = self._prepared(X, form, older_rng)
        labeled, known, labels = split_labels(labeled, y, len(X))
        n = as_budget(n, len(X) - len(labeled))
        self._refuse_useless(memory_limit, checkpoint, estimator, proba, utility)
        utility = None if utility is None else as_utility(utility, len(X))
        if self.needs_labels and len(labels) and len(known) < len(labeled):
            raise UserError(f"{self.name} learns from labels, which some rows of labeled do not have: leave these out")
        if self.needs_labels and not len(labels):
            raise UserError(f"{self.name} learns from labels: give labeled and y, or use mheal, which needs none")
        with _opened(checkpoint, memory_limit, progress) as run:
            if run.limit is not None:
                run.limit.add(X)
            if not self.resumable:  # resumable strategies check for NaN in their first pass over the pool
                refuse_any_nonfinite(X, run.yield_point)
            given = estimator is not None or proba is not None
            wanted = given or (utility is None and (self.needs_model or self.uses_model) and len(labels) > 0)
            if wanted and form == "dask":
                raise UserError("rows of a Dask array are picked without a model: leave out y, estimator and proba")
            model = self._model(X, known, labels, estimator, proba) if wanted else None
            if self.needs_model and model is None:
                raise UserError(f"{self.name} needs a model: give estimator or proba, or labels to fit one on")
            if len(known) < len(labeled):  # strategies get the labels of all these rows, or none
                labels = labels[:0]
            elif self.needs_labels or model is not None:
                labels = as_classes(labels)
            measure: Scaling = getattr(self, "scaling", "auto") if scaling is None else scaling
            pool = Pool(X, labeled, labels, model, rng, measure, older_rng, run, utility)
            with single_threaded_blas():  # sums, and so the order of near ties, must not depend on the cores
                picked = self._pick(pool, n)
        picks = picked if isinstance(picked, Selection) else Selection.of(picked)
        reason: Sequence[str] = picks.reason if any(picks.reason) else [f"{self.title}: {self.summary}"] * len(picks)
        rows = picks.indices if kept is None else kept[picks.indices]
        return replace(picks, indices=rows, reason=reason, index=None if index is None else index[rows])

    @abstractmethod
    def _pick(self, pool: Pool, n: int) -> Selection | Rows:
        """The picks, as row numbers or as a Selection. `pool` and `n` have been checked."""

    def _prepared(self, X: Any, form: str, random_state: np.random.RandomState) -> Any:
        """X as a checked array or, if the strategy accepts it, a tensor or Dask array."""
        seed = int(random_state.randint(2**31))  # for the reduction of wide sparse matrices
        if form == "dask":
            if "dask" not in self.backends:
                raise UserError(f"{self.name} does not run on a Dask array: use mheal or mheal-paper, or X.compute()")
            if self.get_params().get("deduplicate"):
                raise UserError("a Dask array is not searched for duplicates: leave out deduplicate, or X.compute()")
            return import_module(".backends.dask.partitions", __package__).checked(X)
        if form == "torch":
            return import_module(".backends.torch", __package__).as_pool(X) if "torch" in self.backends else to_numpy(X)
        return as_array(X, seed)

    def _described(self, pool: Pool, n: int) -> dict[str, Any]:
        """The data and settings by which a checkpoint recognises this selection."""
        given = {name: value for name, value in self.get_params().items() if name != "random_state"}
        return {
            "pool": mark(pool.X), "budget": n, "labeled": digest(pool.labeled), "scaling": pool.scaling,
            "parameters": {k: digest(v) if isinstance(v, np.ndarray) else str(v) for k, v in given.items()},
            "random_state": digest(pool.random_state.get_state(legacy=False)["state"]["key"]), "mheal": __version__,
        }  # fmt: skip

    def _refuse_useless(self, memory_limit: Any, checkpoint: Any, estimator: Any, proba: Any, utility: Any) -> None:
        """Refuse arguments that the strategy would ignore."""
        for given, used, why in (
            (memory_limit, self.limits_memory, "does not work within a memory limit: leave it out"),
            (checkpoint, self.resumable, "keeps no intermediate results: leave out the checkpoint"),
            (proba, self.uses_proba, "has no use for class probabilities alone: leave out proba"),
            (utility, self.uses_utility, "has no use for a utility of each row: leave it out"),
        ):
            if given is not None and not used:
                raise UserError(f"{self.name} {why}, or use mheal")
        if sum(given is not None for given in (estimator, proba, utility)) > 1:
            raise UserError("of estimator, proba and utility more than one is given: give one of them")

    def _model(self, X: Any, labeled: Rows, labels: Array, estimator: Any, proba: Any) -> Model | None:
        """The model to query: the given one or, if it is not fitted or none is given, one fitted on the labels.

        None, with a warning, if the model is optional and there are too few labels for it.
        """
        model = estimator if is_fitted(estimator) else None
        if proba is not None:
            model = GivenProbabilities(as_proba(proba, len(X)))
            if len(labeled) == 0:  # it was trained on rows that are not in X
                return model
        if model is None and not len(labels):
            raise UserError("estimator is not fitted, and there are no labels for it: give labeled and y, or fit it")
        if isinstance(estimator, str):
            resolve_estimator(estimator)  # a wrong name is an error even if the model is not used
        why: str | None
        if len(labeled) < self.min_labels and not self.needs_model:
            why = f"a model is used from {self.min_labels} labels on, and there are {len(labeled)}"
        elif model is not None:
            return model
        else:
            requested = estimator is not None or self.needs_model
            try:
                classes = as_classes(labels)
                why = None if requested else why_not_classes(classes)
            except UserError as error:
                if requested:
                    raise
                why = f"the labels are no classes ({error})"
        if why is not None:
            warnings.warn(f"{why}: picking without a model", FewLabelsWarning, stacklevel=4)
            return None
        return fit_on_pool(self.default_estimator if estimator is None else estimator, 0, to_numpy(X), labeled, classes)


@contextmanager
def _opened(
    checkpoint: str | Path | NullCheckpoint | None, memory_limit: int | None, progress: bool | Progress | None
) -> Iterator[NullCheckpoint]:
    """The checkpoint of a run; its folder is deleted if the run succeeds."""
    with ExitStack() as stack:
        report, limit = stack.enter_context(as_progress(progress)), None
        if memory_limit is not None:
            limit = stack.enter_context(MemoryLimit(memory_limit))
            if checkpoint is None:  # scratch files need a folder
                checkpoint = Path(stack.enter_context(TemporaryDirectory(prefix="mheal-"))) / "run"
        if isinstance(checkpoint, NullCheckpoint):
            run = checkpoint
            run.limit = limit or run.limit
        elif checkpoint is None:
            run = NullCheckpoint(None, report)
        else:
            run = Checkpoint(checkpoint, limit, report)
        stack.enter_context(kept_unless_mistaken(run))
        yield run
    if run is not checkpoint:
        run.end()
