"""Full float32: matrix products may not be rounded to TF32, whatever the rest of the program has set."""

from collections.abc import Callable
from contextlib import ContextDecorator
from threading import Lock

import torch

_lock = Lock()
_inside = 0


def _do_nothing() -> None:
    pass


_set_back: Callable[[], None] = _do_nothing


def _make_exact() -> Callable[[], None]:
    """Set full precision; returns a function that sets it back."""
    try:
        before = torch.get_float32_matmul_precision()
    except RuntimeError:  # the program uses the newer switches of torch, which do not go together with this one
        matmul = torch.backends.cuda.matmul
        former, matmul.fp32_precision = matmul.fp32_precision, "ieee"
        return lambda: setattr(matmul, "fp32_precision", former)
    if before == "highest":
        return _do_nothing
    torch.set_float32_matmul_precision("highest")
    return lambda: torch.set_float32_matmul_precision(before)


class full_precision(ContextDecorator):
    """While it lasts products of float32 matrices are float32; the last of several threads out sets it back."""

    def __enter__(self) -> None:
        global _inside, _set_back
        with _lock:
            if _inside == 0:
                _set_back = _make_exact()
            _inside += 1

    def __exit__(self, *_: object) -> None:
        global _inside
        with _lock:
            _inside -= 1
            if _inside == 0:
                _set_back()
