"""Helpers for pages: Markdown tables, verdicts of comparisons, and a note of the version that made the rows."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import numpy.typing as npt

import mheal
from mheal.evaluate.statistics import t_interval
from mheal.runtime.files import replacing

from .rows import Row, versions

Floats = npt.NDArray[np.float64]


class Values:
    """The values of all rows, looked up by dataset, mode, learner, measure and place."""

    def __init__(self, rows: Iterable[Row]) -> None:
        found: dict[tuple[str, ...], dict[int, float]] = defaultdict(dict)
        for row in rows:
            about = (row["dataset"], row["setting"], row["method"])
            for measure, places in ((key, value) for key, value in row.items() if isinstance(value, dict)):
                for at, value in places.items():
                    found[(*about, measure, at)][row["seed"]] = float("nan") if value is None else value
        self._found = dict(found)

    def __call__(self, dataset: str, mode: str, learner: str, measure: str, at: float | str) -> Floats:
        """One value per seed, in the order of the seeds; NaN for what was never reached."""
        by_seed = self._found.get((dataset, mode, learner, measure, at_text(at)), {})
        return np.array([by_seed[seed] for seed in sorted(by_seed)])

    def places(self, dataset: str, mode: str, learner: str, measure: str) -> list[int]:
        """The rounds or numbers of labels at which this was measured."""
        wanted = (dataset, mode, learner, measure)
        return sorted(int(float(key[-1])) for key in self._found if key[:4] == wanted)

    def grid(self, dataset: str, mode: str, learner: str, measure: str, places: Sequence[int]) -> Floats:
        """(seeds, places)."""
        return np.column_stack([self(dataset, mode, learner, measure, at) for at in places])


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def compare(less: npt.ArrayLike, more: npt.ArrayLike) -> str:
    """Whether `less` is smaller than `more`, paired by seed: "yes", "no" (it is larger) or "no difference".

    The 95 % t interval of the difference decides. With one seed the answer is "no difference".
    """
    mean, half = t_interval(np.asarray(more) - np.asarray(less))
    if mean - half > 0:
        return "yes"
    return "no" if mean + half < 0 else "no difference"


def tally(answers: Sequence[str]) -> str:
    """Counts of the answers, as in "yes on 5, no on 1 of 6"."""
    parts = [f"{answer} on {answers.count(answer)}" for answer in ("yes", "no difference", "no") if answer in answers]
    return f"{', '.join(parts)} of {len(answers)}"


def verdict(answers: Sequence[str]) -> str:
    """The verdict on a claim of the paper, from the answers of all datasets."""
    if set(answers) == {"yes"}:
        return "reproduced"
    return "reproduced on some only" if "yes" in answers else "not reproduced"


def opening(seeds: int, quick: bool) -> str:
    """The first sentences of a page on a figure of §6."""
    size = "Quick run: small sizes, not the paper's. " if quick else ""
    return f"{size}{seeds} shuffles. The paper shows curves and gives no numbers."


def percent(values: Any, digits: int = 1) -> str:
    """The mean in per cent."""
    return f"{100 * float(np.mean(values)):.{digits}f}" if np.size(values) else "–"


def median(values: Floats) -> str:
    """The median, where NaN is larger than any number; – if the median is NaN."""
    middle = np.median(np.nan_to_num(values, nan=np.inf))
    return f"{middle:,.0f}" if np.isfinite(middle) else "–"


def write_page(out: Path, text: str, rows: Iterable[Row], version: str = mheal.__version__) -> str:
    """Write `text` as README.md of the folder, with a note after the verdict if other versions made the rows."""
    heading, rest = text.split("\n", 1)
    verdict, rest = rest.split("\n\n", 1)
    note = version_note(rows, version)
    top = [heading, wrapped(verdict), ""]
    page = "\n".join([*top, *([note, ""] if note else []), rest])
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / "README.md") as part:
        part.write_text(page, encoding="utf-8")
    return page


def wrapped(text: str) -> str:
    """Wrap a paragraph at 120 characters."""
    return fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


def version_note(rows: Iterable[Row], present: str) -> str:
    """A line that names the versions of mheal that made the rows; empty if all are of the present one."""
    made = versions(rows)
    if set(made) <= {present}:
        return ""
    return f"Made with mheal {' and '.join(made)}; the present version is {present}."


def at_text(at: float | str) -> str:
    """The text by which rows name a place."""
    return at if isinstance(at, str) else f"{at:.6g}"
