"""Progress: functions are called as they are, and a bar is drawn where there is a terminal."""

from io import StringIO

import pytest
from rich.console import Console

from mheal.runtime.progress import as_progress


def drawn(delay, **options):
    """What is written to a console while a task of three steps runs."""
    out = StringIO()
    with as_progress(True, Console(file=out, **options), delay) as progress:
        for done in range(3):
            progress(done + 1, 3, "counting rows")
        progress(1, 0, "nobody knows how long")
    return out.getvalue()


def test_a_function_is_called_and_false_is_silent(capfd):
    seen = []
    with as_progress(lambda *step: seen.append(step)) as progress:
        progress(1, 2, "x")
    assert seen == [(1, 2, "x")]
    for nothing in (False, None):
        with as_progress(nothing) as progress:
            progress(1, 2, "x")
    with as_progress(True) as progress:  # stderr is no terminal here
        progress(1, 2, "x")
    assert capfd.readouterr() == ("", "")


def test_the_bar_appears_after_a_while_on_a_terminal_only():
    shown = drawn(0, force_terminal=True)
    assert "counting rows" in shown
    assert "3/3" in shown
    assert drawn(1000, force_terminal=True) == ""
    assert drawn(0) == ""
    assert drawn(0, force_terminal=True, quiet=True) == ""


def test_anything_else_is_refused():
    with pytest.raises(TypeError, match="progress must be True, False or a function"), as_progress("yes"):
        pass
