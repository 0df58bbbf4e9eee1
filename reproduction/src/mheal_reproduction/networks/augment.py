"""Augmentation of images by a small random shift and rotation, on the device."""

import math
from collections.abc import Sequence

import torch

SHIFT = 0.1  # largest shift, as a share of the side
ANGLE = 10.0  # largest rotation, in degrees
DRAWS = 3  # random numbers for one image


def shift_and_rotate(x: torch.Tensor, draws: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """Shift and rotate images, given as rows (E, rows, pixels) of the shape (height, width[, channels]).

    Each image has three draws, uniform in [0, 1). Pixels from outside the image repeat its border.
    """
    height, width, channels = (*shape, 1)[:3]
    images = x.reshape(-1, height, width, channels).movedim(3, 1)
    u = 2.0 * draws.reshape(-1, DRAWS) - 1.0
    angle = u[:, 0] * math.radians(ANGLE)
    sin, cos = angle.sin(), angle.cos()
    across = torch.stack([cos, -sin * (height / width), 2 * SHIFT * u[:, 1]], dim=1)  # a side is 2 long
    down = torch.stack([sin * (width / height), cos, 2 * SHIFT * u[:, 2]], dim=1)
    grid = torch.nn.functional.affine_grid(torch.stack([across, down], dim=1), list(images.shape), align_corners=False)
    moved = torch.nn.functional.grid_sample(images, grid, padding_mode="border", align_corners=False)
    return moved.movedim(1, 3).reshape(x.shape)
