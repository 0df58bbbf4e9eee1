"""
Image files
===========

The pool is a folder of images: patches of scikit-learn's two photographs. Without a pretrained network, images become
principal components of their pixels and of the edges in them.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_images

import mheal

temporary = tempfile.TemporaryDirectory()  # deleted when the script ends
folder = Path(temporary.name)
for name, photograph in zip(("temple", "flower"), load_sample_images().images, strict=True):
    for top in range(0, photograph.shape[0] - 31, 32):
        for left in range(0, photograph.shape[1] - 31, 32):
            patch = photograph[top : top + 32, left : left + 32]
            plt.imsave(folder / f"{name}-{top:03}-{left:03}.png", patch)

# %%
# `mheal.io.read_pool` reads and embeds the folder as the command line does.

pool = mheal.io.read_pool(folder, embed="shapes")
y = np.array([name.split("-")[0] for name in pool.ids])
picks = mheal.select(pool.X, 24, deduplicate=True)
print(f"{len(pool.items)} images; {pool.features}")

# %%
# The picks differ. A random sample repeats what is frequent: sky, and the dark background of the flower.

random = np.random.default_rng(0).choice(len(pool.X), 24, replace=False)
figure, rows = plt.subplots(4, 12, figsize=(10, 3.9), layout="constrained")
for name, chosen, pair in (("mheal", picks, rows[:2]), ("random", random, rows[2:])):
    pair[0, 0].set_title(name, loc="left", fontsize=11)
    for axis, row in zip(pair.flat, chosen, strict=True):
        axis.imshow(plt.imread(pool.items[row]))
        axis.axis("off")
plt.show()

# %%
# Accuracy of telling the photographs apart by a patch:

curves = mheal.evaluate.simulate(pool.X, y, ["mheal", "random"], [10, 20, 50], estimator="svm", seeds=10)
print(curves.verdict())
