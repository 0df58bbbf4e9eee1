"""A training step of several networks as one CUDA graph, whose parallel branches share the device."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from mheal.backends.torch.graphs import capture, kept_stream


def capture_branches(branches: Sequence[Callable[[], None]], generators: Sequence[Any]) -> Any:
    """A graph that runs every branch once, each on a stream of its own.

    What the branches hold has to be reset after the capture, since they are run a few times first.
    """
    main, *streams = (kept_stream(i) for i in range(len(branches) + 1))

    def run_all() -> None:
        here = torch.cuda.current_stream()
        for stream, branch in zip(streams, branches, strict=True):
            stream.wait_stream(here)
            with torch.cuda.stream(stream):
                branch()
        for stream in streams:
            here.wait_stream(stream)

    return capture(run_all, main, generators, "global")
