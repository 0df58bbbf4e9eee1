"""CUDA graphs: many small kernels, captured once and launched together."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

WARM_UP = 2  # runs before the capture, in which libraries choose their kernels


def capture(work: Callable[[], None], device: torch.device) -> torch.cuda.CUDAGraph:
    """A graph that does this work; `.replay()` runs it. The work must use tensors that stay where they are."""
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(stream):
        for _ in range(WARM_UP):
            work()
    torch.cuda.current_stream(device).wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with undisturbed(), torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
        work()
    return graph


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
