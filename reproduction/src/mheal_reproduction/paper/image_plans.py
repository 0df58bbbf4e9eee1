"""Plans of Tables 3, 4 and 5: what lines buy that look at neither labels nor networks, settled before training."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from mheal.runtime.progress import Progress

from ..networks.labelling import Rows, Run, plan
from .image_unfinished import Unfinished, Unit
from .rows import one_thread

if TYPE_CHECKING:
    from .image_tables import Task


def make_plans(task: "Task", units: list[Unit], unfinished: Unfinished, progress: Progress, workers: int) -> None:
    """Let lines that plan do so, in so many processes; a plan is a file, and is made once.

    Lines that begin anew at each number of labels plan for all of these side by side, the largest first.
    """
    missing = [u for u in units if task.lines[u[0]].method.plans and unfinished.plan(u) is None]
    runs = [task.run(unit, unfinished) for unit in missing]
    jobs = [(at, budgets) for at, run in enumerate(runs) for budgets in _apart(run)]
    jobs.sort(key=lambda job: -max(job[1]))
    left, plans = Counter(at for at, _ in jobs), [dict[int, Rows]() for _ in runs]
    work = [(runs[at].method, runs[at].X, budgets, runs[at].first, runs[at].seed) for at, budgets in jobs]
    for done, (job, found) in enumerate(_made(work, workers)):
        at = jobs[job][0]
        plans[at] |= found
        left[at] -= 1
        if not left[at]:
            unfinished.keep_plan(missing[at], plans[at])
        progress(done + 1, len(jobs), f"{task.name}, planning")


def _apart(run: Run) -> list[tuple[int, ...]]:
    """Numbers of labels that can be planned for apart from the others."""
    budgets = sorted(run.budgets, reverse=True)
    return [tuple(budgets)] if run.method.strategy.kind == "ranked" else [(n,) for n in budgets]


def _made(work: list[tuple[Any, ...]], workers: int) -> Iterator[tuple[int, dict[int, Rows]]]:
    """The number and the plan of each piece of work, as they come."""
    if workers == 1 or len(work) < 2:
        yield from ((at, plan(*one)) for at, one in enumerate(work))
        return
    pool = ProcessPoolExecutor(workers, get_context("spawn"), one_thread)
    try:
        futures = {pool.submit(plan, *one): at for at, one in enumerate(work)}
        yield from ((futures[future], future.result()) for future in as_completed(futures))
    finally:
        pool.shutdown(cancel_futures=True)  # of use where this is interrupted
