"""The networks of VAAL, and the policy of CDAL with reinforcement learning."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, mse_loss, pad

from ..backends.torch.determinism import reproducible_kernels, seeded
from ..exceptions import UserError

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

# VAAL
SIDE = 32  # pixels
CHANNELS = (128, 256, 512, 1024)
DENSE = (128, 128)
CODE = 32
JUDGE = {"images": (512, 512), "vectors": (128, 128)}
BATCH, RATE, VAE_STEPS = 128, 5e-4, 2
ITERATIONS = {"cuda": (500, 5000), "cpu": (50, 500)}  # bounds; in between, a tenth of the number of rows

# CDAL
CHUNK = 2000  # rows in one sequence
AT_ONCE = 10  # sequences in one batch
HIDDEN = 256
POLICY_RATE, DECAY, MILESTONE = 1e-2, 1e-5, 10  # of Adam; every MILESTONE epochs the rate falls to a tenth
SMOOTHING = 1e-8


class Vae(nn.Module):
    """A variational autoencoder: codes are normal, and the encoder outputs their mean and log variance."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def encode(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean and log variance of the codes, (rows, 32)."""
        mean, log_variance = self.encoder(x).float().chunk(2, dim=1)
        return mean, log_variance.clamp(-10, 10)

    def forward(self, x: torch.Tensor, beta: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean codes, and the loss: mean squared error of the values + β · mean KL term of the code dimensions."""
        mean, log_variance = self.encode(x)
        code = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        kl = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).mean()
        return mean, mse_loss(self.decoder(code).float(), x) + beta * kl


def likeness(
    X: npt.NDArray[Any], labeled: npt.NDArray[np.int64], image_shape: tuple[int, int, int] | None = None,
    iterations: int | None = None, beta: float = 1.0, adversary: float = 1.0, channels: tuple[int, ...] | None = None,
    *, seed: int = 0, batch: int = BATCH,
) -> npt.NDArray[np.float64]:  # fmt: skip
    """The discriminator's probability that a row is labelled, for each row of X."""
    least, most = ITERATIONS[DEVICE]
    A = torch.as_tensor(np.ascontiguousarray(X), dtype=torch.float32)
    A = (A if image_shape is None else as_images(A, image_shape)).to(DEVICE)
    known = torch.zeros(len(A), dtype=torch.bool, device=DEVICE)
    known[torch.as_tensor(labeled, device=DEVICE)] = True
    with seeded(seed), reproducible_kernels():
        steps = iterations or min(most, max(least, len(A) // 10))
        vae, judge = train_vaal(A, known, steps, beta, adversary, channels or CHANNELS, batch)
    with torch.inference_mode(), _half():
        odds = torch.cat([judge(vae.encode(part)[0]) for part in A.split(1024)])
    return odds.double().sigmoid().squeeze(1).cpu().numpy()


def as_images(A: torch.Tensor, shape: tuple[int, int, int]) -> torch.Tensor:
    """Rows as (channels, 32, 32): images are padded with zeros, then pixels get mean 0 and standard deviation 1."""
    channels, height, width = shape
    if channels * height * width != A.shape[1] or max(height, width) > SIDE:
        raise UserError(f"image_shape {shape} must be at most 32 × 32 and make up the {A.shape[1]} columns of the pool")
    top, left = (SIDE - height) // 2, (SIDE - width) // 2
    A = pad(A.view(-1, *shape), (left, SIDE - width - left, top, SIDE - height - top))
    return (A - A.mean()) / A.std().clamp_min(1e-12)


def train_vaal(
    A: torch.Tensor, known: torch.Tensor, iterations: int, beta: float, adversary: float, channels: tuple[int, ...],
    batch: int,
) -> tuple[Vae, nn.Module]:  # fmt: skip
    """Train both networks in turn: in each iteration, two steps of the autoencoder and one of the discriminator."""
    if A.ndim == 4:
        vae, judge = _convolutional(A.shape[1], channels), _layers((CODE, *JUDGE["images"], 1))
    else:
        vae = Vae(_layers((A.shape[1], *DENSE, 2 * CODE)), _layers((CODE, *reversed(DENSE), A.shape[1])))
        judge = _layers((CODE, *JUDGE["vectors"], 1))
    for network in (vae, judge):
        network.apply(_kaiming).to(A.device, memory_format=torch.channels_last)
    vae_step, judge_step = (torch.optim.Adam(network.parameters(), lr=RATE, fused=True) for network in (vae, judge))
    ours, others = known.nonzero().squeeze(1), (~known).nonzero().squeeze(1)
    batch = min(batch, len(A))
    real = torch.ones(2 * batch, 1, device=A.device)
    is_labeled = torch.cat([real[:batch], 1 - real[batch:]])

    def sampled(rows: torch.Tensor) -> torch.Tensor:  # with replacement: there may be few labels
        return A[rows[torch.randint(len(rows), (batch,), device=A.device)]]

    for _ in range(iterations):
        judge.requires_grad_(False)
        for _ in range(VAE_STEPS):
            x = torch.cat([sampled(ours), sampled(others)])
            with _half():
                mean, loss = vae(x, beta)
                deceived = binary_cross_entropy_with_logits(judge(mean).float(), real)
            vae_step.zero_grad()
            (loss + adversary * deceived).backward()
            vae_step.step()
        judge.requires_grad_(True)
        with _half():
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


def _half() -> Any:
    """Half precision (bfloat16) on a GPU, where it is faster."""
    return torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda")


class Policy(nn.Module):
    """A Bi-LSTM that scores the rows of sequences; a row with a larger score is more likely to be picked."""

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.read = nn.LSTM(columns, HIDDEN, bidirectional=True, batch_first=True)
        self.judge = nn.Sequential(nn.Linear(2 * HIDDEN, 2 * HIDDEN), nn.Linear(2 * HIDDEN, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits, (sequences, rows), of x, (sequences, rows, columns)."""
        return self.judge(self.read(x)[0]).squeeze(2)


class Chunk:
    """Rows of one sequence, how many of them to pick (`share`), and the picks with the best reward so far."""

    def __init__(self, P: torch.Tensor, share: int) -> None:
        self.P, self.share = P, share
        self.rewards: list[float] = []
        self.baseline = 0.0

    def advantage(self, logits: torch.Tensor) -> float:
        """The reward of picking the highest logits, minus the running mean of this chunk's rewards."""
        picked = logits[: len(self.P)].topk(self.share).indices
        self.rewards.append(reward(self.P, picked))
        if self.rewards[-1] == max(self.rewards):
            self.picked = picked
        surplus = self.rewards[-1] - self.baseline
        self.baseline = 0.9 * self.baseline + 0.1 * self.rewards[-1]
        return surplus


def diverse(
    P: npt.NDArray[np.float32], n: int, *, seed: int = 0, epochs: int = 10, chunk: int = CHUNK, at_once: int = AT_ONCE
) -> npt.NDArray[np.int64]:
    """`n` rows of P, (rows, classes), whose probabilities differ from each other and are near those of all rows.

    Consecutive rows form chunks of at most `chunk` rows, so rows should be shuffled first. One policy reads all chunks.
    Each chunk has its share of the picks, its own rewards and its own best epoch. Chunks without a share are left out.
    """
    parts = np.array_split(np.arange(len(P)), -(-len(P) // chunk))[:n]
    shares = n // len(parts) + (np.arange(len(parts)) < n % len(parts))
    A = torch.as_tensor(P, dtype=torch.float32, device=DEVICE) + SMOOTHING
    A /= A.sum(dim=1, keepdim=True)
    chunks = [Chunk(A[part], int(share)) for part, share in zip(parts, shares, strict=True)]
    with seeded(seed), reproducible_kernels():
        train_policy(chunks, epochs, at_once)
    picks = [part[one.picked.cpu().numpy()] for part, one in zip(parts, chunks, strict=True)]
    rank = np.concatenate([np.arange(share) for share in shares])
    return np.concatenate(picks)[np.argsort(rank, kind="stable")]


def train_policy(chunks: list[Chunk], epochs: int, at_once: int = AT_ONCE) -> None:
    """REINFORCE: actions become more probable in proportion to how far the reward exceeds its running mean."""
    policy = Policy(chunks[0].P.shape[1]).to(chunks[0].P.device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=POLICY_RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, MILESTONE)
    for _ in range(epochs):
        optimizer.zero_grad()
        for at in range(0, len(chunks), at_once):
            group = chunks[at : at + at_once]
            sequences = nn.utils.rnn.pad_sequence([chunk.P for chunk in group], batch_first=True)
            logits = policy(sequences)
            # as published, the reward is that of the most probable rows, not of the actions drawn below
            advantage = logits.new_tensor([chunk.advantage(row) for chunk, row in zip(group, logits, strict=True)])
            actions = torch.bernoulli(logits.detach().sigmoid())
            taken = -binary_cross_entropy_with_logits(logits, actions, reduction="none").mean(dim=1)
            length = (logits.sigmoid().mean(dim=1) - 0.5).square()
            ((0.01 * length - advantage * taken).sum() / len(chunks)).backward()
        optimizer.step()
        schedule.step()


def reward(P: torch.Tensor, picked: torch.Tensor) -> float:
    """1.5 · mean symmetric KL between picks + ½ exp(−mean squared distance of all rows to the nearest pick / 50)."""
    P = P.double()
    p, n = P[picked], len(picked)
    log_p = p.log()
    # Over all pairs, ½ Σ (p_i − p_j)·(log p_i − log p_j) = n Σ p_i·log p_i − Σ p_i · Σ log p_i.
    divergence = (n * (p * log_p).sum() - p.sum(dim=0) @ log_p.sum(dim=0)) / max(1, n * (n - 1))
    nearest = torch.cdist(P, p).square().min(dim=1).values.mean()
    return float(1.5 * divergence + 0.5 * torch.exp(-nearest / 50))
