"""`mheal select --forecast`: how long picking will take, measured on samples of the pool itself."""

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import UserError
from ..runtime.memory import resident
from ..runtime.progress import Progress, as_progress
from ..strategies import get
from .console import size
from .large import needed
from .pool import read
from .request import Request

if TYPE_CHECKING:
    from rich.console import Console

SAMPLES = (20_000, 80_000)  # rows


def print_forecast(request: Request, console: "Console") -> None:
    """Read the pool, measure, and say what picking from it takes."""
    if request.device not in (None, "cpu") or request.proba is not None or request.estimator is not None:
        raise UserError("--forecast measures the CPU without a model: leave out --device, --proba and --estimator")
    if get(request.strategy).needs_model or get(request.strategy).needs_labels:
        raise UserError(f"--forecast measures picking without a model: {request.strategy} needs one or labels")
    X = read(request, console).X
    mapped = isinstance(X, np.memmap)
    memory = resident() + needed(X.shape, X.dtype, mapped) + (X.nbytes if mapped else 0)
    with as_progress(True, console) as progress:
        seconds, sampled = forecast(request, X, progress)
    print(
        f"Picking {request.budget:,} of {len(X):,} rows should take about {seconds:.1f} s "
        f"(measured on {sampled:,} rows) and {size(memory)} of memory. Nothing was written."
    )


def forecast(request: Request, X: Any, progress: Progress) -> tuple[float, int]:
    """Seconds that picking should take, and the rows of the largest sample that was measured.

    One sample, or two and a straight line through them: growth is at most linear.
    """
    rng = np.random.default_rng(request.seed)
    times: list[tuple[int, float]] = []
    for step, rows in enumerate(dict.fromkeys(min(len(X), n) for n in SAMPLES)):
        progress(step, len(SAMPLES), "measuring on samples")
        sample = np.asarray(X[np.sort(rng.choice(len(X), rows, replace=False))])
        times.append((rows, min(_seconds(request, sample) for _ in range(2))))  # the first may compile
    (n, seconds), (larger, took) = times[0], times[-1]
    slope = max(0.0, (took - seconds) / (larger - n)) if larger > n else 0.0
    return took + slope * (len(X) - larger), larger


def _seconds(request: Request, X: Any) -> float:
    from ..api import select

    start = perf_counter()
    select(
        X, min(request.budget, len(X)), strategy=request.strategy, n_classes=request.clusters, scaling=request.scaling,
        random_state=request.seed,
    )  # fmt: skip
    return perf_counter() - start
