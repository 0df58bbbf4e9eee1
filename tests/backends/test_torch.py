"""The torch backend gives the picks of the CPU kernels, on whatever device the tensor lives."""

import subprocess
import sys

import numpy as np
import pytest

import reference
from mheal import MHEAL
from mheal.algorithms.density import Charge
from mheal.algorithms.farthest_first import traverse
from mheal.backends import cpu
from mheal.cluster.seeding import plus_plus

torch = pytest.importorskip("torch")

on_gpu = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]
each_device = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=on_gpu)])


@each_device
@pytest.mark.parametrize("seed", range(12))
def test_traversal_equals_the_plain_loop(device, seed):
    from mheal.backends.torch import Points

    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (400, 9)) if seed % 2 else rng.standard_normal((400, 9))
    weight, candidate = np.exp2(rng.integers(-1, 2, 400)), np.exp2(rng.integers(-4, 2, 400))
    rows, score, left = traverse(
        Points.raw(torch.tensor(X, dtype=torch.float64, device=device)), 60, np.array([3, 8]), Charge(weight, candidate)
    )
    expected, expected_score = reference.max_min(X, 61, [3, 8], weight, candidate)
    np.testing.assert_allclose(score, expected_score[:60], rtol=1e-9, atol=1e-9)
    assert left == pytest.approx(expected_score[60])
    assert len(set(rows)) == 60
    if seed % 2 == 0:  # with masses of ties a device may break them otherwise
        np.testing.assert_array_equal(rows, expected[:60])


MODES = {
    "default": MHEAL(random_state=0),
    "paper": MHEAL.paper(5, random_state=0),
    "quota": MHEAL(quota=True, random_state=0),
    "uncharged": MHEAL(charge=None, random_state=0),
    "clusters": MHEAL(global_repulsion=False, random_state=0),
}


@each_device
@pytest.mark.parametrize("name", MODES)
def test_same_picks_as_numpy(device, name):
    X = np.random.default_rng(0).standard_normal((3000, 10))
    ours = MODES[name].select(X, 80)
    theirs = MODES[name].select(torch.tensor(X, device=device), 80)
    np.testing.assert_array_equal(theirs.indices, ours.indices)
    np.testing.assert_allclose(theirs.radius, ours.radius, rtol=1e-6)
    np.testing.assert_array_equal(theirs.cluster, ours.cluster)


@each_device
def test_float32_and_labelled_rows(device):
    X = np.random.default_rng(1).standard_normal((5000, 16)).astype(np.float32)
    labeled = np.arange(40)
    ours = MHEAL(random_state=0).select(X, 100, labeled)
    theirs = MHEAL(random_state=0).select(torch.tensor(X, device=device), 100, labeled)
    assert len(set(ours.indices) & set(theirs.indices)) >= 95  # float32 rounds differently on each device
    assert theirs.radius[-1] == pytest.approx(ours.radius[-1], rel=0.01)


@each_device
def test_sampled_clusters_on_a_large_pool(device):
    X = torch.randn((20_000, 8), generator=torch.Generator().manual_seed(0)).to(device)
    picks = MHEAL(random_state=0).select(X, 50)
    assert len(set(picks.indices)) == 50
    assert picks.cluster.max() > 5


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (torch.ones(5), ValueError, "1 dimension"),
        (torch.ones((0, 3)), ValueError, "empty"),
        (torch.tensor([[1.0, 2.0], [3.0, float("nan")]]), ValueError, "NaN at row 1, column 1"),
        (torch.ones((4, 2)), ValueError, "all 4 rows of X are equal"),
        (torch.ones((4, 2), dtype=torch.complex64), TypeError, "real numbers"),
    ],
)
def test_bad_tensors(bad, error, message):
    with pytest.raises(error, match=message):
        MHEAL().select(bad, 1)


def test_integer_tensors_and_gradients():
    X = torch.randint(0, 9, (300, 6), generator=torch.Generator().manual_seed(0))
    assert len(MHEAL(random_state=0).select(X, 10)) == 10
    assert len(MHEAL(random_state=0).select(X.float().requires_grad_(), 10)) == 10


