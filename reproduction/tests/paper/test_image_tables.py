import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_digits

pytest.importorskip("torch")

from mheal_reproduction.paper.images.plans import make_plans
from mheal_reproduction.paper.table3 import run

from mheal.embed.simclr import encode
from mheal_reproduction import machine
from mheal_reproduction.experiments import Part
from mheal_reproduction.paper.images import experiment as image_tables
from mheal_reproduction.paper.images import plans as image_plans
from mheal_reproduction.paper.images.experiment import Task, collect, network_recipe, protocol
from mheal_reproduction.paper.images.features import Features, principal
from mheal_reproduction.paper.images.methods import COLUMNS, answers, lines
from mheal_reproduction.paper.images.page import EARLIER
from mheal_reproduction.paper.images.pools import KINDS, image_pool, share_of_copies, share_of_wrong
from mheal_reproduction.paper.images.published import BUDGETS, accuracies
from mheal_reproduction.paper.images.unfinished import Unfinished
from mheal_reproduction.rows import RawRows, stored_rows

TITLES = ["Random", "K-means", "BALD", "Core-set", "MHEAL (paper)", "MHEAL"]


@pytest.fixture(autouse=True)
def small_autoencoders(monkeypatch):
    monkeypatch.setattr("mheal_reproduction.networks.dec.WIDTHS", (64, 64, 128))


def silent(done, total, what):
    pass


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """Digits under the name of MNIST."""
    X, y = load_digits(return_X_y=True)
    images = (15 * X).astype(np.uint8).reshape(-1, 8, 8)
    folder = tmp_path_factory.mktemp("digits")
    np.savez(folder / "mnist.npz", X_train=images[:600], y_train=y[:600], X_test=images[600:900], y_test=y[600:900])
    return folder


def test_the_printed_tables_are_whole():
    for kind in ("clean", "repeated", "noisy"):
        for dataset, budgets in BUDGETS.items():
            printed = accuracies(kind, dataset)
            assert len(printed) == 11
            assert all(tuple(cells) == budgets for cells in printed.values())
    assert accuracies("clean", "mnist")["MHEAL"][100] == 0.8648
    assert accuracies("repeated", "cifar10")["Max Entropy"][5000] == 0.7201
    assert accuracies("noisy", "cifar100")["VAAL"][20_000] == 0.4523


def test_every_printed_line_is_answered():
    for name in BUDGETS:
        found = lines(name)
        assert {line.printed for line in found.values()} - {None} == set(accuracies("clean", name))
        assert set(found) <= set(answers())
        assert found["Random"].first == (20 if name == "mnist" else BUDGETS[name][0])
    assert sum(title.endswith(", SimCLR") for title in found) == 6
    assert all(set(BUDGETS[name]) <= set(COLUMNS[name]) for name in BUDGETS)


def test_recipes_depend_on_the_dataset_and_the_number_of_labels_only():
    assert network_recipe("mnist", 100, False) == network_recipe("mnist", 500, False)
    assert network_recipe("cifar10", 1000, False).steps < network_recipe("cifar10", 10_000, False).steps
    assert network_recipe("cifar10", 5000, False) == network_recipe("cifar100", 5000, False)


def test_lines_that_look_at_no_features_have_none_learnt(digits, monkeypatch):
    task, asked = Task.load("mnist", "clean", digits, quick=True), []
    monkeypatch.setattr(Features, "prepare", lambda self, kinds, seeds, progress: asked.append(kinds))
    task.prepare([(title, 0) for title in ("Random", "BALD", "Core-set", "CDAL+RL", "VAAL")], silent)
    task.prepare([("Random", 0), ("K-means", 0), ("MHEAL (paper)", 0), ("MHEAL, asking", 0)], silent)
    assert asked == [[], ["codes", "dec"]]


def test_pools_of_each_kind():
    n = 50_000  # as CIFAR has
    y = np.random.default_rng(0).integers(0, 10, n)
    clean, repeated, noisy = (image_pool(y, kind, 3) for kind in KINDS)
    assert clean.images.tolist() == list(range(n))
    for pool in (repeated, noisy):
        assert len(pool.images) == n + 10_000
        assert np.bincount(np.bincount(pool.images)).tolist() == [0, n - 10_000, 10_000]
    assert (repeated.labels == y[repeated.images]).all()
    wrong = noisy.labels != y[noisy.images]
    assert len(set(noisy.images[wrong].tolist())) == wrong.sum() == 10_000
    assert (np.bincount(noisy.images)[noisy.images[wrong]] == 2).all()
    assert np.bincount(noisy.labels[wrong], minlength=10).min() > 800  # any other class
    assert image_pool(y, "noisy", 4).images.tolist() != noisy.images.tolist()


