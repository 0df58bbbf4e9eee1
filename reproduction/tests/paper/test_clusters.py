import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from mheal_reproduction.experiments import load
from mheal_reproduction.paper.figure12.page import DATASETS
from mheal_reproduction.paper.readings.curves import (
    CLASSES,
    comparisons,
    counts,
    measure,
    page,
    place_of,
    readings,
    verdict,
)
from mheal_reproduction.paper.readings.grid import CONTROL, PAPER, RANDOM, random_setting
from mheal_reproduction.rows import stored_rows


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Small real tables under the names of the four."""
    folder = tmp_path_factory.mktemp("data")
    (X, y), (pixels, digit), (wine, kind) = (f(return_X_y=True) for f in (load_breast_cancer, load_digits, load_wine))
    images = (pixels.reshape(-1, 8, 8) * 15).astype(np.uint8)
    np.savez(folder / "phishing.npz", X_train=X, y_train=y)
    np.savez(folder / "adult.npz", X_train=X[100:], y_train=y[100:], X_test=X[:100], y_test=y[:100])
    np.savez(folder / "satimage.npz", X_train=wine[::2], y_train=kind[::2], X_test=wine[1::2], y_test=kind[1::2])
    np.savez(folder / "mnist.npz", X_train=images[:900], y_train=digit[:900], X_test=images[900:], y_test=digit[900:])
    return folder


def test_a_quick_run_has_every_row(data, tmp_path):
    out = tmp_path / "clusters"
    text = load("clusters").run(out, data, 2, True, lambda *_: None)
    rows = stored_rows(out)
    per_seed = sum(2 * (1 + 2 * len(readings(name, "C=1"))) for name in DATASETS)
    assert len(rows) == 2 * per_seed
    assert "No row is missing." in text
    assert all(f"## {name}, C={C}" in text for name in DATASETS for C in (1, 100))
    assert all(list(row["accuracy"]) == ["15", "20"] and row["seconds"] > 0 for row in rows)


def test_a_row_depends_on_the_seed_alone_and_the_control_picks_other_rows(data):
    setting = readings("mnist", "C=100")[0].setting
    both = [measure("mnist", PAPER, setting, 0, data, 200, (15, 20))["accuracy"] for _ in range(2)]
    assert both[0] == both[1]
    assert measure("mnist", CONTROL, setting, 0, data, 200, (15, 20))["accuracy"] != both[0]
    assert measure("mnist", PAPER, setting, 1, data, 200, (15, 20))["accuracy"] != both[0]


def test_verdicts_count_readings_and_pair_by_repetition():
    k = readings("adult", "C=1")
    assert [one.clusters for one in k] == [CLASSES["adult"], 10, 20, 50, None]

    def row(method, setting, seed, accuracy):
        return {"dataset": "adult", "method": method, "setting": setting, "seed": seed, "learner": "C=1",
                "accuracy": {"20": accuracy + 0.05 * seed, "50": accuracy + 0.05 * seed}, "seconds": 30.0}  # fmt: skip

    rows = [row(RANDOM, random_setting("C=1"), seed, 0.7) for seed in range(4)]
    rows += [row(method, k[0].setting, seed, 0.72 + 0.002 * seed) for seed in range(4) for method in (PAPER, CONTROL)]
    rows += [row(PAPER, k[1].setting, seed, 0.69 - 0.001 * seed) for seed in range(4)]
    found = comparisons(rows)
    assert [place_of(one.random) for one in found] == ["above", "below"]
    assert [place_of(one.control) for one in found] == ["level", "–"]
    assert counts(["below", "above", "below"]) == "1 above, 2 below"
    assert verdict(found).startswith(
        "Algorithm 2 against Random, by number of settings: adult 1 above, 1 below of 2, best with k = 2, C=1 "
        "(+2.3 ± 0.4 points)"
    )
    assert verdict(found).endswith("1 level of 1.")
    text = page(rows, quick=False)
    assert "| +2.3 ± 0.4 | above | +0.0 ± 0.0 | level |" in text
    assert "phishing" not in text.partition("## ")[2]
