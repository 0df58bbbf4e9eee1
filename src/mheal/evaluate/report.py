"""Results as tables and sentences, for the terminal and for the report, a self-contained HTML file."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from math import isfinite
from os import PathLike
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..runtime.files import replacing
from .statistics import FEWEST, t_interval

if TYPE_CHECKING:
    from .curves import Curves

LEVEL = 0.05
SKEW = "Predicting the largest class always has {:.1%} accuracy. Balanced accuracy is the mean over the {}."


class Table(NamedTuple):
    """A table of strings; the first column holds the names of the rows."""

    caption: str
    columns: list[str]
    rows: list[list[str]]


def report(
    curves: "Curves", path: str | PathLike[str], title: str = "Which rows to label", notes: Sequence[str] = (),
    against: str = "random",
) -> None:  # fmt: skip
    """Write an HTML file with the verdict, the plot, the tables, the method of measurement and its limits.

    notes : further paragraphs on the measurement, such as the source of the data and the sizes of the splits
    """
    from .plots import curves_picture

    verdict, *more = sentences(curves, against)
    light, dark = (f"data:image/png;base64,{b64encode(curves_picture(curves, d)).decode()}" for d in (False, True))
    seeds = [len(curves.seeds(name)) for name in curves.strategies]
    words = dict(
        title=title, verdict=verdict, metric=curves.metric_title, estimator=curves.estimator, against=against,
        splits=f"{max(seeds)}" if len(set(seeds)) == 1 else f"{min(seeds)} to {max(seeds)}",
        budgets=", ".join(map(str, curves.budgets)),
    )  # fmt: skip
    further, noted = ("\n".join(f"<p>{escape(text)}</p>" for text in texts) for texts in (more, notes))
    template = Template(files(__package__).joinpath("report.html").read_text(encoding="utf-8"))
    page = template.substitute(
        {name: escape(word) for name, word in words.items()}, light=light, dark=dark, more=further,
        notes=noted, summary=_table(summary_table(curves, against)),
        budgets_table="\n".join(_table(metric_table(each)) for each in (curves, *curves.beside)),
        savings=_table(savings_table(curves, against)),
    )  # fmt: skip
    with replacing(Path(path)) as part:
        part.write_text(page, encoding="utf-8", newline="\n")


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.columns)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    above = f"<caption>{escape(table.caption)}</caption>\n<thead><tr>{head}</tr></thead>"
    return f'<div class="wide"><table>{above}\n<tbody>\n{body}\n</tbody></table></div>'


def summary_table(curves: "Curves", against: str) -> Table:
    """Mean height of the curve, rank, labels saved and p value of each strategy, best first."""
    rows = []
    for row in curves.summary(against).to_dicts():
        saved = "–" if row["saved_median"] is None else _signed(row["saved_median"], row["saved_median_bound"])
        p = "–" if row["p_holm"] is None else f"{row['p_holm']:.2g}"
        beside = [
            _value(other, *map(float, t_interval(other.aulc(row["strategy"]), FEWEST))) for other in curves.beside
        ]
        height = _value(curves, row["aulc"], row["aulc_half"])
        rows.append([row["strategy"], height, *beside, f"{row['rank']:.2f}", saved, p])
    heights = [f"mean {each.metric_title}{', %' * each.is_share}" for each in (curves, *curves.beside)]
    columns = ["strategy", *heights, "mean rank", "labels saved (median)", "p (Holm)"]
    return Table(f"Best first; compared with {against}.", columns, rows)


def metric_table(curves: "Curves", spread: Literal["interval", "sd"] = "interval") -> Table:
    """The mean of each strategy at each budget, with its interval or the standard deviation."""
    cells: dict[str, list[str]] = {name: [name] for name in curves.strategies}
    for row in curves.table().to_dicts():
        half = row["sd"] if spread == "sd" else row["high"] - row["mean"]
        cells[row["strategy"]].append(_value(curves, row["mean"], half))
    title = curves.metric_title[:1].upper() + curves.metric_title[1:]
    what, least = ("the standard deviation", 2) if spread == "sd" else ("half the 95 % interval", FEWEST)
    enough = max(len(curves.seeds(name)) for name in curves.strategies) >= least
    beside = f" ± {what}" if enough else f"; {what.removeprefix('half ')} takes {least} splits or more"
    caption = f"{title}{' in %' * curves.is_share}, mean{beside}."
    return Table(caption, ["labels", *map(str, curves.budgets)], list(cells.values()))


def savings_table(curves: "Curves", against: str) -> Table:
    """The labels that each strategy saves at each budget, with their interval."""
    cells: dict[str, list[str]] = {name: [name] for name in curves.others(against)}
    for row in curves.labels_saved(against).to_dicts():
        saved = _signed(row["saved"], row["bound"])
        if isfinite(row["low"]):  # enough splits
            end = f"to {_signed(row['high'])}" if isfinite(row["high"]) else "or more"
            saved += f" ({_signed(row['low'])} {end})"
        cells[row["strategy"]].append(saved)
    caption = f"How many more labels {against} needs for the same {curves.metric_title}; negative: fewer."
    return Table(caption, ["labels", *map(str, curves.budgets)], list(cells.values()))


def sentences(curves: "Curves", against: str = "random") -> list[str]:
    """Which strategies are better or worse than the baseline by the paired tests on the area, and which are unclear."""
    text = verdict = _verdict(curves, against)
    for other in curves.beside:
        text = text + [f"By {other.metric_title}: {one}" for one in _verdict(other, against) if one not in verdict]
    return [*text, SKEW.format(curves.rows[0]["largest_class"], "classes")] if curves.beside else text


def _verdict(curves: "Curves", against: str) -> list[str]:
    if not curves.others(against):
        return [f"Only {against} was run: there is nothing to compare."]
    tests = [test for test in curves.significance(against).to_dicts() if test["metric"] == "aulc"]
    tests.sort(key=lambda test: -test["difference"])
    splits = max(test["n"] for test in tests)
    if splits < FEWEST:
        few = "One split does" if splits == 1 else "Two splits do"
        return [f"{few} not show whether anything beats {against} on this data: run at least five."]
    clear = [test for test in tests if test["p_t_holm"] < LEVEL]
    worse = [test["strategy"] for test in clear if test["difference"] < 0]
    unclear = [test["strategy"] for test in tests if test not in clear]
    text = [_beats(curves, test, against) for test in clear if test["difference"] > 0]
    text = text or [f"Nothing beats {against} on this data."]
    if worse:
        text.append(f"{_are(worse)} worse than {against}.")
    if unclear:
        text.append(f"{_are(unclear)} neither clearly better nor clearly worse in {splits} splits.")
    return text


def _beats(curves: "Curves", test: dict[str, Any], against: str) -> str:
    name = test["strategy"]
    savings = curves.labels_saved(against).filter(strategy=name)
    exact = savings.filter(bound="=")  # budgets whose value the baseline's curve reaches
    budget, needs, bound, saved = (exact.tail(1) if len(exact) else savings).row(0)[1:5]
    ours, theirs = (values.mean(axis=0)[curves.budgets == budget].item() for values in curves.paired(name, against))
    unit = " %" * curves.is_share
    text = (
        f"{name} beats {against}. With {budget} labels, {name} reaches {_value(curves, ours)}{unit} "
        f"{curves.metric_title} ({against}: {_value(curves, theirs)}{unit})."
    )
    if bound == ">":
        text += f" {against} needs more than {needs:.0f} labels for that."
    elif saved >= 0.5:
        share = f"{100 * saved / needs:.0f} %"
        text += f" {against} needs {needs:.0f} labels for that: {name} saves {saved:.0f} labels ({share})."
    gain = f"{100 * test['difference']:.1f} points" if curves.is_share else f"{test['difference']:.3g}"
    p = "p < 0.001" if test["p_t_holm"] < 0.001 else f"p = {test['p_t_holm']:.3f}"
    return f"{text} On average over all budgets, it is better by {gain} ({p})."


def _are(names: list[str]) -> str:
    return f"{names[0]} is" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} are"


def _value(curves: "Curves", mean: float, half: float = float("nan")) -> str:
    """A mean and, if there is one, half its interval; in percent if the metric is a share."""
    numbers = [mean, half] if isfinite(half) else [mean]
    return " ± ".join(f"{100 * x:.1f}" if curves.is_share else f"{x:.3f}" for x in numbers)


def _signed(number: float, bound: str = "=") -> str:
    text = f"{number:+.0f}".replace("-", "−") if round(number) else "0"
    return text if bound == "=" else f"{bound} {text}"
