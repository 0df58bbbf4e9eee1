"""Table 2: the selections as orders of the pool, the verdicts, and the page."""

import json

import numpy as np
import pytest
import torch
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits

import mheal
from mheal.energy import hyperspherical_energy
from mheal.sphere import unit_rows
from mheal_reproduction.paper.table2 import experiment as table2
from mheal_reproduction.paper.table2 import orders
from mheal_reproduction.paper.table2 import page as table2_page
from mheal_reproduction.paper.table2.matching import Target
from mheal_reproduction.paper.table2.numbers import DATASETS, METHODS, SPREAD, WHOLE, Found
from mheal_reproduction.paper.table2.orders import ORDERS, Pool, descend, herding, least_energy, max_min, subsets
from mheal_reproduction.paper.table2.pairwise import Pairs
from mheal_reproduction.theory.riesz import riesz_search


def silent(done, total, what):
    pass


@pytest.fixture(scope="module")
def pool():
    return Pool((load_digits().data[:300] / 16).astype(np.float32))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Small images under the names of the big ones; the second is another part of them."""
    X, y = load_digits(return_X_y=True)
    images = (X * 15).astype(np.uint8).reshape(-1, 8, 8)
    folder = tmp_path_factory.mktemp("images")
    np.savez(folder / "mnist.npz", X_train=images[:1100], y_train=y[:1100])
    np.savez(folder / "fashion_mnist.npz", X_train=images[-1000:], y_train=y[-1000:])
    return folder


@pytest.fixture(scope="module")
def finished(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("table2")
    return out, table2.run(out, folder, None, True, silent)


@pytest.mark.parametrize("method", METHODS)
def test_every_selection_is_a_permutation_that_its_seed_decides(pool, method):
    first, again, other = (subsets(method, pool, [50, 300], seed, steps=3) for seed in (0, 0, 1))
    assert sorted(first[1]) == list(range(300))
    assert len(set(first[0])) == 50
    np.testing.assert_array_equal(first[0], again[0])
    if method != "mheal":  # on a pool this small it draws nothing that matters
        assert set(first[0]) != set(other[0])


def test_all_but_l2_are_orders(pool):
    assert set(ORDERS) | {"l2"} == set(METHODS)
    for method in ORDERS:
        small, large = subsets(method, pool, [50, 300], 0)
        np.testing.assert_array_equal(small, large[:50])


@pytest.mark.parametrize("method", METHODS)
def test_tensors_give_the_rows_and_measures_of_arrays(pool, method, monkeypatch):
    expected = subsets(method, pool, [50, 100], 3, steps=5)
    y = np.arange(300) % 7
    target = Target(pool.raw, y, 0.5, pool.gaussian).measure(expected)
    monkeypatch.setattr(orders, "on_device", torch.as_tensor)
    other = Pool(pool.X)
    found = subsets(method, other, [50, 100], 3, steps=5)
    assert all((a == b).all() for a, b in zip(found, expected, strict=True))
    measured = Target(other.raw, y, 0.5, other.gaussian).measure(found)
    for mine, theirs in zip(measured, target, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-4)


def test_l0_is_the_max_min_of_the_library(pool):
    for pairs in (pool.raw, pool.unit):
        order = max_min(pairs, 4)
        np.testing.assert_array_equal(order[:200], mheal.farthest_first(pairs.X, 200, start=int(order[0])))


def test_l1_is_the_greedy_search_and_lowers_the_energy(pool):
    order = least_energy(pool.unit, 4)
    expected = riesz_search(pool.X.astype(np.float64), 100, s=1, start=int(order[0]))
    np.testing.assert_array_equal(order[:100], expected)
    for seed in range(5):
        chance = np.random.default_rng(seed).permutation(300)[:100]
        assert hyperspherical_energy(pool.X[order[:100]], 1) < hyperspherical_energy(pool.X[chance], 1)


def test_l2_lowers_the_energy_of_its_particles(pool):
    start = np.random.default_rng(0).permutation(300)[:100]
    energy = [
        hyperspherical_energy(descend(pool.unit, start, np.random.default_rng(1), steps), 2) for steps in (0, 1, 5, 25)
    ]
    assert energy == sorted(energy, reverse=True)
    assert energy[3] < energy[0]


def test_l2_in_batches_lowers_the_energy_too(pool):
    start = np.random.default_rng(0).permutation(300)[:100]
    W = descend(pool.unit, start, np.random.default_rng(1), 25, batch=30)
    assert hyperspherical_energy(W, 2) < hyperspherical_energy(pool.X[start], 2)
    np.testing.assert_allclose(np.linalg.norm(W, axis=1), 1, rtol=1e-5)


def test_l2_finds_the_simplex():
    points = unit_rows(np.random.default_rng(0).normal(size=(4, 3)))[0].astype(np.float32)
    W = descend(Pairs(points), np.arange(4), np.random.default_rng(0), 8000)
    np.testing.assert_allclose(pdist(W), np.sqrt(8 / 3), rtol=1e-3)


def test_herding_takes_the_row_that_leaves_the_smallest_discrepancy(pool):
    D = np.square(pool.X[:, None].astype(float) - pool.X).sum(axis=2)
    for kernel, K in ((pool.gaussian, pool.gaussian(D)), (lambda D: -(D**0.5), -np.sqrt(D))):
        order = herding(pool.raw, kernel, 2)
        for m in (1, 5, 40):
            w = np.zeros((300, 300)) - 1 / 300  # a column for each next row
            w[order[:m]] += 1 / (m + 1)
            w[np.arange(300), np.arange(300)] += 1 / (m + 1)
            left = np.einsum("ik,ij,jk->k", w, K, w, optimize=True)
            left[order[:m]] = np.inf
            assert left[order[m]] == pytest.approx(left.min(), rel=1e-4)


def test_medoids_of_all_cells_come_before_any_second_row(pool):
    from sklearn.cluster import KMeans

    order = ORDERS["k-means"](pool, 0)
    cells = KMeans(5, init="random", n_init=1, max_iter=30, random_state=0).fit(pool.X)
    nearest = cells.transform(pool.X).argmin(axis=0)
    assert sorted(order[:5]) == sorted(nearest)
    assert sorted(cells.labels_[order[5:10]]) == list(range(5))


def test_the_run_writes_rows_page_and_picture(finished):
    out, page = finished
    assert sorted(p.name for p in out.iterdir()) == ["README.md", "figure10.png", "protocol.json", "rows.jsonl"]
    assert (out / "README.md").read_text() == page
    assert "nan" not in page
    assert page.count("\n| ℓ1 | ") == len(table2.MEASURES)
    assert (out / "figure10.png").read_bytes().startswith(b"\x89PNG")
    rows = [json.loads(line) for line in (out / "rows.jsonl").read_text().splitlines()]
    keys = {(row["dataset"], row["method"], row["setting"], row["seed"]) for row in rows}
    settings = [f"m={m}" for m in (200, 400, 600, 800, 1000)]
    assert len(keys) == len(rows) == 2 * (len(METHODS) * len(settings) * 2 + 2)
    assert keys >= {(name, *about) for name in DATASETS for about in (WHOLE, SPREAD)}
    assert keys >= {("mnist", method, m, seed) for method in METHODS for m in settings for seed in (0, 1)}


def test_a_second_run_measures_nothing_and_writes_the_same(finished, folder, monkeypatch):
    out, page = finished
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    monkeypatch.setattr(table2, "images", None)  # calling it would fail
    assert table2.run(out, folder, None, True, silent) == page
    assert {p.name: p.read_bytes() for p in out.iterdir()} == before


def test_a_stopped_run_goes_on_with_whole_orders(finished, folder, tmp_path, monkeypatch):
    out, page = finished
    monkeypatch.setattr(table2, "draw", lambda *drawn: None)
    lines = (out / "rows.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "protocol.json").write_bytes((out / "protocol.json").read_bytes())
    (tmp_path / "rows.jsonl").write_text("".join(lines[:-5]))  # without the last order
    assert table2.run(tmp_path, folder, None, True, silent) == page
    assert (tmp_path / "rows.jsonl").read_text() == "".join(lines)


def test_a_missing_spread_is_added_and_nothing_else(finished, folder, tmp_path, monkeypatch):
    out, page = finished
    monkeypatch.setattr(table2, "draw", lambda *drawn: None)
    monkeypatch.setattr(table2, "load", None)
    lines = (out / "rows.jsonl").read_text().splitlines(keepends=True)
    spreads = [line for line in lines if '"spread"' in line]
    (tmp_path / "protocol.json").write_bytes((out / "protocol.json").read_bytes())
    (tmp_path / "rows.jsonl").write_text("".join(line for line in lines if line not in spreads))
    assert table2.run(tmp_path, folder, None, True, silent) == page
    assert (tmp_path / "rows.jsonl").read_text().splitlines(keepends=True)[-2:] == spreads


def test_the_page_of_real_rows_has_their_verdicts(finished):
    _, page = finished
    verdicts = [line for line in page.splitlines() if line.startswith("| ")]
    assert any("√2·MMD_μ" in line and line.endswith("| confirmed |") for line in verdicts)
    assert any("two columns obey it" in line and line.endswith("| no |") for line in verdicts)
    assert sum("refuted: negative at X' = X" in line for line in verdicts) == 2
    assert sum("20 steps of at most 0.001" in line for line in verdicts) == 2
    assert any(
        "matches best" in line and line.endswith(("| support points |", "| kernel herding |")) for line in verdicts
    )


def fake(levels, kl=None, spread=None):
    """Rows of three seeds in which every loss is a method's level (1 unless given), falling to 0 at the last size.

    A level may differ by dataset. ℓ_KL with mean images has `kl` for its level, above the −100 it is at X' = X.
    """
    rows, sizes = [], (10, 20, 30)
    for at, name in enumerate(DATASETS):
        facts = {"n": 30, "trace": 1.0, "kl_mean": -100.0, "kl_rows": -50.0, "beta": 0.5}
        random = spread or {"initial": [0.0, 1.0], "mean": [0.0, 1.0], "std": [0.0, 1.0]}
        for about, values in ((WHOLE, facts), (SPREAD, random)):
            rows.append(dict(zip(("dataset", "method", "setting", "seed"), (name, *about), strict=True)) | values)
        for method in METHODS:
            for seed in range(3):
                for m in sizes:
                    falls = (1 - m / 30) * (1 + 0.01 * seed)
                    loss, kl_loss = (np.broadcast_to(of.get(method, 1), 2)[at] * falls for of in (levels, kl or levels))
                    values = dict.fromkeys(table2.MEASURES, loss)
                    values |= {"mmd_squared": np.sqrt(2) * loss, "kl_mean": kl_loss - 100}
                    rows.append({"dataset": name, "method": method, "setting": f"m={m}", "seed": seed} | values)
    return Found(rows, sizes, range(3))


def every_l0(level):
    return dict.fromkeys(("l0-raw", "l0-unit", "l0-clusters"), level)


@pytest.mark.parametrize(
    ("levels", "word"),
    [
        (every_l0(1) | {"l1": 2, "l2": 3}, "reproduced by ℓ0, pixels, ℓ0, unit rows, ℓ0, Algorithm 2"),
        (every_l0(4) | {"l1": 2, "l2": 3, "l0-unit": 1}, "reproduced by ℓ0, unit rows"),
        (every_l0(2) | {"l1": 3, "l2": 1}, "refuted"),
        (every_l0(3) | {"l1": 1, "l2": 2}, "refuted"),
        (every_l0((1, 3)) | {"l1": 2, "l2": 2}, "not reproduced"),
        (every_l0(3) | {"l1": 2, "l2": 2, "l0-raw": 2}, "not reproduced"),
    ],
    ids=["best", "one is best", "worse than l2 only", "worst", "worse on one dataset", "one is equal"],
)
def test_the_verdict_on_l0(levels, word):
    found = fake(levels)
    assert table2_page.judge(found, "mmd_mean") == word
    page = table2_page.page(found, 7, False)
    assert f"| {word} |" in next(line for line in page.splitlines() if "tighter than ℓ1 and ℓ2 under MMD_μ" in line)


def test_kl_is_judged_by_its_distance_from_the_pool_and_never_reproduced():
    far = fake({}, kl=every_l0(-5) | {"l1": 1, "l2": 1})  # the smallest values, farthest from X' = X
    assert table2_page.judge(far, "kl_mean") == "refuted"
    near = fake({}, kl=every_l0(-1) | {"l1": 2, "l2": -3})
    assert table2_page.judge(near, "kl_mean").endswith("but ℓ_KL is no loss")
    shuffled = fake(every_l0(-5) | {"l1": 1, "l2": 1})
    assert table2_page.judge(shuffled, "kl_rows") == "refuted"
    assert "reproduced" not in table2_page.judge(fake(every_l0(1) | {"l1": 2, "l2": 3}), "kl_rows")


def test_the_papers_values_are_placed_in_the_spread_of_random_subsets():
    spread = {"initial": [0.0620, 0.0640], "mean": [0.0, 1.0], "std": [0.5, 1.0]}
    page = table2_page.page(fake({}, spread=spread), 7, False)
    lines = [line for line in page.splitlines() if line.startswith("| mnist | MMD_μ |")]
    assert lines[0].endswith("| 0.0634 inside | 0.0690 outside: above | 0.0618 outside: below |")
    assert lines[1].count(" inside") == 3
    assert lines[2].count("outside: below") == 3
    root2 = next(line for line in page.splitlines() if line.startswith("| mnist | ℓ_MMD | initial"))
    assert root2.count("0.0877 to 0.0905") == 1
    [verdict] = [
        line for line in page.splitlines() if "mnist: the paper's MMD_μ could" in line and "fashion" not in line
    ]
    assert verdict.endswith("| not all: 5 outside |")
    inside = table2_page.page(fake({}), 7, False)
    assert inside.count("| yes: all inside |") == 4


def test_where_the_papers_table_breaks_its_claim():
    assert table2_page.contradictions() == [
        "ℓ_KL, mnist, mean: ℓ1 0.2103 against ℓ0's 0.2183",
        "ℓ_KL, fashion_mnist, initial: ℓ1 0.5194 against ℓ0's 0.7869",
        "ℓ_MMD, mnist, mean: ℓ1 0.0338 against ℓ0's 0.0385",
    ]


def test_statistics_are_taken_inside_each_seed():
    found = fake({})
    found.curve = lambda name, method, what: np.array([[1.0, 0.0], [0.0, 1.0]])  # averaged first, it would not vary
    assert "| Random | – | 0.5000 ± 0.7071 / 0.5000 / 0.7071 |" in table2_page._tables(found)


def test_a_pool_that_is_too_small_is_named(folder):
    with pytest.raises(ValueError, match="mnist has 1100 rows, and 60000 are needed"):
        table2.load("mnist", folder, 60_000)
