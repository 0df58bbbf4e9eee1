"""Behaviour of the torch backend alone. test_contract.py compares its results with those of the CPU."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

import reference
from mheal import MHEAL, PaperMHEAL
from mheal.algorithms.density import DensityWeights
from mheal.algorithms.farthest_first import traverse
from mheal.backends.seeding import plus_plus

torch = pytest.importorskip("torch")

from mheal.backends.torch import Points  # noqa: E402
from mheal.backends.torch.clustering import blocks_of  # noqa: E402
from mheal.backends.torch.determinism import full_precision  # noqa: E402
from mheal.backends.torch.rows import OnDevice, OnHost, Sizes  # noqa: E402

on_gpu = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]
each_device = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=on_gpu)])


MODES = {
    "default": MHEAL(random_state=0),
    "paper": PaperMHEAL(5, random_state=0),
    "balanced": MHEAL(balance_clusters=True, random_state=0),
    "without density weights": MHEAL(density_power=None, random_state=0),
    "within clusters": MHEAL(across_clusters=False, random_state=0),
}


def on(strategy, device):
    """The strategy on a torch device. Without a device, numba handles tensors on the CPU, as it does arrays."""
    return clone(strategy).set_params(device=device)


@each_device
@pytest.mark.parametrize("name", MODES)
def test_same_picks_as_numpy(device, name):
    X = np.random.default_rng(0).standard_normal((3000, 10))
    ours = MODES[name].select(X, 80)
    theirs = on(MODES[name], device).select(torch.tensor(X, device=device), 80)
    np.testing.assert_array_equal(theirs.indices, ours.indices)
    np.testing.assert_allclose(theirs.radius, ours.radius, rtol=1e-6)
    np.testing.assert_array_equal(theirs.cluster, ours.cluster)


@each_device
def test_float32_and_labelled_rows(device):
    X = np.random.default_rng(1).standard_normal((5000, 16)).astype(np.float32)
    labeled = np.arange(40)
    ours = MHEAL(random_state=0).select(X, 100, labeled=labeled)
    theirs = on(MODES["default"], device).select(torch.tensor(X, device=device), 100, labeled=labeled)
    assert len(set(ours.indices) & set(theirs.indices)) >= 95  # float32 rounds differently on each device
    assert theirs.radius[-1] == pytest.approx(ours.radius[-1], rel=0.01)


@each_device
def test_sampled_clusters_on_a_large_pool(device):
    X = torch.randn((20_000, 8), generator=torch.Generator().manual_seed(0)).to(device)
    picks = on(MODES["default"], device).select(X, 50)
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


@each_device
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_lazy_epochs_equal_the_plain_loop_for_any_sizes(device, seed, streamed):
    rng = np.random.default_rng(seed)
    cached, share = int(rng.integers(1, 40)), int(rng.integers(2, 9))
    small = Sizes(chunk=1, scores=1, picks=7, catch_up=50, burst=5, share=share, first=3, cached=cached)
    n, d = int(rng.integers(50, 2500)), int(rng.integers(2, 14))
    X = rng.integers(0, 3, (n, d)) + 1000.0 * rng.integers(2)
    weight, candidate = np.exp2(rng.integers(-1, 2, n)), np.exp2(rng.integers(-4, 2, n))
    picks = min(n - 3, 150)
    limit = X.nbytes / 3
    points = (
        Points.raw(X, device, limit, small) if streamed else Points.raw(torch.tensor(X, device=device), sizes=small)
    )
    rows, score, left = traverse(points, picks, np.array([7, 2]), DensityWeights(weight, candidate))
    expected, expected_score = reference.max_min(X, picks + 1, [7, 2], weight, candidate)
    np.testing.assert_array_equal(rows, expected[:picks])
    np.testing.assert_array_equal(np.append(score, left), expected_score)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_captured_burst_gives_what_single_launches_give():
    X = torch.randn((60_000, 32), generator=torch.Generator().manual_seed(3)).cuda()
    points = Points.raw(X)
    captured, launched = (traverse(points, 500, np.array([0]), workers=workers) for workers in (None, 1))
    np.testing.assert_array_equal(captured[0], launched[0])
    np.testing.assert_array_equal(captured[1], launched[1])


@each_device
@pytest.mark.parametrize("mode", ["default", "balanced", "paper"])
def test_an_array_on_a_device_gives_the_picks_of_a_tensor(device, mode, tmp_path):
    X = np.random.default_rng(6).standard_normal((3000, 12)).astype(np.float32)
    np.save(tmp_path / "pool.npy", X)
    mapped = np.load(tmp_path / "pool.npy", mmap_mode="r")
    array = on(MODES[mode], device).select(mapped, 60)
    tensor = on(MODES[mode], device).select(torch.tensor(X, device=device), 60)
    np.testing.assert_array_equal(array.indices, tensor.indices)
    np.testing.assert_array_equal(array.radius, tensor.radius)


@each_device
def test_a_pool_that_fits_lies_on_the_device_and_another_stays_where_it_is(device):
    X = np.random.default_rng(0).standard_normal((100, 3))
    assert isinstance(Points.raw(X, device, X.nbytes).rows, OnDevice)
    assert isinstance(Points.raw(X, device).rows, OnDevice)
    assert isinstance(Points.raw(X, device, X.nbytes - 1).rows, OnHost)


@each_device
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_tensor_of_the_user_is_not_changed(device, dtype):
    X = np.random.default_rng(2).standard_normal((500, 6)).astype(dtype) + 5
    tensor = torch.tensor(X, device=device)
    for scaling in ("standard", "unit", "raw"):
        for where in (None, device):
            MHEAL(scaling=scaling, device=where, random_state=0).select(tensor, 20)
    np.testing.assert_array_equal(tensor.cpu().numpy(), X)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64, torch.int32])
def test_a_tensor_on_the_cpu_gives_the_picks_of_its_array(dtype):
    tensor = (torch.randn((3000, 12), generator=torch.Generator().manual_seed(6)) * 50).to(dtype)
    for X in (tensor, tensor.t().contiguous().t(), tensor[::2]):
        ours, theirs = MHEAL(random_state=0).select(X.numpy(), 60), MHEAL(random_state=0).select(X, 60)
        np.testing.assert_array_equal(ours.indices, theirs.indices)
        np.testing.assert_array_equal(ours.radius, theirs.radius)


@each_device
def test_sums_of_a_million_rows_do_not_drift(device):
    X = np.tile(np.float32([[0.6, 0.8]]), (1 << 20, 1))
    fitting = Points.raw(torch.tensor(X, device=device)).fitting(2)
    fitting.assign(np.float32([[1, 0], [-1, 0]]))
    np.testing.assert_allclose(fitting.sums, [[0.6 * 2**20, 0.8 * 2**20], [0, 0]], rtol=1e-7)


@each_device
def test_seeds_are_those_of_the_cpu(device):
    rng = np.random.default_rng(1)
    X, rows, weight = rng.standard_normal((900, 7)), np.arange(0, 900, 3), rng.random(300)
    points = Points.raw(torch.tensor(X, device=device))
    expected = plus_plus(points.directions(rows), weight, 30, np.random.RandomState(3))
    np.testing.assert_array_equal(points.plus_plus(rows, weight, 30, np.random.RandomState(3)), expected)
    same = Points.raw(torch.ones((50, 3), device=device, dtype=torch.float64))
    assert len(same.plus_plus(np.arange(50), np.ones(50), 4, np.random.RandomState(0))) == 4


@each_device
def test_small_radii_do_not_cancel_in_float32(device):
    X = np.random.default_rng(9).standard_normal((3, 5)).astype(np.float32)
    points = Points.raw(torch.tensor(X + 100, device=device))
    picks = points.picks(3)
    picks.add(np.arange(3), np.ones(3))
    last = np.linalg.norm((X[2] + 100).astype(np.float64) - (X[:2] + 100), axis=1).min()
    np.testing.assert_allclose(picks.radii(np.ones(3))[0][1:], [last, 0], rtol=1e-5)


def test_every_row_is_once_in_a_block_of_its_label():
    labels = torch.randint(0, 9, (200,), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
    labels[labels == 4] = 5
    at, filled, label = blocks_of(labels, 9, 8)
    assert sorted(at[filled].tolist()) == list(range(200))
    owner = label[:, None].expand_as(at)[filled]
    assert torch.equal(owner, labels[at[filled]].long())


def test_products_are_exact_whatever_the_program_has_set():
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        with full_precision, full_precision:
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)


@pytest.mark.skipif(not hasattr(torch.backends.cuda.matmul, "fp32_precision"), reason="an older torch")
def test_products_are_exact_for_users_of_the_newer_switch_too():
    matmul = torch.backends.cuda.matmul
    before, matmul.fp32_precision = matmul.fp32_precision, "tf32"
    try:
        with full_precision:
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