def test_a_copy_stands_before_its_original_as_often_as_behind_it():
    """Else whoever takes the first of two equal rows never buys a wrong label."""
    y = np.zeros(50_000, np.int64)
    y[0] = 9
    noisy = image_pool(y, "noisy", 0)
    place = np.arange(len(noisy.images))
    wrong = noisy.labels != y[noisy.images]
    original = np.empty(len(y), np.int64)
    original[noisy.images[~wrong]] = place[~wrong]
    assert 0.48 < (place[wrong] < original[noisy.images[wrong]]).mean() < 0.52


def test_shares_of_copies_and_of_wrong_labels():
    y = np.arange(600) % 10
    pool = image_pool(y, "noisy", 0)
    wrong = pool.labels != y[pool.images]
    copy = int(np.flatnonzero(wrong)[0])
    original = int(np.flatnonzero((pool.images == pool.images[copy]) & ~wrong)[0])
    others = np.flatnonzero(np.bincount(pool.images)[pool.images] == 1)[:2]
    bought = np.array([copy, original, *others])
    assert share_of_copies(pool, bought) == 0.25
    assert share_of_wrong(pool, y, bought) == 0.25


@pytest.mark.parametrize("kind", ["clean", "noisy"])
def test_rows_of_small_runs(digits, tmp_path, monkeypatch, kind):
    seen = []

    def progress(*said):
        seen.append(said)

    rows = RawRows(tmp_path, "table3", protocol(True))
    collect(kind, "mnist", rows, digits, range(2), TITLES, True, progress)
    assert {(row["method"], row["seed"]) for row in rows.rows} == {(title, seed) for title in TITLES for seed in (0, 1)}
    for row in rows.rows:
        assert set(row["accuracy"]) == {"20", "30", "50"}
        assert all(0 <= value <= 1 for value in row["accuracy"].values())
        assert row["seconds"] > 0
        assert row["device"] == (machine.gpu() or "CPU")
    wrong = [share for row in rows.rows for share in row["wrong"].values()]
    assert (max(wrong) > 0) == (kind == "noisy")
    assert all(share == 0 for row in rows.rows for share in row["copies"].values()) or kind == "noisy"
    starts = {row["accuracy"]["20"] for row in rows.where(seed=0)}
    assert len(starts) == 1  # all lines of a seed start alike
    assert seen[-1][:2] == (12, 12)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["protocol.json", "rows.jsonl"]
    before = (tmp_path / "rows.jsonl").read_bytes()
    monkeypatch.setattr(Task, "prepare", None)  # calling it would fail
    collect(kind, "mnist", rows, digits, range(2), TITLES, True, progress)
    assert (tmp_path / "rows.jsonl").read_bytes() == before


