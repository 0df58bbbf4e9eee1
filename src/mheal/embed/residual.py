"""Parts of residual networks (He et al. 2016)."""

import torch
from torch import nn
from torch.nn import functional


def convolution(before: int, after: int, stride: int = 1) -> nn.Conv2d:
    """3 × 3 pixels, without a bias."""
    return nn.Conv2d(before, after, 3, stride=stride, padding=1, bias=False)


class Block(nn.Module):
    """Two convolutions beside a shortcut; the first halves the image where the width grows."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.stride, self.new = after // before, after - before
        self.first = nn.Sequential(convolution(before, after, self.stride), nn.BatchNorm2d(after), nn.ReLU())
        self.second = nn.Sequential(convolution(after, after), nn.BatchNorm2d(after))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """ReLU of the shortcut plus what the convolutions add."""
        shortcut = x
        if self.new:
            half = self.new // 2
            shortcut = functional.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, half, half))
        return functional.relu(shortcut + self.second(self.first(x)))


def lay_out_gradients(network: nn.Module) -> None:
    """Give gradients the strides of their weights, as fused optimisers want; only axes of length 1 differ."""
    for weight in network.parameters():
        if weight.grad.stride() != weight.stride():
            weight.grad = weight.grad.as_strided(weight.shape, weight.stride())
