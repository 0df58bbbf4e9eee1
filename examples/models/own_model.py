"""
Your own model in the loop
==========================

Pass the classifier that you train anyway. From 64 labels on, `mheal.select` prefers rows that it is uncertain about.
Here the model is a random forest, and the pool scikit-learn's digits.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import mheal

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
forest = RandomForestClassifier(random_state=0)

# %%
# Three ways to label 250 rows in rounds of 50: with the forest, with the features alone, and at random.


def with_forest(labeled):
    """The next 50 picks; the forest is fitted on the labels so far."""
    if len(labeled) < 64:
        return mheal.select(X, 50, labeled=labeled)
    return mheal.select(X, 50, labeled=labeled, y=y[labeled], estimator=forest)


def without(labeled):
    """The next 50 picks, from features alone."""
    return mheal.select(X, 50, labeled=labeled)


def at_random(labeled):
    """The next 50 rows at random."""
    return mheal.select(X, 50, labeled=labeled, strategy="random")


# %%
# In each round the forest is fitted on all labels so far, and scored on rows that nobody labels.

figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
for pick in (with_forest, without, at_random):
    labeled, scores = np.empty(0, int), []
    for _ in range(5):
        labeled = np.append(labeled, pick(labeled))
        scores.append(forest.fit(X[labeled], y[labeled]).score(X_test, y_test))
    axis.plot(range(50, 251, 50), scores, "o-", label=pick.__name__.replace("_", " "))
    print(f"{pick.__name__}: {', '.join(f'{score:.1%}' for score in scores)}")
axis.set(xlabel="labels", ylabel="accuracy of the forest", title="One split")
axis.legend()
plt.show()
