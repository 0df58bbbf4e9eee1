"""
Strategies side by side
=======================

`mheal.evaluate.simulate` hides the labels, lets each strategy pick, trains the same model on its picks, and scores it
on held-out rows. Here on the wine data, which has 178 rows. `mheal compare` on the command line does the same.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import mheal

X, y = load_wine(return_X_y=True)
strategies = ["mheal", "kmedoids", "typiclust", "margin", "coreset", "random"]
curves = mheal.evaluate.simulate(X, y, strategies, budgets=[5, 10, 15, 20, 30, 40], estimator="svm", seeds=10)

# %%
# The verdict compares each with random by paired tests over the splits.

print(curves.verdict())

# %%
# The same as a picture. Bars are 95 % intervals of the mean over 10 splits; they are shifted so as not to overlap.

figure, axis = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
for at, name in enumerate(strategies):
    rows = curves.table().filter(strategy=name)
    mean, half = rows["mean"].to_numpy(), (rows["high"] - rows["mean"]).to_numpy()
    style = dict(color="gray", linestyle="--") if name == "random" else {}
    axis.errorbar(rows["labels"].to_numpy() + 0.2 * at, mean, half, marker="o", markersize=4, label=name, **style)
axis.set(xlabel="labels", ylabel="accuracy")
axis.legend()
plt.show()

# %%
# `Curves.summary` has the mean height of each curve, the labels that a strategy saves, and the corrected p values.

print(curves.summary().select("strategy", "aulc", "rank", "saved_median", "p_holm"))
