import json
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mheal_reproduction import machine
from mheal_reproduction.experiments import Part
from mheal_reproduction.paper.images import ahead, task
from mheal_reproduction.paper.images import experiment as tables
from mheal_reproduction.paper.images.ahead import make_picks
from mheal_reproduction.paper.images.collect import collect, protocol
from mheal_reproduction.paper.images.experiment import run, write
from mheal_reproduction.paper.images.features import Features
from mheal_reproduction.paper.images.size import FULL, QUICK
from mheal_reproduction.paper.images.task import Task
from mheal_reproduction.paper.images.unfinished import Unfinished
from mheal_reproduction.rows import RawRows, stored_rows

TITLES = ["Random", "K-means", "BALD", "Core-set", "MHEAL (paper)", "MHEAL"]


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


def test_methods_without_features_have_none_learnt(digits, monkeypatch):
    mnist, wanted = Task.load("mnist", "clean", digits, QUICK), []
    monkeypatch.setattr(Features, "prepare", lambda self, kinds, seeds, progress: wanted.append(kinds))
    mnist.prepare([(title, 0) for title in ("Random", "BALD", "Core-set", "CDAL+RL", "VAAL")], silent)
    mnist.prepare([("Random", 0), ("K-means", 0), ("MHEAL (paper)", 0), ("MHEAL with model", 0)], silent)
    assert wanted == [[], ["codes", "dec"]]


@pytest.mark.parametrize("kind", ["clean", "noisy"])
def test_rows_of_small_runs(digits, tmp_path, monkeypatch, kind):
    seen = []

    def progress(*step):
        seen.append(step)

    rows = RawRows(tmp_path, "table3", protocol(QUICK))
    collect(kind, "mnist", rows, digits, range(2), TITLES, QUICK, progress)
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
    assert len(starts) == 1  # all methods of a seed start alike
    assert seen[-1][:2] == (12, 12)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["protocol.json", "rows.jsonl"]
    before = (tmp_path / "rows.jsonl").read_bytes()
    monkeypatch.setattr(Task, "prepare", None)  # calling it would fail
    collect(kind, "mnist", rows, digits, range(2), TITLES, QUICK, progress)
    assert (tmp_path / "rows.jsonl").read_bytes() == before


def test_a_stopped_table_ends_as_if_it_had_not_been_stopped(digits, tmp_path, monkeypatch):
    def rows_of(folder, size=QUICK):
        rows = RawRows(folder, "table3", protocol(QUICK))
        collect("repeated", "mnist", rows, digits, range(1), TITLES, size, silent)
        return {row["method"]: (row["accuracy"], row["copies"]) for row in rows.rows}

    whole, train, calls = rows_of(tmp_path / "whole"), task.Trainers.train, []

    def stop(self, sets, seeds):
        calls.append(len(sets))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return train(self, sets, seeds)

    with monkeypatch.context() as patch:
        patch.setattr(task.Trainers, "train", stop)
        with pytest.raises(KeyboardInterrupt):
            rows_of(tmp_path / "stopped")
    unfinished = tmp_path / "stopped" / "unfinished" / "mnist"
    assert (unfinished / "BALD 0.json").exists()
    made = {path.name for path in (unfinished / "ahead").iterdir()}
    assert made == {"Random 0.json", "K-means 0.json", "MHEAL (paper) 0.json", "MHEAL 0.json"}
    assert json.loads((unfinished / "protocol.json").read_text()) == json.loads(json.dumps(protocol(QUICK)))
    with pytest.raises(ValueError, match="has runs of another protocol: delete that folder"):
        rows_of(tmp_path / "stopped", replace(QUICK, steps=31))
    monkeypatch.setattr(ahead, "pick_ahead", None)  # picks are read
    assert rows_of(tmp_path / "stopped") == whole
    assert not unfinished.parent.exists()
    (unfinished / "ahead").mkdir(parents=True)
    left = unfinished / "ahead" / "MHEAL 0.json"  # as if killed just after its row was written
    left.write_text("{}")
    assert rows_of(tmp_path / "stopped") == whole
    assert not left.exists()


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_picks_made_ahead_are_those_of_the_run(digits, tmp_path, workers):
    mnist = Task.load("mnist", "clean", digits, QUICK)
    mnist.prepare([("MHEAL", 3)], silent)
    unfinished = Unfinished(tmp_path)
    make_picks(mnist, [("K-means", 3), ("MHEAL", 3), ("BALD", 3)], unfinished, silent, workers)
    assert sorted(path.name for path in (tmp_path / "ahead").iterdir()) == ["K-means 3.json", "MHEAL 3.json"]
    for title in ("K-means", "MHEAL"):
        made = mnist.run((title, 3), unfinished)
        alone = mnist.run((title, 3), Unfinished(tmp_path / "nowhere"))
        assert made.X.size == 0 < alone.X.size
        for n in (30, 50):
            assert made.label(n, None).tolist() == alone.label(n, None).tolist()
        stored = unfinished.picks((title, 3))
        assert (stored[30].tolist() == stored[50][:30].tolist()) == (title == "MHEAL")  # K-means begins anew


