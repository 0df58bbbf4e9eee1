import re

import numpy as np
import pytest
from scipy import stats

from mheal.evaluate import Curves
from mheal.evaluate.report import sentences

BUDGETS = [10, 20, 40, 80, 160]


def rows_of(curves, budgets=BUDGETS, estimator="logistic"):
    """Rows from {strategy: seed × budget}."""
    return [
        dict(
            strategy=name,
            seed=seed,
            estimator=estimator,
            labels=labels,
            accuracy=float(accuracy),
            balanced_accuracy=float(accuracy) / 2,
            seconds=0.1 / 3,
        )
        for name, matrix in curves.items()
        for seed, line in enumerate(matrix)
        for labels, accuracy in zip(budgets, line, strict=True)
    ]


def power(labels, a=0.95, b=1.5, c=0.5):
    return a - b * np.asarray(labels, float) ** -c


def noisy(seed, shift=0.0, seeds=8):
    noise = np.random.default_rng(seed).normal(size=(seeds, len(BUDGETS)))
    return power(BUDGETS) + shift + 0.01 * noise


def test_a_notebook_does_not_show_all_rows():
    shown = repr(Curves(rows_of({"ours": noisy(0), "random": noisy(1)})))
    assert all(word in shown for word in ("ours", "random", "accuracy", "10, 20, 40, 80, 160", "8 seeds"))
    assert len(shown) < 100


def test_csv_round_trip_is_exact(tmp_path):
    curves = Curves(rows_of({"a, b": noisy(0), "random": noisy(1)}))
    curves.save_csv(tmp_path / "c.csv")
    assert Curves.from_csv(tmp_path / "c.csv") == curves
    assert [p.name for p in tmp_path.iterdir()] == ["c.csv"]


def test_foreign_and_broken_files_are_refused_by_name(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("strategy,seed\nrandom,1\n")
    with pytest.raises(ValueError, match=r"c\.csv has no column 'estimator'"):
        Curves.from_csv(path)
    Curves(rows_of({"random": noisy(0, seeds=1)})).save_csv(path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], lines[2].replace(",20,", ",many,"), *lines[3:]]))
    with pytest.raises(ValueError, match=r"c\.csv, line 3: .*'many'"):
        Curves.from_csv(path)
    path.write_text("\n".join([lines[0], lines[1][:12]]))  # cut off by a full disk
    with pytest.raises(ValueError, match=r"c\.csv, line 2"):
        Curves.from_csv(path)
    path.write_text(lines[0])
    with pytest.raises(ValueError, match="no rows"):
        Curves.from_csv(path)


def test_table_by_hand():
    curves = Curves(rows_of({"random": [[0.5, 0.6], [0.7, 0.6], [0.6, 0.9]]}, budgets=[10, 20]))
    first, second = curves.table().to_dicts()
    half = stats.t.ppf(0.975, 2) * 0.1 / np.sqrt(3)
    assert first["strategy"] == "random"
    assert (first["labels"], first["n"]) == (10, 3)
    assert (first["mean"], first["sd"]) == pytest.approx((0.6, 0.1))
    assert (first["low"], first["high"]) == pytest.approx((0.6 - half, 0.6 + half))
    assert second["mean"] == pytest.approx(0.7)


def test_only_budgets_that_all_curves_have_are_compared():
    rows = rows_of({"mheal": [[0.5, 0.6, 0.9]]}, budgets=[10, 20, 30]) + rows_of({"random": [[0.6, 0.7]]}, [20, 30])
    curves = Curves(rows)
    assert curves.budgets.tolist() == [20, 30]
    assert curves.values("mheal").tolist() == [[0.6, 0.9]]


def test_another_metric():
    rows = rows_of({"random": [[0.5, 0.6]]}, budgets=[10, 20])
    assert Curves(rows, "balanced_accuracy").values("random").tolist() == [[0.25, 0.3]]
    with pytest.raises(ValueError, match="f1_macro"):
        Curves(rows, "f1_macro")


@pytest.mark.parametrize(("share", "shown"), [(0.6, False), (0.61, True)])
def test_balanced_accuracy_stands_beside_accuracy_above_60_percent(share, shown, tmp_path):
    rows = [row | dict(largest_class=share) for row in rows_of({"mheal": noisy(0, 0.1), "random": noisy(1)})]
    Curves(rows).save_csv(tmp_path / "c.csv")
    curves = Curves.from_csv(tmp_path / "c.csv")
    assert [other.metric for other in curves.beside] == ["balanced_accuracy"] * shown
    assert ("balanced_accuracy" in curves.table().columns) == shown
    assert ("balanced accuracy" in curves.verdict()) == shown
    if shown:
        assert curves.table()["balanced_accuracy"].to_list() == pytest.approx(curves.table()["mean"] / 2)
        assert [other.metric for other in Curves(rows, "balanced_accuracy").beside] == ["accuracy"]


def test_rows_that_do_not_belong_together():
    rows = rows_of({"random": noisy(0)})
    with pytest.raises(ValueError, match="no rows"):
        Curves([])
    with pytest.raises(ValueError, match="two rows for random, seed 0, 10 labels"):
        Curves([*rows, rows[0]])
    with pytest.raises(ValueError, match="estimators logistic and svm"):
        Curves([*rows, {**rows[0], "estimator": "svm"}])
    with pytest.raises(ValueError, match="no budget in common"):
        Curves([*rows, {**rows[0], "seed": 9, "labels": 11}])
    with pytest.raises(ValueError, match="no rows of 'coreset', only of random"):
        Curves(rows).significance("coreset")


