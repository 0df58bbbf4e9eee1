import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.preprocessing import StandardScaler

from mheal.sphere import blocks, standardize, unit_rows

DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def pool(n: int = 200, d: int = 7, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * rng.uniform(0.1, 50, d) + rng.normal(size=d) * 20


@DTYPES
def test_standardize_is_scikit_learns_scaler_and_keeps_the_dtype(dtype):
    X = pool().astype(dtype)
    Z, mean, scale = standardize(X)
    expected = StandardScaler().fit(X.astype(np.float64))
    assert Z.dtype == dtype
    np.testing.assert_allclose(mean, expected.mean_, rtol=1e-12)
    np.testing.assert_allclose(scale, expected.scale_, rtol=1e-12)
    np.testing.assert_allclose(Z, expected.transform(X.astype(np.float64)), atol=1e-5, rtol=1e-5)


@DTYPES
@pytest.mark.parametrize("value", [0.0, 0.1, 1e9 / 3, -7.3])
def test_standardize_turns_constant_columns_into_zero(dtype, value):
    X = pool(n=1001).astype(dtype)
    X[:, 2] = value
    Z, _, scale = standardize(X)
    assert not Z[:, 2].any()
    assert scale[2] == 1
    np.testing.assert_allclose(Z.std(axis=0)[[0, 1, 3]], 1, atol=1e-4)


def test_standardize_survives_a_large_offset_in_float32():
    X = (np.random.default_rng(0).integers(0, 64, (5000, 3)) + 2**20).astype(np.float32)  # exact in float32
    Z, _, _ = standardize(X)
    exact = X.astype(np.float64)
    np.testing.assert_allclose(Z, (exact - exact.mean(0)) / exact.std(0), atol=1e-6)


def test_standardize_and_unit_rows_of_several_blocks():
    X = np.random.default_rng(0).normal(size=(2100, 2000)) + 3
    assert len(list(blocks(*X.shape))) > 1
    np.testing.assert_allclose(standardize(X)[0], (X - X.mean(axis=0)) / X.std(axis=0), atol=1e-9)
    np.testing.assert_allclose(unit_rows(X)[0], X / np.linalg.norm(X, axis=1, keepdims=True), atol=1e-12)


def test_standardisation_does_not_preserve_the_order_of_distances():
    X = np.array([[0, 0], [1, 0], [1, 0.5], [50, 0.25], [0, 0.5]])
    Z, _, _ = standardize(X)

    def gap(A, i, j):
        return np.linalg.norm(A[i] - A[j])

    assert gap(X, 0, 1) == 1.0 > gap(X, 1, 2) == 0.5
    assert gap(Z, 0, 1) < 0.06 < 2 < gap(Z, 1, 2)


@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.floats(-1e300, 1e300, allow_subnormal=False),
    )
)
def test_unit_rows_have_norm_one_or_zero_at_any_magnitude(X):
    U, norms = unit_rows(X)
    lengths = np.linalg.norm(U, axis=1)
    zero = ~X.any(axis=1)
    assert not lengths[zero].any()
    assert not norms[zero].any()
    np.testing.assert_allclose(lengths[~zero], 1, rtol=1e-12)
    np.testing.assert_allclose(U[~zero], X[~zero] / norms[~zero, None], rtol=1e-12, atol=1e-12)


@DTYPES
def test_unit_rows_keep_the_dtype_and_do_not_touch_the_input(dtype):
    X = pool().astype(dtype)
    before = X.copy()
    U, norms = unit_rows(X)
    assert (U.dtype, norms.dtype) == (dtype, np.float64)
    np.testing.assert_array_equal(X, before)


def test_integers_become_float64_and_vectors_are_refused():
    assert unit_rows(np.array([[3, 4]]))[0].tolist() == [[0.6, 0.8]]
    with pytest.raises(ValueError, match="rows and columns"):
        unit_rows(np.ones(3))
    with pytest.raises(ValueError, match="without rows"):
        standardize(np.empty((0, 3)))
