"""small-text: our strategies in its active learner."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_blobs
from sklearn.feature_extraction.text import TfidfVectorizer

import mheal

small_text = pytest.importorskip("small_text")

from mheal.adapters.small_text import MHEALQueryStrategy

X, Y = make_blobs(200, 5, centers=3, cluster_std=3.0, random_state=0)
DATASET = small_text.SklearnDataset(csr_matrix(X), Y, target_labels=np.arange(3))
FACTORY = small_text.SklearnClassifierFactory(small_text.ConfidenceEnhancedLinearSVC(), 3)


def learner(query, known):
    active = small_text.PoolBasedActiveLearner(FACTORY, query, DATASET)
    active.initialize_data(known, Y[known])
    return active


@pytest.mark.parametrize("name", ["mheal", "coreset", "qbc"])
def test_a_learner_queries_the_picks_of_select(name):
    known = np.arange(20)
    picks = learner(MHEALQueryStrategy(name, random_state=0), known).query(num_samples=9)
    np.testing.assert_array_equal(picks, mheal.select(X, 9, labeled=known, y=Y[known], strategy=name).indices)


def test_its_classifier_is_queried():
    known = np.arange(70)
    active = learner(MHEALQueryStrategy("margin", random_state=0), known)
    picks = active.query(num_samples=9)
    proba = active.classifier.predict_proba(DATASET)
    np.testing.assert_array_equal(
        picks, mheal.select(X, 9, labeled=known, y=Y[known], proba=proba, strategy="margin").indices
    )


def test_rounds_never_query_a_text_twice():
    active, known = learner(MHEALQueryStrategy(), np.arange(60)), set(range(60))
    for _ in range(3):
        picks = active.query(num_samples=20)
        assert not known & set(picks)
        known |= set(picks)
        active.update(Y[picks])


def test_ignored_texts_are_not_in_the_pool():
    unlabeled = np.arange(50, 150)
    picks = MHEALQueryStrategy().query(None, DATASET, unlabeled, np.arange(10), Y[:10], n=30)
    assert set(picks) <= set(unlabeled)


def test_multi_label():
    y = csr_matrix(np.eye(3, dtype=int)[Y[:20]])
    picks = MHEALQueryStrategy().query(None, DATASET, np.arange(20, 200), np.arange(20), y, n=9)
    np.testing.assert_array_equal(picks, mheal.select(X, 9, labeled=range(20)).indices)


def test_embeddings_of_texts_without_a_matrix():
    texts = [f"text {word} number {i}" for i, word in enumerate(["one", "two", "three"] * 20)]
    dataset = small_text.TextDataset(texts, np.zeros(60, int), target_labels=np.arange(2))
    embeddings = TfidfVectorizer().fit_transform(texts)
    unlabeled, none = np.arange(60), np.empty(0, int)
    picks = MHEALQueryStrategy(embeddings=embeddings).query(None, dataset, unlabeled, none, none, n=5)
    np.testing.assert_array_equal(picks, mheal.select(embeddings, 5).indices)
    with pytest.raises(mheal.exceptions.UserError, match="give embeddings"):
        MHEALQueryStrategy().query(None, dataset, unlabeled, none, none, n=5)
    with pytest.raises(mheal.exceptions.UserError, match="10 embeddings for 60 texts"):
        MHEALQueryStrategy(embeddings=np.eye(10)).query(None, dataset, unlabeled, none, none, n=5)


def test_errors_are_those_of_small_text():
    with pytest.raises(small_text.PoolExhaustedException):
        MHEALQueryStrategy().query(None, DATASET, np.arange(5), np.arange(10, 12), Y[10:12], n=6)
    with pytest.raises(small_text.EmptyPoolException):
        MHEALQueryStrategy().query(None, DATASET, np.empty(0, int), np.arange(10, 12), Y[10:12], n=1)
