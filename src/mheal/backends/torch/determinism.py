"""The same numbers every time: no rounding to TF32, sums in a fixed order, and random numbers from a seed alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import RLock

import torch

from ...runtime.threads import ProcessWide

_generators = RLock()  # the whole program shares them, so one thread at a time may seed them


@contextmanager
def _exact_products() -> Iterator[None]:
    matmul = torch.backends.cuda.matmul
    try:
        before, exact, use = torch.get_float32_matmul_precision(), "highest", torch.set_float32_matmul_precision
    except RuntimeError:  # the program uses the newer switches of torch, which do not go together with this one
        before, exact, use = matmul.fp32_precision, "ieee", partial(setattr, matmul, "fp32_precision")
    if before != exact:
        use(exact)
    try:
        yield
    finally:
        if before != exact:
            use(before)


full_precision = ProcessWide(_exact_products)  # inside it products of float32 matrices are float32


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


@contextmanager
def seeded(seed: int, *, gpus: bool = True) -> Iterator[None]:
    """For the block torch uses this seed, on GPUs too or on the CPU alone; afterwards its generators are as before."""
    devices = range(torch.cuda.device_count()) if gpus else []
    with _generators, torch.random.fork_rng(devices=devices):
        (torch.manual_seed if gpus else torch.default_generator.manual_seed)(seed)
        yield
