"""BADGE (Ash et al. 2020): k-means++ on the gradients that the guessed labels would cause."""

import numpy as np

from .base import Pool, Rows, Strategy
from .doubt import probabilities


class Badge(Strategy):
    """Gradient of a linear last layer, (p − e_ŷ) ⊗ z, never built as a vector.

    z is what that layer of the model sees, or of a model without layers the standardised features, and a 1.
    First the largest gradient, then rows drawn with probability ∝ squared distance to the nearest pick. Rows without
    a gradient, of which the model is certain, come last.
    """

    name, title = "badge", "BADGE"
    summary = "Rows that would change the model most, and each differently: for large batches with a fair model"
    cost = "time N·budget·(d + classes), memory N·(d + classes)"
    kind = "adaptive"
    needs_model = True

    def _pick(self, pool: Pool, budget: int) -> Rows:
        rows = pool.unlabeled
        a = probabilities(pool, rows)
        a[np.arange(len(a)), a.argmax(axis=1)] -= 1
        seen = pool.model.row_embedding(rows) if hasattr(pool.model, "row_embedding") else pool.Z[rows]
        z = np.column_stack([seen, np.ones(len(rows), seen.dtype)])
        norm2 = np.square(a).sum(axis=1) * np.einsum("ij,ij->i", z, z)

        picked = [int(norm2.argmax())]
        nearest = np.where(norm2 > 0, np.inf, 0.0)
        while len(picked) < budget:
            i = picked[-1]
            # ‖g − g'‖² = ‖a‖²‖z‖² + ‖a'‖²‖z'‖² − 2 (a·a')(z·z')
            nearest = np.minimum(nearest, np.maximum(norm2 + norm2[i] - 2 * (a @ a[i]) * (z @ z[i]), 0))
            nearest[picked] = 0
            if nearest.sum() == 0:  # only copies of picks, and rows without gradient, are left
                rest = np.setdiff1d(np.arange(len(rows)), picked)
                picked += rest[np.argsort(-norm2[rest], kind="stable")].tolist()
                break
            picked.append(int(pool.rng.choice(len(rows), p=nearest / nearest.sum())))
        return rows[picked[:budget]]
