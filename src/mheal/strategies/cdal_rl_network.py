"""The policy of CDAL with reinforcement learning: a Bi-LSTM over predicted class probabilities."""

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from ..backends.torch.precision import reproducible_kernels
from ..runtime.torch_seeds import seeded

CHUNK = 2000  # rows that are read as one sequence
AT_ONCE = 10  # chunks in one batch of the network
HIDDEN = 256
RATE, DECAY, MILESTONE = 1e-2, 1e-5, 10  # of Adam; every so many epochs the rate falls to a tenth
SMOOTHING = 1e-8


class Policy(nn.Module):
    """Scores the rows of sequences: the larger, the more probably they are picked."""

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.read = nn.LSTM(columns, HIDDEN, bidirectional=True, batch_first=True)
        self.judge = nn.Sequential(nn.Linear(2 * HIDDEN, 2 * HIDDEN), nn.Linear(2 * HIDDEN, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits, (sequences, rows), of x, (sequences, rows, columns)."""
        return self.judge(self.read(x)[0]).squeeze(2)


class Chunk:
    """Rows that are read together, how many of them to pick (`share`), and the picks with the best reward so far."""

    def __init__(self, P: torch.Tensor, share: int) -> None:
        self.P, self.share = P, share
        self.rewards: list[float] = []
        self.baseline = 0.0

    def advantage(self, logits: torch.Tensor) -> float:
        """By how much the reward of the highest logits exceeds the running mean of this chunk."""
        picked = logits[: len(self.P)].topk(self.share).indices
        self.rewards.append(reward(self.P, picked))
        if self.rewards[-1] == max(self.rewards):
            self.picked = picked
        surplus = self.rewards[-1] - self.baseline
        self.baseline = 0.9 * self.baseline + 0.1 * self.rewards[-1]
        return surplus


def diverse(
    P: npt.NDArray[np.float32],
    n: int,
    *,
    seed: int = 0,
    epochs: int = 10,
    chunk_rows: int = CHUNK,
    at_once: int = AT_ONCE,
) -> npt.NDArray[np.int64]:
    """`n` rows of P, (rows, classes), whose probabilities differ and which lie near all others.

    Consecutive rows form chunks of at most `chunk_rows`: shuffle them first. One policy reads all chunks; each has
    its share of the picks, its own rewards and its own best epoch. Chunks without a share are left out.
    """
    parts = np.array_split(np.arange(len(P)), -(-len(P) // chunk_rows))[:n]
    shares = n // len(parts) + (np.arange(len(parts)) < n % len(parts))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    A = torch.as_tensor(P, dtype=torch.float32, device=device) + SMOOTHING
    A /= A.sum(dim=1, keepdim=True)
    chunks = [Chunk(A[part[0] : part[-1] + 1], int(share)) for part, share in zip(parts, shares, strict=True)]
    with seeded(seed), reproducible_kernels():
        train(chunks, epochs, at_once)
    picks = [part[chunk.picked.cpu().numpy()] for part, chunk in zip(parts, chunks, strict=True)]
    rank = np.concatenate([np.arange(share) for share in shares])
    return np.concatenate(picks)[np.argsort(rank, kind="stable")]


def train(chunks: list[Chunk], epochs: int, at_once: int = AT_ONCE) -> None:
    """REINFORCE: an action becomes more probable the more an epoch's reward exceeds the usual one."""
    policy = Policy(chunks[0].P.shape[1]).to(chunks[0].P.device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, MILESTONE)
    for _ in range(epochs):
        optimizer.zero_grad()
        for at in range(0, len(chunks), at_once):
            group = chunks[at : at + at_once]
            sequences = nn.utils.rnn.pad_sequence([chunk.P for chunk in group], batch_first=True)
            logits = policy(sequences)
            # as published, the reward is that of the largest probabilities, whatever actions were drawn
            advantage = logits.new_tensor([chunk.advantage(row) for chunk, row in zip(group, logits, strict=True)])
            actions = torch.bernoulli(logits.detach().sigmoid())
            taken = -nn.functional.binary_cross_entropy_with_logits(logits, actions, reduction="none").mean(dim=1)
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
