"""The Triton kernel gives the same result as a matrix product and its maximum."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")


def compare_with_products(device, shapes=((300, 77, 20), (129, 128, 32), (1, 1, 1), (257, 300, 130), (5000, 1000, 70))):
    from mheal.backends.torch.fused import best_column

    generator = torch.Generator().manual_seed(0)
    for n, k, d in shapes:
        Z, C = (torch.randn(m, d, generator=generator) for m in (n, k))
        C[k // 2] = C[0]  # the first of equal ones is taken
        value, index = (found.cpu() for found in best_column(Z.to(device), C.to(device)))
        exact = Z.double() @ C.double().T
        most = exact.max(1).values
        assert (value - most).abs().max() < 1e-5 * d**0.5
        assert (exact.gather(1, index[:, None])[:, 0] - most).abs().max() < 1e-5 * d**0.5
        assert not (index == k // 2).any() or k == 1


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_it_finds_the_best_columns():
    compare_with_products("cuda")


def test_it_finds_them_where_triton_can_be_interpreted():
    pytest.importorskip("triton")
    environment = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    code = "import test_fused; test_fused.compare_with_products('cpu', ((70, 150, 40), (1, 1, 1)))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=Path(__file__).parent, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
