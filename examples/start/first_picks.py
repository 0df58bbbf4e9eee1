"""
The first picks of digits
=========================

`mheal.select` picks 20 of 1,257 images of digits, without any label. They show every digit. 20 random images repeat
some digits and miss others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import mheal

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

picks = mheal.select(X, 20)
random = np.random.default_rng(0).choice(len(X), 20, replace=False)

# %%
# Best first: the picks are in the order in which to label them.

figure, rows = plt.subplots(4, 10, figsize=(9, 4.2), layout="constrained")
for name, chosen, pair in (("mheal", picks, rows[:2]), ("random", random, rows[2:])):
    pair[0, 0].set_title(f"{name}: {len(set(y[chosen]))} of 10 digits", loc="left", fontsize=11)
    for axis, row in zip(pair.flat, chosen, strict=True):
        axis.imshow(X[row].reshape(8, 8), cmap="gray_r")
        axis.axis("off")
plt.show()

# %%
# Why were they picked?

for row, reason in zip(picks[:3], picks[:3].reason, strict=True):
    print(f"row {row}: {reason}")

# %%
# A model that learns from 20 labels, on images that neither way could pick:

for name, chosen in (("mheal", picks), ("random", random)):
    model = LogisticRegression(max_iter=5000).fit(X[chosen], y[chosen])
    print(f"{name:>7}: {model.score(X_test, y_test):.1%} correct")
