import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

from mheal_reproduction.clustering_accuracy import clustering_accuracy
from mheal_reproduction.networks.clustering import DeepClustering
from mheal_reproduction.networks.dec import Recipe
from mheal_reproduction.networks.initial import initial_clusters
from mheal_reproduction.networks.many import fit_many

X, y = load_digits(return_X_y=True)


SMALL = (64, 64, 128)


def short(**parameters):
    few = {"pretrain_epochs": 15, "max_iter": 12, "update_interval": 3, "random_state": 0, "device": "cpu"}
    return DeepClustering(**few | {"widths": SMALL} | parameters)


def test_it_is_an_estimator():
    model = short(variant="idec", n_clusters=7)
    twin = clone(model)
    assert twin is not model
    assert twin.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        model.transform(X)


def test_results_have_their_shapes_and_predict_agrees_with_fit():
    model = short().fit(X)
    assert model.labels_.shape == model.initial_labels_.shape == (len(X),)
    assert model.labels_.dtype == np.int32
    assert model.cluster_centers_.shape == (10, 10)
    assert model.transform(X).shape == (len(X), 10)
    assert len(model.get_feature_names_out()) == 10
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.n_iter_ == 12
    assert len(model.history_) == 12 // 3 + 1
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X[:50]), model.labels_[:50])


def test_the_scale_and_type_of_pixels_do_not_matter():
    labels = short().fit_predict(X.astype(np.float64))
    np.testing.assert_array_equal(short().fit_predict((X * 8).astype(np.uint8)), labels)
    np.testing.assert_array_equal(short().fit_predict(X.astype(np.float32)), labels)


def test_it_finds_digits():
    model = short(pretrain_epochs=150, max_iter=150, update_interval=None).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.75
    assert clustering_accuracy(y, model.labels_) > clustering_accuracy(y, model.initial_labels_)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("clusterer", ["spherical", "kmeans", "gmm"])
def test_clusterers_find_clear_clusters(clusterer, center):
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=400)
    codes = (10 * np.eye(4)[truth] + rng.normal(size=(400, 4))).astype(np.float32)
    centers, labels = initial_clusters(codes, clusterer, 4, 0, center)
    assert clustering_accuracy(truth, labels) == 1
    means = np.stack([codes[labels == j].mean(axis=0) for j in range(4)])
    np.testing.assert_allclose(centers, means, atol=0.5)


def test_spherical_clusters_do_not_depend_on_where_the_origin_is():
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=400)
    codes = (10 * np.eye(4)[truth] + rng.normal(size=(400, 4))).astype(np.float32)
    moved = np.float32([8, 0, 0, 0])
    away = codes - moved  # the origin is where a cluster is
    centers, labels = initial_clusters(away, "spherical", 4, 0)
    assert clustering_accuracy(truth, labels) == 1
    np.testing.assert_allclose(centers + moved, initial_clusters(codes, "spherical", 4, 0)[0], atol=1e-3)
    assert clustering_accuracy(truth, initial_clusters(away, "spherical", 4, 0, center=False)[1]) < 1


def test_spherical_centres_are_finite_where_there_are_fewer_directions_than_clusters():
    codes = np.random.default_rng(0).normal(size=(50, 1)).astype(np.float32)  # left or right of the mean
    centers, labels = initial_clusters(codes, "spherical", 3, 0)
    assert np.isfinite(centers).all()
    assert len(np.unique(labels)) <= 2


@pytest.mark.parametrize("center", [True, False])
def test_where_spherical_clusters_are_seen_from_is_passed_on(center):
    model = short(max_iter=0, center=center).fit(X)
    recipe = Recipe(pretrain_epochs=15, max_iter=0, update_interval=3, widths=SMALL)
    one = fit_many(X, [0], recipe=recipe, center=center, device="cpu")[0]
    expected = initial_clusters(one.initial_codes, "spherical", 10, 0, center)[1]
    np.testing.assert_array_equal(one.initial_labels, expected)
    np.testing.assert_array_equal(model.initial_labels_, expected)
    assert (expected != initial_clusters(one.initial_codes, "spherical", 10, 0, not center)[1]).any()


def test_spherical_centres_from_the_origin_have_the_codes_mean_length():
    codes = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    centers, _ = initial_clusters(codes, "spherical", 5, 0, center=False)
    np.testing.assert_allclose(np.linalg.norm(centers, axis=1), np.linalg.norm(codes, axis=1).mean(), rtol=1e-5)


