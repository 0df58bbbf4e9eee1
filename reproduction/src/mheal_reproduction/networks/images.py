"""Images on a device, normalised and augmented a batch at a time."""

from typing import Any, Self

import torch
from torch.nn import functional

from mheal.embed.device_images import Images, as_pixels


class TrainingImages(Images):
    """Normalised images on a device, on which networks are trained and tested."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width."""
        _, height, width, channels = self.pixels.shape
        return channels, height, width

    def __init__(self, pixels: torch.Tensor, mean: torch.Tensor, deviation: torch.Tensor) -> None:
        super().__init__(pixels, mean, deviation)
        self._down, self._across = (torch.arange(side, device=pixels.device) for side in pixels.shape[1:3])

    def like(self, images: Any) -> Self:
        """Other images on the same device, with the same normalisation."""
        return type(self)(as_pixels(images, self.pixels.device), self.mean, self.deviation)

    def batch(self, rows: torch.Tensor) -> torch.Tensor:
        """Normalised images of these rows, (batch, channels, height, width)."""
        return self._normalise(self.pixels[rows])

    def augmented(self, rows: torch.Tensor, generator: Any, shift: int, mirror: bool) -> torch.Tensor:
        """As `batch`, with each image randomly shifted by up to `shift` pixels (the new edge is black) and mirrored."""
        moved = torch.randint(2 * shift + 1, (2, len(rows), 1), generator=generator, device=rows.device)
        y, x = moved[0] + self._down, self._across
        if mirror:
            turned = torch.randint(2, (len(rows), 1), generator=generator, device=rows.device)
            x = (x - turned * (len(x) - 1)).abs()
        padded = functional.pad(self.pixels[rows], (0, 0, shift, shift, shift, shift))
        item = torch.arange(len(rows), device=rows.device)
        return self._normalise(padded[item[:, None, None], y[:, :, None], (moved[1] + x)[:, None, :]])

    def _normalise(self, pixels: torch.Tensor) -> torch.Tensor:
        return pixels.float().sub_(self.mean).div_(self.deviation).permute(0, 3, 1, 2)
