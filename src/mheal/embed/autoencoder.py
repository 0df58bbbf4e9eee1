"""The paper's autoencoder: d-500-500-2000-10 and back, trained to reconstruct its input."""

from collections import OrderedDict
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from ..backends.torch.determinism import seeded
from ..runtime.progress import Progress

WIDTHS, CODE = (500, 500, 2000), 10
STEPS, EPOCHS = 6000, 30
BATCH, RATE = 256, 1e-3


def autoencoder(columns: int) -> Any:
    """A fully connected autoencoder with ReLU between the layers and a linear code."""
    widths = (columns, *WIDTHS, CODE)
    halves = {}
    for name, sizes in (("encoder", widths), ("decoder", widths[::-1])):
        layers = [layer for before, after in pairwise(sizes) for layer in (nn.Linear(before, after), nn.ReLU())]
        halves[name] = nn.Sequential(*layers[:-1])
    return nn.Sequential(OrderedDict(halves))


def encode(
    X: npt.ArrayLike, *, seed: int = 0, steps: int | None = None, batch: int = BATCH, progress: Progress | None = None
) -> npt.NDArray[np.float32]:
    """Train on the rows of X, and return their codes, (rows, 10).

    All columns are divided by the same number, so that pixels keep their contrast. Runs on a GPU if there is one.

    steps : number of batches, rounded up to whole epochs; by default 6,000 or 30 epochs, whichever is more
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    A = torch.as_tensor(np.asarray(X), dtype=torch.float32)
    A = ((A - A.mean(dim=0)) / A.std().clamp_min(1e-12)).to(device)
    with seeded(seed):
        model = train(A, steps, batch, progress)
    with torch.inference_mode():
        return torch.cat([model.encoder(part) for part in A.split(8192)]).cpu().numpy()


def train(X: torch.Tensor, steps: int | None = None, batch: int = BATCH, progress: Progress | None = None) -> Any:
    """An autoencoder trained on the rows of X by Adam with a cosine schedule."""
    model = autoencoder(X.shape[1]).to(X.device)
    batch = min(batch, len(X))
    per_epoch = len(X) // batch
    epochs = -(-(steps or max(STEPS, EPOCHS * per_epoch)) // per_epoch)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * per_epoch)
    for epoch in range(epochs):
        for rows in torch.randperm(len(X), device=X.device)[: per_epoch * batch].split(batch):
            loss = nn.functional.mse_loss(model(X[rows]), X[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        if progress is not None:
            progress(epoch + 1, epochs, "training an autoencoder")
    return model.eval()
