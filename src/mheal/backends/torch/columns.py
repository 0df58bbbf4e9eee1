"""For each row the best of some others: by a fused kernel where it can be used, else by matrix products."""

from functools import cache
from importlib import import_module
from typing import Any

import torch


def best_of(Z: torch.Tensor, C: torch.Tensor, scores: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest z·c over the rows c of C for each row z of Z, and which it is; the first of equal ones.

    `scores` may exist at one time.
    """
    if Z.is_cuda and Z.dtype == torch.float32 and (fused := _fused_kernel()) is not None:
        value, index = fused.best_column(Z, C)
        return value, index
    value, index = Z.new_empty(len(Z)), torch.empty(len(Z), dtype=torch.int64, device=Z.device)
    step = max(256, scores // len(C))
    for part, *best in zip(Z.split(step), value.split(step), index.split(step), strict=True):
        torch.max(part @ C.T, dim=1, out=tuple(best))
    return value, index


@cache
def _fused_kernel() -> Any:
    """The module of the kernel written in Triton; None without Triton, or where it finds no compiler."""
    try:
        fused = import_module(".fused", __package__)
        fused.try_out("cuda")
    except Exception:  # whatever it is, torch operations do the same, only slower
        return None
    return fused
