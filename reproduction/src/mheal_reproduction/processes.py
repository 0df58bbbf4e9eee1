"""Measure the rows of an experiment in several processes, for a limited time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from queue import Empty
from time import monotonic
from traceback import format_exc
from typing import Any

from mheal.runtime.progress import Progress

from .rows import Key, RawRows, Row, one_thread

Measure = Callable[[Sequence[Key]], list[Row]]
Group = Sequence[Sequence[Key]]  # parts that one process measures one after the other, each in one call

GRACE = 20.0  # seconds left to finish parts that were begun before the limit
WAIT = 0.5  # seconds between two checks that all processes are alive


@dataclass(frozen=True)
class Limit:
    """The time after which no new part is begun, in monotonic time, which all processes of a machine share."""

    end: float

    @classmethod
    def after(cls, seconds: float | None) -> "Limit":
        """A limit so many seconds from now; None: no limit."""
        return cls(float("inf") if seconds is None else monotonic() + seconds)

    @property
    def left(self) -> float:
        """Seconds."""
        return self.end - monotonic()


class WorkerError(Exception):
    """A measuring process failed; the message is its traceback."""


def measure_groups(
    rows: RawRows, groups: Sequence[Group], open_bench: Callable[[], Measure], processes: int, limit: Limit,
    progress: Progress, grace: float = GRACE,
) -> None:  # fmt: skip
    """Measure these groups, which have no rows yet, and add their rows as they come.

    Each worker process calls `open_bench` once, then measures one group after the other. Only the calling process
    writes rows. After the limit, parts that are under way have `grace` more seconds, and are then cancelled.
    """
    context = get_context("spawn")
    tasks, results = context.Queue(), context.Queue()
    for group in (*groups, *[None] * processes):
        tasks.put(group)
    workers = [
        context.Process(target=_work, args=(open_bench, tasks, results, limit), daemon=True) for _ in range(processes)
    ]
    done, total = 0, sum(len(part) for group in groups for part in group)
    try:
        for worker in workers:
            worker.start()
        working = processes
        while working and limit.left > -grace:
            try:
                found = results.get(timeout=WAIT)
            except Empty:
                if dead := [worker for worker in workers if worker.exitcode]:
                    raise WorkerError(f"a process ended with status {dead[0].exitcode}") from None
                continue
            if found is None:
                working -= 1
            elif isinstance(found, str):
                raise WorkerError(found)
            else:
                rows.add(found)
                done += len(found)
                progress(done, total, ", ".join(str(found[-1][column]) for column in ("method", "setting", "seed")))
    finally:
        started = [worker for worker in workers if worker.pid is not None]
        for worker in started:
            worker.terminate()
        for worker in started:
            worker.join()


def _work(open_bench: Callable[[], Measure], tasks: Any, results: Any, limit: Limit) -> None:
    """Measure groups until none is left or the limit is reached; then put None, or the traceback of an error."""
    one_thread()
    try:
        measure = open_bench()
        while (group := tasks.get()) is not None:
            for part in group:
                if limit.left <= 0:
                    break
                results.put(measure(part))
        results.put(None)
    except Exception:
        results.put(format_exc())
