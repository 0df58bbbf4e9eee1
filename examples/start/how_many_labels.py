"""
How many labels, and when to stop
=================================

A plan extrapolates the learning curve from the labels there are, with an interval, and says whether to go on.
`mheal plan` on the command line does the same.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import mheal

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

# %%
# With 100 labels, how many more does 95 % take?

picks = mheal.select(X, 100)
plan = mheal.evaluate.accuracy_plan(X, y[picks], labeled=picks, ahead=400, target=0.95)
print(*plan.sentences, sep="\n")

# %%
# The picture shows what was expected at 100 labels, and what then happened, as the next batches of 100 were labelled.
# In real life there are no 540 labelled rows to test with, and the plan is all there is.

fit = plan.fits["accuracy"]
labels = list(range(100, 501, 10))
expected = [fit.predict(n) for n in labels]
model, counts, truth = mheal.evaluate.resolve_estimator("logistic"), [], []
while len(picks) <= 500:
    counts.append(len(picks))
    truth.append(model.fit(X[picks], y[picks]).score(X_test, y_test))
    picks = picks + mheal.select(X, 100, labeled=picks, y=y[picks])

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
low, high = [e.low for e in expected], [e.high for e in expected]
axis.fill_between(labels, low, high, alpha=0.2, label="80 % interval of the plan")
axis.plot(labels, [e.value for e in expected], label="expected at 100 labels")
axis.plot(counts, truth, "o-", label="measured on held-out rows")
axis.axhline(0.95, color="gray", linestyle=":", label="target")
axis.set(xlabel="labels", ylabel="accuracy")
axis.legend()
plt.show()