def small_steps(monkeypatch, heads=8, share=4, burst=5):
    """Sizes at which a few hundred rows go through every loop of the traversal."""
    from mheal.backends.torch import candidates, distances, rows, traversal
    from mheal.backends.torch import heads as bursts

    for module, name, value in [
        (rows, "CHUNK", 1), (distances, "SCORES", 1), (distances, "PICKS", 7), (candidates, "CATCH_UP", 50),
        (bursts, "BURST", burst), (traversal, "BURST", burst), (traversal, "SHARE", share), (traversal, "FIRST", 3),
        (traversal, "heads_that_fit", lambda device, row_bytes: heads),
    ]:  # fmt: skip
        monkeypatch.setattr(module, name, value)


@each_device
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_lazy_epochs_equal_the_plain_loop_with_ties_to_the_lowest_row(device, seed, streamed, monkeypatch):
    from mheal.backends.torch import Points

    rng = np.random.default_rng(seed)
    small_steps(monkeypatch, heads=int(rng.integers(1, 40)), share=int(rng.integers(2, 9)))
    n, d = int(rng.integers(50, 2500)), int(rng.integers(2, 14))
    X = rng.integers(0, 3, (n, d)) + 1000.0 * rng.integers(2)
    weight, candidate = np.exp2(rng.integers(-1, 2, n)), np.exp2(rng.integers(-4, 2, n))
    picks = min(n - 3, 150)
    points = Points.raw(X, device, X.nbytes / 3) if streamed else Points.raw(torch.tensor(X, device=device))
    rows, score, left = traverse(points, picks, np.array([7, 2]), Charge(weight, candidate))
    expected, expected_score = reference.max_min(X, picks + 1, [7, 2], weight, candidate)
    np.testing.assert_array_equal(rows, expected[:picks])
    np.testing.assert_array_equal(np.append(score, left), expected_score)


@each_device
@pytest.mark.parametrize("burst", [1, 4])
def test_traversals_that_share_their_picks_take_turns(device, burst):
    from mheal.backends.torch import Picks, Points, Traversal

    X = np.random.default_rng(5).standard_normal((300, 12))
    halves = [np.arange(0, 300, 2), np.arange(1, 300, 2)]
    rows = []
    for kernels, points in [(cpu, cpu.Points.raw(X)), (None, Points.raw(torch.tensor(X, device=device)))]:
        picks = kernels.Picks(points, 100) if kernels else Picks(points, 100)
        picks.add(np.array([4]), np.ones(1))
        both = [kernels.Traversal(picks, m) if kernels else Traversal(picks, m) for m in halves]
        both[0].exclude(np.array([4]))
        rows.append([list(both[turn % 2].extend(burst)[0]) for turn in range(20)])
    assert rows[0] == rows[1]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_captured_burst_gives_what_single_launches_give():
    from mheal.backends.torch import Points

    X = torch.randn((60_000, 32), generator=torch.Generator().manual_seed(3)).cuda()
    points = Points.raw(X)
    captured, launched = (traverse(points, 500, np.array([0]), workers=workers) for workers in (None, 1))
    np.testing.assert_array_equal(captured[0], launched[0])
    np.testing.assert_array_equal(captured[1], launched[1])


def from_host(device, limit, **options):
    """MHEAL for an array on the host that may take `limit` bytes of the device."""
    from mheal.backends.torch import Points

    class FromHost(MHEAL):
        def _points(self, X, *_):
            return Points.standardized(X, device, limit)

    return FromHost(**options)


@each_device
@pytest.mark.parametrize("options", [{}, {"cluster_sample": 1000}, {"quota": True}, {"space": "unit"}], ids=str)
def test_a_streamed_pool_gives_the_picks_of_one_that_fits(device, options, monkeypatch, tmp_path):
    from mheal.backends.torch import rows, traversal

    monkeypatch.setattr(rows, "CHUNK", 1)
    monkeypatch.setattr(traversal, "heads_that_fit", lambda device, row_bytes: 64)
    X = np.random.default_rng(6).standard_normal((3000, 12)).astype(np.float32)
    np.save(tmp_path / "pool.npy", X)
    options = options | {"random_state": 0, "n_clusters": 20, "cover": 10}
    streamed = from_host(device, X.nbytes / 10, **options).select(np.load(tmp_path / "pool.npy", mmap_mode="r"), 100)
    resident = from_host(device, X.nbytes, **options).select(X, 100)
    tensor = MHEAL(**options).select(torch.tensor(X, device=device), 100)
    for other in (resident, tensor):
        np.testing.assert_array_equal(streamed.indices, other.indices)
        np.testing.assert_array_equal(streamed.cluster, other.cluster)
        np.testing.assert_array_equal(streamed.radius, other.radius)