def test_a_quick_run_writes_rows_a_picture_and_a_page(digits, tmp_path):
    part = Part(methods=("Random", "Core-set", "MHEAL (paper)", "MHEAL"))
    page = run(tmp_path / "table3", digits, 2, True, silent, "clean", part)
    assert sorted(path.name for path in (tmp_path / "table3").iterdir()) == [
        "README.md", "figure13.png", "protocol.json", "rows.jsonl",
    ]  # fmt: skip
    assert page == (tmp_path / "table3" / "README.md").read_text()
    assert "Quick run" in page
    assert "nan" not in page
    assert write(tmp_path / "table3", None, True, "clean") == page


def untimed(page):
    return re.sub(r"[\d,.]+ minutes", "minutes", page)


def test_a_table_in_parts_is_the_table(digits, tmp_path):
    few = ["Random", "MHEAL"]
    whole = run(tmp_path / "table3", digits, 1, True, silent, "clean", Part(("mnist",), tuple(few)))
    for title in reversed(few):
        parts = run(tmp_path / "parts" / "table3", digits, 1, True, silent, "clean", Part(methods=(title,)))
    rows = {row["method"]: row["accuracy"] for row in stored_rows(tmp_path / "parts" / "table3")}
    assert rows == {row["method"]: row["accuracy"] for row in stored_rows(tmp_path / "table3")}
    assert set(rows) == set(few)
    assert "minutes" in whole  # the time that the runs took, the only thing in which the pages may differ
    assert untimed(parts) == untimed(whole)


def test_a_full_run_needs_a_gpu(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "gpu", lambda: None)
    with pytest.raises(ValueError, match="need a GPU: without one they take days"):
        run(tmp_path / "table3", None, None, False, silent, "clean")
    assert not list(tmp_path.iterdir())


def photographs(folder):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 500)
    X = (rng.normal(size=(500, 8, 8, 3)) * 30 + 12 * y[:, None, None, None] + 60).clip(0, 255).astype(np.uint8)
    np.savez(folder / "cifar10.npz", X_train=X[:400], y_train=y[:400], X_test=X[400:], y_test=y[400:])
    return replace(
        FULL, columns={"cifar10": (40, 60, 90)}, steps=3, autoencoder_epochs={"cifar10": 1}, dec_batches=2,
        widths=(64, 64, 128), simclr_epochs=1, simclr_width=8, simclr_columns=16, vaal_batches=1,
    )  # fmt: skip


@pytest.mark.slow
def test_photographs_have_methods_of_their_own(tmp_path):
    size = photographs(tmp_path)
    titles = ["Random", "BALD", "Core-set", "MHEAL (paper)", "MHEAL", "MHEAL, SimCLR", "K-means, SimCLR"]
    rows = RawRows(tmp_path / "out", "table3", protocol(size))
    collect("clean", "cifar10", rows, tmp_path, range(1), titles, size, silent)
    assert {row["method"] for row in rows.rows} == set(titles)
    assert all(set(row["accuracy"]) == {"40", "60", "90"} for row in rows.rows)
    alike = {row["method"]: row["accuracy"]["40"] for row in rows.rows}
    assert alike["Random"] == alike["BALD"] == alike["Core-set"]  # they begin there
    kept = sorted(path.name for path in (tmp_path / "features").iterdir())
    assert kept == ["cifar10_codes_0.npz", "cifar10_dec_0.npz", "cifar10_simclr_0.npz"]


@pytest.mark.slow
def test_vaal_and_mheal_with_the_model_pick_photographs(tmp_path):
    size = photographs(tmp_path)
    titles = ["Random", "VAAL", "MHEAL with model, SimCLR"]
    rows = RawRows(tmp_path / "out", "table3", protocol(size))
    collect("noisy", "cifar10", rows, tmp_path, range(1), titles, size, silent)
    assert {row["method"] for row in rows.rows} == set(titles)
    alike = {row["method"]: row["accuracy"]["40"] for row in rows.rows}
    assert alike["Random"] == alike["VAAL"]
