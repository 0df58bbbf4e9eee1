"""Strategies that train their own network: VAAL and CDAL + RL. Torch is imported when they run."""

from typing import Any

import numpy as np

from ..exceptions import UserError
from ..parameters import Count, NotNegative
from ..strategy import Pool, Rows, Scores, Strategy
from ..uncertainty import probabilities
from .uncertainty import Scored


class VAAL(Scored):
    """Rows that a discriminator, trained against a variational autoencoder, finds least likely to be labelled.

    Proposed by Sinha, Ebrahimi and Darrell (2019).

    image_shape : (channels, height, width), at most 32 × 32 pixels, if rows of X are images: the autoencoder is then
        convolutional. Otherwise it is a small dense network on scaled features.
    iterations : training steps on batches of 128 labelled and 128 unlabelled rows. None: a tenth of the number of rows,
        within 500 to 5,000 on a GPU and 50 to 500 on a CPU.
    beta : weight of the autoencoder's KL term, averaged over dimensions; the squared error is averaged over values
    adversary : λ, the weight of the adversarial loss
    channels : channels of the convolutions. None: the paper's (128, 256, 512, 1024)
    """

    name, title = "vaal", "VAAL"
    summary = "Rows that a network finds least like the labelled ones; for images, on a GPU"
    cost = "iterations of a variational autoencoder, memory N·d"
    needs_torch = needs_labels = True

    image_shape: tuple[int, int, int] | None = None
    iterations: Count | None = None
    beta: NotNegative = 1.0
    adversary: NotNegative = 1.0
    channels: tuple[int, ...] | None = None

    def _scores(self, pool: Pool, rows: Rows) -> Scores:
        networks, X = _networks(self.name), pool.Z if self.image_shape is None else pool.X
        seed = int(pool.rng.integers(2**31))
        return -networks.likeness(X, pool.labeled, **self.get_params(), seed=seed)[rows]


class CDALReinforced(Strategy):
    """Rows with diverse predictions, picked by a Bi-LSTM that reads class probabilities and is trained by REINFORCE.

    Proposed by Agarwal et al. (2020). The reward is high for picks whose predictions differ and are near those of all
    rows. The picks of the epoch with the best reward are kept. The pool is read in random chunks of at most 2,000 rows,
    each of which gives its share of the picks.

    epochs : passes over the pool
    """

    name, title = "cdal-rl", "CDAL + RL"
    summary = "Rows with diverse predictions, picked by a policy that learns by reinforcement"
    cost = "epochs × a recurrent network over the pool, memory 0.5 GB"
    kind = "adaptive"
    needs_torch = needs_model = uses_proba = True

    epochs: Count = 10

    def _pick(self, pool: Pool, n: int) -> Rows:
        networks, rows = _networks(self.name), pool.unlabeled
        order = pool.rng.permutation(len(rows))
        P = probabilities(pool, rows[order]).astype(np.float32)
        return rows[order[networks.diverse(P, n, seed=int(pool.rng.integers(2**31)), epochs=self.epochs)]]


def _networks(strategy: str) -> Any:
    try:
        from . import deep_networks
    except ImportError as error:
        raise UserError(f'{strategy} trains a network, which needs torch: pip install "mheal[deep]"') from error
    return deep_networks
