"""Reproducible results: no rounding to TF32, sums in a fixed order, and random numbers that depend on a seed alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import RLock

import torch

from ...runtime.threads import ProcessWide

_generators = RLock()  # torch's generators are global, so one thread at a time may seed them


@contextmanager
def _exact_products() -> Iterator[None]:
    matmul = torch.backends.cuda.matmul
    try:
        before, exact, use = torch.get_float32_matmul_precision(), "highest", torch.set_float32_matmul_precision
    except RuntimeError:  # the program has used torch's newer settings, which exclude this one
        before, exact, use = matmul.fp32_precision, "ieee", partial(setattr, matmul, "fp32_precision")
    if before != exact:
        use(exact)
    try:
        yield
    finally:
        if before != exact:
            use(before)


full_precision = ProcessWide(_exact_products)  # within it, products of float32 matrices have float32 precision


@contextmanager
def reproducible_kernels() -> Iterator[None]:
    """Within the block, cuDNN uses kernels that sum in a fixed order, and the same ones every time."""
    cudnn = torch.backends.cudnn
    before = cudnn.deterministic, cudnn.benchmark
    cudnn.deterministic, cudnn.benchmark = True, False
    try:
        yield
    finally:
        cudnn.deterministic, cudnn.benchmark = before


@contextmanager
def seeded(seed: int, *, gpus: bool = True) -> Iterator[None]:
    """Within the block, torch's generators start from this seed; afterwards they are restored. gpus: seed those too."""
    devices = range(torch.cuda.device_count()) if gpus else []
    with _generators, torch.random.fork_rng(devices=devices):
        (torch.manual_seed if gpus else torch.default_generator.manual_seed)(seed)
        yield
