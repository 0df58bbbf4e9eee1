"""For each row the best of some others: by a fused kernel where there is one, else by matrix products."""

import torch

from .triton_kernels import kernel_for


def best_of(Z: torch.Tensor, C: torch.Tensor, scores: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest z·c over the rows c of C for each row z of Z, and which it is; the first of equal ones.

    `scores` may exist at one time.
    """
    if (fused := kernel_for(Z, "fused")) is not None:
        return fused.best_column(Z, C)
    value, index = Z.new_empty(len(Z)), torch.empty(len(Z), dtype=torch.int64, device=Z.device)
    step = max(256, scores // len(C))
    for part, *best in zip(Z.split(step), value.split(step), index.split(step), strict=True):
        torch.max(part @ C.T, dim=1, out=tuple(best))
    return value, index
