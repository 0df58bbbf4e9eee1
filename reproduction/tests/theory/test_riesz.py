import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mheal.energy import hyperspherical_energy
from mheal.sphere import unit_rows
from mheal_reproduction.theory.riesz import riesz_descent, riesz_search, snap
from mheal_reproduction.theory.sequential import sequential


def points(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def brute(P, n: int, s: float, start: int) -> list[int]:
    rows = [start]
    while len(rows) < n:
        left = [p for p in range(len(P)) if p not in rows]
        rows.append(min(left, key=lambda p: hyperspherical_energy(P[[*rows, p]], s)))
    return rows


@pytest.mark.parametrize("s", [0.5, 1, 2])
@pytest.mark.parametrize(("M", "d", "n"), [(40, 2, 8), (30, 6, 12)])
def test_greedy_search_equals_brute_force(M, d, n, s):
    P = points(M, d)
    rows = riesz_search(P, n, s, start=4)
    assert rows.dtype == np.int64
    assert rows.tolist() == brute(P, n, s, 4)
    assert riesz_search(P.astype(np.float32), n, s, start=4).tolist() == brute(P, n, s, 4)


def test_search_with_s_0_is_the_greedy_product():
    P = points(100, 4)
    np.testing.assert_array_equal(riesz_search(P, 15, 0, start=2), sequential(P, 15, 2))


@pytest.mark.parametrize("s", [0, 1, 2])
def test_swaps_never_raise_the_energy_and_mostly_lower_it(s):
    lowered = 0
    for seed in range(10):
        P = points(80, 3, seed)
        energies = [
            hyperspherical_energy(P[riesz_search(P, 12, s, start=0, swaps=k, random_state=seed)], s)
            for k in (0, 20, 100, 400)
        ]
        assert np.all(np.diff(energies) <= 1e-9)
        lowered += energies[-1] < energies[0] - 1e-6
    assert lowered >= 5


def test_swapped_rows_are_still_distinct_rows_of_the_pool():
    P = np.vstack([points(20, 3), points(20, 3)])  # every row twice
    rows = riesz_search(P, 20, swaps=300, random_state=0)
    assert len(set(rows.tolist())) == 20
    assert len(np.unique(P[rows], axis=0)) == 20
    assert sorted(riesz_search(P, 40, swaps=5, random_state=0)) == list(range(40))
    with np.errstate(invalid="raise"):  # 30 picks of 20 places: infinite before and after
        assert len(set(riesz_search(P, 30, swaps=100, random_state=0).tolist())) == 30


def test_random_state_decides_the_start_and_the_swaps():
    P = points(200, 3)
    once = riesz_search(P, 10, swaps=50, random_state=5)
    np.testing.assert_array_equal(riesz_search(P, 10, swaps=50, random_state=5), once)
    assert len({int(riesz_search(P, 1, random_state=s)[0]) for s in range(20)}) > 10


def test_permuting_the_pool_permutes_the_picks():
    P = points(150, 4)
    order = np.random.default_rng(1).permutation(150)
    np.testing.assert_array_equal(order[riesz_search(P[order], 20, start=3)], riesz_search(P, 20, start=int(order[3])))


def test_far_raw_rows_are_told_apart_however_small_their_energy():
    P = np.array([[0.0], [1e8], [1.1e8], [-1.05e8]])
    assert riesz_search(P, 3, s=2, start=0, unit=False).tolist() == [0, 2, 3]


@pytest.mark.parametrize("seed", range(8))
def test_six_points_descend_to_the_octahedron(seed):
    W = riesz_descent(6, 3, random_state=seed)
    np.testing.assert_allclose(np.linalg.norm(W, axis=1), 1)
    assert hyperspherical_energy(W, 2) == pytest.approx(6.75, abs=1e-6)
    cosines = np.sort((W @ W.T).ravel())
    np.testing.assert_allclose(cosines, np.repeat([-1, 0, 1], [6, 24, 6]), atol=1e-4)


@pytest.mark.parametrize("s", [0, 1, 2])
@pytest.mark.parametrize("d", [2, 3, 7])
def test_d_plus_one_points_descend_to_the_simplex(d, s):
    W = riesz_descent(d + 1, d, s, random_state=0)
    cosines = (W @ W.T)[~np.eye(d + 1, dtype=bool)]
    np.testing.assert_allclose(cosines, -1 / d, atol=1e-4)


@pytest.mark.parametrize("clip", [None, 1.0])
@pytest.mark.parametrize("s", [0, 1, 2, 3])
def test_energy_decreases_during_descent(s, clip):
    init = points(20, 3)
    init[1] = init[0] + 1e-4  # a steep beginning
    energies = [hyperspherical_energy(init, s)]
    for steps in (1, 2, 5, 20, 100):
        energies.append(hyperspherical_energy(riesz_descent(20, 3, s, steps, init=init, clip=clip), s))
    assert np.all(np.diff(energies) <= 0)
    assert energies[-1] < energies[1] < energies[0]


def test_lr_and_clip_bound_how_far_a_point_moves():
    init = unit_rows(points(30, 3))[0]
    moved = np.linalg.norm(riesz_descent(30, 3, steps=10, lr=1e-3, clip=1.0, init=init) - init, axis=1)
    assert 0 < moved.max() <= 10 * 1e-3
    free = np.linalg.norm(riesz_descent(30, 3, steps=10, init=init) - init, axis=1)
    assert free.max() > 0.1


def test_descent_leaves_its_input_alone_and_no_steps_mean_no_movement():
    init = points(5, 3)
    before = init.copy()
    np.testing.assert_allclose(riesz_descent(5, 3, steps=0, init=init), unit_rows(before)[0])
    riesz_descent(5, 3, init=init)
    np.testing.assert_array_equal(init, before)
    assert np.linalg.norm(riesz_descent(1, 4, random_state=0)) == pytest.approx(1)


def test_snap_takes_the_nearest_unused_row_in_order():
    W, P = points(25, 4, 1), points(60, 4)
    D = cdist(unit_rows(W)[0], unit_rows(P)[0])
    expected: list[int] = []
    for distances in D:
        expected.append(min((p for p in range(60) if p not in expected), key=lambda p: distances[p]))
    rows = snap(W, P)
    assert rows.dtype == np.int64
    assert rows.tolist() == expected
    assert len(set(D.argmin(axis=1))) < 25  # some points did compete for a row


def test_snap_gives_back_the_rows_it_was_given():
    P = points(50, 3)
    rows = np.random.default_rng(0).permutation(50)[:20]
    np.testing.assert_array_equal(snap(P[rows] * 2, P), rows)
    assert snap(np.ones((3, 2)), np.ones((4, 2))).tolist() == [0, 1, 2]


def test_bad_requests_are_refused_in_one_line():
    for request, message in [
        (lambda: riesz_search(np.eye(3), 4), "n must be between"),
        (lambda: riesz_search(np.eye(3), 2, start=3), "start must be"),
        (lambda: riesz_search(np.eye(3), 2, s=-1), "s must be at least 0"),
        (lambda: riesz_descent(0, 3), "at least one point"),
        (lambda: riesz_descent(3, 3, lr=0), "lr must be positive"),
        (lambda: riesz_descent(3, 3, init=np.eye(2)), "init must have the shape"),
        (lambda: snap(np.eye(3), np.eye(3)[:2]), "n must be between"),
    ]:
        with pytest.raises(ValueError, match=message) as error:
            request()
        assert "\n" not in str(error.value)
