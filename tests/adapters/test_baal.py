"""Baal: our heuristic in its active learning loop."""

import numpy as np
import pytest
import torch
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from torch.utils.data import TensorDataset

import mheal

pytest.importorskip("baal")

from baal.active import ActiveLearningDataset, ActiveLearningLoop

from mheal.adapters.baal import MHEALHeuristic

X, Y = make_blobs(200, 5, centers=3, cluster_std=3.0, random_state=0)
MODEL = LogisticRegression().fit(X[::10], Y[::10])


def dataset(known):
    items = TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))
    return ActiveLearningDataset(items, labelled=np.isin(np.arange(len(X)), known))


def predictions(pool, iterations=4):
    """Logits of the pool's items by a few equal models, as Baal stacks them."""
    rows = torch.stack([pool[i][0] for i in range(len(pool))]).numpy()
    return np.repeat(MODEL.decision_function(rows)[..., None], iterations, axis=-1)


@pytest.mark.parametrize(("name", "known"), [("mheal", 0), ("mheal", 90), ("margin", 90), ("typiclust", 90)])
def test_a_step_labels_the_picks_of_select(name, known):
    known = np.arange(known)
    data = dataset(known)
    heuristic = MHEALHeuristic(data, X, query_size=8, strategy=name, random_state=0)
    assert ActiveLearningLoop(data, predictions, heuristic, query_size=8).step()
    added = np.setdiff1d(np.flatnonzero(data.labelled), known)
    proba = MODEL.predict_proba(X)
    proba[known] = [1, 0, 0]
    model = {"proba": proba} if len(known) and name != "typiclust" else {}
    expected = mheal.select(X, 8, labeled=known, strategy=name, **model).indices
    assert set(added) == set(expected)


def test_ranks_hold_the_whole_pool_best_first():
    data = dataset(np.arange(20))
    heuristic = MHEALHeuristic(data, X, query_size=8)
    ranks, scores = heuristic.get_ranks(predictions(data.pool))
    assert sorted(ranks) == list(range(180))
    assert scores[ranks[:9]].tolist() == [8, 7, 6, 5, 4, 3, 2, 1, 0]
    np.testing.assert_array_equal(ranks[:8] + 20, mheal.select(X, 8, labeled=range(20)).indices)


def test_the_loop_runs_until_the_pool_is_empty():
    data = dataset(np.arange(150))
    loop = ActiveLearningLoop(data, predictions, MHEALHeuristic(data, X, query_size=30), query_size=30)
    assert loop.step()
    loop.step()
    assert data.n_unlabelled == 0


def test_a_sampled_pool_is_refused():
    data = dataset(np.arange(20))
    loop = ActiveLearningLoop(data, predictions, MHEALHeuristic(data, X), max_sample=50)
    with pytest.raises(mheal.exceptions.UserError, match="leave out max_sample"):
        loop.step()
