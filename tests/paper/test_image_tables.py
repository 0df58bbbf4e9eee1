import numpy as np
import pytest
from sklearn.datasets import load_digits

from mheal.paper import image_tables
from mheal.paper.image_tables import collect, image_pool, lines, protocol, share_of_copies, share_of_wrong
from mheal.paper.published import BUDGETS, accuracies
from mheal.paper.rows import RawRows

TITLES = ["Random", "K-means", "BALD", "Core-set", "MHEAL (paper)", "MHEAL"]


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
    answered = {line.printed for line in lines(10, (1, 28, 28)).values()} - {None}
    assert answered == set(accuracies("clean", "mnist"))


def test_pools_of_each_kind():
    y = np.random.default_rng(0).integers(0, 10, 90_000)
    clean, repeated, noisy = (image_pool(y, kind, 3) for kind in image_tables.KINDS)
    assert clean.images.tolist() == list(range(90_000))
    for pool in (repeated, noisy):
        assert len(pool.images) == 100_000
        assert len(set(pool.images[90_000:].tolist())) == 10_000
    assert (repeated.labels == y[repeated.images]).all()
    assert (noisy.labels[:90_000] == y).all()
    assert (noisy.labels[90_000:] != y[noisy.images[90_000:]]).all()
    assert np.bincount(noisy.labels[90_000:], minlength=10).min() > 800  # any other class
    assert image_pool(y, "noisy", 4).images[-1] != noisy.images[-1]


def test_shares_of_copies_and_of_wrong_labels():
    y = np.arange(600) % 10
    pool = image_pool(y, "noisy", 0)
    copy = 600
    bought = np.array([copy, pool.images[copy], 1, 2] if pool.images[copy] > 2 else [copy, pool.images[copy], 7, 8])
    assert share_of_copies(pool, bought) == 0.25
    assert share_of_wrong(pool, y, bought) == 0.25


@pytest.mark.parametrize("kind", ["clean", "noisy"])
def test_rows_of_small_runs(digits, tmp_path, monkeypatch, kind):
    monkeypatch.setitem(image_tables.COLUMNS, "mnist", (20, 30, 50))
    monkeypatch.setattr(image_tables, "CANDIDATES", 100)
    seen = []

    def progress(*said):
        seen.append(said)

    rows = RawRows(tmp_path, "table3", protocol(True))
    collect(kind, "mnist", rows, digits, range(2), TITLES, True, progress)
    assert {(row["method"], row["seed"]) for row in rows.rows} == {(title, seed) for title in TITLES for seed in (0, 1)}
    for row in rows.rows:
        assert set(row["accuracy"]) == {"20", "30", "50"}
        assert all(0 <= value <= 1 for value in row["accuracy"].values())
        assert set(row["copies"].values()) == {0.0} if kind == "clean" else True
        assert set(row["wrong"].values()) == {0.0} if kind == "clean" else row["wrong"]["20"] >= 0
    starts = {row["accuracy"]["20"] for row in rows.where(seed=0)}
    assert len(starts) == 1  # all lines of a seed start alike
    assert seen[-1][:2] == (12, 12)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["protocol.json", "rows.jsonl"]
    before = (tmp_path / "rows.jsonl").read_bytes()
    monkeypatch.setattr(image_tables, "load_task", None)  # calling it would fail
    collect(kind, "mnist", rows, digits, range(2), TITLES, True, progress)
    assert (tmp_path / "rows.jsonl").read_bytes() == before
