import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from scipy.stats import ortho_group

from mheal.energy import hyperspherical_energy, squared_chords
from mheal.sphere import blocks, unit_rows

EXPONENTS = pytest.mark.parametrize("s", [0, 1, 2, 3])


def points(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def sphere(n: int, d: int, seed: int = 0) -> np.ndarray:
    return unit_rows(points(n, d, seed))[0]


@pytest.mark.parametrize(("s", "expected"), [(0, -np.log(2)), (1, 1 / 2), (2, 1 / 4), (3, 1 / 8)])
def test_energy_of_an_antipodal_pair(s, expected):
    assert hyperspherical_energy([[0.0, 3.0, 4.0], [0.0, -6.0, -8.0]], s) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("s", [0, 0.5, 1, 2, 3.7])
@pytest.mark.parametrize(("n", "d"), [(2, 2), (17, 3), (300, 20)])
def test_energy_equals_the_sum_over_pairs(n, d, s):
    W = points(n, d)
    chords = pdist(sphere(n, d))
    pairs = -np.log(chords) if s == 0 else chords**-s
    assert hyperspherical_energy(W, s) == pytest.approx(pairs.sum(), rel=1e-10)
    assert hyperspherical_energy(W, s, mean=True) == pytest.approx(pairs.mean(), rel=1e-10)
    raw = pdist(W)
    expected = (-np.log(raw) if s == 0 else raw**-s).sum()
    assert hyperspherical_energy(W, s, normalize=False) == pytest.approx(expected, rel=1e-10)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 12), st.integers(2, 6), st.sampled_from([0, 1, 2, 3]), st.integers(0, 99))
def test_energy_is_invariant_under_rotation_and_scaling_of_rows(n, d, s, seed):
    W = points(n, d, seed)
    rng = np.random.default_rng(seed)
    turned = W @ ortho_group.rvs(d, random_state=seed) * rng.uniform(0.1, 9, (n, 1))
    assert hyperspherical_energy(turned, s) == pytest.approx(hyperspherical_energy(W, s), rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [3, 300])
def test_duplicates_are_clamped_and_not_infinite(dtype, d):
    w, v = points(2, d).astype(dtype)
    assert hyperspherical_energy([w, w * 3], 0) == pytest.approx(-np.log(1e-12))  # equal once on the sphere
    assert hyperspherical_energy([w, w], 1) == pytest.approx(1e12)
    three = hyperspherical_energy(np.array([w, w, v]), 0)
    assert three == pytest.approx(-np.log(1e-12) + 2 * hyperspherical_energy(np.array([w, v]), 0), rel=1e-6)


def test_energy_of_less_than_two_points_is_zero_and_of_negative_s_an_error():
    assert hyperspherical_energy(np.ones((1, 3)), 2, mean=True) == 0.0
    with pytest.raises(ValueError, match="s must be at least 0"):
        hyperspherical_energy(np.eye(3), -1.0)


@EXPONENTS
def test_energy_of_several_blocks(s):
    W = unit_rows(points(2100, 4))[0]
    assert len(list(blocks(2100, 2100))) > 1
    chords = pdist(W)
    energy = -np.log(chords) if s == 0 else chords**-s
    assert hyperspherical_energy(W, s) == pytest.approx(energy.sum(), rel=1e-9)


def test_energy_needs_blocks_of_memory_not_the_square_of_n():
    W = points(5000, 3).astype(np.float32)
    tracemalloc.start()
    hyperspherical_energy(W, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5000 * 5000 * 8 * 0.75


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-4), (np.float64, 1e-10)])
@pytest.mark.parametrize("gap", [1.0, 1e-2, 1e-4])
def test_squared_chords_keep_their_digits_for_close_rows(dtype, rtol, gap):
    A = sphere(40, 50).astype(dtype)
    B = (A + gap * points(40, 50, 1)).astype(dtype)
    expected = cdist(A.astype(np.float64), B.astype(np.float64), "sqeuclidean")
    np.testing.assert_allclose(squared_chords(A, B), expected, rtol=rtol)
    assert not squared_chords(A, A).diagonal().any()
