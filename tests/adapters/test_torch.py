"""PyTorch: the picks as a Subset and as a sampler."""

import numpy as np
import pytest

import mheal

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, TensorDataset

from mheal.adapters.torch import PickSampler

X = torch.randn(200, 4, generator=torch.Generator().manual_seed(0))
PICKS = mheal.select(X, 30)


def rows_of(loader):
    return torch.cat([rows for (rows,) in loader]).tolist()


def test_a_sampler_gives_the_picks_in_their_order():
    data = TensorDataset(torch.arange(200))
    loader = DataLoader(data, batch_size=8, sampler=PickSampler(PICKS))
    assert len(loader) == 4
    assert rows_of(loader) == list(PICKS)
    assert rows_of(DataLoader(PICKS.subset(data), batch_size=8)) == list(PICKS)


def test_shuffled_epochs_differ_and_can_be_repeated():
    data = TensorDataset(torch.arange(200))
    made = [PickSampler(PICKS, shuffle=True, generator=torch.Generator().manual_seed(1)) for _ in range(2)]
    loaders = [DataLoader(data, batch_size=8, sampler=sampler) for sampler in made]
    first, second = rows_of(loaders[0]), rows_of(loaders[0])
    assert sorted(first) == sorted(second) == sorted(PICKS)
    assert first != second
    assert rows_of(loaders[1]) == first


def test_the_picks_of_a_tensor_are_those_of_its_array():
    np.testing.assert_array_equal(PICKS.indices, mheal.select(X.numpy(), 30).indices)
