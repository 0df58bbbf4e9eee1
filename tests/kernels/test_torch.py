"""The torch backend gives the picks of the CPU kernels, on whatever device the tensor lives."""

import subprocess
import sys

import numpy as np
import pytest

import reference
from mheal import MHEAL
from mheal.solve.charge import Charge
from mheal.solve.max_min import traverse

torch = pytest.importorskip("torch")

on_gpu = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]
each_device = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=on_gpu)])


@each_device
@pytest.mark.parametrize("seed", range(12))
def test_traversal_equals_the_plain_loop(device, seed):
    from mheal.kernels.torch import Points

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


def test_numpy_never_imports_torch():
    code = (
        "import sys, numpy as np, mheal;"
        "mheal.select(np.random.default_rng(0).normal(size=(300, 4)), 5);"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
