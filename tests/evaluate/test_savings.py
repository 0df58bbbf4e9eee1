import numpy as np
import pytest

from mheal.evaluate.statistics import labels_saved, median_saved

BUDGETS = np.array([10, 20, 40, 80, 160])


def power(labels):
    return 0.95 - 1.5 * np.asarray(labels, float) ** -0.5


def test_power_law_with_a_known_factor():
    ours, random = np.tile(power(2 * BUDGETS), (5, 1)), np.tile(power(BUDGETS), (5, 1))
    s = labels_saved(BUDGETS, ours, random)
    assert s["labels"].to_list() == BUDGETS.tolist()
    assert s["needs"][:4].to_list() == pytest.approx([20, 40, 80, 160])
    assert s["bound"].to_list() == ["=", "=", "=", "=", ">"]  # nobody measured random with 320 labels
    assert s["needs"][4] == 160
    assert s["saved"].to_list() == pytest.approx([10, 20, 40, 80, 0])
    assert s["low"][:3].to_list() == pytest.approx(s["saved"][:3].to_list())
    assert s["high"][:3].to_list() == pytest.approx(s["saved"][:3].to_list())
    assert (s["low"][4], s["high"][4]) == (0, np.inf)
    assert median_saved(s) == (pytest.approx(40.0), "=")  # 10, 20, 40, 80, beyond


def test_a_strategy_that_wastes_labels():
    ours, random = np.tile(power(BUDGETS / 2), (3, 1)), np.tile(power(BUDGETS), (3, 1))
    s = labels_saved(BUDGETS, ours, random)
    assert s["bound"].to_list() == ["<", "=", "=", "=", "="]
    assert s["saved"][1:].to_list() == pytest.approx([-10, -20, -40, -80])
    assert s["needs"][0] == 10
    assert (s["low"][0], s["high"][0]) == (-10, 0)  # of needs: from 0 labels to 10


def test_interpolation_is_linear_in_log_labels():
    ours, random = np.array([[0.5, 0.75]]), np.array([[0.4, 0.8]])
    s = labels_saved(np.array([10, 1000]), ours, random)
    assert s["needs"].to_list() == pytest.approx([10 * 100 ** (0.1 / 0.4), 10 * 100 ** (0.35 / 0.4)])
    assert s["low"].is_nan().all()  # one seed


def test_dips_and_plateaus_of_the_baseline():
    random = np.array([[0.5, 0.7, 0.6, 0.65, 0.9]])  # isotonic: .5 .65 .65 .65 .9
    s = labels_saved(BUDGETS, np.array([[0.5, 0.575, 0.65, 0.66, 0.9]]), random)
    assert s["needs"].to_list() == pytest.approx([10, 10 * 2**0.5, 20, 80 * 2 ** (0.01 / 0.25), 160])
    assert set(s["bound"]) == {"="}


def test_one_budget():
    budgets = np.array([50])
    for ours, needs, bound in ((0.5, 50, "<"), (0.6, 50, "="), (0.7, 50, ">")):
        s = labels_saved(budgets, np.full((2, 1), ours), np.full((2, 1), 0.6))
        assert (s["needs"][0], s["bound"][0]) == (needs, bound)


def test_interval_widens_with_noise_and_is_reproducible():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(2, 8, 5))
    quiet, loud = (
        labels_saved(BUDGETS, power(1.5 * BUDGETS) + sd * noise[0], power(BUDGETS) + sd * noise[1])
        for sd in (0.002, 0.01)
    )
    width, narrow = ((s["high"] - s["low"])[:3] for s in (loud, quiet))
    assert (width > narrow).all()
    low, high = (quiet[end].to_numpy()[:3] + BUDGETS[:3] for end in ("low", "high"))
    assert (low <= 1.5 * BUDGETS[:3] * 1.05).all()
    assert (high >= 1.5 * BUDGETS[:3] * 0.95).all()
    again = labels_saved(BUDGETS, power(1.5 * BUDGETS) + 0.01 * noise[0], power(BUDGETS) + 0.01 * noise[1])
    assert again["low"].to_list() == loud["low"].to_list()


def test_median_counts_what_is_beyond_as_far():
    ours = np.tile([0.99, 0.99, 0.99, 0.99, 0.1], (2, 1))
    s = labels_saved(BUDGETS, ours, np.tile(power(BUDGETS), (2, 1)))
    value, bound = median_saved(s)
    assert bound == ">"
    assert value == 120  # from small to large: below, then at least 80, 120, 140, 150
