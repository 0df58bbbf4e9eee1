"""A trained network: probabilities, dropout samples, embeddings and accuracy."""

from collections.abc import Iterator, Mapping, Sequence
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from mheal.embed.device_images import as_pixels
from mheal.exceptions import UserError

from .architectures import build, dropping
from .images import TrainingImages
from .recipes import Recipe

Floats = npt.NDArray[np.float32]

AT_ONCE = 2048  # images passed through a network together


class Classifier:
    """A network with its own copy of the weights, and the images it was trained among.

    Methods take rows of those images (integers, 1-D) or other images (bytes).
    """

    def __init__(self, recipe: Recipe, images: TrainingImages, classes: int, state: Mapping[str, torch.Tensor]) -> None:
        self.recipe, self.images, self.classes = recipe, images, classes
        with torch.device("meta"):  # no weights are initialised here: they are loaded below
            network = build(recipe.network, images.shape, classes)
        network.load_state_dict({name: value.clone() for name, value in state.items()}, assign=True)
        self.network = network.eval().requires_grad_(False)
        self._in_use = RLock()  # dropout is on or off for all threads

    def predict_proba(self, items: Any) -> Floats:
        """Probabilities without dropout, (n, classes)."""
        with self._in_use, torch.inference_mode():
            return _gather([self.network(x).softmax(1) for x in self._batches(items)])

    def samples(self, items: Any, samples: int, seed: int) -> Floats:
        """Probabilities of `samples` passes with dropout, (samples, n, classes); batch normalisation stays fixed."""
        generator = torch.Generator(self.images.pixels.device).manual_seed(seed)
        parts = []
        with self._in_use, torch.inference_mode(), dropping(self.network, generator):
            for x in self._batches(items):
                trunk = self.network.trunk(x)
                parts.append(torch.stack([self.network.finish(trunk).softmax(1) for _ in range(samples)]))
            return _gather(parts, dim=1)

    def embed(self, items: Any) -> Floats:
        """The penultimate activations, without dropout."""
        with self._in_use, torch.inference_mode():
            return _gather([self.network.features(x) for x in self._batches(items)])

    def accuracy(self, images: Any, labels: Any) -> float:
        """The share of images that are classified correctly, without dropout."""
        return float(accuracies([self], images, labels)[0])

    def _batches(self, items: Any) -> Iterator[torch.Tensor]:
        if not isinstance(items, TrainingImages):
            items = torch.as_tensor(items)
        if isinstance(items, torch.Tensor) and items.ndim == 1:
            images, rows = self.images, items.to(self.images.pixels.device, torch.int64)
        else:
            images = items if isinstance(items, TrainingImages) else self.images.like(items)
            rows = torch.arange(len(images), device=images.pixels.device)
        return (images.batch(part) for part in rows.split(AT_ONCE))


def accuracies(classifiers: Sequence[Classifier], images: Any, labels: Any) -> npt.NDArray[np.float64]:
    """The accuracy of each classifier on the same images, which are copied to the device once."""
    if not classifiers:
        return np.empty(0)
    device = classifiers[0].images.pixels.device
    pixels = images.pixels if isinstance(images, TrainingImages) else as_pixels(images, device)
    truth = torch.as_tensor(labels).to(device)
    if len(pixels) != len(truth):
        raise UserError(f"{len(pixels)} images but {len(truth)} labels")
    hits = []
    with torch.inference_mode():
        for classifier in classifiers:
            test = TrainingImages(pixels, classifier.images.mean, classifier.images.deviation)
            with classifier._in_use:
                found = torch.cat([classifier.network(x).argmax(1) for x in classifier._batches(test)])
            hits.append((found == truth).sum())  # stays on the device: waiting for each would cost more than the sum
    return torch.stack(hits).cpu().numpy() / len(truth)


def _gather(parts: list[torch.Tensor], dim: int = 0) -> Floats:
    return torch.cat(parts, dim=dim).float().cpu().numpy()
