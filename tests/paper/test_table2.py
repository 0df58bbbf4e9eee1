"""Table 2: the selections as orders of the pool, and the page."""

import json

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits

import mheal.solve
from mheal.kernels.pairwise import Pairs
from mheal.paper import orders, table2
from mheal.paper.matching import Target
from mheal.paper.orders import ORDERS, Pool, descend, herding, least_energy, max_min, subsets
from mheal.sphere.energy import hyperspherical_energy
from mheal.sphere.project import unit_rows


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


@pytest.mark.parametrize("method", table2.METHODS)
def test_every_selection_is_a_permutation_that_its_seed_decides(pool, method):
    first, again, other = (subsets(method, pool, [50, 300], seed, steps=3) for seed in (0, 0, 1))
    assert sorted(first[1]) == list(range(300))
    assert len(set(first[0])) == 50
    np.testing.assert_array_equal(first[0], again[0])
    if method != "mheal":  # on a pool this small it draws nothing that matters
        assert set(first[0]) != set(other[0])


def test_all_but_l2_are_orders(pool):
    assert set(ORDERS) | {"l2"} == set(table2.METHODS)
    for method in ORDERS:
        small, large = subsets(method, pool, [50, 300], 0)
        np.testing.assert_array_equal(small, large[:50])


@pytest.mark.parametrize("method", table2.METHODS)
def test_tensors_give_the_rows_and_measures_of_arrays(pool, method, monkeypatch):
    torch = pytest.importorskip("torch")
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
        np.testing.assert_array_equal(order[:200], mheal.solve.max_min(pairs.X, 200, start=int(order[0])))


def test_l1_is_the_search_of_the_library_and_lowers_the_energy(pool):
    order = least_energy(pool.unit, 4)
    expected = mheal.solve.riesz_search(pool.X.astype(np.float64), 100, s=1, start=int(order[0]))
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


def test_l2_in_batches_lowers_the_energy_too(pool, monkeypatch):
    monkeypatch.setattr(orders, "BATCH", 30)
    start = np.random.default_rng(0).permutation(300)[:100]
    W = descend(pool.unit, start, np.random.default_rng(1), 25)
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
    assert "nan" not in page.replace("Fashion", "")
    assert all(
        word in page for word in ("Quick run", "reproduced", *table2.METHODS.values(), *table2.MEASURES.values())
    )
    assert (out / "figure10.png").read_bytes().startswith(b"\x89PNG")
    rows = [json.loads(line) for line in (out / "rows.jsonl").read_text().splitlines()]
    keys = {(row["dataset"], row["method"], row["setting"], row["seed"]) for row in rows}
    settings = [f"m={m}" for m in (200, 400, 600, 800, 1000)]
    assert len(keys) == len(rows) == 2 * (len(table2.METHODS) * len(settings) * 2 + 1)
    assert keys >= {("mnist", method, m, seed) for method in table2.METHODS for m in settings for seed in (0, 1)}


def test_a_second_run_measures_nothing_and_writes_the_same(finished, folder, monkeypatch):
    out, page = finished
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    monkeypatch.setattr(table2, "load", None)  # calling it would fail
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


def test_verdicts_follow_from_the_rows(finished):
    _, page = finished
    verdicts = [line for line in page.splitlines() if line.startswith("| ")]
    assert any("√2·MMD_μ" in line and line.endswith("| confirmed |") for line in verdicts)
    assert sum("refuted: negative at X' = X" in line for line in verdicts) == 2
    assert any(
        "matches best" in line and line.endswith(("| support points |", "| kernel herding |")) for line in verdicts
    )


def test_a_pool_that_is_too_small_is_named(folder):
    with pytest.raises(ValueError, match="mnist has 1100 rows, and 60000 are needed"):
        table2.load("mnist", folder, 60_000)
