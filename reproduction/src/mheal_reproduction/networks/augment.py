"""Small random changes that keep what an image shows: a shift and a rotation, made on the device."""

import math
from collections.abc import Sequence

import torch

SHIFT = 0.1  # of the side, either way
ANGLE = 10.0  # degrees, either way
DRAWS = 3  # random numbers for one image


def shift_and_rotate(x: torch.Tensor, draws: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """Images as rows (E, rows, pixels) of the shape (height, width[, channels]), each moved by its own three draws.

    Draws are uniform in [0, 1). What comes in from outside repeats the border.
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
