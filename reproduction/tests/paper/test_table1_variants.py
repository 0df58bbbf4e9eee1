from dataclasses import replace

import numpy as np
import pytest

from mheal_reproduction.experiments import load
from mheal_reproduction.networks.many import fit_many
from mheal_reproduction.paper.table1.deep import recipe_of
from mheal_reproduction.paper.table1.names import DEC, METHODS, full
from mheal_reproduction.paper.table1.variants import ALL, ANY_LENGTH, SETTINGS, STANDARDISED, collect, units
from mheal_reproduction.paper.table1.variants_page import page
from mheal_reproduction.rows import stored_rows


def test_a_quick_run_has_every_row_and_resumes(images, tmp_path):
    out = tmp_path / "table1_variants"
    text = load("table1_variants").run(out, images, 1, True, lambda *_: None)
    rows = stored_rows(out)
    there = [(row["dataset"], row["method"], row["setting"], row["seed"]) for row in rows]
    assert sorted(there) == sorted(units(("mnist", "fashion_mnist"), SETTINGS, 1))
    assert all(0.05 < row["accuracy"] <= 1 for row in rows)
    assert "not judged" in text  # there is no Table 1 beside it
    collect(out, images, 1, True, lambda *_: None)
    assert stored_rows(out) == rows


def test_codes_have_any_length_where_they_are_not_scaled(images):
    with np.load(images / "mnist.npz") as stored:
        X = stored["X_train"].reshape(-1, 64)
    scaled, plain = (
        fit_many(X, [0], recipe=recipe)[0].initial_codes
        for recipe in (recipe_of(DEC, True), replace(recipe_of(DEC, True), length=None))
    )
    lengths = [np.linalg.norm(codes, axis=1).mean() for codes in (scaled, plain)]
    assert lengths[0] == pytest.approx(12, rel=1e-3)
    assert lengths[1] != pytest.approx(12, rel=0.1)
    np.testing.assert_allclose(scaled / lengths[0], plain / lengths[1], atol=1e-5)


def test_the_page_compares_seeds_that_both_have():
    def row(method, setting, seed, accuracy):
        return {"dataset": "mnist", "method": method, "setting": setting, "seed": seed, "accuracy": accuracy,
                "seconds": 60.0, "device": "CPU"}  # fmt: skip

    ours, deep = METHODS[-1], full(METHODS[-1], DEC)
    rows = [row(ours, STANDARDISED, seed, 0.5 + 0.01 * seed) for seed in range(3)]
    rows += [row(deep, ANY_LENGTH, 0, 0.9), row(deep, ALL, 0, 0.7)]
    usual = [row(ours, "n=60000 n_init=10", seed, 0.55 + 0.01 * seed) for seed in range(5)]
    usual += [row(deep, "n=60000", 0, 0.8)]
    text = page(rows, usual, quick=False)
    assert "SphericalKMeans on mnist with standardised pixels: 51.0 instead of 56.0 (the paper's best 55.2)" in text
    assert "| −5.0 ± 0.0 | worse |" in text
    assert "| +10.0, one seed | better |" in text
    assert "| −10.0, one seed | worse |" in text
