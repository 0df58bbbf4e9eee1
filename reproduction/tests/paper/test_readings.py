import numpy as np
import pytest
from scipy.stats import ttest_ind
from sklearn.neighbors import KNeighborsClassifier

from mheal import PaperMHEAL
from mheal.strategy import Pool
from mheal_reproduction.experiments import load
from mheal_reproduction.paper.readings.digits import measure, reading
from mheal_reproduction.paper.readings.grid import (
    BUDGETS,
    BY_SIZE,
    CONTROL,
    EQUAL,
    NETWORK,
    PAPER,
    RANDOM,
    RANDOM_SEEDS,
    SPACES,
    SVM,
    Reading,
    by_setting,
    ordered_groups,
    ordered_units,
    random_setting,
)
from mheal_reproduction.paper.readings.numbers import Difference, Found, with_random
from mheal_reproduction.paper.readings.page import page
from mheal_reproduction.paper.readings.picks import Clusterings, cluster, paper_picks, picks_in, random_picks
from mheal_reproduction.paper.readings.protocol import protocol
from mheal_reproduction.paper.readings.spaces import Spaces
from mheal_reproduction.paper.readings.svm import Machine
from mheal_reproduction.rows import RawRows, stored_rows


@pytest.fixture(scope="module")
def digits(images):
    with np.load(images / "mnist.npz") as stored:
        return stored["X_train"], stored["y_train"]


@pytest.mark.parametrize("scaling", ["unit", "raw"])
@pytest.mark.parametrize("labeled", [[], [3, 50, 700, 1200]])
def test_picks_are_those_of_the_published_algorithm(digits, scaling, labeled):
    X, first = digits[0].reshape(len(digits[0]), -1).astype(np.float32), np.array(labeled, np.int64)
    pool = Pool(X, first, scaling=scaling, random_state=np.random.RandomState(5))
    wanted = PaperMHEAL(12, scaling=scaling)._pick(pool, 40).indices
    rng = np.random.RandomState(5)
    found = cluster(X, 12, scaling, rng)
    np.testing.assert_array_equal(paper_picks(X, 40, first, found, scaling, rng), wanted)


def test_the_control_takes_as_many_rows_of_each_cluster(digits):
    X, first = digits[0].reshape(len(digits[0]), -1).astype(np.float32), np.array([3, 50, 700])
    found = cluster(X, 7, "unit", np.random.RandomState(0))
    ours = paper_picks(X, 30, first, found, "unit", np.random.RandomState(1))
    control = random_picks(30, first, found, np.random.RandomState(1))
    np.testing.assert_array_equal(np.bincount(found.labels[ours]), np.bincount(found.labels[control]))
    assert len(set(control) | set(first)) == 33
    other = random_picks(30, first, found, np.random.RandomState(2))
    assert set(other) != set(control)


def test_clusters_are_found_once(digits):
    X, kept = digits[0].reshape(len(digits[0]), -1).astype(np.float32), Clusterings()
    one = kept(X, "pixels", "raw", 5, 0)
    assert kept(X, "pixels", "raw", 5, 0) is one
    assert kept(X, "pixels", "raw", 6, 0) is not one
    assert (kept(X, "pixels", "raw", 5, 1).labels != one.labels).any()


def test_codes_tell_digits_apart(digits):
    """In bfloat16 with casts of the weights kept from step to step, training diverges, and they do not."""
    X, y = digits
    codes = Spaces(X, 100, None, None, lambda *_: None)("codes", 0)
    assert codes.shape == (len(X), 10)
    assert KNeighborsClassifier().fit(codes[::2], y[::2]).score(codes[1::2], y[1::2]) > 0.8


def test_codes_are_kept_in_a_file(digits, tmp_path):
    X = digits[0][:300]
    first = Spaces(X, 2, tmp_path, None, lambda *_: None)("codes", 1)
    (file,) = tmp_path.iterdir()
    np.save(file, first + 1)
    np.testing.assert_array_equal(Spaces(X, 2, tmp_path, None, lambda *_: None)("codes", 1), first + 1)


def test_the_support_vector_machine_learns(digits):
    X, y = digits
    machine = Machine(X[:1000], y[:1000], X[1000:], y[1000:])
    assert machine.accuracy(np.arange(500)) > 0.9
    alone = machine.accuracy(np.flatnonzero(y[:1000] == 3)[:4])
    assert alone == (y[1000:] == 3).mean()


def test_units_are_all_there_and_what_tells_most_comes_first():
    units = ordered_units(2)
    of_the_grid = [one for one in by_setting().values() if one.learner in (NETWORK, SVM)]
    assert len(units) == len(set(units)) == 2 * 2 * len(of_the_grid) + RANDOM_SEEDS + 2
    assert units[0] == ("mnist", RANDOM, random_setting(SVM), 0)
    assert units[RANDOM_SEEDS + 2] == ("mnist", PAPER, "network, codes, k = 10, warm", 0)
    assert units[-1] == ("mnist", CONTROL, "network, penultimate features, k = 20, warm", 1)
    assert {unit[3] for unit in units if unit[1] != RANDOM} == {0, 1}
    assert {unit[2].split(", ")[1] for unit in ordered_units(1, SPACES[:1])} == {"all rows", "codes"}


def test_rows_of_a_group_share_their_clusters():
    for group in list(ordered_groups(2, SPACES))[2:]:
        known = by_setting()
        rows = [(known[setting], seed) for part in group for _, _, setting, seed in part]
        assert len({(one.space, one.clusters, seed) for one, seed in rows}) == 1