def test_a_stopped_table_ends_as_if_it_had_not_been_stopped(digits, tmp_path, monkeypatch):
    def rows_of(folder):
        rows = RawRows(folder, "table3", protocol(True))
        collect("repeated", "mnist", rows, digits, range(1), TITLES, True, silent)
        return {row["method"]: (row["accuracy"], row["copies"]) for row in rows.rows}

    whole, train, calls = rows_of(tmp_path / "whole"), image_tables.Trainers.train, []

    def stop(self, sets, seeds):
        calls.append(len(sets))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return train(self, sets, seeds)

    with monkeypatch.context() as patch:
        patch.setattr(image_tables.Trainers, "train", stop)
        with pytest.raises(KeyboardInterrupt):
            rows_of(tmp_path / "stopped")
    unfinished = tmp_path / "stopped" / "unfinished" / "mnist"
    assert (unfinished / "BALD 0.json").exists()
    made = {path.name for path in (unfinished / "plans").iterdir()}
    assert made == {"Random 0.json", "K-means 0.json", "MHEAL (paper) 0.json", "MHEAL 0.json"}
    assert json.loads((unfinished / "protocol.json").read_text()) == json.loads(json.dumps(protocol(True)))
    with monkeypatch.context() as patch:
        patch.setattr(image_tables, "COVER", 3)
        with pytest.raises(ValueError, match="begun under another protocol: delete that folder"):
            rows_of(tmp_path / "stopped")
    monkeypatch.setattr(image_plans, "plan", None)  # plans are read
    assert rows_of(tmp_path / "stopped") == whole
    assert not unfinished.parent.exists()
    (unfinished / "plans").mkdir(parents=True)
    left = unfinished / "plans" / "MHEAL 0.json"  # as if killed just after its row was written
    left.write_text("{}")
    assert rows_of(tmp_path / "stopped") == whole
    assert not left.exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_plan_is_what_a_run_would_have_bought(digits, tmp_path, workers):
    task = Task.load("mnist", "clean", digits, True)
    task.prepare([("MHEAL", 3)], silent)
    unfinished = Unfinished(tmp_path)
    make_plans(task, [("K-means", 3), ("MHEAL", 3), ("BALD", 3)], unfinished, silent, workers)
    assert sorted(path.name for path in (tmp_path / "plans").iterdir()) == ["K-means 3.json", "MHEAL 3.json"]
    for title in ("K-means", "MHEAL"):
        planned = task.run((title, 3), unfinished)
        alone = task.run((title, 3), Unfinished(tmp_path / "nowhere"))
        assert planned.X.size == 0 < alone.X.size
        for n in (30, 50):
            assert planned._buy(n, None).tolist() == alone._buy(n, None).tolist()
        stored = unfinished.plan((title, 3))
        assert (stored[30].tolist() == stored[50][:30].tolist()) == (title == "MHEAL")  # K-means begins anew


def test_features_are_kept_beside_the_images_and_read_again(tmp_path, monkeypatch):
    X = (16 * load_digits().images).clip(max=255).astype(np.uint8)[:300]
    monkeypatch.setitem(image_tables.made.__globals__["EPOCHS"], "mnist", 2)
    monkeypatch.setattr("mheal_reproduction.paper.images.features.DEC_BATCHES", 3)
    first = Features("mnist", X, 10, tmp_path, False)
    first.prepare(["codes", "dec"], [1, 6], silent)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mnist_codes_1.npz", "mnist_dec_1.npz"]
    assert first("codes", 6) is first("codes", 1)  # seeds 5 apart share an autoencoder
    assert first("codes", 1).shape == (300, 10)
    assert not np.array_equal(first("codes", 1), first("dec", 1))
    monkeypatch.setattr(Features, "_learn_codes", None)  # calling it would fail
    again = Features("mnist", X, 10, tmp_path, False)
    again.prepare(["codes", "dec"], [6], silent)
    np.testing.assert_array_equal(again("codes", 1), first("codes", 1))
    monkeypatch.setattr(
        "mheal_reproduction.paper.images.features.DEC_BATCHES", 4
    )  # those of DEC are made otherwise now
    with pytest.raises(TypeError):
        Features("mnist", X, 10, tmp_path, False).prepare(["dec"], [1], silent)


def test_rows_of_features_are_in_the_order_of_the_images(monkeypatch):
    from mheal_reproduction.networks import clustering

    def fit_many(X, seeds, *, rows, **_):
        return [clustering.Fitted(s, "spherical", *[X[r, :1].astype(np.float32)] * 5, 1, [], 0.0)
                for s, r in zip(seeds, rows, strict=True)]  # fmt: skip

    monkeypatch.setattr(clustering, "fit_many", fit_many)
    X = np.arange(240, dtype=np.uint8).reshape(60, 2, 2)
    found = Features("mnist", X, 10, None, False)
    found.prepare(["codes"], [0, 1], silent)
    for seed in (0, 1):
        assert found("codes", seed)[:, 0].tolist() == X[:, 0, 0].tolist()


def test_principal_columns_keep_cosines():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 20)) + 0.01 * rng.normal(size=(500, 20))
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    kept = principal(X, 3)
    assert kept.shape == (500, 3)
    np.testing.assert_allclose(kept @ kept.T, X @ X.T, atol=0.02)
    assert principal(X, 20) is X


