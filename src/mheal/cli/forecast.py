"""`mheal select --forecast`: how long picking will take, measured on samples of the pool itself."""

from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

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


class Forecast(NamedTuple):
    """Seconds that picking should take, the rows of the sample they were measured on, and bytes of memory."""

    seconds: float
    sampled: int
    memory: float


def print_forecast(request: Request, console: "Console") -> None:
    """Read the pool, measure, and say what picking from it takes."""
    if request.device not in (None, "cpu") or request.proba is not None or request.estimator is not None:
        raise UserError("--forecast measures the CPU without a model: leave out --device, --proba and --estimator")
    if get(request.strategy).needs_model or get(request.strategy).needs_labels:
        raise UserError(f"--forecast measures picking without a model: {request.strategy} needs one or labels")
    X = read(request, console).X
    with as_progress(True, console) as progress:
        cost = forecast(request, X, progress)
    print(
        f"Picking {request.budget:,} of {len(X):,} rows should take about {cost.seconds:.1f} s "
        f"(measured on {cost.sampled:,} rows) and {size(cost.memory)} of memory. Nothing was written."
    )


def forecast(request: Request, X: Any, progress: Progress) -> Forecast:
    """Time the picks on one sample, or on two and a straight line through them; growth is at most linear."""
    rng = np.random.default_rng(request.seed)
    mapped = isinstance(X, np.memmap)
    memory = resident() + needed(X.shape, X.dtype, mapped) + (X.nbytes if mapped else 0)
    times: list[tuple[int, float]] = []
    for step, rows in enumerate(dict.fromkeys(min(len(X), n) for n in SAMPLES)):
        progress(step, len(SAMPLES), "measuring on samples")
        sample = np.asarray(X[np.sort(rng.choice(len(X), rows, replace=False))])
        times.append((rows, min(_seconds(request, sample) for _ in range(2))))  # the first may compile
    (n, seconds), *more = times
    for larger, took in more:
        slope = max(0.0, (took - seconds) / (larger - n))
        seconds = took + slope * (len(X) - larger)
    return Forecast(seconds, times[-1][0], memory)


def _seconds(request: Request, X: Any) -> float:
    from ..api import select

    start = perf_counter()
    select(
        X, min(request.budget, len(X)), strategy=request.strategy, n_classes=request.clusters, scaling=request.scaling,
        random_state=request.seed,
    )  # fmt: skip
    return perf_counter() - start
