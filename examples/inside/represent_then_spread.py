"""
Represent, then spread
======================

Random picks repeat themselves, and farthest-first traversal picks outliers. `mheal.select` first picks rows that
represent the others, and later rows that are far from all picks relative to the local spacing. In two dimensions one
can see it.
"""

import matplotlib.pyplot as plt
import numpy as np

import mheal

rng = np.random.default_rng(0)
blobs = [rng.normal(center, scale, size=(n, 2)) for center, scale, n in (((0, 0), 0.5, 900), ((4, 1), 1.2, 300))]
X = np.vstack([*blobs, rng.uniform(-6, 10, size=(25, 2))])  # two groups and some outliers

# %%
# The first 40 picks. `n_representatives` is 256 by default; with 0 the picks spread from the start.

chosen = {
    "random": mheal.select(X, 40, strategy="random"),
    "farthest-first (Core-set)": mheal.select(X, 40, strategy="coreset"),
    "MHEAL: represent": mheal.select(X, 40),
    "MHEAL: spread": mheal.select(X, 40, strategy=mheal.MHEAL(n_representatives=0)),
}
figure, axes = plt.subplots(1, 4, figsize=(12, 3.3), sharex=True, sharey=True, layout="constrained")
for axis, (name, picks) in zip(axes, chosen.items(), strict=True):
    axis.scatter(*X.T, s=4, color="gray", alpha=0.4)
    axis.scatter(*X[picks].T, s=28, color="#D55E00")
    outliers = (picks.indices >= 1200).sum()
    axis.set(title=f"{name}\n{outliers} of 40 are outliers", xticks=[], yticks=[])
plt.show()

# %%
# How far the rows are from their nearest pick: the mean, and the largest distance.

for name, picks in chosen.items():
    nearest = np.linalg.norm(X[:, None] - X[picks], axis=2).min(axis=1)
    print(f"{name:>26}: mean {nearest.mean():.2f}, largest {nearest.max():.2f}")
