from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mheal.sphere import unit_rows
from mheal_reproduction.theory.gradient import log_product
from mheal_reproduction.theory.sequential import best_start, greedy, sequential


def points(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def brute(P, n: int, start: int) -> list[int]:
    """Eq. 4 from scratch at every step, on floating point data without ties."""
    U = unit_rows(P)[0]
    rows = [start]
    while len(rows) < n:
        left = [p for p in range(len(U)) if p not in rows]
        rows.append(max(left, key=lambda p: sum(np.log(np.linalg.norm(U[w] - U[p])) for w in rows)))
    return rows


def brute_integers(P, n: int, start: int) -> list[int]:
    """Eq. 4 in exact integer arithmetic (products of squared distances); max takes the lowest of equals."""
    P = [tuple(map(int, p)) for p in P]

    def squared(a, b):
        return sum((x - y) ** 2 for x, y in zip(P[a], P[b], strict=True))

    rows = [start]
    while len(rows) < n:
        left = [p for p in range(len(P)) if p not in rows]
        rows.append(max(left, key=lambda p: prod(squared(w, p) for w in rows)))
    return rows


@pytest.mark.parametrize(("M", "d", "n", "start"), [(200, 2, 12, 0), (150, 3, 40, 7), (60, 30, 60, 59), (5, 2, 1, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sequential_equals_brute_force_recomputation(M, d, n, start, dtype):
    P = points(M, d).astype(dtype)
    rows = sequential(P, n, start)
    assert rows.dtype == np.int64
    assert rows.tolist() == brute(P.astype(np.float64), n, start)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_sequential_breaks_exact_ties_by_the_lowest_row(data):
    d, M = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 25))
    cell = st.lists(st.integers(-2, 2), min_size=d, max_size=d)
    P = np.array(data.draw(st.lists(cell, min_size=M, max_size=M)), dtype=float)
    n, start = data.draw(st.integers(1, min(M, 6))), data.draw(st.integers(0, M - 1))
    assert sequential(P, n, start, unit=False).tolist() == brute_integers(P, n, start)
    assert sequential(P.astype(np.float32), n, start, unit=False).tolist() == brute_integers(P, n, start)


def test_ties_on_the_sphere_go_to_the_lowest_row_in_spite_of_rounding():
    cube = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    assert sequential(cube, 8).tolist() == brute_integers(cube, 8, 0)
    assert sequential(cube * 0.1, 8).tolist() == brute_integers(cube, 8, 0)


def test_no_row_is_picked_twice_and_duplicates_come_last_lowest_first():
    distinct = points(6, 3)
    P = np.vstack([distinct, distinct[::-1] * 3, distinct])
    for start in (0, 5, 8, 17, "best"):
        rows = sequential(P, 18, start)
        assert sorted(rows) == list(range(18))
        assert len({tuple(np.round(unit_rows(P)[0][r], 9)) for r in rows[:6]}) == 6
        assert rows[6:].tolist() == sorted(rows[6:])


def test_equal_rows_only_are_taken_in_order():
    assert sequential(np.ones((5, 4), dtype=np.float32), 4, start=2).tolist() == [2, 0, 1, 3]


@pytest.mark.parametrize(("M", "d", "n"), [(30, 2, 5), (40, 3, 8), (25, 10, 25), (12, 2, 2)])
def test_best_start_equals_brute_force_over_all_starts(M, d, n):
    P = points(M, d)
    scores = [log_product(P[brute(P, n, p)]) for p in range(M)]
    expected = int(np.flatnonzero(np.array(scores) >= max(scores) - 1e-9)[0])
    row, value = best_start(P, n)
    assert row == expected
    assert value == pytest.approx(scores[expected], rel=1e-9, abs=1e-9)
    assert sequential(P, n, "best").tolist() == brute(P, n, expected)


def test_best_start_ties_go_to_the_lowest_row():
    square = np.array([[1.0, 0.2], [-0.2, 1.0], [-1.0, -0.2], [0.2, -1.0]])
    assert best_start(square, 3)[0] == 0
    assert best_start(points(9, 3), 1) == (0, 0.0)
    row, value = best_start(np.ones((4, 2)), 2)
    assert (row, value) == (0, -np.inf)


def test_best_start_without_the_table_of_chords_is_the_same():
    P = points(50, 4)
    expected = best_start(P, 10)
    row, value = best_start(P, 10, table_rows=49)
    assert row == expected[0]
    assert value == pytest.approx(expected[1], rel=1e-12)


def test_best_start_is_at_least_as_good_as_every_other():
    P = points(80, 5)
    best = log_product(P[sequential(P, 12, "best")])
    assert all(log_product(P[sequential(P, 12, s)]) <= best + 1e-9 for s in range(80))
    assert best > log_product(P[sequential(P, 12)])


def test_greedy_reports_the_log_product_of_each_lane():
    P = unit_rows(points(40, 3))[0]
    rows, total = greedy(P, np.array([3, 20]), 7)
    np.testing.assert_allclose(total, [log_product(P[r]) for r in rows], rtol=1e-10)


def test_permuting_the_pool_permutes_the_picks():
    P = points(150, 4)
    order = np.random.default_rng(1).permutation(150)
    np.testing.assert_array_equal(order[sequential(P[order], 20, 3)], sequential(P, 20, int(order[3])))


def test_a_shorter_run_is_a_prefix_of_a_longer_one():
    P = points(100, 4)
    np.testing.assert_array_equal(sequential(P, 5), sequential(P, 30)[:5])


def test_unit_chooses_between_the_sphere_and_the_raw_rows():
    P = np.array([[1.0, 0.0], [0.0, 1.0], [100.0, 1.0]])
    assert sequential(P, 2).tolist() == [0, 1]
    assert sequential(P, 2, unit=False).tolist() == [0, 2]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_pool_with_nan_or_infinity_is_refused(bad):
    with pytest.raises(ValueError, match="NaN or infinite"):
        sequential([[1.0, bad], [0.0, 1.0]], 2)


@pytest.mark.parametrize(
    ("n", "start", "message"),
    [
        (0, None, "n must be between 1 and the 3 rows"),
        (4, None, "n must be between 1 and the 3 rows"),
        (2, 3, "row between 0 and 2"),
        (2, -1, "row between 0 and 2"),
        (2, "worst", "None or 'best'"),
    ],
)
def test_bad_requests_are_refused_in_one_line(n, start, message):
    with pytest.raises(ValueError, match=message) as error:
        sequential(np.eye(3), n, start)
    assert "\n" not in str(error.value)