def test_ranks_average_ties():
    curves = Curves(rows_of({"a": [[0.9, 0.5]], "b": [[0.9, 0.7]], "c": [[0.1, 0.6]]}, budgets=[10, 20]))
    assert curves.ranks() == {"a": (1.5 + 3) / 2, "b": (1.5 + 1) / 2, "c": (3 + 2) / 2}


def test_significance_is_scipys_on_the_pairs():
    data = {"mheal": noisy(0, 0.02), "random": noisy(1), "coreset": noisy(2, -0.01)}
    frame = Curves(rows_of(data)).significance()
    assert len(frame) == 2 * (1 + len(BUDGETS))
    rows = {(r["strategy"], r["labels"]): r for r in frame.to_dicts()}
    areas = {name: np.trapezoid(m, BUDGETS, axis=1) / (BUDGETS[-1] - BUDGETS[0]) for name, m in data.items()}
    for name in ("mheal", "coreset"):
        row = rows[name, None]
        assert row["metric"] == "aulc"
        assert row["difference"] == pytest.approx(np.mean(areas[name] - areas["random"]))
        assert row["p_t"] == pytest.approx(stats.ttest_rel(areas[name], areas["random"]).pvalue)
        assert row["p_wilcoxon"] == pytest.approx(stats.wilcoxon(areas[name], areas["random"]).pvalue)
        at_40 = stats.ttest_rel(data[name][:, 2], data["random"][:, 2])
        interval = at_40.confidence_interval(0.95)
        assert rows[name, 40]["p_t"] == pytest.approx(at_40.pvalue)
        assert (rows[name, 40]["low"], rows[name, 40]["high"]) == pytest.approx((interval.low, interval.high))
    small, large = sorted((rows[name, None]["p_t"], rows[name, None]["p_t_holm"]) for name in ("mheal", "coreset"))
    assert small[1] == pytest.approx(2 * small[0])
    assert large[1] == pytest.approx(max(2 * small[0], large[0]))
    by_budget = [r for r in rows.values() if r["labels"]]  # one family of ten
    least = min(by_budget, key=lambda r: r["p_t"])
    assert least["p_t_holm"] == pytest.approx(10 * least["p_t"])


def test_pairs_are_the_shared_seeds():
    rows = rows_of({"mheal": noisy(0), "random": noisy(1)})
    rows = [r for r in rows if not (r["strategy"] == "mheal" and r["seed"] < 3)]
    frame = Curves(rows).significance()
    assert frame["n"].to_list() == [5] * 6
    d = (noisy(0) - noisy(1))[3:, 0]
    assert frame.filter(frame["labels"] == 10)["p_t"][0] == pytest.approx(stats.ttest_1samp(d, 0).pvalue)
    with pytest.raises(ValueError, match="share no seed"):
        Curves([r for r in rows if r["strategy"] == "mheal" or r["seed"] < 3]).significance()


def test_summary_orders_by_area_and_does_not_test_random_against_itself():
    summary = Curves(rows_of({"coreset": noisy(2, -0.05), "random": noisy(1), "mheal": noisy(0, 0.05)})).summary()
    assert summary["strategy"].to_list() == ["mheal", "random", "coreset"]
    assert summary["p_holm"][1] is None
    assert summary["saved"][1] is None
    assert summary["saved_bound"].to_list() == [">", None, "="]
    assert summary["rank"].to_list() == sorted(summary["rank"])
    areas = np.trapezoid(noisy(0, 0.05), BUDGETS, axis=1) / 150
    assert summary["aulc"][0] == pytest.approx(areas.mean())


def test_verdict_names_winners_with_their_numbers_and_losers():
    curves = Curves(rows_of({"mheal": noisy(0, 0.05), "random": noisy(1), "coreset": noisy(2, -0.05)}))
    winner, loser = sentences(curves)
    assert winner.startswith("mheal")
    assert "coreset" not in winner
    # the largest budget for which random's curve is long enough
    saving = curves.labels_saved().filter(strategy="mheal", bound="=").row(-1, named=True)
    at = list(BUDGETS).index(saving["labels"])
    ours, theirs = (100 * curves.values(name)[:, at].mean() for name in ("mheal", "random"))
    for number in (
        f"{saving['labels']} labels",
        f"{ours:.1f} %",
        f"{theirs:.1f} %",
        f"{saving['needs']:.0f} labels",
    ):
        assert number in winner
    assert loser.startswith("coreset")


def test_verdict_when_random_never_gets_there():
    flat = np.tile(power(BUDGETS), (6, 1)) + 0.01 * np.random.default_rng(0).random((6, 1))
    curves = Curves(rows_of({"mheal": flat + 0.5, "random": flat}))
    assert set(curves.labels_saved().filter(strategy="mheal")["bound"]) == {">"}
    assert re.findall(r"(\d+) labels", curves.verdict()) == ["10", "160"]  # no number that is not known


def claimed(curves):
    """The numbers in the verdict that say how much better a strategy is."""
    return re.findall(r"\d+ labels|[\d.]+ %|[\d.]+ points", curves.verdict())


def test_random_against_itself_beats_nothing():
    same = noisy(0)
    curves = Curves(rows_of({"again": same, "random": same}))
    assert claimed(curves) == []
    assert curves.significance()["p_t_holm"].to_list() == [1.0] * 6
    assert claimed(Curves(rows_of({"again": noisy(3), "random": same}))) == []


def test_one_split_or_one_strategy_shows_nothing():
    one_split = Curves(rows_of({"mheal": noisy(0, 0.05, seeds=1), "random": noisy(1, seeds=1)}))
    alone = Curves(rows_of({"random": noisy(1)}))
    for curves in (one_split, alone):
        assert len(sentences(curves)) == 1
        assert "random" in curves.verdict()
        assert claimed(curves) == []
