"""Where the rows of a pool lie, on the device or on the host, how they come to be worked on, and checks of them."""

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
SHARE = 0.6  # of the free memory of a device may go to the pool; the rest is for the work on it


@dataclass(frozen=True)
class Sizes:
    """How work on a pool is cut. Results do not depend on it, but for rounding; tests make it small."""

    chunk: int = 1 << 25  # numbers of the pool that are worked on at one time
    scores: int = 1 << 23  # scores that exist at one time: they stay in the cache of a GPU
    picks: int = 1024  # picks that rows are compared with at one time
    catch_up: int = 1 << 15  # candidates that are caught up together
    share: int = 24  # one candidate in this many goes to the front
    first: int = 256  # picks that all candidates are compared with at the beginning
    burst: int = 16  # picks made on the device before the host checks them
    cached: int | None = None  # candidates whose scores are kept exact; None: as many as the device's cache holds

    def chunks(self, rows: int, columns: int) -> list[tuple[int, int]]:
        """Where the chunks begin and end, of a pool of this size."""
        return spans(rows, max(1024, self.chunk // columns))


class OnDevice:
    """The rows of a tensor, worked on where it lies."""

    room = 0  # rows that may be copied to the device beside the pool, for a while

    def __init__(self, X: torch.Tensor, sizes: Sizes) -> None:
        self.X, self.device, self.dtype, self.sizes = X, X.device, X.dtype, sizes
        self.shape = (X.shape[0], X.shape[1])

    def chunks(self) -> Iterator[tuple[int, torch.Tensor]]:
        """All rows in order: where each chunk begins, and its rows. Not to be written to."""
        for lo, hi in self.sizes.chunks(*self.shape):
            yield lo, self.X[lo:hi]

    def gather(self, at: torch.Tensor) -> torch.Tensor:
        """A copy of these rows."""
        return self.X.index_select(0, at)


class OnHost:
    """The rows of an array or memory map, too large for the device: brought there when they are needed."""

    def __init__(self, X: npt.NDArray[Any], device: torch.device, limit: float, sizes: Sizes) -> None:
        self.X, self.device, self.sizes = X, device, sizes
        self.room = int(min(len(X), limit / 2 // (X.shape[1] * X.itemsize)))
        self.dtype = torch.float64 if X.dtype == np.float64 else torch.float32
        self.shape = (X.shape[0], X.shape[1])

    def chunks(self) -> Iterator[tuple[int, torch.Tensor]]:
        """The same; rows are valid until the next chunk."""
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
        """Through two buffers on either side, so that reading, uploading and work on the device go on together."""
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
    """A tensor where it lies; an array on the device (by default the GPU) if it takes at most `limit` bytes there."""
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
    """The tensor as float32 or float64, rows by columns; the same one-line errors as for arrays."""
    if X.is_complex() or X.is_sparse:
        raise UserTypeError(f"X is a {X.dtype} {X.layout} tensor: pass dense real numbers")
    validation.refuse_shape(tuple(X.shape))
    X = X.detach()
    if X.dtype in (torch.float32, torch.float64):
        return X
    return X.float() if X.element_size() <= 2 else X.double()  # whichever holds the numbers exactly


def refuse_nonfinite(chunks: Iterable[tuple[int, torch.Tensor]]) -> NoReturn:
    """Raise the error that names the first NaN or infinity."""
    for lo, part in chunks:
        if not bool(part.isfinite().all()):
            validation.refuse_nonfinite(part.cpu().numpy(), lo)
    raise UserError("X has numbers whose squares overflow: rescale it")
