"""Train many classifiers with one recipe: together in one CUDA graph on a GPU, elsewhere one after another.

A model depends on its images, its labels and its seed, not on the models that are trained with it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from mheal.backends.torch.determinism import reproducible_kernels, seeded
from mheal.embed.simclr import lay_out_gradients
from mheal.exceptions import UserError
from mheal.runtime.progress import Progress

from .architectures import Network, build, use_generator
from .branches import capture_branches
from .classifier import Classifier
from .images import TrainingImages
from .recipes import Recipe

Labelled = tuple[npt.ArrayLike, npt.ArrayLike]  # rows of the images, and their labels

REPORT = 50  # steps between two calls of progress


def train_many(
    images: Any,
    sets: Sequence[Labelled],
    seeds: Sequence[int],
    recipe: Recipe,
    *,
    classes: int,
    device: Any = None,
    at_once: int = 8,
    half: bool | None = None,
    progress: Progress | None = None,
) -> list[Classifier]:
    """Train one classifier per set, on the rows and labels of that set only.

    images : bytes (n, channels, height, width) or (n, height, width), an array or a tensor that is on the device
    sets : (rows, labels) of each model; their sizes may differ
    at_once : how many models share the GPU
    half : compute in bfloat16, while weights stay float32; None: on a GPU
    """
    if at_once < 1:
        raise UserError(f"at_once must be at least 1, not {at_once}")
    if not sets:
        return []
    groups = -(-len(sets) // at_once)
    places = -(-len(sets) // groups)  # groups of about equal size: nine models make five and four, not eight and one
    with Trainer(images, recipe, classes=classes, device=device, places=places, half=half) as trainer:
        return trainer.train(sets, seeds, progress)


class Trainer:
    """Trains models in groups, with one place for each model of a group. Use it in a `with` statement.

    Capturing a step as a graph takes seconds, so places are made once and reused by the models of later groups.
    """

    def __init__(
        self, images: Any, recipe: Recipe, *, classes: int, device: Any = None, places: int = 8,
        half: bool | None = None,
    ) -> None:  # fmt: skip
        self.images = (
            images
            if isinstance(images, TrainingImages)
            else TrainingImages.load(images, default_device(images, device))
        )
        self.recipe, self.classes = recipe, classes
        self.clock = Clock(self.images.pixels.device)
        half = self.images.pixels.is_cuda if half is None else half
        self.places = [Place(self.images, recipe, classes, self.clock, half) for _ in range(places)]
        self.graph: Any = None
        if self.images.pixels.is_cuda:
            with reproducible_kernels():
                self.graph = capture_branches([place.step for place in self.places], [p.generator for p in self.places])

    def __enter__(self) -> "Trainer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory of the models and of the graph."""
        if self.graph is None:
            self.places.clear()
            return
        torch.cuda.synchronize()  # wait until no replay of the graph uses the memory
        self.places.clear()
        self.graph.reset()
        self.graph = None
        torch.cuda.empty_cache()

    def train(
        self, sets: Sequence[Labelled], seeds: Sequence[int], progress: Progress | None = None
    ) -> list[Classifier]:
        """One classifier per set and seed."""
        if len(sets) != len(seeds):
            raise UserError(f"{len(sets)} sets but {len(seeds)} seeds: each model needs its own")
        lessons = [self._check(rows, labels) for rows, labels in sets]
        trained: list[Classifier] = []
        for start in range(0, len(sets), len(self.places)):
            group = list(zip(self.places, lessons[start:], seeds[start:], strict=False))
            for place, (rows, labels), seed in group:
                place.start(rows, labels, int(seed))
            active = [place for place, *_ in group]
            for step in range(self.recipe.steps):
                self._step(step, active)
                if progress is not None and ((step + 1) % REPORT == 0 or step + 1 == self.recipe.steps):
                    share = (step + 1) / self.recipe.steps
                    progress(start + int(len(group) * share), len(sets), "training classifiers")
            trained += [
                Classifier(self.recipe, self.images, self.classes, place.network.state_dict()) for place in active
            ]
        return trained

    def _step(self, step: int, active: list["Place"]) -> None:
        self.clock.set(step, self.recipe.rate_at(step))
        if self.graph is not None:
            self.graph.replay()
            return
        with reproducible_kernels():
            for place in active:
                place.step()

    def _check(self, rows: npt.ArrayLike, labels: npt.ArrayLike) -> tuple[torch.Tensor, torch.Tensor]:
        r, l = np.asarray(rows), np.asarray(labels)
        if r.ndim != 1 or r.shape != l.shape or not len(r):
            raise UserError(f"a set needs as many labels as rows, at least one, not {r.shape} and {l.shape}")
        for values, end, what in ((r, len(self.images), "rows"), (l, self.classes, "labels")):
            if values.dtype.kind not in "iu" or values.min() < 0 or values.max() >= end:
                raise UserError(f"{what} must be integers from 0 to {end - 1}")
        device = self.images.pixels.device
        return torch.as_tensor(r.astype(np.int64)).to(device), torch.as_tensor(l.astype(np.int64)).to(device)


