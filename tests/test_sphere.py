import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mheal.sphere import blocks, unit_rows

DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def pool(n: int = 200, d: int = 7, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * rng.uniform(0.1, 50, d) + rng.normal(size=d) * 20


def test_unit_rows_of_several_blocks():
    X = np.random.default_rng(0).normal(size=(2100, 2000)) + 3
    assert len(list(blocks(*X.shape))) > 1
    np.testing.assert_allclose(unit_rows(X)[0], X / np.linalg.norm(X, axis=1, keepdims=True), atol=1e-12)


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
