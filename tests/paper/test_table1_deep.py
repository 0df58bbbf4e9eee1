import numpy as np
import pytest

pytest.importorskip("torch")

from mheal.deep import clustering, dec
from mheal.paper.table1 import draw_images, drawn, open_rows
from mheal.paper.table1_deep import deep_rows


def silent(done, total, what):
    pass


@pytest.fixture(autouse=True)
def small_networks(monkeypatch):
    monkeypatch.setattr(dec, "WIDTHS", (64, 64, 128))


def test_every_method_size_and_seed_gets_a_row_and_only_once(images, tmp_path, monkeypatch):
    rows = open_rows(tmp_path, True)
    deep_rows(rows, images, range(1), True, silent)
    assert len(rows.rows) == 2 * 2 * 3 * 2  # datasets, sizes, clusterers, variants
    deep_rows(rows, images, range(2), True, silent)
    assert len(rows.rows) == 2 * 24
    assert {row["method"] for row in rows.rows} == {
        f"{name}+Auto+{variant}" for name in ("K-means", "GMM", "SphericalKMeans") for variant in ("DEC", "IDEC-DA")
    }
    assert {row["setting"] for row in rows.rows} == {"n=500", "n=1000"}
    for row in rows.rows:
        assert 0.1 <= row["accuracy"] <= 1
        assert 0.1 <= row["accuracy_before"] <= 1
        assert row["iterations"] <= 6
        assert min(row["kl_first"], row["kl_last"], row["seconds"]) >= 0
    monkeypatch.setattr(clustering, "fit_many", None)  # calling it would fail
    deep_rows(open_rows(tmp_path, True), images, range(2), True, silent)


def test_images_are_those_of_the_upper_half(images):
    with np.load(images / "mnist.npz") as stored:
        labels = stored["y_train"]
    np.testing.assert_array_equal(labels[drawn(len(labels), 300, 4)], draw_images("mnist", 300, 4, images)[1])
