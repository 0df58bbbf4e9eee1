"""What a selection will cost, measured on samples of the pool itself."""

from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..exceptions import UserError
from ..runtime.memory import resident
from ._memory import needed
from ._request import Request, _strategy

if TYPE_CHECKING:
    from ..runtime.progress import Progress

SAMPLES = (20_000, 80_000)  # rows


class Forecast(NamedTuple):
    """Seconds that picking should take, from how many sampled rows that was measured, and bytes of memory."""

    seconds: float
    sampled: int
    memory: float


def forecast(request: Request, X: Any, progress: "Progress") -> Forecast:
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
    from ..strategies import Pool

    strategy = _strategy(request)
    if strategy.needs_model or strategy.needs_labels:
        raise UserError(f"the cost of {strategy.name} depends on its model: forecasts are for strategies without one")
    pool = Pool(X, rng=np.random.default_rng(request.seed))
    start = perf_counter()
    strategy.select(pool, min(request.budget, len(X)))
    return perf_counter() - start
