"""Progress of a long task: reported to a function, or shown as a bar on stderr."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any

from ..exceptions import UserTypeError

if TYPE_CHECKING:
    from rich.console import Console

Progress = Callable[[int, int, str], None]  # done, total (0: unknown), description

COMPILING = "compiling for the first time, 1 to 20 s"
DELAY = 1.0  # seconds before the bar appears: shorter tasks need none


def silent(done: int, total: int, what: str) -> None:
    """Report nothing."""


@contextmanager
def as_progress(
    progress: bool | Progress | None, console: "Console | None" = None, delay: float = DELAY
) -> Iterator[Progress]:
    """Yield the function that reports progress. False: nothing is shown; True: a bar on the console; or your function.

    With None, or True without a terminal, only the compilation of kernels is announced.
    """
    if progress is None:
        yield lambda done, total, what: print(what.capitalize(), file=sys.stderr) if what == COMPILING else None
    elif progress is False:
        yield silent
    elif progress is True:
        with _bar(console, delay) as report:
            yield report
    elif callable(progress):
        yield progress
    else:
        raise UserTypeError(f"progress must be True, False or a function of (done, total, what), got {progress!r}")


@contextmanager
def _bar(console: "Console | None", delay: float) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = console or Console(stderr=True)
    if console.quiet or not (console.is_terminal or console.is_jupyter):  # a quiet console prints nothing
        yield lambda done, total, what: console.print(what.capitalize()) if what == COMPILING else None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               TextColumn("left"), TimeRemainingColumn())  # fmt: skip
    bar = Bar(*columns, console=console, transient=True)
    tasks: dict[str, Any] = {}

    def report(done: int, total: int, what: str) -> None:
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=total or None)
        bar.update(tasks[what], completed=done, total=total or None)

    timer = Timer(delay, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield report
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
