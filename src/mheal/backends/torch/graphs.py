"""CUDA graphs: many small kernels are captured once and launched together.

A small kernel runs for a few microseconds on a large GPU, less time than Python takes to launch it.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch

WARM_UP = 3  # runs before the capture, in which libraries choose kernels and optimisers make their state


def capture(work: Callable[[], None], stream: Any, generators: Sequence[Any] = (), mode: str = "thread_local") -> Any:
    """A CUDA graph of this work; `.replay()` runs it.

    The work must use the same tensors each time. It is run a few times first, so the caller resets what it has changed
    after the capture. It may draw from the `generators`, which give the same numbers as without a graph and may be
    reseeded between replays. `mode`: whether other threads may use the device meanwhile, see `torch.cuda.graph`.
    """
    here = torch.cuda.current_stream(stream.device)
    stream.wait_stream(here)
    with torch.cuda.stream(stream):
        for _ in range(WARM_UP):
            work()
    here.wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    for generator in generators:
        graph.register_generator_state(generator)
    with undisturbed(), torch.cuda.graph(graph, stream=stream, capture_error_mode=mode):
        work()
    return graph


@cache
def kept_stream(number: int = 0) -> Any:
    """A stream, always the same for a number: libraries keep a workspace of many megabytes for each stream used."""
    return torch.cuda.Stream()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Within the block, garbage collection is off: freeing an old graph would break a capture."""
    gc.collect()
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