def test_photographs_have_lines_of_their_own(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 500)
    X = (rng.normal(size=(500, 8, 8, 3)) * 30 + 12 * y[:, None, None, None] + 60).clip(0, 255).astype(np.uint8)
    np.savez(tmp_path / "cifar10.npz", X_train=X[:400], y_train=y[:400], X_test=X[400:], y_test=y[400:])
    monkeypatch.setitem(COLUMNS, "cifar10", (40, 60, 90))
    monkeypatch.setattr("mheal_reproduction.paper.images.methods.VAAL_BATCHES", 2)
    monkeypatch.setattr(
        "mheal.strategies.vaal_network.CHANNELS", (8, 16, 32, 64)
    )  # a batch of the paper's takes a core 10 seconds
    tiny = replace(network_recipe("cifar10", 1000, False), steps=4, batch=16, warm_up=1)
    monkeypatch.setattr(image_tables, "network_recipe", lambda name, labels, quick: replace(tiny, steps=labels // 10))
    for constant, value in (("DEC_BATCHES", 2), ("SIMCLR_EPOCHS", 1), ("COLUMNS", 16)):
        monkeypatch.setattr(f"mheal_reproduction.paper.images.features.{constant}", value)
    monkeypatch.setitem(image_tables.made.__globals__["EPOCHS"], "cifar10", 1)
    monkeypatch.setattr("mheal.embed.simclr.encode", partial(encode, width=8))
    titles = ["Random", "BALD", "Core-set", "VAAL", "MHEAL (paper)", "MHEAL", "MHEAL, SimCLR", "K-means, SimCLR"]
    rows = RawRows(tmp_path / "out", "table3", {})
    collect("clean", "cifar10", rows, tmp_path, range(1), titles, False, silent)
    assert {row["method"] for row in rows.rows} == set(titles)
    assert all(set(row["accuracy"]) == {"40", "60", "90"} for row in rows.rows)
    alike = {row["method"]: row["accuracy"]["40"] for row in rows.rows}
    assert alike["Random"] == alike["BALD"] == alike["Core-set"] == alike["VAAL"]  # they begin there
    kept = sorted(path.name for path in (tmp_path / "features").iterdir())
    assert kept == ["cifar10_codes_0.npz", "cifar10_dec_0.npz", "cifar10_simclr_0.npz"]


def test_a_quick_run_writes_rows_a_picture_and_a_page(digits, tmp_path, monkeypatch):
    few = ["Random", "Core-set", "MHEAL (paper)", "MHEAL"]
    monkeypatch.setattr(image_tables, "answers", lambda: {title: answers()[title] for title in few})
    page = run(tmp_path / "table3", digits, 2, True, silent)
    assert sorted(path.name for path in (tmp_path / "table3").iterdir()) == [
        "README.md", "figure13.png", "protocol.json", "rows.jsonl",
    ]  # fmt: skip
    assert page == (tmp_path / "table3" / "README.md").read_text()
    assert "Quick run" in page
    assert "nan" not in page


def test_a_table_in_parts_is_the_table(digits, tmp_path, monkeypatch):
    few = ["Random", "MHEAL"]
    whole = run(tmp_path / "table3", digits, 1, True, silent, Part(("mnist",), tuple(few)))
    for title in reversed(few):
        parts = run(tmp_path / "parts" / "table3", digits, 1, True, silent, Part(lines=(title,)))
    rows = {row["method"]: row["accuracy"] for row in stored_rows(tmp_path / "parts" / "table3")}
    assert rows == {row["method"]: row["accuracy"] for row in stored_rows(tmp_path / "table3")}
    assert set(rows) == set(few)
    assert parts == whole


def test_without_a_gpu_a_full_run_shows_what_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "gpu", lambda: None)
    page = run(tmp_path / "new" / "table3", None, None, False, silent)
    assert "Missing: mnist; cifar10; cifar100. They were not made on this machine: they need a GPU" in page
    assert [path.name for path in (tmp_path / "new" / "table3").iterdir()] == ["README.md"]


def test_rows_of_an_earlier_protocol_are_shown_and_said_to_be_that(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "gpu", lambda: None)
    row = {"dataset": "mnist", "method": "Random", "setting": "clean", "seed": 0, "accuracy": {100: 0.5}}
    row |= {"copies": {100: 0}, "wrong": {100: 0}, "seconds": 1, "device": "GPU"}
    for name, made in (("now", protocol(False)), ("before", protocol(False) | {"first": 3})):
        RawRows(tmp_path / name / "table3", "table3", made).add([row])
    said = {name: run(tmp_path / name / "table3", None, None, False, silent) for name in ("now", "before")}
    assert "50.0" in said["before"]
    assert EARLIER in said["before"]
    assert EARLIER not in said["now"]