def test_quotas_by_size_follow_sizes_and_the_picks_are_of_algorithm_2(digits):
    X, first = digits[0].reshape(len(digits[0]), -1).astype(np.float32), np.array([3, 50, 700])
    found = cluster(X, 7, "unit", np.random.RandomState(0))
    sizes = np.bincount(found.labels)
    for method in (PAPER, CONTROL):
        picks = picks_in(found, method, X, 97, first, "unit", np.random.RandomState(1), BY_SIZE)
        assert len({*picks, *first}) == 100
        counts = np.bincount(found.labels[np.append(first, picks)], minlength=7)
        np.testing.assert_allclose(counts, 100 * sizes / sizes.sum(), atol=1)
    alone = cluster(X, 1, "unit", np.random.RandomState(0))  # then quotas are the same, and so are the picks
    both = [picks_in(alone, PAPER, X, 9, first, "unit", np.random.RandomState(1), quota) for quota in (EQUAL, BY_SIZE)]
    np.testing.assert_array_equal(*both)


def row(method, setting, seed, accuracy):
    return {
        "dataset": "mnist", "method": method, "setting": setting, "seed": seed, "learner": setting.partition(",")[0],
        "accuracy": {str(n): accuracy + 0.001 * seed for n in BUDGETS}, "seconds": 6.0, "device": "CPU",
    }  # fmt: skip


def test_the_page_says_where_the_algorithm_is_above_random_and_what_the_energy_adds():
    good, bad = Reading(NETWORK, "codes", None, "warm"), Reading(NETWORK, "codes", 10, "warm")
    rows = [
        one
        for seed in range(3)
        for one in (
            row(RANDOM, random_setting(NETWORK), seed, 0.9), row(PAPER, good.setting, seed, 0.93),
            row(CONTROL, good.setting, seed, 0.93), row(PAPER, bad.setting, seed, 0.7),
            row(CONTROL, bad.setting, seed, 0.88),
        )
    ]  # fmt: skip
    found = Found(rows)
    best, worst = found.standing(good), found.standing(bad)
    assert (best.random.place, best.energy, worst.random.place, worst.energy) == ("above", "level", "below", "below")
    np.testing.assert_allclose(worst.control, -0.18)
    text = page(found, 3, quick=False)
    assert "1 above, 1 below" in text
    assert "Nearest to the paper's numbers: k = labels, codes, warm start" in text
    line = next(one for one in text.splitlines() if one.startswith("| codes | warm | 10 |"))
    assert "| −20.0 ± 0.2 | below | −18.0 ± 0.0 | below |" in line
    assert "Missing of" in text


def test_random_is_compared_by_welch_and_table_3_lends_its_seeds():
    ours, random = np.array([0.91, 0.92, 0.93]), np.array([0.89, 0.9, 0.9, 0.91, 0.9])
    found = Difference.of(ours, random)
    wanted = ttest_ind(ours, random, equal_var=False).confidence_interval()
    np.testing.assert_allclose([found.mean - found.half, found.mean + found.half], wanted)
    assert found.place == ("above" if wanted.low > 0 else "level")
    assert Difference.of(ours[:1], random).words == "+1.0, one seed"
    assert Difference.of(ours, random[:0]).place == "–"
    mine = [row(PAPER, Reading(NETWORK, "codes", 10, "warm").setting, 0, 0.8)]
    table3 = [row("Random", "clean", seed, 0.9) | {"method": "Random"} for seed in range(5)]
    both = Found(with_random(mine, [*table3, row("BALD", "clean", 0, 0.99)]))
    assert both.curves(RANDOM, random_setting(NETWORK)).shape == (5, 4)
    assert len(both.rows) == 6


def test_a_quick_run_measures_what_is_missing(digits, tmp_path):
    X, y = digits
    np.savez(tmp_path / "mnist.npz", X_train=X[:1400], y_train=y[:1400], X_test=X[1400:], y_test=y[1400:])
    out = tmp_path / "out"
    wanted = [
        ("mnist", PAPER, "network, codes, k = 10, warm", 0), ("mnist", PAPER, "SVM, DEC codes, k = 20, cold", 0),
        ("mnist", CONTROL, "network, penultimate features, k = 10, warm", 0),
    ]  # fmt: skip
    done = [row(*unit[1:], 0.5) for unit in ordered_units(1) if unit not in wanted]
    rows = RawRows(out, "readings", protocol(quick=True))
    rows.add(one | {"accuracy": {"30": 0.5, "50": 0.6}} for one in done)
    text = load("readings").run(out, tmp_path, 1, True, lambda *_: None)
    new = {(one["dataset"], one["method"], one["setting"], one["seed"]): one for one in stored_rows(out)[len(done) :]}
    assert set(new) == set(wanted)
    assert {one["clusters"] for one in new.values()} == {"10", "20"}
    assert all(0 < value < 1 for one in new.values() for value in one["accuracy"].values())
    assert "No row is missing." in text
    assert {"readings.png", "readings_network.png"} < {path.name for path in out.iterdir()}


def test_digits_have_rows_of_the_algorithm_the_control_and_random():
    for method, setting in ((PAPER, reading(None).setting), (CONTROL, reading(10).setting), (RANDOM, "")):
        found = measure("digits", method, setting, 3)["accuracy"]
        assert list(found) == [10, 20, 50, 100]
        assert 0.2 < found[10] < found[50] < found[100] < 0.97
