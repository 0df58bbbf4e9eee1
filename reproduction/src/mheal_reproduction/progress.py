"""How far a run is: the type of the callback, and a bar for the terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

Progress = Callable[[int, int, str], None]  # done, total, what is being done


@contextmanager
def progress_bar(console: Console) -> Iterator[Progress]:
    """A bar that shows the latest call; it disappears at the end."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               TextColumn("left"), TimeRemainingColumn())  # fmt: skip
    with Bar(*columns, console=console, transient=True, disable=console.quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, what: bar.update(task, completed=done, total=total, description=what)
