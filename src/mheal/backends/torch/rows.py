"""The unscaled rows of a pool, in device memory or streamed to the device from the host, and checks of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import torch

from ... import validation
from ...exceptions import UserError, UserTypeError
from ...runtime.threads import run_parts, spans

COPY = 1 << 12  # rows that one thread copies at a time
SHARE = 0.6  # of the device's free memory that the pool may take; computations use the rest


@dataclass(frozen=True)
class Sizes:
    """How work is divided. Results do not depend on these sizes, except for rounding. Tests use small ones."""

    chunk: int = 1 << 25  # numbers of the pool in one chunk
    scores: int = 1 << 23  # scores that exist at one time: they stay in the cache of a GPU
    picks: int = 1024  # picks that rows are compared with at one time
    catch_up: int = 1 << 15  # candidates whose scores are updated together
    share: int = 24  # the front holds one candidate in this many
    first: int = 256  # picks that all candidates are compared with at the beginning
    burst: int = 16  # picks made on the device before the host checks them
    cached: int | None = None  # candidates whose scores are kept exact; None: as many as the device's cache holds

    def chunks(self, rows: int, columns: int) -> list[tuple[int, int]]:
        """Begin and end of each chunk of a pool of this size."""
        return spans(rows, max(1024, self.chunk // columns))


class OnDevice:
    """The rows of a tensor, in the memory of its device."""

    room = 0  # fewest rows in a front: large for a pool on the host, so that transfers are few

    def __init__(self, X: torch.Tensor, sizes: Sizes) -> None:
        self.X, self.device, self.dtype, self.sizes = X, X.device, X.dtype, sizes
        self.shape = (X.shape[0], X.shape[1])

    def chunks(self) -> Iterator[tuple[int, torch.Tensor]]:
        """All rows in order: the number of each chunk's first row, and its rows. Do not modify them."""
        for lo, hi in self.sizes.chunks(*self.shape):
            yield lo, self.X[lo:hi]

    def gather(self, at: torch.Tensor) -> torch.Tensor:
        """A copy of these rows."""
        return self.X.index_select(0, at)


class OnHost:
    """The rows of an array or memory map that is too large for the device: they are copied there when needed."""

    def __init__(self, X: npt.NDArray[Any], device: torch.device, limit: float, sizes: Sizes) -> None:
        self.X, self.device, self.sizes = X, device, sizes
        self.room = int(min(len(X), limit / 2 // (X.shape[1] * X.itemsize)))
        self.dtype = torch.float64 if X.dtype == np.float64 else torch.float32
        self.shape = (X.shape[0], X.shape[1])

    def chunks(self) -> Iterator[tuple[int, torch.Tensor]]:
        """As in `OnDevice`, but a chunk is valid only until the next one."""
        parts = self.sizes.chunks(*self.shape)
        if self.device.type == "cuda":
            yield from self._overlapped(parts)
        else:
            yield from ((lo, torch.tensor(self.X[lo:hi], dtype=self.dtype)) for lo, hi in parts)

    def gather(self, at: torch.Tensor) -> torch.Tensor:
        rows = at.cpu().numpy()
        host = torch.empty((len(rows), self.shape[1]), dtype=self.dtype)
        out = host.numpy()
        run_parts(
            lambda span: np.take(self.X, rows[slice(*span)], axis=0, out=out[slice(*span)], mode="clip"),
            spans(len(rows), COPY),
        )
        return host.to(self.device)

    def _copy(self, lo: int, hi: int, out: torch.Tensor) -> None:
        source, target = self.X[lo:hi], out.numpy()
        run_parts(lambda span: np.copyto(target[slice(*span)], source[slice(*span)]), spans(hi - lo, COPY))

    def _overlapped(self, parts: list[tuple[int, int]]) -> Iterator[tuple[int, torch.Tensor]]:
        """Chunks by two buffers on each side, so that reading, uploading and computing overlap."""
        shape = (parts[0][1], self.shape[1])
        pinned = [torch.empty(shape, dtype=self.dtype, pin_memory=True) for _ in range(2)]
        buffer = [torch.empty(shape, dtype=self.dtype, device=self.device) for _ in range(2)]
        uploaded, released = ([torch.cuda.Event() for _ in range(2)] for _ in range(2))
        here, copying = torch.cuda.current_stream(self.device), torch.cuda.Stream(self.device)
        copying.wait_stream(here)  # the buffers may be memory that earlier work still uses
        for i, (lo, hi) in enumerate(parts):
            b = i % 2
            uploaded[b].synchronize()
            self._copy(lo, hi, pinned[b][: hi - lo])
            copying.wait_event(released[b])
            with torch.cuda.stream(copying):
                buffer[b][: hi - lo].copy_(pinned[b][: hi - lo], non_blocking=True)
                uploaded[b].record(copying)
            here.wait_event(uploaded[b])
            yield lo, buffer[b][: hi - lo]
            released[b].record(here)


def source(X: Any, device: Any = None, limit: float | None = None, sizes: Sizes | None = None) -> OnDevice | OnHost:
    """A tensor on its own device; an array copied to `device` (default: the GPU) if it takes at most `limit` bytes."""
    sizes = sizes or Sizes()
    if isinstance(X, torch.Tensor):
        return OnDevice(X, sizes)
    device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if limit is None:
        limit = SHARE * torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else float("inf")
    host = OnHost(X, device, limit, sizes)
    if X.nbytes > limit:
        return host
    copy = torch.empty(host.shape, dtype=host.dtype, device=device)
    for lo, part in host.chunks():
        copy[lo : lo + len(part)] = part
    return OnDevice(copy, sizes)


def as_pool(X: torch.Tensor) -> torch.Tensor:
    """The tensor as float32 or float64, (rows, columns), with the same one-line errors as for arrays."""
    if X.is_complex() or X.is_sparse:
        raise UserTypeError(f"X is a {X.dtype} {X.layout} tensor: pass dense real numbers")
    validation.refuse_shape(tuple(X.shape))
    X = X.detach()
    if X.dtype in (torch.float32, torch.float64):
        return X
    return X.float() if X.element_size() <= 2 else X.double()  # the smaller type that holds the numbers exactly


def refuse_nonfinite(chunks: Iterable[tuple[int, torch.Tensor]]) -> NoReturn:
    """Raise the error that names the first NaN or infinity."""
    for lo, part in chunks:
        if not bool(part.isfinite().all()):
            validation.refuse_nonfinite(part.cpu().numpy(), lo)
    raise UserError("X has numbers whose squares overflow: rescale it")
