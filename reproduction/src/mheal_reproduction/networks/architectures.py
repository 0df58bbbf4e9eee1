"""The classifiers of the deep experiments: the Bayesian CNN of Gal et al. (2017) and ResNet20 of He et al. (2016)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from mheal.embed.simclr import Block, convolution
from mheal.exceptions import UserError

Shape = tuple[int, int, int]  # channels, height, width of an image

SMALLEST = 8  # two 4×4 kernels and a 2×2 pool leave one pixel


class Dropout(nn.Module):
    """Dropout with its own random generator, so that a model's randomness depends only on its seed."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p
        self.generator: Any = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """In training, set a share p of the activations to zero and scale the others by 1 / (1 − p); else return x."""
        if not self.training:
            return x
        keep = 1 - self.p
        return x * torch.empty_like(x).bernoulli_(keep, generator=self.generator).div_(keep)


class Network(nn.Module, ABC):
    """A classifier in three parts: a trunk without dropout, a hidden layer, and a linear head."""

    head: Any
    dropout: Any

    @abstractmethod
    def trunk(self, x: torch.Tensor) -> torch.Tensor:
        """Activations before the first dropout, which are the same for every Monte Carlo sample."""

    def hidden(self, trunk: torch.Tensor) -> torch.Tensor:
        """The penultimate activations, given those of the trunk."""
        return trunk

    def finish(self, trunk: torch.Tensor) -> torch.Tensor:
        """Logits from the trunk's activations."""
        return self.head(self.dropout(self.hidden(trunk)))

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """The penultimate activations of images."""
        return self.hidden(self.trunk(x))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits of images."""
        return self.finish(self.trunk(x))


class BayesianCNN(Network):
    """Two convolutions of 32 maps, max pooling, and a dense layer of 128 with dropout before and after it."""

    def __init__(self, shape: Shape, classes: int) -> None:
        super().__init__()
        channels, height, width = shape
        if min(height, width) < SMALLEST:
            raise UserError(f"images of {height} × {width} are too small for this network: it needs 8 × 8 pixels")
        self.convolutions = nn.Sequential(
            nn.Conv2d(channels, 32, 4), nn.ReLU(), nn.Conv2d(32, 32, 4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
        )
        pixels = ((height - 6) // 2) * ((width - 6) // 2)
        self.dense = nn.Sequential(Dropout(0.25), nn.Linear(32 * pixels, 128), nn.ReLU())
        self.dropout = Dropout(0.5)
        self.head = nn.Linear(128, classes)

    def trunk(self, x: torch.Tensor) -> torch.Tensor:
        """Pooled maps, flat."""
        return self.convolutions(x)

    def hidden(self, trunk: torch.Tensor) -> torch.Tensor:
        """The 128 activations of the dense layer."""
        return self.dense(trunk)


class ResNet20(Network):
    """Nine blocks of two 3×3 convolutions at widths 16, 32 and 64, the mean of each map, and a linear head.

    Shortcuts have no parameters: where a block halves the image, they skip pixels and pad channels with zeros
    (option A of the paper). Dropout before the head allows Monte Carlo samples of a trained network.
    """

    def __init__(self, shape: Shape, classes: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(convolution(shape[0], 16), nn.BatchNorm2d(16), nn.ReLU())
        widths = [16] * 4 + [32] * 3 + [64] * 3
        self.blocks = nn.Sequential(*(Block(a, b) for a, b in pairwise(widths)))
        self.dropout = Dropout(0.2)
        self.head = nn.Linear(64, classes)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d | nn.Linear):
                nn.init.kaiming_normal_(layer.weight)

    def trunk(self, x: torch.Tensor) -> torch.Tensor:
        """The means of the last 64 maps."""
        return self.blocks(self.stem(x)).mean(dim=(2, 3))


def build(name: str, shape: Shape, classes: int) -> Network:
    """A new network, "cnn" or "resnet20", for images of this shape."""
    kinds = {"cnn": BayesianCNN, "resnet20": ResNet20}
    if name not in kinds:
        raise UserError(f"network must be one of {', '.join(kinds)}, not {name!r}")
    return kinds[name](shape, classes)


def use_generator(network: nn.Module, generator: Any) -> None:
    """Let every dropout of a network draw from this generator."""
    for layer in network.modules():
        if isinstance(layer, Dropout):
            layer.generator = generator


@contextmanager
def dropping(network: nn.Module, generator: Any) -> Iterator[None]:
    """Context in which dropout is on and draws from this generator; batch normalisation stays as it is."""
    layers = [layer for layer in network.modules() if isinstance(layer, Dropout)]
    before = [(layer.training, layer.generator) for layer in layers]
    try:
        for layer in layers:
            layer.training, layer.generator = True, generator
        yield
    finally:
        for layer, (training, old) in zip(layers, before, strict=True):
            layer.training, layer.generator = training, old
