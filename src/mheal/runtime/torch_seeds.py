"""Torch's own randomness, from a seed alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import torch

_generators = RLock()


@contextmanager
def seeded(seed: int, *, gpus: bool = True) -> Iterator[None]:
    """For the block torch uses this seed, on GPUs too or on the CPU alone; afterwards its generators are as before.

    The generators are shared by the whole program, so one thread at a time may enter.
    """
    devices = range(torch.cuda.device_count()) if gpus else []
    with _generators, torch.random.fork_rng(devices=devices):
        if gpus:
            torch.manual_seed(seed)
        else:
            torch.default_generator.manual_seed(seed)
        yield
