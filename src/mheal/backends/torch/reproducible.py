"""CUDA graphs: a training step of several networks, captured once, side by side, and replayed.

A small network keeps a large GPU busy for a few microseconds per kernel, less than Python needs to launch it. A graph
launches all kernels of a step at once, and parallel branches let those of several networks share the device.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch

from .graphs import undisturbed

WARM_UP = 3  # steps before the capture, in which libraries choose kernels and optimisers make their state


def capture(branches: Sequence[Callable[[], None]], generators: Sequence[Any]) -> Any:
    """A graph that runs every branch once, each on a stream of its own; `.replay()` runs it.

    Branches must read and write tensors that stay where they are. They are run a few times first, so their state has
    to be reset after the capture. `generators` are those they draw from: they may be reseeded between replays, and
    then give the same numbers as without a graph.
    """
    main, *streams = (_stream(i) for i in range(len(branches) + 1))

    def run_all() -> None:
        here = torch.cuda.current_stream()
        for stream, branch in zip(streams, branches, strict=True):
            stream.wait_stream(here)
            with torch.cuda.stream(stream):
                branch()
        for stream in streams:
            here.wait_stream(stream)

    main.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(main):
        for _ in range(WARM_UP):
            run_all()
    torch.cuda.current_stream().wait_stream(main)

    graph = torch.cuda.CUDAGraph()
    for generator in generators:
        graph.register_generator_state(generator)
    with undisturbed(), torch.cuda.graph(graph, stream=main):
        run_all()
    return graph


@cache
def _stream(number: int) -> Any:
    """The same stream for the same number: libraries keep a workspace of many megabytes for each one used."""
    return torch.cuda.Stream()


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
