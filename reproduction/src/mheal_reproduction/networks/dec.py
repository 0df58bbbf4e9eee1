"""Deep embedded clustering (DEC, Xie et al. 2016): an autoencoder, then clusters of its codes, for a stack of networks.

A code z belongs to centre μ_j with q_j ∝ 1 / (1 + ‖z − μ_j‖²). The target p_j ∝ q_j² / Σ_i q_ij is sharper and gives
every cluster the same weight. Encoder and centres are trained to bring q closer to p, which is recomputed at intervals.
IDEC (Guo et al. 2017) keeps the decoder and its loss. DEC-DA (Guo et al. 2018) brings the q of an augmented image
closer to the p of the original.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from mheal.exceptions import UserError
from mheal.runtime.progress import Progress

from .augment import DRAWS, shift_and_rotate
from .stack import Optimiser, Shuffles, Stack, Trainer

EPOCHS, STEPS = 300, 5000  # minimum of pretraining: codes that are hardly trained collapse in DEC
INTERVAL = 30  # fewest batches between two targets: with fewer, labels change so little that training stops too early
CHUNK = 1 << 16  # rows of all members together that are encoded at a time
PRETRAINING: tuple[Optimiser, float] = ("sgd", 1.0)  # optimiser and learning rate
TRAINING: dict[str, tuple[Optimiser, float]] = {"dec": ("sgd", 0.01), "idec": ("adam", 1e-3)}


@dataclass(frozen=True)
class Recipe:
    """How every member of a stack is trained.

    image_shape : (height, width[, channels]) of images that are augmented; None: no augmentation
    pretrain_epochs : epochs of training the autoencoder; None: 300, or as many as make 5,000 batches
    pretrain_rate : learning rate of the autoencoder; photographs need a smaller one than drawings, such as 0.1
    update_interval : batches between two targets; None: half an epoch, but at least 30
    tol : stop when fewer than this share of the labels have changed between two targets
    widths : widths of the encoder's hidden layers; the decoder has them in reverse
    batch : rows per step
    length : mean length to which codes are scaled before DEC; None: they are not scaled
    gamma : weight of the clustering loss in IDEC
    """

    n_clusters: int = 10
    code: int = 10
    variant: Literal["dec", "idec"] = "dec"
    image_shape: tuple[int, ...] | None = None
    pretrain_epochs: int | None = None
    max_iter: int = 20_000
    update_interval: int | None = None
    tol: float = 1e-3
    pretrain_rate: float = PRETRAINING[1]
    widths: tuple[int, ...] = (500, 500, 2000)
    batch: int = 256
    length: float | None = 12.0
    gamma: float = 0.1


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of X that each member learns from: index is (E, n)."""

    X: torch.Tensor
    index: torch.Tensor

    def __getitem__(self, places: torch.Tensor) -> torch.Tensor:
        """Batches (E, batch, columns), given places (E, batch) among each member's own rows."""
        return self.X[self.index.gather(1, places)]

    @property
    def n(self) -> int:
        """Rows of one member."""
        return int(self.index.shape[1])

    def take(self, members: Sequence[int]) -> "Rows":
        """The rows of some members only."""
        return Rows(self.X, self.index[list(members)])


@dataclass(frozen=True, eq=False)
class Refined:
    """The result of one member: a label for each of its rows, the centres, and an encoder (a stack of one)."""

    labels: torch.Tensor
    centers: torch.Tensor
    encoder: Stack
    n_iter: int
    history: list[float]  # KL(p‖q) at every target


def soft_labels(codes: torch.Tensor, centers: torch.Tensor) -> torch.Tensor:
    """Student's t similarities q (E, rows, clusters) of codes (E, rows, d) to centres (E, clusters, d)."""
    near = 1.0 / (1.0 + (codes[:, :, None] - centers[:, None]).square().sum(dim=3))
    return near / near.sum(dim=2, keepdim=True)


def targets(q: torch.Tensor) -> torch.Tensor:
    """The target p ∝ q² / f, where f is the sum of each cluster's q over all rows."""
    p = q.square() / q.sum(dim=1, keepdim=True)
    return p / p.sum(dim=2, keepdim=True)


