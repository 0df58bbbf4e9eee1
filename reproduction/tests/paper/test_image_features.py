from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mheal_reproduction.networks.many import Fitted
from mheal_reproduction.paper.images import features
from mheal_reproduction.paper.images.features import Features, principal
from mheal_reproduction.paper.images.size import QUICK

SIZE = replace(QUICK, autoencoder_epochs={"mnist": 2}, dec_batches=3)


def silent(done, total, what):
    pass


def test_features_are_kept_beside_the_images_and_read_again(tmp_path, monkeypatch):
    X = (16 * load_digits().images).clip(max=255).astype(np.uint8)[:300]
    first = Features("mnist", X, 10, tmp_path, SIZE)
    first.prepare(["codes", "dec"], [1, 6], silent)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mnist_codes_1.npz", "mnist_dec_1.npz"]
    assert first("codes", 6) is first("codes", 1)  # seeds 5 apart share an autoencoder
    assert first("codes", 1).shape == (300, 10)
    assert not np.array_equal(first("codes", 1), first("dec", 1))
    monkeypatch.setattr(Features, "_learn_codes", None)  # calling it would fail
    again = Features("mnist", X, 10, tmp_path, SIZE)
    again.prepare(["codes", "dec"], [6], silent)
    np.testing.assert_array_equal(again("codes", 1), first("codes", 1))
    with pytest.raises(TypeError):  # they are of another size
        Features("mnist", X, 10, tmp_path, replace(SIZE, dec_batches=4)).prepare(["dec"], [1], silent)
    with pytest.raises(TypeError):  # and of another version
        Features("mnist", X, 10, tmp_path, SIZE, "9.9").prepare(["dec"], [1], silent)


def test_rows_of_features_are_in_the_order_of_the_images(monkeypatch):
    def fit_many(X, seeds, *, rows, **_):
        return [Fitted(s, "spherical", *[X[r, :1].astype(np.float32)] * 5, 1, [], 0.0)
                for s, r in zip(seeds, rows, strict=True)]  # fmt: skip

    monkeypatch.setattr(features, "fit_many", fit_many)
    X = np.arange(240, dtype=np.uint8).reshape(60, 2, 2)
    found = Features("mnist", X, 10, None, SIZE)
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