@each_device
def test_a_pool_that_fits_lies_on_the_device_and_another_stays_where_it_is(device):
    from mheal.backends.torch import Points
    from mheal.backends.torch.rows import OnDevice, OnHost

    X = np.random.default_rng(0).standard_normal((100, 3))
    assert isinstance(Points.raw(X, device, X.nbytes).rows, OnDevice)
    assert isinstance(Points.raw(X, device).rows, OnDevice)
    assert isinstance(Points.raw(X, device, X.nbytes - 1).rows, OnHost)


@each_device
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_tensor_of_the_user_is_not_changed(device, dtype):
    X = np.random.default_rng(2).standard_normal((500, 6)).astype(dtype) + 5
    tensor = torch.tensor(X, device=device)
    for space in ("standard", "unit", "raw"):
        MHEAL(space=space, random_state=0).select(tensor, 20)
    np.testing.assert_array_equal(tensor.cpu().numpy(), X)


@each_device
def test_one_pass_assigns_rows_and_adds_up_their_directions(device, monkeypatch):
    from mheal.backends.torch import Points, columns, rows

    monkeypatch.setattr(rows, "CHUNK", 1)
    monkeypatch.setattr(columns, "SCORES", 1)
    rng = np.random.default_rng(4)
    X = rng.standard_normal((3000, 10)).astype(np.float32)
    X[17] = 0
    C, weight = rng.standard_normal((40, 10)).astype(np.float32), rng.random(3000)
    assigned = Points.raw(torch.tensor(X, device=device)).assign(C, weight)
    U = X.astype(np.float64) / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-30)
    np.testing.assert_array_equal(np.delete(assigned.labels(), 17), np.delete((X @ C.T).argmax(1), 17))
    np.testing.assert_allclose(assigned.cosine(), (U @ C.T).max(1), atol=1e-5)
    expected = np.zeros((40, 10))
    np.add.at(expected, assigned.labels(), U * weight[:, None])
    np.testing.assert_allclose(assigned.sums(), expected, atol=1e-5)


@each_device
@pytest.mark.parametrize("spread", [0.3, 1e-2])
def test_inertia_is_half_the_squared_chords(device, spread):
    from mheal.backends.torch import Points
    from mheal.cluster.plain import PlainLloyd

    rng = np.random.default_rng(1)
    X = (np.eye(12)[rng.integers(4, size=5000)] + spread * rng.standard_normal((5000, 12))).astype(np.float32)
    X[::9], weight = 0, rng.random(5000)
    points = Points.raw(torch.tensor(X, device=device))
    found = PlainLloyd(points, np.eye(12)[:4], weight).run(5, 0.0)
    squared = np.square(points.directions(np.arange(5000)) - found.centers[found.labels].astype(np.float64)).sum(axis=1)
    assert found.inertia == pytest.approx(weight @ (squared * X.any(axis=1)) / 2, rel=1e-4)


@each_device
def test_sums_of_a_million_rows_do_not_drift(device):
    from mheal.backends.torch import Points

    X = np.tile(np.float32([[0.6, 0.8]]), (1 << 20, 1))
    sums = Points.raw(torch.tensor(X, device=device)).assign(np.float32([[1, 0], [-1, 0]])).sums()
    np.testing.assert_allclose(sums, [[0.6 * 2**20, 0.8 * 2**20], [0, 0]], rtol=1e-7)


