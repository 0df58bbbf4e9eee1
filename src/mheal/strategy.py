"""The base class of every strategy: checks what comes in, prepares the pool, and picks."""

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
    """What a strategy may use: the features of every row, and the known labels.

    X : (rows, columns) array of finite floats; a torch tensor or a Dask array for strategies that take these
    labeled : rows of X that have a label, in the order they were labelled
    labels : their classes, in the same order; empty where they are not known
    model : the classifier to query, see `Model`; None where there is none
    rng : the strategy's only source of random numbers
    scaling : what distances are measured on, as in `mheal.select`; "auto": raw for rows of unit length, else standard
    random_state : the same random numbers in NumPy's older form, for what is built on scikit-learn
    utility : how much each row counts, from the user instead of from a model; None: all rows count the same
    checkpoint : keeps intermediate results, reports progress, and keeps memory within its limit
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
        """Rows of X that can still be picked, ascending."""
        free = np.ones(len(self.X), bool)
        free[self.labeled] = False
        return np.flatnonzero(free)

    @cached_property
    def Z(self) -> Array:
        """The scaled rows; constant columns become 0 where columns are standardised."""
        X = as_array(self.X)
        if self.scaling == "raw":
            refuse_range(Points.raw(X).norms(), X)
            return X
        return (comparable(X) if self.scaling == "auto" else Points.standardized(X)).array()


@dataclass_transform(eq_default=False)
class Strategy(BaseEstimator, ABC):
    """A way to pick rows of X. Subclasses set the class attributes and write `_pick`.

    Its parameters are annotated attributes, as in a dataclass, and the annotations declare which values are allowed. A
    subclass may also write its own `__init__` and, as in scikit-learn, `_parameter_constraints`.

    `kind` says how picks depend on the budget. "ranked": picks for a small budget are the first picks of a larger one.
    "one-shot": each budget has its own picks, without labels. "adaptive": picks depend on the labels so far.
    """

    name: ClassVar[str]
    title: ClassVar[str]  # as it reads in a table
    summary: ClassVar[str]  # what it picks and when to use it, one line
    cost: ClassVar[str]  # time and memory, one line
    quadratic: ClassVar[bool] = False  # its time grows with the square of the rows, up to 10,000 of them
    kind: ClassVar[Kind] = "ranked"
    needs_model: ClassVar[bool] = False
    needs_labels: ClassVar[bool] = False  # reads the classes, not only which rows are labelled
    needs_torch: ClassVar[bool] = False  # trains a network of its own
    needs: ClassVar[str]  # these three in words
    uses_model: ClassVar[bool] = False  # needs no model, but picks better with one: it is fitted on the labels
    uses_proba: ClassVar[bool] = False  # of a model needs class probabilities only
    uses_utility: ClassVar[bool] = False
    min_labels: ClassVar[int] = 1  # with fewer, no model is used
    default_estimator: ClassVar[str] = "logistic"  # fitted on the labels where no model is given
    backends: ClassVar[frozenset[str]] = frozenset({"cpu"})  # also "torch", "dask": forms of X that are not copied
    resumable: ClassVar[bool] = False  # keeps intermediate results in a checkpoint
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
        """Pick n rows of X, best first, that are not labelled yet. `mheal.select` describes the parameters.

        random_state=None takes the strategy's own `random_state`, if it has one.
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
            if not self.resumable:  # these look for NaN in their own first pass over the pool
                refuse_any_nonfinite(X, run.yield_point)
            given = estimator is not None or proba is not None
            wanted = given or (utility is None and (self.needs_model or self.uses_model) and len(labels) > 0)
            if wanted and form == "dask":
                raise UserError("rows of a Dask array are picked without a model: leave out y, estimator and proba")
            model = self._model(X, known, labels, estimator, proba) if wanted else None
            if self.needs_model and model is None:
                raise UserError(f"{self.name} needs a model: give estimator or proba, or labels to fit one on")
            if len(known) < len(labeled):  # strategies see the labels of all these rows, or none
                labels = labels[:0]
            elif self.needs_labels or model is not None:
                labels = as_classes(labels)
            measure: Scaling = getattr(self, "scaling", "auto") if scaling is None else scaling
            pool = Pool(X, labeled, labels, model, rng, measure, older_rng, run, utility)
            with single_threaded_blas():  # the order of sums, and so of near ties, must not depend on the machine
                picked = self._pick(pool, n)
        picks = picked if isinstance(picked, Selection) else Selection.of(picked)
        reason: Sequence[str] = picks.reason if any(picks.reason) else [f"{self.title}: {self.summary}"] * len(picks)
        rows = picks.indices if kept is None else kept[picks.indices]
        return replace(picks, indices=rows, reason=reason, index=None if index is None else index[rows])

    @abstractmethod
    def _pick(self, pool: Pool, n: int) -> Selection | Rows:
        """The picks, as row numbers or as a Selection. `pool` and `n` have been checked."""

    def _prepared(self, X: Any, form: str, random_state: np.random.RandomState) -> Any:
        """X as the strategy takes it: a checked array, tensor or Dask array."""
        seed = int(random_state.randint(2**31))  # of the reduction of wide sparse matrices
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
        """What a checkpoint recognises this selection by."""
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
        """The model to query: the one given, else one that is fitted on the labels.

        None, with a warning, where the labels do not suffice for a model that is not required.
        """
        model = estimator if is_fitted(estimator) else None
        if proba is not None:
            model = GivenProbabilities(as_proba(proba, len(X)))
            if len(labeled) == 0:  # it was trained on rows that are not in X
                return model
        if model is None and not len(labels):
            raise UserError("estimator is not fitted, and there are no labels for it: give labeled and y, or fit it")
        if isinstance(estimator, str):
            resolve_estimator(estimator)  # a name that is wrong is an error even where the model is not used
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
    """The checkpoint of a run; its folder is deleted when all goes well."""
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