def divergence(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """KL(p‖q) of every member, averaged over its rows."""
    return (torch.xlogy(p, p) - torch.xlogy(p, q)).sum(dim=2).mean(dim=1)


def codes_of(encoder: Stack, rows: Rows) -> torch.Tensor:
    """The codes of all rows, (E, n, code)."""
    with torch.no_grad():
        return torch.cat(list(_chunks_of_codes(encoder, rows)), dim=1)


def _chunks_of_codes(encoder: Stack, rows: Rows) -> Iterator[torch.Tensor]:
    for part in rows.index.split(max(1, CHUNK // len(encoder)), dim=1):
        yield encoder(rows.X[part])


def untrained(rows: Rows, seeds: Sequence[int], recipe: Recipe) -> tuple[Stack, Stack]:
    """Untrained encoders and decoders, one of each per seed."""
    columns, device = rows.X.shape[1], rows.X.device
    encoder = Stack.initial((columns, *recipe.widths, recipe.code), seeds, device, part=0)
    return encoder, Stack.initial((recipe.code, *reversed(recipe.widths), columns), seeds, device, part=1)


def pretrain(rows: Rows, seeds: Sequence[int], recipe: Recipe, progress: Progress | None = None) -> tuple[Stack, Stack]:
    """Train encoders and decoders to reproduce their (augmented) rows."""
    encoder, decoder = untrained(rows, seeds, recipe)

    def loss(places: torch.Tensor, draws: torch.Tensor) -> torch.Tensor:
        x = _augmented(rows[places], draws, recipe)
        return _mean_square(decoder(encoder(x)) - x)

    trainer = Trainer([*encoder.parameters(), *decoder.parameters()], loss, PRETRAINING[0], recipe.pretrain_rate)
    shuffles = Shuffles(seeds, rows.n, recipe.batch, 0, rows.X.device, _draws(recipe))
    epochs = recipe.pretrain_epochs
    if epochs is None:
        epochs = max(EPOCHS, -(-STEPS // shuffles.per_epoch))
    for epoch in range(epochs):
        for step in range(shuffles.per_epoch):
            trainer.step(*shuffles(epoch * shuffles.per_epoch + step))
        if progress is not None:
            progress(epoch + 1, epochs, "training an autoencoder")
    codes = codes_of(encoder, rows)
    if not bool(torch.isfinite(codes).all()):
        lower = f"{recipe.pretrain_rate / 10:g}"
        raise UserError(f"the autoencoder's codes are not finite: set pretrain_rate lower, for instance to {lower}")
    if recipe.length is not None:
        _set_length(encoder, decoder, codes, recipe.length)
    return encoder, decoder


class Refinement:
    """DEC of a stack, given encoders, decoders and centres; a member leaves the stack when its labels are stable."""

    def __init__(
        self, rows: Rows, seeds: Sequence[int], recipe: Recipe, encoder: Stack, decoder: Stack, centers: torch.Tensor
    ) -> None:
        self.rows, self.seeds, self.recipe = rows, list(seeds), recipe
        self.encoder, self.decoder = encoder, decoder if recipe.variant == "idec" else None
        self.centers = centers.detach().requires_grad_()
        self.members = list(range(len(encoder)))
        self.labels = torch.full(rows.index.shape, -1, device=rows.X.device)
        self.histories: list[list[float]] = [[] for _ in self.members]
        self.iteration = 0
        self._begin([])

    def run(
        self, progress: Progress | None = None, save: Callable[[dict[str, Any]], None] | None = None
    ) -> list[Refined]:
        """Train until every member has stopped. `save` gets the state before each target."""
        found: dict[int, Refined] = {}
        while self.members:
            if save is not None:
                save(self.state())
            found |= self._update()
            interval = self.recipe.update_interval or max(INTERVAL, self.shuffles.per_epoch // 2)
            for _ in range(min(interval, self.recipe.max_iter - self.iteration) if self.members else 0):
                self.trainer.step(*self.shuffles(self.iteration))
                self.iteration += 1
            if progress is not None:
                done = self.iteration if self.members else self.recipe.max_iter
                progress(done, self.recipe.max_iter, "clustering its codes")
        return [found[member] for member in sorted(found)]

    def state(self) -> dict[str, Any]:
        """The state to resume from, as tensors and plain values; only while no member has left."""
        return {
            "iteration": self.iteration,
            "histories": self.histories,
            "labels": self.labels,
            "parameters": self._parameters(),
            "memory": self.trainer.memory(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state that `state` returned."""
        self.iteration, self.histories = state["iteration"], state["histories"]
        self.labels = state["labels"].to(self.labels.device)
        for own, stored in zip(self._parameters(), state["parameters"], strict=True):
            own.data.copy_(stored)
        self._begin(state["memory"])

    def _begin(self, memory: list[dict[str, torch.Tensor]]) -> None:
        recipe, device = self.recipe, self.rows.X.device
        self.target = torch.empty(*self.rows.index.shape, recipe.n_clusters, device=device)
        self.shuffles = Shuffles(self.seeds, self.rows.n, recipe.batch, 1, device, _draws(recipe))
        self.trainer = Trainer(self._parameters(), self._loss, *TRAINING[recipe.variant])
        if memory:
            self.trainer.restore(memory)

    def _parameters(self) -> list[torch.Tensor]:
        decoder = self.decoder.parameters() if self.decoder is not None else []
        return [*self.encoder.parameters(), *decoder, self.centers]

    def _loss(self, places: torch.Tensor, draws: torch.Tensor) -> torch.Tensor:
        x = _augmented(self.rows[places], draws, self.recipe)
        p = self.target.gather(1, places[:, :, None].expand(-1, -1, self.target.shape[2]))
        codes = self.encoder(x)
        loss = divergence(p, soft_labels(codes, self.centers))
        return loss if self.decoder is None else self.recipe.gamma * loss + _mean_square(self.decoder(codes) - x)

    def _update(self) -> dict[int, Refined]:
        """Compute the new target of members that continue, and store the results of those that stop."""
        with torch.no_grad():
            chunks = _chunks_of_codes(self.encoder, self.rows)
            q = torch.cat([soft_labels(codes, self.centers) for codes in chunks], dim=1)
            p = targets(q)
            labels = q.argmax(dim=2)
            changed = (labels != self.labels).float().mean(dim=1).tolist()
            for history, value in zip(self.histories, divergence(p, q).tolist(), strict=True):
                history.append(value)
        self.labels = labels
        last = self.iteration >= self.recipe.max_iter
        going = [place for place, share in enumerate(changed) if not last and share >= self.recipe.tol]
        found = {member: self._result(i) for i, member in enumerate(self.members) if i not in going}
        if found:
            self._keep(going)
        if going:
            self.target.copy_(p[going])
        return found

    def _result(self, place: int) -> Refined:
        centers, encoder = self.centers.detach()[place].clone(), self.encoder.take([place])
        return Refined(self.labels[place].clone(), centers, encoder, self.iteration, self.histories[place])

    def _keep(self, going: list[int]) -> None:
        memory = self.trainer.memory(going)
        self.members, self.seeds = [self.members[i] for i in going], [self.seeds[i] for i in going]
        self.histories = [self.histories[i] for i in going]
        self.labels, self.rows = self.labels[going], self.rows.take(going)
        self.centers = self.centers.detach()[going].requires_grad_()
        self.encoder = self.encoder.take(going)
        self.decoder = self.decoder.take(going) if self.decoder is not None else None
        if going:
            self._begin(memory)


def _set_length(encoder: Stack, decoder: Stack, codes: torch.Tensor, target: float) -> None:
    """Scale codes to the mean length `target`, and undo it in the decoder, so that the output stays the same.

    Student's t has scale 1, but the scale of an autoencoder's codes is arbitrary. With short codes all q are nearly
    equal.
    """
    with torch.no_grad():
        length = codes.norm(dim=2).mean(dim=1)[:, None, None]
        factor = torch.where(length > 0, target / length, 1.0)
        encoder.weights[-1].mul_(factor)
        encoder.biases[-1].mul_(factor)
        decoder.weights[0].div_(factor)


def _augmented(x: torch.Tensor, draws: torch.Tensor, recipe: Recipe) -> torch.Tensor:
    return x if recipe.image_shape is None else shift_and_rotate(x, draws, recipe.image_shape)


def _draws(recipe: Recipe) -> int:
    return 0 if recipe.image_shape is None else DRAWS


def _mean_square(difference: torch.Tensor) -> torch.Tensor:
    return difference.square().mean(dim=(1, 2))
