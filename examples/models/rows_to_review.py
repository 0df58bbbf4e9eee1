"""
Labels to review
================

People mislabel items. A label that a model of the other labels finds improbable deserves a second look. The page of
``mheal label`` lists such items; here they are found in a few lines.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict
from sklearn.svm import SVC

import mheal

X, truth = load_digits(return_X_y=True)
picks = mheal.select(X, 300)

# %%
# Somebody labels the 300 picks and gets 15 of them wrong.

rng = np.random.default_rng(0)
labels = truth[picks]
wrong = rng.choice(300, 15, replace=False)
labels[wrong] = (labels[wrong] + rng.integers(1, 10, size=15)) % 10

# %%
# Each label is predicted by a model that has not seen it. The least probable labels come first.

proba = cross_val_predict(SVC(C=10, probability=True, random_state=0), X[picks], labels, cv=10, method="predict_proba")
own = proba[np.arange(300), labels]
order = np.argsort(own)
for checked in (15, 20, 30):
    print(f"The first {checked} labels hold {np.isin(order[:checked], wrong).sum()} of the 15 wrong ones.")

# %%
# The 20 least probable labels, those that are wrong in red.

figure, axes = plt.subplots(2, 10, figsize=(10, 3), layout="constrained")
for axis, at in zip(axes.flat, order, strict=False):
    axis.imshow(X[picks[int(at)]].reshape(8, 8), cmap="gray_r")
    axis.set_title(f"“{labels[at]}”  {own[at]:.2f}", fontsize=9, color="red" if at in wrong else "black")
    axis.axis("off")
plt.show()
