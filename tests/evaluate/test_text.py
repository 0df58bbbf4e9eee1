from mheal.evaluate import Curves
from mheal.evaluate.text import metric_table, savings_table, summary_table

HEIGHTS = {"ours": (0.6, 0.8), "random": (0.5, 0.7)}


def curves_of(seeds):
    rows = []
    for name, heights in HEIGHTS.items():
        for seed in range(seeds):
            for labels, height in zip((10, 40), heights, strict=True):
                cells = dict(accuracy=height + 0.02 * (seed % 2), balanced_accuracy=0.5, seconds=0.0)
                rows.append(dict(strategy=name, seed=seed, estimator="svm", labels=labels, **cells))
    return Curves(rows)


def test_values_have_their_interval_where_there_is_one():
    table = metric_table(curves_of(2))
    assert table.columns == ["labels", "10", "40"]
    # sd 0.01 · √2, so the half width is t(0.975, 1) · 0.01 = 12.7 points
    assert table.rows == [["ours", "61.0 ± 12.7", "81.0 ± 12.7"], ["random", "51.0 ± 12.7", "71.0 ± 12.7"]]
    assert table.caption.startswith("Accuracy in %")
    assert metric_table(curves_of(1)).rows[0] == ["ours", "60.0", "80.0"]


def test_summary_has_the_best_first_and_no_comparison_of_the_baseline_with_itself():
    ours, random = summary_table(curves_of(2), "random").rows
    assert ours == ["ours", "71.0 ± 12.7", "1.00", "+10", "0.5"]  # random needs 20 labels for what 10 do here
    assert random == ["random", "61.0 ± 12.7", "2.00", "–", "–"]


def test_savings_say_where_they_are_bounds():
    assert savings_table(curves_of(1), "random").rows == [["ours", "+10", "> 0"]]
