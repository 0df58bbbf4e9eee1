"""`mheal.select`, the function that picks rows. The command line, `simulate` and the adapters call it."""

from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from sklearn.base import clone

from .exceptions import UserError, UserTypeError
from .parameters import Seed
from .runtime.checkpoint import NullCheckpoint
from .runtime.progress import Progress
from .scaling import Scaling
from .selection import Selection
from .strategies import get
from .strategy import Strategy

if TYPE_CHECKING:
    from .tables.features import Missing


def select(
    X: Any, n: int, *, labeled: Any = None, y: Any = None, estimator: Any = None, proba: Any = None,
    utility: Any = None, strategy: str | Strategy = "mheal", n_classes: int | None = None, scaling: Scaling = "auto",
    missing: "Missing" = "impute", deduplicate: bool | Literal["auto"] = "auto", device: str | None = None,
    memory_limit: int | None = None, checkpoint: str | Path | NullCheckpoint | None = None, random_state: Seed = 0,
    progress: bool | Progress | None = None,
) -> Selection:  # fmt: skip
    """Pick the n rows of X to label, best first: `X[picks]` are the rows, `picks.indices` their row numbers.

    X : (rows, columns) of numbers: an array, memory map, SciPy sparse matrix, pandas or polars frame, torch tensor,
        Dask array or list of lists. A frame may also have categories, dates, numbers written as text ("€5") and missing
        values; columns that name rows or repeat the labels are left out. A `DataWarning` reports what was done.
    n : number of rows to pick
    labeled : rows that have a label already, or that are being labelled: row numbers, a boolean mask over the rows, or
        a Selection. They are not picked, and most strategies avoid rows similar to them.
    y : classes of the rows `labeled`, in the same order; or a label for every row of X, None or NaN if it is missing:
        `labeled` may then be left out. From 64 labels on, "mheal" also prefers rows that a model is uncertain about.
    estimator : your own scikit-learn classifier or pipeline, with predict_proba or decision_function. It is fitted on
        the labels if it is not fitted yet. A name such as "forest" selects one from `mheal.estimators`. Without it, a
        small classifier is fitted on the labels if the strategy uses one.
    proba : class probabilities of every row from your own model, (rows, classes), instead of `estimator`
    utility : your own estimate of how useful each row's label is, (rows,) numbers ≥ 0; replaces a model's uncertainty
    strategy : a name from `mheal.strategies.names()`, or an instance such as `mheal.strategies.TypiClust()`
    n_classes : the number of classes, if it is known: sets the number of clusters, or the strategy's own `n_classes`
    scaling : how X is scaled before distances are measured. "standard": columns of mean 0 and standard deviation 1,
        with a one-hot encoded category counted as one column; "unit": these rows projected to the sphere; "raw": X as
        it is. "auto" is the strategy's default, mostly "raw" if rows have unit length (as many embeddings), else
        "standard".
    missing : what to do with missing values of a frame. "impute" fills in the median or the most frequent value, and
        adds an indicator column where over 5 % are missing; "drop" leaves out the rows; "refuse" raises an error.
    deduplicate : of rows that are equal in all columns, use only the first. "auto" is the strategy's default (False).
    device : a torch device such as "cuda"; None: the CPU, or the device of X if X is a tensor
    memory_limit : bytes that the process may use; memory maps may be larger
    checkpoint : folder (or a Checkpoint) for intermediate results; the same call resumes an interrupted run
    random_state : the same integer gives the same picks, whatever the number of threads. An instance of a strategy that
        has a `random_state` of its own uses that.
    progress : True shows a progress bar; a callable gets (done, total, description). None shows nothing, but announces
        on stderr that the inner loops are being compiled.

    Examples
    --------
    >>> import mheal
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_digits(return_X_y=True)
    >>> first = mheal.select(X, 100)
    >>> more = mheal.select(X, 50, labeled=first, y=y[first])
    >>> more = mheal.select(X, 50, labeled=first, y=y[first], estimator=LogisticRegression(max_iter=1000))
    >>> len(more)
    50
    """
    chosen = get(strategy)() if isinstance(strategy, str) else strategy
    if not isinstance(chosen, Strategy):
        raise UserTypeError(f"strategy must be a name or an instance of a strategy, got {strategy!r}")
    if scaling not in get_args(Scaling):
        raise UserError(f"there is no scaling {scaling!r}: choose from {', '.join(get_args(Scaling))}")
    if memory_limit is not None and device not in (None, "cpu"):
        raise UserError("device and memory_limit do not go together: leave out one of them")
    if changes := _parameters(chosen, n_classes, deduplicate, device):
        chosen = clone(chosen).set_params(**changes)
    own_seed = getattr(chosen, "random_state", None) is not None
    return chosen.select(
        X, n, labeled=labeled, y=y, estimator=estimator, proba=proba, utility=utility,
        scaling=None if scaling == "auto" else scaling, missing=missing, memory_limit=memory_limit,
        checkpoint=checkpoint, random_state=None if own_seed else random_state, progress=progress,
    )  # fmt: skip


def _parameters(strategy: Strategy, n_classes: Any, deduplicate: Any, device: Any) -> dict[str, Any]:
    """The strategy's parameters that these options set; raises an error for an option that it does not have."""
    known, changes = strategy.get_params(deep=False), {}
    if n_classes is not None:
        if not isinstance(n_classes, Integral) or n_classes < 1:
            raise UserError(f"n_classes must be a positive integer or None, got {n_classes!r}")
        names = [name for name in ("n_classes", "n_clusters") if name in known]
        if not names:
            raise UserError(f"{strategy.name} has no clusters to set: leave out n_classes")
        changes[names[0]] = n_classes
    if deduplicate != "auto":
        if "deduplicate" not in known and deduplicate:
            raise UserError(f"{strategy.name} does not look for duplicates: leave out deduplicate, or use mheal")
        changes |= {"deduplicate": deduplicate} if "deduplicate" in known else {}
    if device not in (None, "cpu"):
        if "device" not in known:
            raise UserError(f"{strategy.name} works on the CPU only: leave out device, or use mheal")
        try:
            import_module("torch").zeros(1, device=device).cpu()
        except ImportError as error:
            raise UserError(f"device {device!r} needs torch: pip install 'mheal[deep]'") from error
        except (RuntimeError, AssertionError, NotImplementedError) as error:  # which one depends on how torch was built
            why = "no GPU, or a torch built without it"
            raise UserError(f"torch finds no device {device!r} here ({why}): leave it out to use the CPU") from error
        changes["device"] = device
    return changes
