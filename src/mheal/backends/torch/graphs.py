"""CUDA graphs: many small kernels, captured once and launched together.

A small kernel keeps a large GPU busy for a few microseconds, less than Python needs to launch it.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch

WARM_UP = 3  # runs before the capture, in which libraries choose kernels and optimisers make their state


def capture(work: Callable[[], None], stream: Any, generators: Sequence[Any] = (), mode: str = "thread_local") -> Any:
    """A graph that does this work; `.replay()` runs it.

    The work must use tensors that stay where they are. It is run a few times first, so what it changes has to be reset
    after the capture. It may draw from the `generators`, which give the same numbers as without a graph, and may be
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
    """The same stream for the same number: libraries keep a workspace of many megabytes for each one used."""
    return torch.cuda.Stream()


@contextmanager
def undisturbed() -> Iterator[None]:
    """While it lasts no garbage is collected: freeing an old graph would spoil the one that is being captured."""
    gc.collect()
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
