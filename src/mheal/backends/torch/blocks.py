"""Rows of the same label side by side: sums and distances for many labels become a few large operations."""

from typing import NamedTuple

import torch


class Blocks(NamedTuple):
    """Blocks of equally many places, each for rows of one label; the last block of a label may have empty places."""

    at: torch.Tensor  # (blocks, size): the row in each place, 0 in empty ones
    filled: torch.Tensor  # (blocks, size): whether there is a row
    label: torch.Tensor  # (blocks,): whose block it is; an empty block has a label past the last


def blocks_of(labels: torch.Tensor, k: int, size: int) -> Blocks:
    """Rows 0..n−1 in blocks by their label < k, ascending within a label. The device is not waited for."""
    n, device = len(labels), labels.device
    owner, order = torch.sort(labels, stable=True)
    start = torch.searchsorted(owner, torch.arange(k + 1, dtype=owner.dtype, device=device))
    used = (start.diff() + size - 1) // size  # blocks of each label
    ends = used.cumsum(0)
    owner = owner.to(torch.int64)
    place = ((ends - used) * size - start[:-1])[owner] + torch.arange(n, device=device)
    most = n // size + min(n, k)
    at = torch.zeros(most * size, dtype=torch.int64, device=device)
    filled = torch.zeros(most * size, dtype=torch.bool, device=device)
    at[place], filled[place] = order, True
    label = torch.searchsorted(ends, torch.arange(most, device=device), right=True)
    return Blocks(at.view(most, size), filled.view(most, size), label)
