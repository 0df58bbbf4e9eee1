import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier

torch = pytest.importorskip("torch")

from mheal.embed.autoencoder import autoencoder, encode, train  # noqa: E402

X, y = load_digits(return_X_y=True)


def test_layers_are_the_papers():
    model = autoencoder(784)
    sizes = [(layer.in_features, layer.out_features) for layer in model.encoder if hasattr(layer, "in_features")]
    assert sizes == [(784, 500), (500, 500), (500, 2000), (2000, 10)]


def test_it_overfits_32_images():
    torch.manual_seed(0)
    A = torch.as_tensor(X[:32] / 16, dtype=torch.float32)
    model = train(A, 300)
    with torch.inference_mode():
        assert torch.nn.functional.mse_loss(model(A), A) < 0.02 * A.var()


def test_code_keeps_the_classes_apart_and_is_reproducible():
    seen = []
    code = encode(X[:900], seed=1, steps=120, batch=64, progress=lambda done, total, what: seen.append((done, total)))
    assert code.shape == (900, 10)
    assert code.dtype == np.float32
    assert seen[-1][0] == seen[-1][1]
    np.testing.assert_array_equal(code, encode(X[:900], seed=1, steps=120, batch=64))
    accuracy = KNeighborsClassifier().fit(code[:600], y[:600]).score(code[600:], y[600:900])
    two = PCA(2, random_state=0).fit_transform(X[:900])
    assert accuracy > 0.85
    assert accuracy > KNeighborsClassifier().fit(two[:600], y[:600]).score(two[600:], y[600:900])


def test_callers_randomness_is_left_alone():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    encode(X[:32], steps=2, batch=16)
    assert torch.equal(before, torch.random.get_rng_state())