@pytest.mark.parametrize("stop_at", [5, 16, 18])
def test_a_killed_run_goes_on_from_its_checkpoint_and_ends_the_same(tmp_path, stop_at):
    whole = short(variant="idec", augment=True).fit(X)
    calls = []

    def killing(done, total, what):
        calls.append(what)
        if len(calls) == stop_at:
            raise KeyboardInterrupt

    model = short(variant="idec", augment=True, checkpoint=tmp_path / "run.pt", progress=killing)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert (tmp_path / "run.pt").exists() == (stop_at > 15)  # epochs of pretraining
    calls.clear()
    stop_at = 0
    model.fit(X)
    np.testing.assert_array_equal(model.labels_, whole.labels_)
    np.testing.assert_array_equal(model.initial_labels_, whole.initial_labels_)
    np.testing.assert_array_equal(model.cluster_centers_, whole.cluster_centers_)
    assert model.history_ == whole.history_
    assert ("training an autoencoder" in calls) == (len(calls) > 15)
    assert [file.name for file in tmp_path.iterdir()] == ["run.pt"]


def test_a_checkpoint_of_other_data_or_parameters_or_no_checkpoint_at_all_is_refused(tmp_path):
    file = tmp_path / "run.pt"
    short(checkpoint=file).fit(X)
    others = (short(checkpoint=file, tol=0.5), X), (short(checkpoint=file, center=False), X)
    for model, data in ((short(checkpoint=file), X + 1), *others):
        with pytest.raises(ValueError, match=r"name another, or delete it"):
            model.fit(data)
    with pytest.raises(ValueError, match="make it first"):
        short(checkpoint=tmp_path / "nowhere" / "run.pt").fit(X)
    file.write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"run\.pt is no checkpoint"):
        short(checkpoint=file).fit(X)


def test_without_a_random_state_a_checkpoint_brings_its_own(tmp_path):
    first = short(random_state=None, checkpoint=tmp_path / "run.pt").fit(X)
    second = short(random_state=None, checkpoint=tmp_path / "run.pt").fit(X)
    np.testing.assert_array_equal(first.labels_, second.labels_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 2000}, "ask for at most 1797 clusters"),
        ({"n_clusters": 0}, "n_clusters must be a whole number ≥ 1, got 0"),
        ({"max_iter": 1.5}, "max_iter must be a whole number ≥ 0"),
        ({"update_interval": 0}, "update_interval must be"),
        ({"tol": -1}, "tol must be a number"),
        ({"pretrain_rate": 0}, "pretrain_rate must be a positive number"),
        ({"pretrain_rate": 1e9}, "codes are not finite: set pretrain_rate lower, for instance to 1e.08"),
        ({"clusterer": "dbscan"}, "clusterer must be one of spherical, kmeans, gmm"),
        ({"variant": "vade"}, "variant must be one of dec, idec"),
        ({"augment": True, "image_shape": (8, 9)}, r"no images of 8 × 9: set image_shape"),
    ],
)
def test_errors_of_bad_parameters_name_a_remedy(parameters, message):
    with pytest.raises(ValueError, match=message):
        short(**parameters).fit(X)


def test_many_at_once_equal_one_at_a_time():
    rows = np.stack([np.random.default_rng(seed).permutation(len(X))[:400] for seed in (3, 4)])
    recipe = Recipe(pretrain_epochs=40, max_iter=4, update_interval=3, widths=SMALL)
    found = fit_many(X, [3, 4], clusterers=["kmeans", "spherical"], rows=rows, recipe=recipe, device="cpu")
    assert [(one.seed, one.clusterer) for one in found] == [
        (3, "kmeans"), (3, "spherical"), (4, "kmeans"), (4, "spherical"),
    ]  # fmt: skip
    for one, own in zip(found, rows[[0, 0, 1, 1]], strict=True):
        alone = short(clusterer=one.clusterer, random_state=one.seed, pretrain_epochs=40, max_iter=4).fit(X[own])
        assert (one.initial_labels == alone.initial_labels_).mean() > 0.98
        assert (one.labels == alone.labels_).mean() > 0.98
        assert one.n_iter == alone.n_iter_ == 4


def test_callers_randomness_is_left_alone():
    torch.manual_seed(5)
    before, numpy_before = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    short(augment=True).fit(X[:300])
    assert torch.equal(before, torch.random.get_rng_state())
    np.testing.assert_array_equal(numpy_before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_the_gpu_finds_what_the_cpu_finds():
    scores = [
        [
            clustering_accuracy(
                y, short(device=device, random_state=seed, pretrain_epochs=60, max_iter=150).fit_predict(X)
            )
            for seed in range(3)
        ]
        for device in ("cpu", "cuda")
    ]
    assert abs(np.mean(scores[0]) - np.mean(scores[1])) < 0.1
