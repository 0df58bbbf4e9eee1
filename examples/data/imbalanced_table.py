"""
An imbalanced table with categories and missing values
======================================================

A pandas frame can be picked from as it is. One class has 7 % of the rows; random labels hardly find it at first.
The table is scikit-learn's breast cancer data, with most malignant rows removed, a category, and gaps.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score

import mheal

rng = np.random.default_rng(0)
data = load_breast_cancer(as_frame=True)
kept = np.sort(np.append(np.flatnonzero(data.target == 1), np.flatnonzero(data.target == 0)[:27]))
table, rare = data.data.iloc[kept, :10], (data.target.iloc[kept] == 0).to_numpy()
table = table.assign(size=pd.cut(table["mean radius"], 3, labels=["small", "medium", "large"]).astype(str))
table = table.mask(rng.random(table.shape) < 0.1)  # a tenth of all cells is missing
print(table.iloc[:4, [0, 1, 2, -1]])

# %%
# Missing values are filled in, the category becomes columns, and a warning says what was done.

with warnings.catch_warnings(record=True) as notes:
    warnings.simplefilter("always")
    picks = mheal.select(table, 60)
print(*{str(note.message) for note in notes}, sep="\n")

# %%
# How many rare rows are among the first labels, and how good is a model of these labels on all other rows?


def found(order):
    """Number of rare rows among the first 1, 2, … rows of the order."""
    return np.cumsum(rare[np.asarray(order)])


X = pd.get_dummies(table, columns=["size"])
orders = {"mheal": picks, **{f"random {seed}": rng.permutation(len(X))[:60] for seed in range(20)}}
for name in ("mheal", "random 0"):
    model = HistGradientBoostingClassifier(min_samples_leaf=2).fit(X.iloc[orders[name]], rare[orders[name]])
    rest = np.setdiff1d(np.arange(len(X)), orders[name])
    print(f"{name}: balanced accuracy {balanced_accuracy_score(rare[rest], model.predict(X.iloc[rest])):.2f}")

figure, axis = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
for name, order in orders.items():
    style = dict(linewidth=2.5) if name == "mheal" else dict(color="gray", alpha=0.35, linewidth=1)
    axis.step(range(1, 61), found(order), where="post", label=name if name in ("mheal", "random 0") else None, **style)
axis.set(xlabel="labels", ylabel="rows of the rare class", title=f"{rare.sum()} of {len(rare)} rows are rare")
axis.legend(["mheal", "random, 20 draws"])
plt.show()
