"""VAAL, variational adversarial active learning (Sinha, Ebrahimi and Darrell 2019)."""

from .base import Pool, Rows, Strategy
from .doubt import lowest
from .networks import network


class Vaal(Strategy):
    """Rows that a discriminator, trained against an autoencoder, most surely tells from the labelled ones.

    image_shape : (channels, height, width), at most 32 × 32, where rows of X are images: the autoencoder is then
        convolutional. Else it is a small dense one on standardised columns
    iterations : batches of 128; by default a tenth of the pool, but 500 to 5,000 on a GPU and 50 to 500 without one
    beta : weight of the autoencoder's KL term, taken per code and dimension as the error is taken per value
    adversary : λ, weight of deceiving the discriminator
    """

    name, title = "vaal", "VAAL"
    summary = "Rows that a network finds least like the labelled ones; for images, on a GPU"
    cost = "iterations of a variational autoencoder, memory N·d"
    kind = "adaptive"
    needs_torch = True
    needs_labels = True

    def __init__(
        self,
        image_shape: tuple[int, int, int] | None = None,
        iterations: int | None = None,
        beta: float = 1.0,
        adversary: float = 1.0,
    ) -> None:
        self.image_shape = image_shape
        self.iterations = iterations
        self.beta = beta
        self.adversary = adversary

    def _pick(self, pool: Pool, budget: int) -> Rows:
        deep, rows = network("vaal", self.name), pool.unlabeled
        likeness = deep.likeness(
            pool.Z if self.image_shape is None else pool.X, pool.labeled, self.image_shape,
            iterations=self.iterations, beta=self.beta, adversary=self.adversary, seed=int(pool.rng.integers(2**31)),
        )  # fmt: skip
        return lowest(pool, rows, likeness[rows], budget)
