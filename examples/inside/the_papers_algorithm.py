"""
The paper's algorithm, step by step
===================================

`mheal.PaperMHEAL` projects the rows to the sphere, cuts them into spherical clusters, and spreads picks inside each
cluster by farthest-first traversal. In a cluster that gives several rows, outer points come first.
"""

import matplotlib.pyplot as plt
import numpy as np

import mheal

rng = np.random.default_rng(1)
centers = np.array([[1, 0.2, 0.3], [0.2, 1, 0.4], [0.5, 0.5, 1]])
rows = np.vstack([center + 0.22 * rng.normal(size=(200, 3)) for center in centers])
X = rows / np.linalg.norm(rows, axis=1, keepdims=True)

# %%
# Steps 1 and 2: unit length, then spherical clusters. Step 3: six picks from each cluster.

kmeans = mheal.SphericalKMeans(n_clusters=3, random_state=0).fit(X)
picks = mheal.select(X, 18, strategy=mheal.PaperMHEAL(n_clusters=3), scaling="raw")
print("Picks of each cluster:", np.bincount(picks.cluster))


def draw(axis, colours, title):
    """The points of the sphere, seen from outside."""
    axis.scatter(*X.T, s=10, c=colours, cmap="Set2", alpha=0.7)
    axis.set_title(title, fontsize=11)
    axis.view_init(elev=38, azim=45)
    axis.set_box_aspect((1, 1, 1), zoom=1.4)
    axis.set_axis_off()


figure = plt.figure(figsize=(11, 3.9), layout="constrained")
axes = [figure.add_subplot(1, 3, at, projection="3d", computed_zorder=False) for at in (1, 2, 3)]
draw(axes[0], np.zeros(len(X)), "1. rows of unit length")
draw(axes[1], kmeans.labels_, "2. spherical clusters")
draw(axes[2], kmeans.labels_, "3. farthest-first in each")
axes[1].scatter(*(1.03 * kmeans.cluster_centers_).T, s=90, marker="+", color="black", depthshade=False)
axes[2].scatter(*(1.03 * X[picks]).T, s=50, color="#D55E00", depthshade=False)
plt.show()

# %%
# How far from the centre of their cluster are the picks, as a quantile of all its rows?

cosine = (X * kmeans.cluster_centers_[kmeans.labels_]).sum(axis=1)
for name, chosen in (("PaperMHEAL", picks), ("MHEAL", mheal.select(X, 18, scaling="raw"))):
    places = [(cosine[kmeans.labels_ == kmeans.labels_[row]] >= cosine[row]).mean() for row in chosen]
    print(f"{name}: {np.mean(places):.0%} of a cluster's rows lie nearer to its centre than a pick, on average")
