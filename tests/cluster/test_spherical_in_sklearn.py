"""SphericalKMeans inside scikit-learn: pipelines, grid search, names of its output, metadata routing."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mheal import SphericalKMeans

X, Y = make_blobs(150, 4, centers=5, random_state=0)


def test_in_a_pipeline_it_transforms():
    pipe = make_pipeline(SphericalKMeans(6, random_state=0), LogisticRegression()).fit(X, Y)
    alone = SphericalKMeans(6, random_state=0).fit(X)
    made = alone.transform(X)
    np.testing.assert_array_equal(pipe[0].cluster_centers_, alone.cluster_centers_)
    np.testing.assert_array_equal(pipe.predict(X), LogisticRegression().fit(made, Y).predict(made))


def test_in_a_pipeline_it_predicts():
    pipe = make_pipeline(StandardScaler(), SphericalKMeans(6, random_state=0))
    np.testing.assert_array_equal(pipe.fit_predict(X), pipe.predict(X))
    assert pipe.score(X) == pytest.approx(-pipe[1].inertia_)


def test_grid_search_finds_the_number_of_clusters_that_a_classifier_needs():
    pipe = make_pipeline(SphericalKMeans(random_state=0), LogisticRegression(max_iter=1000))
    search = GridSearchCV(pipe, {"sphericalkmeans__n_clusters": [1, 8]}, cv=3, error_score="raise").fit(X, Y)
    assert search.best_params_ == {"sphericalkmeans__n_clusters": 8}
    assert search.best_estimator_[0].cluster_centers_.shape == (8, 4)


def test_grid_search_without_classes_uses_its_own_score():
    search = GridSearchCV(SphericalKMeans(random_state=0), {"n_clusters": [1, 5]}, cv=3, error_score="raise").fit(X)
    assert search.best_params_ == {"n_clusters": 5}


@pytest.mark.parametrize(("form", "kind"), [("pandas", "pandas"), ("polars", "polars")])
def test_set_output(form, kind):
    out = SphericalKMeans(3, random_state=0).set_output(transform=form).fit_transform(X)
    assert type(out).__module__.startswith(kind)
    assert list(out.columns) == ["sphericalkmeans0", "sphericalkmeans1", "sphericalkmeans2"]
    np.testing.assert_array_equal(out.to_numpy(), SphericalKMeans(3, random_state=0).fit_transform(X))


def test_in_a_column_transformer_with_a_frame():
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(150) * 2)
    made = ColumnTransformer([("k", SphericalKMeans(3, random_state=0), ["a", "b"])], remainder="passthrough")
    out = made.set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == [*(f"k__sphericalkmeans{i}" for i in range(3)), "remainder__c", "remainder__d"]
    assert out.index.equals(frame.index)
    assert list(made.named_transformers_["k"].feature_names_in_) == ["a", "b"]


def test_sample_weight_is_routed():
    weight = np.where(Y < 2, 1.0, 1e-6)
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            SphericalKMeans(2, random_state=0).set_fit_request(sample_weight=True),
        ).fit(X, sample_weight=weight)
    alone = SphericalKMeans(2, random_state=0).fit(StandardScaler().fit_transform(X), sample_weight=weight)
    np.testing.assert_array_equal(pipe[1].cluster_centers_, alone.cluster_centers_)
    plain = SphericalKMeans(2, random_state=0).fit(StandardScaler().fit_transform(X))
    assert not np.allclose(plain.cluster_centers_, alone.cluster_centers_)
