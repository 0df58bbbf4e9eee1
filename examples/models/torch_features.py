"""
Features of a torch network
===========================

The last hidden layer of a network that has learnt the labels so far can give the features for the next picks, and its
probabilities say where it is uncertain. On these small images, its features gain little over pixels.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

import mheal

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split((X / 16).astype(np.float32), y, test_size=0.3, stratify=y, random_state=0)
torch.set_num_threads(1)  # the network is small
pool, test = torch.from_numpy(X), torch.from_numpy(X_test)


def trained(picks, seed=0):
    """A small network trained on these rows: its body, and its last layer."""
    rows, labels = torch.tensor(picks.indices), torch.tensor(y[picks])
    torch.manual_seed(seed)
    body, head = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32), nn.ReLU()), nn.Linear(32, 10)
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=0.005)
    for _ in range(150):
        loss = nn.functional.cross_entropy(head(body(pool[rows])), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return body, head


# %%
# First round: pixels. Then features of unit length, so that `mheal.select` compares their directions.

first = mheal.select(pool, 100)
body, head = trained(first)
with torch.inference_mode():
    features = nn.functional.normalize(body(pool))
    proba = head(body(pool)).softmax(dim=1).numpy()
more = {
    "features and probabilities": mheal.select(features, 100, labeled=first, proba=proba),
    "features": mheal.select(features, 100, labeled=first),
    "pixels": mheal.select(pool, 100, labeled=first),
    "random": mheal.select(pool, 100, labeled=first, strategy="random"),
}

# %%
# Accuracy of five networks trained on all 200 labels, for each way to pick the second hundred:

figure, axis = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
for name, picks in more.items():
    scores = []
    for seed in range(5):
        body, head = trained(first + picks, seed)
        scores.append((head(body(test)).argmax(dim=1).numpy() == y_test).mean())
    axis.plot(scores, [name] * 5, "o", alpha=0.6)
    print(f"{name}: {np.mean(scores):.1%} ± {np.std(scores):.1%}")
axis.invert_yaxis()
axis.set(xlabel="accuracy of the network on held-out images")
plt.show()
