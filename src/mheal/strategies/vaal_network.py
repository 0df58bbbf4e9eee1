"""VAAL's networks: a variational autoencoder and the discriminator that it is trained to deceive."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, mse_loss, pad

from ..backends.torch.precision import reproducible_kernels
from ..exceptions import UserError
from ..runtime.torch_seeds import seeded

SIDE = 32  # pixels
CHANNELS = (128, 256, 512, 1024)
DENSE = (128, 128)
CODE = 32
JUDGE = {"images": (512, 512), "vectors": (128, 128)}
BATCH, RATE, VAE_STEPS = 128, 5e-4, 2
ITERATIONS = {"cuda": (500, 5000), "cpu": (50, 500)}  # least and most; a tenth of the pool in between


class Vae(nn.Module):
    """Codes are normal, with the mean and log variance that the encoder gives."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def encode(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean and log variance of the codes, (rows, 32)."""
        mean, log_variance = self.encoder(x).float().chunk(2, dim=1)
        return mean, log_variance.clamp(-10, 10)

    def forward(self, x: torch.Tensor, beta: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean codes, and the loss: squared error per value + β · KL per code and dimension."""
        mean, log_variance = self.encode(x)
        code = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        kl = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).mean()
        return mean, mse_loss(self.decoder(code).float(), x) + beta * kl


def likeness(
    X: npt.NDArray[Any],
    labeled: npt.NDArray[np.int64],
    image_shape: tuple[int, int, int] | None = None,
    *,
    iterations: int | None = None,
    beta: float = 1.0,
    adversary: float = 1.0,
    seed: int = 0,
    channels: tuple[int, ...] | None = None,
    batch: int = BATCH,
) -> npt.NDArray[np.float64]:
    """The discriminator's probability that each row of X is a labelled one."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    least, most = ITERATIONS[device]
    A = torch.as_tensor(np.ascontiguousarray(X), dtype=torch.float32)
    A = (A if image_shape is None else as_images(A, image_shape)).to(device)
    known = torch.zeros(len(A), dtype=torch.bool, device=device)
    known[torch.as_tensor(labeled, device=device)] = True
    with seeded(seed), reproducible_kernels():
        steps = iterations or min(most, max(least, len(A) // 10))
        vae, judge = train(A, known, steps, beta, adversary, channels=channels, batch=batch)
    with torch.inference_mode(), _half(device):
        odds = torch.cat([judge(vae.encode(part)[0]) for part in A.split(1024)])
    return odds.double().sigmoid().squeeze(1).cpu().numpy()


def as_images(A: torch.Tensor, shape: tuple[int, int, int]) -> torch.Tensor:
    """Rows as (channels, 32, 32), the smaller ones within a margin of zeros; pixels of mean 0 and deviation 1."""
    channels, height, width = shape
    if channels * height * width != A.shape[1] or max(height, width) > SIDE:
        raise UserError(f"image_shape {shape} must be at most 32 × 32 and make up the {A.shape[1]} columns of the pool")
    top, left = (SIDE - height) // 2, (SIDE - width) // 2
    A = pad(A.view(-1, *shape), (left, SIDE - width - left, top, SIDE - height - top))
    return (A - A.mean()) / A.std().clamp_min(1e-12)


def train(
    A: torch.Tensor,
    known: torch.Tensor,
    iterations: int,
    beta: float,
    adversary: float,
    *,
    channels: tuple[int, ...] | None = None,
    batch: int = BATCH,
) -> tuple[Vae, nn.Module]:
    """Train both networks in turn: two steps of the autoencoder, one of the discriminator."""
    vae = _convolutional(A.shape[1], channels or CHANNELS) if A.ndim == 4 else _dense(A.shape[1])
    judge = _layers((CODE, *JUDGE["images" if A.ndim == 4 else "vectors"], 1))
    for network in (vae, judge):
        network.apply(_kaiming).to(A.device, memory_format=torch.channels_last)
    vae_step = torch.optim.Adam(vae.parameters(), lr=RATE, fused=True)
    judge_step = torch.optim.Adam(judge.parameters(), lr=RATE, fused=True)
    ours, others = known.nonzero().squeeze(1), (~known).nonzero().squeeze(1)
    batch = min(batch, len(A))
    real = torch.ones(2 * batch, 1, device=A.device)
    is_labeled = torch.cat([real[:batch], 1 - real[batch:]])

    def sampled(rows: torch.Tensor) -> torch.Tensor:  # with replacement: twenty labels fill a batch, too
        return A[rows[torch.randint(len(rows), (batch,), device=A.device)]]

    for _ in range(iterations):
        judge.requires_grad_(False)
        for _ in range(VAE_STEPS):
            x = torch.cat([sampled(ours), sampled(others)])
            with _half(A.device.type):
                mean, loss = vae(x, beta)
                deceived = binary_cross_entropy_with_logits(judge(mean).float(), real)
            vae_step.zero_grad()
            (loss + adversary * deceived).backward()
            vae_step.step()
        judge.requires_grad_(True)
        with _half(A.device.type):
            with torch.no_grad():
                mean = vae.encode(x)[0]
            judge_loss = binary_cross_entropy_with_logits(judge(mean).float(), is_labeled)
        judge_step.zero_grad()
        judge_loss.backward()
        judge_step.step()
    return vae.eval(), judge.eval()


def _convolutional(colours: int, channels: tuple[int, ...]) -> Vae:
    encoder: list[nn.Module] = []
    for before, after in pairwise((colours, *channels)):
        encoder += [nn.Conv2d(before, after, 4, 2, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
    side = SIDE >> len(channels)
    cells = channels[-1] * side**2
    decoder: list[nn.Module] = [nn.Linear(CODE, cells), nn.Unflatten(1, (channels[-1], side, side))]
    for before, after in pairwise((*reversed(channels), colours)):
        decoder += [nn.BatchNorm2d(before), nn.ReLU(), nn.ConvTranspose2d(before, after, 4, 2, 1)]
    return Vae(nn.Sequential(*encoder, nn.Flatten(), nn.Linear(cells, 2 * CODE)), nn.Sequential(*decoder))


def _dense(columns: int) -> Vae:
    return Vae(_layers((columns, *DENSE, 2 * CODE)), _layers((CODE, *reversed(DENSE), columns)))


def _layers(widths: tuple[int, ...]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def _kaiming(module: nn.Module) -> None:
    if isinstance(module, nn.Conv2d | nn.ConvTranspose2d | nn.Linear):
        nn.init.kaiming_normal_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


def _half(device: str) -> Any:
    """Half precision where it is faster."""
    return torch.autocast(device, torch.bfloat16, enabled=device == "cuda")
