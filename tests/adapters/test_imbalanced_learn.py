"""imbalanced-learn: its checks of a sampler, and our sampler in its pipelines."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import mheal

imblearn = pytest.importorskip("imblearn")

from imblearn.pipeline import make_pipeline
from imblearn.utils.estimator_checks import parametrize_with_checks

from mheal.adapters.imbalanced_learn import MHEALUnderSampler

X, Y = make_classification(400, 6, n_informative=4, n_classes=3, weights=[0.6, 0.3], random_state=0)


@parametrize_with_checks([MHEALUnderSampler(random_state=0), MHEALUnderSampler(strategy="random", random_state=0)])
def test_checks_of_imbalanced_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["mheal", "coreset", "kmedoids"])
def test_the_picks_of_each_class_are_kept(name):
    sampler = MHEALUnderSampler(strategy=name, random_state=0)
    kept, classes = sampler.fit_resample(X, Y)
    smallest = np.bincount(Y).min()
    assert np.bincount(classes).tolist() == [smallest] * 3
    np.testing.assert_array_equal(kept, X[sampler.sample_indices_])
    np.testing.assert_array_equal(classes, Y[sampler.sample_indices_])
    largest = np.flatnonzero(Y == 0)
    picks = mheal.select(X[largest], smallest, strategy=name)
    np.testing.assert_array_equal(sampler.sample_indices_[:smallest], largest[picks.indices])


def test_frames_and_counts():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    sampler = MHEALUnderSampler(sampling_strategy={0: 20}, random_state=0)
    kept, _ = sampler.fit_resample(frame, Y)
    assert (Y[sampler.sample_indices_] == 0).sum() == 20
    pd.testing.assert_frame_equal(
        kept.reset_index(drop=True), frame.iloc[sampler.sample_indices_].reset_index(drop=True)
    )


def test_in_a_pipeline_and_a_grid_search():
    pipe = make_pipeline(MHEALUnderSampler(random_state=0), LogisticRegression(max_iter=1000))
    grid = {"mhealundersampler__strategy": ["mheal", mheal.strategies.KMeans()]}
    search = GridSearchCV(pipe, grid, cv=3, scoring="balanced_accuracy", error_score="raise").fit(X, Y)
    assert search.best_score_ > 1 / 3
    assert len(search.best_estimator_[0].sample_indices_) == 3 * np.bincount(Y).min()
    assert clone(pipe)[0].strategy == "mheal"


def test_a_strategy_that_needs_labels_is_refused():
    with pytest.raises(mheal.exceptions.UserError, match="margin needs a model"):
        MHEALUnderSampler(strategy="margin").fit_resample(X, Y)
