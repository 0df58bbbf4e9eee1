"""Strategies that train a network of their own, VAAL and CDAL + RL. Torch is imported when they run."""

import numpy as np

from ..exceptions import UserError
from ..parameters import COUNT, NOT_NEGATIVE
from ..strategy import Pool, Rows, Strategy
from ..uncertainty import probabilities
from .common import smallest_first


class VAAL(Strategy):
    """Rows that a discriminator, trained against a variational autoencoder, most surely tells from labelled ones.

    Proposed by Sinha, Ebrahimi and Darrell (2019).

    Parameters
    ----------
    image_shape : tuple of three ints or None
        (channels, height, width), at most 32 × 32 pixels, if rows of X are images: the autoencoder is then
        convolutional. Otherwise it is a small dense one on scaled features.
    iterations : int or None
        Batches of 128. None takes a tenth of the pool, but 500 to 5,000 on a GPU and 50 to 500 without one.
    beta : float
        Weight of the autoencoder's KL term, per code and dimension; the squared error is per value.
    adversary : float
        λ, the weight of deceiving the discriminator.
    channels : tuple of ints or None
        Channels of the convolutions. None takes the paper's (128, 256, 512, 1024).
    """

    name, title = "vaal", "VAAL"
    summary = "Rows that a network finds least like the labelled ones; for images, on a GPU"
    cost = "iterations of a variational autoencoder, memory N·d"
    kind = "adaptive"
    needs_torch = True
    needs_labels = True
    _parameter_constraints = {
        "image_shape": [tuple, None],
        "iterations": [*COUNT, None],
        "beta": NOT_NEGATIVE,
        "adversary": NOT_NEGATIVE,
        "channels": [tuple, None],
    }

    def __init__(
        self,
        image_shape: tuple[int, int, int] | None = None,
        iterations: int | None = None,
        beta: float = 1.0,
        adversary: float = 1.0,
        channels: tuple[int, ...] | None = None,
    ) -> None:
        self.image_shape = image_shape
        self.iterations = iterations
        self.beta = beta
        self.adversary = adversary
        self.channels = channels

    def _pick(self, pool: Pool, n: int) -> Rows:
        try:
            from .vaal_network import likeness
        except ImportError as error:
            raise _without_torch(self.name) from error
        rows = pool.unlabeled
        alike = likeness(
            pool.Z if self.image_shape is None else pool.X, pool.labeled, self.image_shape,
            iterations=self.iterations, beta=self.beta, adversary=self.adversary, channels=self.channels,
            seed=int(pool.rng.integers(2**31)),
        )  # fmt: skip
        return smallest_first(pool, rows, alike[rows], n)


class CDALReinforced(Strategy):
    """Diverse predictions, picked by a Bi-LSTM that reads class probabilities and learns by REINFORCE.

    Proposed by Agarwal et al. (2020). It is rewarded for picks whose predictions differ and that lie near all others;
    the picks with the best reward of all epochs are kept. The pool is read in random chunks of at most 2,000 rows, each
    with its share of the picks.

    Parameters
    ----------
    epochs : int
        Passes over the pool.
    """

    name, title = "cdal-rl", "CDAL + RL"
    summary = "Rows with diverse predictions, picked by a policy that learns by reinforcement"
    cost = "epochs × a recurrent network over the pool, memory 0.5 GB"
    kind = "adaptive"
    needs_torch = True
    needs_model = uses_proba = True
    _parameter_constraints = {"epochs": COUNT}

    def __init__(self, epochs: int = 10) -> None:
        self.epochs = epochs

    def _pick(self, pool: Pool, n: int) -> Rows:
        try:
            from .cdal_rl_network import diverse
        except ImportError as error:
            raise _without_torch(self.name) from error
        rows = pool.unlabeled
        order = pool.rng.permutation(len(rows))
        P = probabilities(pool, rows[order]).astype(np.float32)
        return rows[order[diverse(P, n, seed=int(pool.rng.integers(2**31)), epochs=self.epochs)]]


def _without_torch(strategy: str) -> UserError:
    return UserError(f'{strategy} trains a network, which needs torch: pip install "mheal[deep]"')
