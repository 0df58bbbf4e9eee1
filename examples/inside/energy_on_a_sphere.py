"""
The energy on a sphere
======================

Think of points on a sphere as equal electric charges, which repel each other. The hyperspherical energy is small where
they are far apart. The sum over all pairs of 1/distance is the energy with s = 1, of −log(distance) that with s = 0.
"""

import matplotlib.pyplot as plt
import numpy as np

import mheal
from mheal.energy import hyperspherical_energy

# %%
# The pool: 600 points of a sphere, most of them around two poles.

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 3))
X[:250] += [0, 0, 2.5]
X[250:500] += [2.5, 0, 0]
X /= np.linalg.norm(X, axis=1, keepdims=True)

# %%
# Three ways to choose 12. Farthest-first traversal has the lowest energy: it is the step that the paper derives from
# it. The default of `mheal.select` represents the pool instead, so that more picks lie where there are more points.

chosen = {
    "random": rng.choice(600, 12, replace=False),
    "farthest-first (the paper's energy)": mheal.farthest_first(X, 12),
    "mheal (follows the density)": mheal.select(X, 12).indices,
}
figure = plt.figure(figsize=(11, 3.9), layout="constrained")
for at, (name, rows) in enumerate(chosen.items(), start=1):
    axis = figure.add_subplot(1, 3, at, projection="3d", computed_zorder=False)
    axis.scatter(*X.T, s=5, color="gray", alpha=0.4)
    axis.scatter(*(1.03 * X[rows]).T, s=60, color="#D55E00", depthshade=False)
    axis.set_title(f"{name}\nenergy {hyperspherical_energy(X[rows], s=1):.1f}", fontsize=11)
    axis.view_init(elev=25, azim=35)
    axis.set_box_aspect((1, 1, 1), zoom=1.75)
    axis.set_axis_off()
plt.show()

# %%
# The energy of the first picks, one after the other, averaged over pairs: lower is more evenly spread.

for name, rows in chosen.items():
    energies = [hyperspherical_energy(X[rows[:n]], s=0, mean=True) for n in (3, 6, 12)]
    print(f"{name}: " + ", ".join(f"{energy:+.2f}" for energy in energies))
