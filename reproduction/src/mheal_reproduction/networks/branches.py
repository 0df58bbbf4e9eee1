"""Capture a training step of several networks as one CUDA graph with a parallel branch for each network."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from mheal.backends.torch.graphs import capture, kept_stream


def capture_branches(branches: Sequence[Callable[[], None]], generators: Sequence[Any]) -> Any:
    """Capture a graph that runs every branch once, each on its own stream.

    Branches run a few times before the capture, so the caller has to reset their state afterwards.
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
