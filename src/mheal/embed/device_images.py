"""Images as bytes on a device, the mean and deviation that normalise them, and random views for training."""

from math import log, pi, sqrt
from typing import Any, Self

import torch
from torch.nn import functional

from ..exceptions import UserError

SMALLEST_COLOUR, SMALLEST_GREY = 0.2, 0.5  # smallest share of the area in a crop
RATIO = 4 / 3  # largest ratio of a crop's sides
JITTER = 0.4  # brightness, contrast and saturation change by up to ±40 %
HUE = 0.1  # hue changes by up to ±10 % of the colour circle
RECOLOURED, GREY = 0.8, 0.2  # shares of images whose colours change, and of images made grey


class Images:
    """Images on one device, with the mean and standard deviation of each channel for normalisation."""

    def __init__(self, pixels: torch.Tensor, mean: torch.Tensor, deviation: torch.Tensor) -> None:
        """`pixels` are bytes (n, height, width, channels), the layout with the fastest convolutions on a GPU."""
        self.pixels, self.mean, self.deviation = pixels, mean, deviation

    @classmethod
    def load(cls, images: Any, device: Any) -> Self:
        """From bytes (n, channels, height, width) or (n, height, width), normalised by their own mean and deviation."""
        pixels = as_pixels(images, device)
        return cls(pixels, *_moments(pixels))

    def __len__(self) -> int:
        return len(self.pixels)


def as_pixels(images: Any, device: Any) -> torch.Tensor:
    """Bytes on a device, channels last. Images that are on the device are not copied to it again."""
    pixels = torch.as_tensor(images)
    if pixels.dtype != torch.uint8:
        raise UserError(f"images must be bytes (uint8), not {pixels.dtype}")
    if pixels.ndim == 3:
        pixels = pixels[:, None]
    return pixels.to(device).permute(0, 2, 3, 1).contiguous()


def _moments(pixels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and deviation of each channel, from a histogram of its 256 values: exact, without a copy as floats."""
    counts = [torch.bincount(channel.flatten(), minlength=256) for channel in pixels.unbind(3)]
    share = torch.stack(counts).double() / counts[0].sum()
    values = torch.arange(256, dtype=torch.float64, device=pixels.device)
    mean = share @ values
    deviation = (share @ values**2 - mean**2).clamp_min(0).sqrt()
    return mean.float(), torch.where(deviation > 0, deviation, 1.0).float()


def random_views(pixels: torch.Tensor, generator: Any) -> torch.Tensor:
    """One view of each image: bytes (n, height, width, channels) to floats (n, channels, height, width) in [0, 255].

    A view is a random crop, enlarged to the size of the image. Images of three channels are also mirrored and
    recoloured at random. Others are not: it could change the meaning of, for example, a digit.
    """
    images = pixels.permute(0, 3, 1, 2).float()
    colour = images.shape[1] == 3
    draws = torch.rand(11, len(images), generator=generator, device=images.device)
    views = _crop(images, draws[:5], SMALLEST_COLOUR if colour else SMALLEST_GREY, mirror=colour)
    if colour:
        views = _recolour(views, draws[5:])
    return views.clamp_(0, 255)  # interpolation weights do not sum to exactly 1


def _crop(images: torch.Tensor, draws: torch.Tensor, smallest: float, mirror: bool) -> torch.Tensor:
    """A random rectangle of each image, enlarged to its size. Coordinates go from −1 to 1."""
    area = smallest + (1 - smallest) * draws[0]
    ratio = torch.exp(log(RATIO) * _either_way(draws[1]))
    width, height = (area * ratio).sqrt().clamp(max=1), (area / ratio).sqrt().clamp(max=1)
    x, y = (1 - width) * _either_way(draws[2]), (1 - height) * _either_way(draws[3])
    if mirror:
        width = torch.where(draws[4] < 0.5, -width, width)
    down, across = (torch.linspace(1 / n - 1, 1 - 1 / n, n, device=images.device) for n in images.shape[2:])
    columns, rows = x[:, None] + width[:, None] * across, y[:, None] + height[:, None] * down
    grid = torch.stack(torch.broadcast_tensors(columns[:, None, :], rows[:, :, None]), dim=3)
    return functional.grid_sample(images, grid, padding_mode="border", align_corners=False)


def _recolour(images: torch.Tensor, draws: torch.Tensor) -> torch.Tensor:
    """Change hue and saturation, then brightness and contrast."""
    often, bright, strong, rich, turn, grey = draws[:, :, None, None, None]
    changed = (often < RECOLOURED).float()
    brightness, contrast, saturation = (1 + JITTER * changed * _either_way(u) for u in (bright, strong, rich))
    saturation = saturation * (grey >= GREY)
    angle = 2 * pi * HUE * changed * _either_way(turn)
    lightness = images.mean(dim=1, keepdim=True)
    chroma = images - lightness
    sideways = (chroma.roll(1, dims=1) - chroma.roll(-1, dims=1)) / sqrt(3)  # (1, 1, 1) / √3 × chroma
    images = brightness * (lightness + saturation * (angle.cos() * chroma + angle.sin() * sideways))
    middle = images.mean(dim=(1, 2, 3), keepdim=True)
    return middle + contrast * (images - middle)


def _either_way(draws: torch.Tensor) -> torch.Tensor:
    return 2 * draws - 1
