"""What the libraries of a device may do to numbers: no rounding to TF32, and sums in a fixed order where asked for."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock

import torch

_lock = Lock()
_inside = 0
_undo = ExitStack()


@contextmanager
def full_precision() -> Iterator[None]:
    """While it lasts products of float32 matrices are float32; the last of several threads out sets it back."""
    global _inside
    with _lock:
        if _inside == 0:
            _make_exact()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _undo.close()


def _make_exact() -> None:
    try:
        before = torch.get_float32_matmul_precision()
    except RuntimeError:  # the program uses the newer switches of torch, which do not go together with this one
        matmul = torch.backends.cuda.matmul
        _undo.callback(setattr, matmul, "fp32_precision", matmul.fp32_precision)
        matmul.fp32_precision = "ieee"
    else:
        if before != "highest":
            _undo.callback(torch.set_float32_matmul_precision, before)
            torch.set_float32_matmul_precision("highest")


@contextmanager
def reproducible_kernels() -> Iterator[None]:
    """While it lasts cuDNN takes kernels that add in a fixed order, and the same ones every time."""
    cudnn = torch.backends.cudnn
    before = cudnn.deterministic, cudnn.benchmark
    cudnn.deterministic, cudnn.benchmark = True, False
    try:
        yield
    finally:
        cudnn.deterministic, cudnn.benchmark = before
