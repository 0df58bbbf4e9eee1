import numpy as np
import pytest
from scipy.stats import ortho_group

from mheal.algorithms.within_clusters import rotation_starts
from mheal.sphere import unit_rows

KINDS = pytest.mark.parametrize("kind", ["tangent", "chord"])


def cluster(n: int = 500, d: int = 10, seed: int = 0, spread: float = 0.5, dtype=np.float64):
    rng = np.random.default_rng(seed)
    center = unit_rows(rng.normal(size=(1, d)))[0][0]
    return unit_rows((center + spread * rng.normal(size=(n, d))).astype(dtype))[0], center


def starts(U, center, m=10, kind="tangent", first=0):
    return np.array(rotation_starts(np.asarray(U), center, m, kind, first))


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


@KINDS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_point_at_the_centre_has_no_direction_and_starts_last(kind, dtype):
    U, c = cluster(n=8, dtype=dtype)
    U = np.vstack([c.astype(dtype), U])
    assert starts(U, c, 9, kind, first=3)[-1] == 0
    assert sorted(starts(U, c, 9, kind, first=0)) == list(range(9))
    assert starts(U, c, 2, kind, first=0).tolist() == [
        0,
        1,
    ]  # no direction to oppose: the lowest row


@KINDS
@pytest.mark.parametrize("d", [2, 3, 10, 200])
def test_rotation_without_repetition_gives_m_distinct_rows(kind, d):
    for seed in range(10):
        U, c = cluster(d=d, seed=seed)
        rows = starts(U, c, 10, kind, first=seed)
        assert rows.dtype == np.int64
        assert len(set(rows.tolist())) == 10


@KINDS
def test_each_start_is_the_unused_row_most_opposed_to_the_one_before(kind):
    U, c = cluster(n=50, d=4)
    away = U - (U @ c)[:, None] * c if kind == "tangent" else U - c
    rows = starts(U, c, 12, kind, first=7)
    assert rows[0] == 7
    for t in range(1, 12):
        unused = [i for i in range(50) if i not in rows[:t]]
        assert rows[t] == max(unused, key=lambda i: 1 - cosine(away[rows[t - 1]], away[i]))


def test_ties_go_to_the_lowest_row_even_among_many_copies():
    U, c = cluster(n=11, d=7)
    rows = starts(np.vstack([U] * 9), c, 10, first=0)
    once = starts(U, c, 2, first=0)
    assert rows[1] == once[1]
    assert rows[2] == 11  # the copies of row 0 are the most opposed again; the lowest unused is row 11
    e = np.eye(3)
    assert starts([e[0], -e[1], -e[0], e[1]], e[2], 4, first=0).tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ties_go_to_the_lowest_row_in_spite_of_rounding(dtype):
    turns = 2 * np.pi * np.arange(5) / 5
    pentagon = np.column_stack([np.cos(turns), np.sin(turns), np.ones(5)])
    for seed in range(30):  # seen from the axis, corners 2 and 3 are equally far from corner 0
        R = ortho_group.rvs(3, random_state=seed)
        U = unit_rows((pentagon @ R).astype(dtype))[0]
        assert starts(U, R[2], 2, first=0).tolist() == [0, 2]


def test_m_is_capped_by_the_number_of_rows():
    U, c = cluster(n=4)
    assert sorted(starts(U, c)) == [0, 1, 2, 3]
    assert starts(U[:1], c, 10).tolist() == [0]


def test_permuting_the_rows_permutes_the_starts():
    U, c = cluster()
    order = np.random.default_rng(1).permutation(len(U))
    rows = starts(U, c, first=int(order[5]))
    np.testing.assert_array_equal(order[starts(U[order], c, first=5)], rows)
