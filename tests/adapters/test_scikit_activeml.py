"""scikit-activeml: our strategies as its query strategies."""

import unittest

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

import mheal

skactiveml = pytest.importorskip("skactiveml")

from skactiveml.base import SingleAnnotatorPoolQueryStrategy
from skactiveml.classifier import ParzenWindowClassifier, SklearnClassifier
from skactiveml.pool import SubSamplingWrapper
from skactiveml.utils import MISSING_LABEL

from mheal.adapters.scikit_activeml import MHEALQueryStrategy

try:  # scikit-activeml ships its template in sources and in wheels up to 0.6.1
    from skactiveml.tests.template_query_strategy import TemplateSingleAnnotatorPoolQueryStrategy
except ImportError:
    TemplateSingleAnnotatorPoolQueryStrategy = None

X, Y = make_blobs(200, 5, centers=3, cluster_std=3.0, random_state=0)


def labels(known=70):
    return np.where(np.arange(len(Y)) < known, Y, np.nan)


if TemplateSingleAnnotatorPoolQueryStrategy is not None:

    class TestTemplate(TemplateSingleAnnotatorPoolQueryStrategy, unittest.TestCase):
        """The generic tests that scikit-activeml runs on each of its own strategies."""

        def setUp(self):
            few, y = X[:20], np.append([0.0, 1.0, 0.0], np.full(17, MISSING_LABEL))
            clf = ParzenWindowClassifier(classes=[0, 1], random_state=0)
            super().setUp(
                qs_class=MHEALQueryStrategy,
                init_default_params={},
                query_default_params_clf={"X": few, "y": y, "clf": clf},
            )

        def test_init_param_strategy(self):
            cases = [(1, TypeError), ("nothing", ValueError), ("typiclust", None), (mheal.MHEAL(), None)]
            self._test_param("init", "strategy", cases)

        def test_query_param_clf(self):
            super().test_query_param_clf(test_cases=[(None, None)])

        def test_query(self):
            picks = MHEALQueryStrategy(random_state=0).query(X, labels(), batch_size=5)
            np.testing.assert_array_equal(picks, mheal.select(X, 5, y=labels()).indices)


@pytest.mark.parametrize("name", [kind.name for kind in mheal.strategies.describe() if not kind.needs_torch])
def test_the_picks_are_those_of_select(name):
    picks = MHEALQueryStrategy(name, random_state=0).query(X, labels(), batch_size=7)
    np.testing.assert_array_equal(picks, mheal.select(X, 7, y=labels(), strategy=name).indices)


def test_a_classifier_of_scikit_activeml_is_queried():
    clf = SklearnClassifier(LogisticRegression(), classes=[0, 1, 2], random_state=0)
    query = MHEALQueryStrategy("margin", random_state=0)
    fitted = clone(clf).fit(X, labels())
    known = LogisticRegression().fit(X[:70], Y[:70])
    expected = mheal.select(X, 7, y=labels(), strategy="margin", proba=known.predict_proba(X)).indices
    np.testing.assert_array_equal(query.query(X, labels(), clf=clf, batch_size=7), expected)
    np.testing.assert_array_equal(query.query(X, labels(), clf=fitted, fit_clf=False, batch_size=7), expected)
    assert not hasattr(clf, "classes_")


def test_utilities_rank_the_picks():
    picks, utilities = MHEALQueryStrategy(random_state=0).query(X, labels(), batch_size=4, return_utilities=True)
    assert utilities.shape == (4, len(X))
    np.testing.assert_array_equal(np.nanargmax(utilities, axis=1), picks)
    assert np.isnan(utilities[:, :70]).all()
    assert np.isnan(utilities).sum(axis=1).tolist() == [70, 71, 72, 73]


def test_candidates_are_rows_or_features():
    some = np.arange(100, 160)
    query = MHEALQueryStrategy(random_state=0)
    rows, utilities = query.query(X, labels(), candidates=some, batch_size=9, return_utilities=True)
    assert set(rows) <= set(some)
    assert (~np.isnan(utilities[0])).sum() == len(some)
    places, utilities = query.query(X, labels(), candidates=X[some], batch_size=9, return_utilities=True)
    np.testing.assert_array_equal(some[places], rows)
    assert utilities.shape == (9, len(some))
    labelled = query.query(X, labels(), candidates=np.arange(5), batch_size=5)
    assert sorted(labelled) == list(range(5))


@pytest.mark.parametrize("exclude", [False, True])
def test_subsampling(exclude):
    query = SubSamplingWrapper(MHEALQueryStrategy(), 40, exclude_non_subsample=exclude, random_state=0)
    picks, utilities = query.query(X, labels(), batch_size=5, return_utilities=True)
    assert len(set(picks)) == 5
    assert min(picks) >= 70
    assert np.isfinite(utilities[0]).sum() == 40


def test_clone_keeps_the_parameters():
    query = MHEALQueryStrategy(mheal.MHEAL(density_power=2.0), missing_label=-1, random_state=3)
    copy = clone(query)
    assert copy.strategy.density_power == 2.0
    assert (copy.missing_label, copy.random_state) == (-1, 3)
    assert isinstance(copy, SingleAnnotatorPoolQueryStrategy)


def test_labels_may_be_words():
    words = np.where(np.arange(len(Y)) < 70, np.array(["a", "b", "c"])[Y], "")
    picks = MHEALQueryStrategy("margin", missing_label="", random_state=0).query(X, words, batch_size=3)
    assert min(picks) >= 70


def test_a_cycle_labels_the_whole_pool():
    y, clf = np.full(len(Y), np.nan), SklearnClassifier(LogisticRegression(), classes=[0, 1, 2], random_state=0)
    query = MHEALQueryStrategy(random_state=0)
    for _ in range(4):
        picks = query.query(X, y, clf=clf, batch_size=50)
        y[picks] = Y[picks]
    np.testing.assert_array_equal(y, Y)
