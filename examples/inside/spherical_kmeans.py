"""
Spherical k-means beside k-means
================================

`mheal.SphericalKMeans` compares directions only. Where the length of a row says nothing about its group, as with texts
of different lengths, k-means mixes the groups up and spherical k-means does not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

import mheal

# %%
# Three directions in the plane, rows of any length.

rng = np.random.default_rng(0)
group = np.repeat([0, 1, 2], 150)
angle = np.array([0.15, 0.75, 1.4])[group] + 0.09 * rng.normal(size=450)
X = rng.uniform(0.5, 10, size=(450, 1)) * np.column_stack([np.cos(angle), np.sin(angle)])

found = {
    "groups": group,
    "k-means": KMeans(3, n_init=10, random_state=0).fit_predict(X),
    "spherical k-means": mheal.SphericalKMeans(3, random_state=0).fit_predict(X),
}
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for axis, (name, labels) in zip(axes, found.items(), strict=True):
    axis.scatter(*X.T, s=9, c=labels, cmap="Set1", vmin=0, vmax=8)
    axis.set_title(f"{name}\nadjusted Rand index {adjusted_rand_score(group, labels):.2f}")
    axis.set(xlim=(0, 10.5), ylim=(0, 10.5), aspect="equal")
plt.show()

# %%
# It is a scikit-learn estimator: `fit`, `predict`, `transform`, pipelines, grid search. On digits, where the length of
# a row is how much ink it has, the two agree with the digits about equally well.

digits, y = load_digits(return_X_y=True)
for name, model in (("k-means", KMeans(10, random_state=0)), ("spherical", mheal.SphericalKMeans(10, random_state=0))):
    print(f"{name}: adjusted Rand index {adjusted_rand_score(y, model.fit_predict(digits)):.2f}")
