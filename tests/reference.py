"""Plain loops that define what the fast code must compute: slow, obvious, in float64."""

import numpy as np


def max_min(X, n, chosen, weight=None, candidate=None):
    """Rows in farthest-first order and their scores: one full pass per pick, ties to the lowest row.

    A row has the weight `candidate` (by default `weight`) until it is picked, then `weight`.
    """
    X = np.asarray(X, np.float64)
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, np.float64)
    candidate = weight if candidate is None else np.asarray(candidate, np.float64)
    score = np.full(len(X), np.inf)
    for c in chosen:
        score = np.minimum(score, ((X - X[c]) ** 2).sum(1) * candidate * weight[c])
    score[list(chosen)] = -1
    rows, gains = [], []
    for _ in range(n):
        best = int(score.argmax())
        rows.append(best)
        gains.append(score[best])
        score = np.minimum(score, ((X - X[best]) ** 2).sum(1) * candidate * weight[best])
        score[best] = -1
    return np.array(rows), np.array(gains)


def spherical_kmeans(X, centers, iterations):
    """Centres, labels and Σ(1 − cos) of plain Lloyd iterations with normalised centres."""
    norms = np.linalg.norm(X, axis=1)
    U = X / np.where(norms > 0, norms, 1)[:, None]
    C = centers / np.linalg.norm(centers, axis=1, keepdims=True)
    for _ in range(iterations):
        labels = (U @ C.T).argmax(1)
        for c in range(len(C)):
            total = U[labels == c].sum(0)
            C[c] = total / np.linalg.norm(total)
    labels = (U @ C.T).argmax(1)
    return C, labels, float((1 - (U * C[labels]).sum(1))[norms > 0].sum())


def spacing(X, labels, neighbours):
    """Mean distance of each row to its nearest neighbours in its cluster."""
    distance = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    distance[labels[:, None] != labels[None]] = np.inf
    np.fill_diagonal(distance, np.inf)
    return np.sort(distance, axis=1)[:, :neighbours].mean(1)


def algorithm2(U, labels, centers, budget, n_starts, seeds):
    """Algorithm 2 after the clustering: starts by rotation, the best product, farthest-first, alternating clusters."""
    k = len(centers)
    members = [np.flatnonzero(labels == c) for c in range(k)]
    order = sorted(range(k), key=lambda c: (-len(members[c]), c))
    quota = np.zeros(k, int)
    turns = []
    while len(turns) < budget:
        for c in sorted(order, key=lambda c: (quota[c], -len(members[c]), c)):
            if (
                quota[c] < len(members[c])
                and len(turns) < budget
                and quota[c] == min(quota[e] for e in range(k) if quota[e] < len(members[e]))
            ):
                quota[c] += 1
                turns.append(c)
    sequences = []
    for c in range(k):
        if quota[c] == 0:
            sequences.append([])
            continue
        own = U[members[c]]
        tangent = own - np.outer(own @ centers[c], centers[c])
        tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
        current = int(np.random.default_rng(int(seeds[c])).integers(len(own)))
        starts = []
        for _ in range(min(n_starts, len(own))):
            starts.append(current)
            opposition = -(tangent @ tangent[current])
            opposition[starts] = -np.inf
            current = int(opposition.argmax())
        best, best_product = None, -np.inf
        for start in starts:
            rows = np.concatenate([[start], max_min(own, quota[c] - 1, [start])[0]]).astype(int)
            chords = np.linalg.norm(own[rows][:, None] - own[rows][None], axis=-1)
            product = np.log(chords[np.triu_indices(len(rows), 1)]).sum()
            if best is None or product > best_product + 1e-7 * len(rows) ** 2 / 2:
                best, best_product = rows, product
        sequences.append(list(members[c][best]))
    return np.array([sequences[c].pop(0) for c in turns])
