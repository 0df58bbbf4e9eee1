"""PyTorch: a sampler for training on the picks. `picks.subset(dataset)` gives a `torch.utils.data.Subset`."""

from collections.abc import Iterator
from typing import Any

from ..selection import Selection
from . import missing

try:
    import torch
    from torch.utils.data import Sampler
except ImportError as error:
    raise missing("torch", "torch") from error


class PickSampler(Sampler):
    """A sampler that restricts a `DataLoader` of the whole dataset to the picks.

    Parameters
    ----------
    picks : a Selection
    shuffle : draw a new order in each epoch; False: best first
    generator : torch.Generator for shuffling

    Examples
    --------
    >>> import mheal, torch
    >>> from mheal.adapters.torch import PickSampler
    >>> X = torch.randn(100, 4, generator=torch.Generator().manual_seed(0))
    >>> loader = torch.utils.data.DataLoader(X, batch_size=5, sampler=PickSampler(mheal.select(X, 20)))
    >>> len(loader)
    4
    """

    def __init__(self, picks: Selection, *, shuffle: bool = False, generator: Any = None) -> None:
        self.picks = picks
        self.shuffle = shuffle
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        rows = torch.from_numpy(self.picks.indices.copy())
        if self.shuffle:
            rows = rows[torch.randperm(len(rows), generator=self.generator)]
        return iter(rows.tolist())

    def __len__(self) -> int:
        return len(self.picks)