@each_device
def test_seeds_are_those_of_the_cpu(device):
    from mheal.backends.torch import Points
    from mheal.backends.torch import plus_plus as on_device

    rng = np.random.default_rng(1)
    X, rows, weight = rng.standard_normal((900, 7)), np.arange(0, 900, 3), rng.random(300)
    points = Points.raw(torch.tensor(X, device=device))
    expected = plus_plus(points.directions(rows), weight, 30, np.random.RandomState(3))
    np.testing.assert_array_equal(on_device(points, rows, weight, 30, np.random.RandomState(3)), expected)
    same = Points.raw(torch.ones((50, 3), device=device, dtype=torch.float64))
    assert len(on_device(same, np.arange(50), np.ones(50), 4, np.random.RandomState(0))) == 4


@each_device
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_spacing_is_that_of_the_cpu(device, dtype, monkeypatch):
    from mheal.backends.torch import Points, rows, spacing

    monkeypatch.setattr(rows, "CHUNK", 1)
    rng = np.random.default_rng(8)
    X = rng.standard_normal((2500, 9)).astype(dtype)
    X[5] = X[12]
    labels = np.minimum(rng.geometric(0.2, 2500), 12) - 1
    tasks = []
    for c in range(12):
        members = np.flatnonzero(labels == c)
        references = members[:: 1 + c % 3] if c else np.arange(0, 2500, 40)  # in the whole pool
        tasks += [(part, references, min(3 + c, len(references) - 1)) for part in np.array_split(members, 3)]
    expected = cpu.spacing(cpu.Points.raw(X), tasks)
    for ours, theirs in zip(spacing(Points.raw(torch.tensor(X, device=device)), tasks), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4 if dtype == np.float32 else 1e-9)


@each_device
def test_radii_are_the_largest_distances_left(device, monkeypatch):
    from mheal.backends.torch import Picks, Points, radii, rows, uncovered

    monkeypatch.setattr(rows, "CHUNK", 1)
    monkeypatch.setattr(uncovered, "SCORES", 1)
    rng = np.random.default_rng(9)
    X, weight, chosen = rng.standard_normal((1500, 5)).astype(np.float32), rng.random(1500) + 0.5, np.arange(0, 600, 9)
    picks = Picks(Points.raw(torch.tensor(X, device=device)), len(chosen))
    picks.add(chosen, weight[chosen])
    distance2 = np.square(X[chosen, None].astype(np.float64) - X).sum(2) * weight * weight[chosen, None]
    expected = np.sqrt(np.minimum.accumulate(distance2).max(axis=1))
    np.testing.assert_allclose(radii(picks.points, picks, weight), expected, rtol=1e-5)
    few = Picks(Points.raw(torch.tensor(X[:3] + 100, device=device)), 3)  # at the end nothing is left
    few.add(np.arange(3), np.ones(3))
    last = np.linalg.norm(X[2].astype(np.float64) - X[:2], axis=1).min()
    np.testing.assert_allclose(radii(few.points, few, np.ones(3))[1:], [last, 0], rtol=1e-5)


def test_every_row_stands_once_in_a_block_of_its_label():
    from mheal.backends.torch.blocks import blocks_of

    labels = torch.randint(0, 9, (200,), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
    labels[labels == 4] = 5
    at, filled, label = blocks_of(labels, 9, 8)
    assert sorted(at[filled].tolist()) == list(range(200))
    owner = label[:, None].expand_as(at)[filled]
    assert torch.equal(owner, labels[at[filled]].long())


def test_products_are_exact_whatever_the_program_asked_for():
    from mheal.backends.torch.precision import full_precision

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        with full_precision(), full_precision():
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)


@pytest.mark.skipif(not hasattr(torch.backends.cuda.matmul, "fp32_precision"), reason="an older torch")
def test_products_are_exact_for_users_of_the_newer_switch_too():
    from mheal.backends.torch.precision import full_precision

    matmul = torch.backends.cuda.matmul
    before, matmul.fp32_precision = matmul.fp32_precision, "tf32"
    try:
        with full_precision():
            assert matmul.fp32_precision == "ieee"
        assert matmul.fp32_precision == "tf32"
    finally:
        matmul.fp32_precision = before


def test_numpy_never_imports_torch():
    code = (
        "import sys, numpy as np, mheal;"
        "mheal.select(np.random.default_rng(0).normal(size=(300, 4)), 5);"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
