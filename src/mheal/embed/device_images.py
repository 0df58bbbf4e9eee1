"""Images kept on a device as bytes, with the moments that normalise them."""

from typing import Any, Self

import torch

Shape = tuple[int, int, int]  # channels, height, width of an image


class Images:
    """Rows of images on one device, with the mean and the deviation of each channel that normalise them.

    Bytes lie channels last, (rows, height, width, channels), which is how a GPU convolves fastest.
    """

    def __init__(self, pixels: torch.Tensor, mean: torch.Tensor, deviation: torch.Tensor) -> None:
        self.pixels, self.mean, self.deviation = pixels, mean, deviation

    @classmethod
    def load(cls, images: Any, device: Any) -> Self:
        """Images (n, channels, height, width) or (n, height, width) of bytes, normalised by their own moments."""
        pixels = as_pixels(images, device)
        return cls(pixels, *_moments(pixels))

    def like(self, images: Any) -> Self:
        """Other images, on the same device, normalised as these are."""
        return type(self)(as_pixels(images, self.pixels.device), self.mean, self.deviation)

    def __len__(self) -> int:
        return len(self.pixels)

    @property
    def shape(self) -> Shape:
        """Channels, height and width."""
        _, height, width, channels = self.pixels.shape
        return channels, height, width


def as_pixels(images: Any, device: Any) -> torch.Tensor:
    """Bytes on a device, channels last; images there already are not sent again."""
    pixels = torch.as_tensor(images)
    if pixels.dtype != torch.uint8:
        raise ValueError(f"images must be bytes (uint8), not {pixels.dtype}")
    if pixels.ndim == 3:
        pixels = pixels[:, None]
    if pixels.ndim != 4:
        raise ValueError(f"images must be (n, channels, height, width) or (n, height, width), not {pixels.ndim}-D")
    return pixels.to(device).permute(0, 2, 3, 1).contiguous()


def _moments(pixels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and deviation of each channel, from counts of its 256 values: exact, and without a copy in floats."""
    counts = [torch.bincount(channel.flatten(), minlength=256) for channel in pixels.unbind(3)]
    share = torch.stack(counts).double() / counts[0].sum()
    values = torch.arange(256, dtype=torch.float64, device=pixels.device)
    mean = share @ values
    deviation = (share @ values**2 - mean**2).clamp_min(0).sqrt()
    return mean.float(), torch.where(deviation > 0, deviation, 1.0).float()
