"""modAL: our strategies as query strategies of its learners."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mheal
from mheal.adapters.modal import strategy

models = pytest.importorskip("modAL.models")

X, Y = make_blobs(200, 5, centers=3, cluster_std=3.0, random_state=0)
START, POOL = X[:70], X[70:]


def learner(**options):
    return models.ActiveLearner(LogisticRegression(), X_training=START, y_training=Y[:70], **options)


@pytest.mark.parametrize("name", ["mheal", "margin", "typiclust", "qbc"])
def test_a_learner_queries_the_picks_of_select(name):
    rows, found = learner(query_strategy=partial(strategy, strategy=name)).query(POOL, n_instances=7)
    model = LogisticRegression().fit(START, Y[:70])
    expected = mheal.select(X, 7, labeled=range(70), y=Y[:70], strategy=name, estimator=model)
    np.testing.assert_array_equal(rows, expected.indices - 70)
    np.testing.assert_array_equal(found, POOL[rows])


def test_one_instance_is_the_default():
    rows, found = strategy(learner(), POOL)
    assert rows.shape == (1,)
    np.testing.assert_array_equal(found, POOL[rows])


def test_a_learner_without_labels():
    rows, _ = models.ActiveLearner(LogisticRegression(), query_strategy=strategy).query(X, n_instances=5)
    np.testing.assert_array_equal(rows, mheal.select(X, 5).indices)


@pytest.mark.parametrize("form", [sparse.csr_matrix, pd.DataFrame, np.ndarray.tolist], ids=["sparse", "frame", "list"])
def test_forms_of_the_pool(form):
    expected = strategy(learner(), POOL, 6)[0]
    other = learner()
    other.X_training = form(START)
    rows, found = strategy(other, form(POOL), 6)
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(np.asarray(found.todense() if sparse.issparse(found) else found), POOL[rows])


def test_on_transformed():
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    made = models.ActiveLearner(
        pipe,
        query_strategy=partial(strategy, strategy="margin"),
        X_training=START,
        y_training=Y[:70],
        on_transformed=True,
    )
    rows, found = made.query(POOL, n_instances=6)
    expected = mheal.select(X, 6, labeled=range(70), y=Y[:70], strategy="margin", estimator=pipe).indices - 70
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(found, POOL[rows])


def test_a_committee():
    members = [learner(), learner()]
    committee = models.Committee(members, query_strategy=partial(strategy, strategy="entropy"))
    rows, _ = committee.query(POOL, n_instances=6)
    expected, _ = strategy(members[0], POOL, 6, strategy="entropy")
    np.testing.assert_array_equal(rows, expected)
