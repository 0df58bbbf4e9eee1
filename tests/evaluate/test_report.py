import re
from html import escape
from html.parser import HTMLParser

import numpy as np
import pytest

from mheal.evaluate import Curves, report
from mheal.evaluate.plots import _apart, curves_picture
from mheal.evaluate.report import metric_table, savings_table, sentences, summary_table

BUDGETS = [10, 20, 40, 80]
PNG = b"\x89PNG\r\n\x1a\n"


def curves_of(names, seeds=5, budgets=BUDGETS):
    rng = np.random.default_rng(0)
    rows = []
    for i, name in enumerate(names):
        for seed in range(seeds):
            for labels in budgets:
                accuracy = 0.9 - (1 + 0.3 * i) * labels**-0.5 + 0.005 * rng.normal()
                cells = dict(accuracy=float(accuracy), balanced_accuracy=0.5, seconds=0.0)
                rows.append(dict(strategy=name, seed=seed, estimator="svm", labels=labels, **cells))
    return Curves(rows)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    notes = ["Pool of 1,000 & <b>test</b> of 300."]
    report(curves_of(["mheal", "random", "<i>odd</i>"]), path, title="<script>alert(1)</script>", notes=notes)
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]
    return path.read_text(encoding="utf-8")


def test_nothing_is_fetched(page):
    assert "http" not in page
    assert "//" not in re.sub(r"base64,[A-Za-z0-9+/=]+", "", page)
    sources = re.findall(r'(?:src|srcset|href)="([^"]{0,22})', page)
    assert len(sources) == 2
    assert set(sources) == {"data:image/png;base64,"}


def test_text_is_escaped(page):
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<i>" not in page
    assert "&lt;i&gt;odd&lt;/i&gt;" in page
    assert "Pool of 1,000 &amp; &lt;b&gt;test&lt;/b&gt; of 300." in page


def test_tags_are_balanced(page):
    class Checker(HTMLParser):
        open = None

        def handle_starttag(self, tag, attrs):
            if tag not in ("meta", "img", "source"):
                self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

    checker = Checker()
    checker.open = []
    checker.feed(page)
    assert checker.open == []


def test_the_verdict_comes_first_then_the_picture_then_tables_then_the_method(page):
    verdict = escape(sentences(curves_of(["mheal", "random", "<i>odd</i>"]))[0])
    places = [page.index(text) for text in (verdict, "<picture>", "<table>", "How this was measured")]
    assert places == sorted(places)
    assert page.index("What this does not show") > places[-1]
    assert "prefers-color-scheme: dark" in page
    assert "(svm)" in page


def test_labels_saved_are_shown_with_their_bounds(page):
    line = next(line for line in page.splitlines() if line.startswith("<tr><td>mheal") and "or more" in line)
    assert line.endswith("<td>&gt; 0 (0 or more)</td></tr>")  # random was not measured beyond 80 labels


def test_same_rows_same_bytes(tmp_path):
    for name in ("a.html", "b.html"):
        report(curves_of(["mheal", "random"]), tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_report_of_one_split_and_one_strategy(tmp_path):
    one_split, alone = curves_of(["mheal", "random"], seeds=1), curves_of(["random"])
    report(one_split, tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert escape(sentences(one_split)[0]) in text
    assert "nan" not in re.sub(r"base64,[A-Za-z0-9+/=]+", "", text)
    report(alone, tmp_path / "r.html")
    assert escape(sentences(alone)[0]) in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("names", [["mheal", "random"], ["random", "$odd$"], [f"strategy {i}" for i in range(20)]])
def test_plot_is_a_png(tmp_path, names):
    curves = curves_of(names, seeds=2, budgets=[10, 20, 500])
    curves.plot(tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(PNG)
    assert len(list(tmp_path.iterdir())) == 1


def test_one_budget_and_one_seed_can_be_drawn():
    assert curves_picture(curves_of(["mheal", "random"], seeds=1, budgets=[10])).startswith(PNG)


def test_names_at_the_ends_keep_apart_and_in_order():
    heights = np.array([0.9, 0.9, 0.5, 0.89])
    placed = _apart(heights, gap=0.05, top=0.95)
    assert np.diff(np.sort(placed)).min() >= 0.05 - 1e-12
    assert placed.max() <= 0.95 + 1e-12
    assert placed.argsort(kind="stable").tolist() == heights.argsort(kind="stable").tolist()


HEIGHTS = {"ours": (0.6, 0.8), "random": (0.5, 0.7)}


def two_curves(seeds):
    rows = []
    for name, heights in HEIGHTS.items():
        for seed in range(seeds):
            for labels, height in zip((10, 40), heights, strict=True):
                cells = dict(accuracy=height + 0.02 * (seed % 2), balanced_accuracy=0.5, seconds=0.0)
                rows.append(dict(strategy=name, seed=seed, estimator="svm", labels=labels, **cells))
    return Curves(rows)


def test_values_have_their_interval_where_there_is_one():
    table = metric_table(two_curves(4))
    assert table.columns == ["labels", "10", "40"]
    # sd 0.01 · √(4/3), so the half width is t(0.975, 3) · 0.01 / √3 = 1.8 points
    assert table.rows == [["ours", "61.0 ± 1.8", "81.0 ± 1.8"], ["random", "51.0 ± 1.8", "71.0 ± 1.8"]]
    assert table.caption == "Accuracy in %, mean ± half the 95 % interval."


@pytest.mark.parametrize(("splits", "mean"), [(1, "60.0"), (2, "61.0")])
def test_fewer_than_three_splits_show_no_interval_and_no_verdict(splits, mean):
    curves = two_curves(splits)
    table = metric_table(curves)
    assert table.rows[0][:2] == ["ours", mean]
    assert "takes 3 splits or more" in table.caption
    assert summary_table(curves, "random").rows[0][1].isascii()  # no ±
    assert "run at least five" in curves.verdict()
    assert np.isnan(curves.significance()["low"].to_numpy()).all()
    assert "±" in metric_table(two_curves(2), "sd").rows[0][1]


def test_summary_has_the_best_first_and_no_comparison_of_the_baseline_with_itself():
    ours, random = summary_table(two_curves(4), "random").rows
    assert ours == ["ours", "71.0 ± 1.8", "1.00", "+10", "0.12"]  # random needs 20 labels for what 10 do here
    assert random == ["random", "61.0 ± 1.8", "2.00", "–", "–"]


def test_savings_say_where_they_are_bounds():
    assert savings_table(two_curves(1), "random").rows == [["ours", "+10", "> 0"]]


def test_another_baseline_than_random(tmp_path):
    curves = curves_of(["mheal", "margin"])
    assert curves.verdict("margin").startswith("mheal beats margin.")
    report(curves, tmp_path / "report.html", against="margin")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "mheal beats margin." in page
    assert "random" not in re.sub(r"base64,[A-Za-z0-9+/=]+|split at random", "", page)
