"""Torch's own randomness, from a seed alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import torch

_generators = RLock()


@contextmanager
def seeded(seed: int, *, gpus: bool = True) -> Iterator[None]:
    """While it lasts torch draws from this seed, on GPUs too or on the CPU alone; afterwards as if nothing had been.

    Its generators are everybody's, so one thread at a time may come in.
    """
    devices = range(torch.cuda.device_count()) if gpus else []
    with _generators, torch.random.fork_rng(devices=devices):
        if gpus:
            torch.manual_seed(seed)
        else:
            torch.default_generator.manual_seed(seed)
        yield
