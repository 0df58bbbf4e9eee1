"""The report of a simulation: one HTML file that needs no other."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from os import PathLike
from pathlib import Path
from string import Template

from ..runtime.files import replacing
from .curves import Curves
from .text import Table, metric_table, savings_table, sentences, summary_table

PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --soft: #666; --line: #ddd; --mark: #0072B2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ddd; --paper: #16181c; --soft: #999; --line: #383c44; --mark: #56B4E9; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 52rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.verdict { font-size: 1.2rem; border-left: 4px solid var(--mark); padding-left: 1rem; }
img { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
caption { text-align: left; color: var(--soft); padding-bottom: .4rem; }
th, td { text-align: right; padding: .25rem .7rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
</style>
</head>
<body>
<h1>$title</h1>
<p class="verdict">$verdict</p>
$more
<picture><source media="(prefers-color-scheme: dark)" srcset="$dark">
<img src="$light" alt="Mean $metric against labels, a curve per strategy; the tables below have the numbers"></picture>
<h2>Strategies compared</h2>
$summary
<h2>At each budget: $metric</h2>
$budgets_table
<h2>Labels saved</h2>
$savings
<h2>How this was measured</h2>
<p>The rows were split at random, by class, into a pool and a test set, $splits times with different seeds. Each
strategy saw the pool without its labels and chose the rows to label; only the labels of those rows were revealed. The
estimator ($estimator) was fitted on them and scored on the test set ($metric), with $budgets labels.</p>
<p>Intervals are 95 % t intervals over the splits. The mean over the budgets is the area under a split's curve divided
by the range of labels. Each strategy was compared with $against on the same splits by a two-sided paired t test on that
area, corrected by Holm for the number of strategies; p below 0.05 counts as clear.</p>
<p>Labels saved: how many more labels $against needs, on its mean curve made monotone and interpolated in the logarithm
of labels, for the mean $metric that the strategy reaches. A &gt; or &lt; marks where that curve is too short to tell.
The intervals come from 1,000 bootstrap samples of the splits.</p>
$notes
<h2>What this does not show</h2>
<p>The labels were known beforehand and only hidden. Your next data may differ: a strategy that wins here is likely, not
certain, to win on data of the same kind.</p>
<p>The splits share rows with each other, so they are not independent and the intervals and p values are somewhat too
confident. A strategy that was tuned on this data has an unfair advantage.</p>
<p>Another estimator, other features or other budgets can change the order. The cost of a label is taken to be the same
for every item; hard items often take longer.</p>
</body>
</html>
""")


def report(
    curves: Curves, path: str | PathLike[str], title: str = "Which rows to label", notes: Sequence[str] = (),
    against: str = "random",
) -> None:  # fmt: skip
    """Write an HTML file with the verdict, the picture, the tables, how it was measured, and what it does not show.

    notes : paragraphs of your own on how it was measured: where the data comes from, how large the splits are
    against : the baseline
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
    page = PAGE.substitute(
        {name: escape(word) for name, word in words.items()}, light=light, dark=dark, more=_paragraphs(more),
        notes=_paragraphs(notes), summary=_table(summary_table(curves, against)),
        budgets_table=_table(metric_table(curves)), savings=_table(savings_table(curves, against)),
    )  # fmt: skip
    with replacing(Path(path)) as part:
        part.write_text(page, encoding="utf-8", newline="\n")


def _paragraphs(texts: Iterable[str]) -> str:
    return "\n".join(f"<p>{escape(text)}</p>" for text in texts)


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.columns)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return (
        f'<div class="wide"><table><caption>{escape(table.caption)}</caption>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )
