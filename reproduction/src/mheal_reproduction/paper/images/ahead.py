"""Make the picks of methods without a model before training, in several processes."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any

from mheal.runtime.progress import Progress

from ...networks.labelling import Rows, Run, pick_ahead
from ...rows import one_thread
from .task import Task
from .unfinished import Unfinished, Unit


def make_picks(task: Task, units: list[Unit], unfinished: Unfinished, progress: Progress, workers: int) -> None:
    """Make and save the picks of methods that use no model, in `workers` processes.

    Methods whose picks are not nested pick for each number of labels separately, the largest first.
    """
    missing = [u for u in units if task.methods[u[0]].acquisition.uses == "nothing" and unfinished.picks(u) is None]
    runs = [task.run(unit, unfinished) for unit in missing]
    jobs = [(at, budgets) for at, run in enumerate(runs) for budgets in _apart(run)]
    jobs.sort(key=lambda job: -max(job[1]))
    left, picks = Counter(at for at, _ in jobs), [dict[int, Rows]() for _ in runs]
    work = [(runs[at].acquisition, runs[at].X, budgets, runs[at].first, runs[at].seed) for at, budgets in jobs]
    for done, (job, found) in enumerate(_made(work, workers)):
        at = jobs[job][0]
        picks[at] |= found
        left[at] -= 1
        if not left[at]:
            unfinished.keep_picks(missing[at], picks[at])
        progress(done + 1, len(jobs), f"{task.name}, picks without a model")


def _apart(run: Run) -> list[tuple[int, ...]]:
    """Groups of numbers of labels whose picks are independent of those of other groups."""
    budgets = sorted(run.budgets, reverse=True)
    return [tuple(budgets)] if run.acquisition.nested else [(n,) for n in budgets]


def _made(work: list[tuple[Any, ...]], workers: int) -> Iterator[tuple[int, dict[int, Rows]]]:
    """Yield the index and the picks of each piece of work as it is completed."""
    if workers == 1 or len(work) < 2:
        yield from ((at, pick_ahead(*one)) for at, one in enumerate(work))
        return
    pool = ProcessPoolExecutor(workers, get_context("spawn"), one_thread)
    try:
        futures = {pool.submit(pick_ahead, *one): at for at, one in enumerate(work)}
        yield from ((futures[future], future.result()) for future in as_completed(futures))
    finally:
        pool.shutdown(cancel_futures=True)  # matters if this is interrupted
