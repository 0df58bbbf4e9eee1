"""For each row the best of some others: by a fused kernel where there is one, else by matrix products."""

from functools import cache
from importlib import import_module
from typing import Any

import torch

from .distances import SCORES


def best_of(Z: torch.Tensor, C: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest z·c over the rows c of C for each row z of Z, and which it is; the first of equal ones."""
    if Z.is_cuda and Z.dtype == torch.float32 and (fused := _fused()) is not None:
        return fused.best_column(Z, C)
    value, index = Z.new_empty(len(Z)), torch.empty(len(Z), dtype=torch.int64, device=Z.device)
    step = max(256, SCORES // len(C))
    for part, *best in zip(Z.split(step), value.split(step), index.split(step), strict=True):
        torch.max(part @ C.T, dim=1, out=tuple(best))
    return value, index


@cache
def _fused() -> Any:
    """The module, or None where torch comes without Triton, or Triton finds no compiler."""
    try:
        fused = import_module(".fused", __package__)
        fused.best_column(*torch.ones((2, 16, 16), device="cuda"))
    except Exception:  # whatever it is, products do the same, only slower
        return None
    return fused
