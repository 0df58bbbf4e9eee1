import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.svm import SVC

from mheal.strategies import Pool, Strategy
from mheal.uncertainty import decision_values, margins
from mheal_reproduction.paper.figure12 import experiment as figure12
from mheal_reproduction.paper.figure12.experiment import seeds_of
from mheal_reproduction.paper.figure12.page import (
    BASELINES,
    DATASETS,
    METHODS,
    OURS,
    PENALTIES,
    PUBLISHED,
    SLOW,
    Curves,
    _falls,
    falls,
    on_top,
    shrinking,
)
from mheal_reproduction.paper.figure12.svm_curves import GrowingSVC, learning_curve, repetition


def silent(done, total, what):
    pass


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Small real tables under the names of the four: images with a split, tables with and without one."""
    folder = tmp_path_factory.mktemp("data")
    (X, y), (pixels, digit), (wine, kind) = (f(return_X_y=True) for f in (load_breast_cancer, load_digits, load_wine))
    images = (pixels.reshape(-1, 8, 8) * 15).astype(np.uint8)
    np.savez(folder / "phishing.npz", X_train=X, y_train=y)
    np.savez(folder / "adult.npz", X_train=X[100:], y_train=y[100:], X_test=X[:100], y_test=y[:100])
    np.savez(folder / "satimage.npz", X_train=wine[::2], y_train=kind[::2], X_test=wine[1::2], y_test=kind[1::2])
    np.savez(folder / "mnist.npz", X_train=images[:900], y_train=digit[:900], X_test=images[900:], y_test=digit[900:])
    return folder


@pytest.fixture(scope="module")
def finished(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("figure12")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MHEAL_NUM_THREADS", "1")
        for loop in ("DESCENT_STEPS", "ADMM_STEPS"):  # most of the time, and no part of this experiment's logic
            patch.setattr(f"mheal.strategies.kernel_ridge.{loop}", 5)
        page = figure12.run(out, data, None, True, silent)
    return out, page, [json.loads(line) for line in (out / "rows.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("name", ["phishing", "mnist"])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_the_growing_machine_equals_one_trained_at_once(name, C, data):
    task = repetition(name, data, 0, 200)
    svc = GrowingSVC(task, C, 40)
    svc.learn(task.first)
    for row in range(task.n_classes, 40):
        svc.learn(np.array([row]))
        if row % 9 == 0:
            peer = SVC(C=C, gamma=task.gamma).fit(task.X[: row + 1], task.y[: row + 1])
            rows = np.arange(3, 200, 7)
            np.testing.assert_allclose(svc.row_decision(rows), svc.decision_function(task.X[rows]), atol=1e-9)
            # both stop within 1e-3 of the optimum, on kernels rounded differently; of several classes, a vote may flip
            close = np.abs(svc.decision_function(task.X_test) - peer.decision_function(task.X_test)) < 4e-3
            assert close.mean() > (0.998 if task.n_classes > 2 else 0.999999)
            assert svc.accuracy() == pytest.approx(peer.score(task.X_test, task.y_test), abs=0.004)
            np.testing.assert_array_equal(svc.support_, peer.support_)
            np.testing.assert_array_equal(svc.classes_, peer.classes_)


def test_strategies_get_a_decision_value_for_each_class(data):
    for name, classes in (("phishing", 2), ("mnist", 10)):
        task = repetition(name, data, 0, 100)
        svc = GrowingSVC(task, 1.0, 20)
        svc.learn(task.first)
        values = decision_values(Pool(task.X, model=svc), np.arange(50))
        assert values.shape == (50, classes)
        np.testing.assert_array_equal(values.argmax(axis=1)[: len(task.first)], task.y[: len(task.first)])


def test_the_two_best_of_several_classes_are_mostly_one_vote_apart(data):
    task = repetition("mnist", data, 0, 200)
    svc = GrowingSVC(task, 1.0, 40)
    svc.learn(np.arange(40))
    gaps = margins(decision_values(Pool(task.X, model=svc), np.arange(40, 200)))
    assert (np.abs(gaps - 1) < 1 / 3).mean() > 0.9


def test_a_repetition_is_split_scaled_and_started(data):
    half = repetition("phishing", data, 3, 200)
    assert (half.X.shape, half.X_test.shape) == ((200, 30), (285, 30))
    assert half.X.min() >= 0 and half.X.max() <= 1  # noqa: PT018
    joined = np.vstack([repetition("phishing", data, 3, 10**6).X, half.X_test])
    assert len(np.unique(joined, axis=0)) == 569  # every row once: pool and test share none
    assert sorted(half.y[half.first]) == [0, 1]
    assert (repetition("phishing", data, 4, 200).X != half.X).any()
    official = repetition("mnist", data, 3, 200)
    assert official.X_test.shape == (897, 64)
    assert official.X.max() == 240 / 255
    assert sorted(official.y[official.first]) == list(range(10))
    assert official.gamma == pytest.approx(1 / (64 * official.X.var()))


def test_constant_columns_become_zero(data, tmp_path):
    with np.load(data / "phishing.npz") as stored:
        X, y = stored["X_train"].copy(), stored["y_train"]
    X[:, 4] = 7
    np.savez(tmp_path / "phishing.npz", X_train=X, y_train=y)
    assert (repetition("phishing", tmp_path, 0, 200).X[:, 4] == 0).all()


class Watcher(Strategy):
    """Takes the first free rows and records what it gets."""

    name, title, summary, cost, kind = "watcher", "Watcher", "First rows", "nothing", "adaptive"
    calls, truth = None, None

    def _pick(self, pool, n):
        self.calls.append((len(pool.labels), pool.model is not None, n))
        np.testing.assert_array_equal(pool.labels, self.truth[pool.labeled][: len(pool.labels)])
        return pool.unlabeled[:n]


def test_a_strategy_without_labels_picks_once_and_others_at_every_step(data):
    task = repetition("satimage", data, 0, 60)
    curves = {}
    for uses_labels, calls in ((False, [(0, False, 9)]), (True, [(n, True, 1) for n in range(3, 12)])):
        watcher = Watcher()
        watcher.truth, watcher.calls = task.y, []
        rng = np.random.default_rng(0)
        curves[uses_labels] = learning_curve(task, watcher, 1.0, 12, rng, uses_labels=uses_labels)
        assert watcher.calls == calls
    assert curves[False] == curves[True]
    for n in (3, 12):
        peer = SVC(C=1.0, gamma=task.gamma).fit(task.X[:n], task.y[:n])
        assert curves[False][n - 3] == pytest.approx(peer.score(task.X_test, task.y_test), abs=0.012)  # a row


def test_it_writes_rows_page_and_picture(finished):
    out, page, rows = finished
    assert sorted(p.name for p in out.iterdir()) == ["README.md", "figure12.png", "protocol.json", "rows.jsonl"]
    assert (out / "README.md").read_text() == page
    assert (out / "figure12.png").read_bytes().startswith(b"\x89PNG")
    assert "nan" not in page
    assert all(word in page for word in ("Quick run", "reproduced", "ALDR+ (reconstructed)", *DATASETS, *PENALTIES))
    keys = {(r["dataset"], r["method"], r["setting"], r["seed"]) for r in rows}
    assert keys == {(d, m, c, s) for d in DATASETS for m in METHODS for c in PENALTIES for s in (0, 1)}
    assert len(keys) == len(rows)
    assert "one-vs-one votes" in page
    assert "half the margin in place of a sum" in page
    assert "standardised columns" in page


def test_curves_run_from_one_label_a_class_to_the_last(finished):
    classes = {"phishing": 2, "adult": 2, "satimage": 3, "mnist": 10}
    starts = {}
    for row in finished[2]:
        accuracy = np.array(row["accuracy"])
        assert len(accuracy) == 20 - classes[row["dataset"]] + 1
        assert row["aulc"] == pytest.approx((accuracy[:-1] + accuracy[1:]).mean() / 2, abs=1e-5)
        starts.setdefault((row["dataset"], row["setting"], row["seed"]), set()).add(accuracy[0])
    assert all(len(found) == 1 for found in starts.values())  # all methods start with the same labels


def test_a_second_run_measures_nothing_and_writes_the_same(finished, data, monkeypatch):
    out, page, _ = finished
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    monkeypatch.setenv("MHEAL_NUM_THREADS", "1")
    monkeypatch.setattr(figure12, "repetition", None)  # calling it would fail
    assert figure12.run(out, data, None, True, silent) == page
    assert {p.name: p.read_bytes() for p in out.iterdir()} == before


def test_slow_methods_have_ten_repetitions_at_most():
    assert [len(seeds_of(m, 100)) for m in ("spal", "aldr", "gen", "mheal")] == [10, 10, 100, 100]
    assert len(seeds_of("spal", 3)) == 3


def flat(heights, labels=100, starts=None):
    """Rows of level curves, heights[method] high, or falling from it to `starts`; slow methods have two seeds only."""
    rows = []
    for name in DATASETS:
        for setting in PENALTIES:
            for method in METHODS:
                for seed in range(2 if method in SLOW else 4):
                    height = heights.get((name, method), heights.get(method, 0.5)) + 0.001 * seed
                    curve = np.linspace(height, (starts or {}).get(method, height), labels - 1)
                    rows.append(dict(dataset=name, setting=setting, method=method, seed=seed, aulc=height,
                                     accuracy=curve.tolist()))  # fmt: skip
    return Curves(rows, labels)


@pytest.mark.parametrize(
    ("heights", "verdict", "above", "below"),
    [
        ({"mheal": 0.9}, "reproduced", {*DATASETS}, {}),
        ({"mheal": 0.9, ("adult", "spal"): 0.95}, "not reproduced", {*DATASETS} - {"adult"}, {"adult": "SPAL"}),
        ({}, "not reproduced", set(), {}),
        ({"ted": 0.6}, "refuted", set(), dict.fromkeys(DATASETS, "TED")),
    ],
)
@pytest.mark.parametrize("place", [20, "aulc"])
def test_verdicts_follow_from_the_rows(heights, verdict, above, below, place):
    words, found = on_top(flat(heights), "mheal", "C=1", BASELINES, place)
    assert found == verdict
    higher, lower = words.split("; ")
    assert numbers(higher) == [len(above), len(DATASETS)]
    assert {name for name in DATASETS if name in higher} == above
    assert numbers(lower) == [len(below)]
    assert dict(re.findall(r"(\w+) by (\w+)", lower)) == below


def numbers(words):
    return [int(number) for number in re.findall(r"\d+", words)]


def shrunk(heights, ends):
    *_, words, verdict = shrinking(flat(heights, starts=ends), "C=1")
    return words, verdict


def test_differences_shrink_where_curves_meet():
    far, level = {"ted": 0.9, "gen": 0.3}, dict.fromkeys(METHODS, 0.7)
    words, verdict = shrunk(far, level)
    assert verdict == "reproduced"
    assert "phishing 49.0 → 0.0 (-49.0 ± 0.0), yes" in words
    words, verdict = shrunk({}, far)
    assert verdict == "refuted"
    assert "mnist 11.0 → 60.0 (+49.0 ± 0.0), no" in words
    mixed = {("adult", method): 0.7 for method in METHODS} | far
    assert shrunk(mixed, level)[1] == "not reproduced"


def test_differences_that_stay_the_same_neither_shrink_nor_grow():
    words, verdict = shrunk({"ted": 0.9}, None)
    assert verdict == "not reproduced"
    assert words.count("no difference") == len(DATASETS)


def test_differences_that_shrink_in_some_repetitions_only_are_no_difference():
    rows = []
    for seed, few, many in ((0, 0.3, 0.0), (1, 0.1, 0.15), (2, 0.2, 0.25)):
        for name in DATASETS:
            for method in METHODS:
                lead = np.linspace(few, many, 81) if method == "ted" else np.zeros(81)
                curve = np.concatenate([np.full(18, 0.5), 0.5 + lead]).tolist()  # 20 labels are the 19th place
                rows.append(dict(dataset=name, setting="C=1", method=method, seed=seed, aulc=0.5, accuracy=curve))
    *_, words, verdict = shrinking(Curves(rows, 100), "C=1")
    assert verdict == "not reproduced"
    assert words.count("20.0 → 13.3 (-6.7 ± 50.2), no difference") == len(DATASETS)


def test_only_the_papers_methods_and_the_seeds_they_share_tell_whether_differences_shrink():
    assert set(METHODS) - set(PUBLISHED) == {"mheal", "random"}
    level = dict.fromkeys(METHODS, 0.7)
    assert shrunk({"mheal": 0.9, "random": 0.1}, level) == shrunk({}, level)
    curves = flat({"ted": 0.9, "random": 0.1})
    assert len(curves.at("mnist", "C=1", "ted", 20)) == 4
    np.testing.assert_allclose(curves.spread("mnist", "C=1", PUBLISHED, 20), [0.4, 0.4])
    np.testing.assert_allclose(curves.spread("mnist", "C=1", ("ted", "random"), 20), 4 * [0.8])


def test_where_random_falls_is_said_and_not_why():
    curves = flat({"random": 0.9}, starts={"random": 0.5})
    found = falls(curves)
    assert set(found) == {(name, setting) for name in DATASETS for setting in PENALTIES}
    assert found["phishing", "C=1"] == pytest.approx((0.902, 0.828), abs=5e-4)
    assert all(figure in _falls(curves) for figure in ("phishing, C=1", "90.2", "82.8"))
    assert falls(flat({}, starts={"random": 0.9})) == {}


def test_methods_with_fewer_repetitions_are_paired_by_seed():
    curves = flat({"mheal": 0.9})
    mine, theirs = curves.gain("mnist", "C=1", "mheal", "spal", "aulc")
    np.testing.assert_allclose(mine - theirs, [0.4, 0.4])
    assert {len(curves.gain("mnist", "C=1", ours, "random", 20)[0]) for ours in OURS} == {4}