class Clock:
    """The step and the learning rate of all places, stored on the device so that a graph can read them."""

    def __init__(self, device: Any) -> None:
        self.step = torch.zeros(1, dtype=torch.int64, device=device)
        self.rate = torch.zeros((), device=device)

    def set(self, step: int, rate: float) -> None:
        """Set the step, and the learning rate of that step."""
        self.step.fill_(step)
        self.rate.fill_(rate)


class Place:
    """The tensors for training one model at a time. Their addresses stay fixed, so that a graph can use them."""

    def __init__(self, images: TrainingImages, recipe: Recipe, classes: int, clock: Clock, half: bool) -> None:
        device = images.pixels.device
        self.images, self.recipe, self.classes, self.clock, self.half = images, recipe, classes, clock, half
        layout = torch.channels_last if device.type == "cuda" or half else torch.contiguous_format
        self.network = self._fresh(0).to(device, memory_format=layout)
        self.generator = torch.Generator(device)
        use_generator(self.network, self.generator)
        self.optimiser = _optimiser(recipe, list(self.network.parameters()), clock.rate)
        self.batches = torch.zeros(2, recipe.steps, recipe.batch, dtype=torch.int64, device=device)

    def start(self, rows: torch.Tensor, labels: torch.Tensor, seed: int) -> None:
        """Prepare a new model: initial weights, a new state of the optimiser, and the order of all batches."""
        self.network.load_state_dict(self._fresh(seed).state_dict())
        for state in self.optimiser.state.values():
            for value in state.values():
                value.zero_()
        self.generator.manual_seed(seed)
        order = shuffled_epochs(len(rows), self.batches[0].numel(), self.generator)
        self.batches.copy_(torch.stack((rows[order], labels[order])).view_as(self.batches))

    def step(self) -> None:
        """Make one step of gradient descent, with the batch and the learning rate of the clock's step."""
        rows, labels = self.batches.index_select(1, self.clock.step).unbind(0)
        x = self._images(rows[0])
        self.optimiser.zero_grad(set_to_none=True)
        # each weight is used once, so the cache of casts gains nothing, and a graph must not outlive it
        with torch.autocast(x.device.type, torch.bfloat16, enabled=self.half, cache_enabled=False):
            loss = functional.cross_entropy(self.network(x).float(), labels[0])
        loss.backward()
        lay_out_gradients(self.network)
        self.optimiser.step()

    def _images(self, rows: torch.Tensor) -> torch.Tensor:
        if self.recipe.shift or self.recipe.mirror:
            return self.images.augmented(rows, self.generator, self.recipe.shift, self.recipe.mirror)
        return self.images.batch(rows)

    def _fresh(self, seed: int) -> Network:
        with seeded(seed, gpus=False):  # weights do not depend on the device
            return build(self.recipe.network, self.images.shape, self.classes)


def shuffled_epochs(rows: int, count: int, generator: Any) -> torch.Tensor:
    """The first `count` rows of a sequence of epochs, each of which has all rows in a new random order."""
    epochs = -(-count // rows)
    return torch.rand(epochs, rows, generator=generator, device=generator.device).argsort(1).flatten()[:count]


def _optimiser(recipe: Recipe, weights: list[Any], rate: torch.Tensor) -> Any:
    common = dict(lr=rate, weight_decay=recipe.weight_decay, fused=rate.is_cuda)
    if recipe.optimiser == "adamw":
        return torch.optim.AdamW(weights, capturable=rate.is_cuda, **common)
    if recipe.optimiser == "sgd":
        return torch.optim.SGD(weights, momentum=0.9, nesterov=True, **common)
    raise UserError(f"optimiser must be adamw or sgd, not {recipe.optimiser!r}")


def default_device(images: Any, device: Any = None) -> Any:
    """The given device, else that of the images, else the GPU if there is one."""
    if device is not None:
        return torch.device(device)
    if isinstance(images, torch.Tensor) and images.is_cuda:
        return images.device
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
