"""Recipes: how classifiers are trained. A recipe fixes the number of steps, so it depends on the number of labels."""

from dataclasses import dataclass
from math import cos, pi


@dataclass(frozen=True)
class Recipe:
    """All settings of a training run except the images, their labels and the seed."""

    network: str  # "cnn" or "resnet20"
    steps: int
    batch: int
    rate: float  # the highest learning rate
    optimiser: str  # "adamw", or "sgd" with Nesterov's momentum .9
    weight_decay: float
    warm_up: int = 0  # steps over which the rate grows linearly to its highest
    cosine: bool = True  # whether the rate then falls to nothing along a cosine
    shift: int = 0  # images are moved at random, by up to so many pixels
    mirror: bool = False  # and turned left to right, half of the time

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, the first being step 0."""
        if step < self.warm_up:
            return self.rate * (step + 1) / self.warm_up
        if not self.cosine:
            return self.rate
        return self.rate * (1 + cos(pi * (step - self.warm_up) / (self.steps - self.warm_up))) / 2


def mnist() -> Recipe:
    """For MNIST and similar images with few labels."""
    return Recipe("cnn", 800, batch=64, rate=1e-3, optimiser="adamw", weight_decay=0.01, shift=1)


def cifar(labels: int) -> Recipe:
    """For CIFAR with few labels: 1,500 steps plus three for every ten labels, at most 6,000."""
    steps = min(6000, 1500 + 3 * labels // 10)
    batch = 64 if labels <= 2000 else 128
    return Recipe(
        "resnet20", steps, batch, rate=0.1, optimiser="sgd", weight_decay=5e-4, warm_up=200, shift=4, mirror=True
    )


def mnist_full() -> Recipe:
    """For all 60,000 images of MNIST: 11 epochs."""
    return Recipe("cnn", 10_000, batch=64, rate=1e-3, optimiser="adamw", weight_decay=0.01)


def cifar_full() -> Recipe:
    """For all 50,000 images of CIFAR: 64 epochs."""
    return Recipe(
        "resnet20", 25_000, 128, rate=0.1, optimiser="sgd", weight_decay=5e-4, warm_up=200, shift=4, mirror=True
    )
