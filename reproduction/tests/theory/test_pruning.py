import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from mheal import SphericalKMeans
from mheal_reproduction.theory import MODES, Hyperplanes, iwal, prune
from mheal_reproduction.theory.pruning import CLUSTERS, THETA, literal_survivors


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X = (StandardScaler().fit_transform(X)[order] / np.sqrt(X.shape[1])).astype(np.float32)
    return X, np.where(y[order] == 1, 1, -1), SphericalKMeans(CLUSTERS, random_state=0).fit_predict(X)


@pytest.fixture(scope="module")
def hyperplanes():
    return Hyperplanes.random(2000, 30, np.random.default_rng(1))


def same_row(n):
    """A stream whose every prefix has the expected loss: one row again and again."""
    return np.tile(np.random.default_rng(2).normal(size=(1, 30)).astype(np.float32) / 5, (n, 1)), np.ones(n)


def test_literal_with_population_losses_is_the_ratio_of_the_constants(hyperplanes):
    X, y = same_row(600)
    one, three = (prune(hyperplanes, X, y, MODES["literal"][learner]) for learner in ("MHEAL", "IWAL"))
    mheal, iwal_ = one.traces[0].alive, three.traces[0].alive
    t = np.arange(1, 201)
    assert mheal[t - 1].tolist() == iwal_[3 * t - 1].tolist()
    assert len(np.unique(mheal)) > 20  # and there is something to compare
    losses = hyperplanes.losses(X[:1], y[:1])
    assert all(literal_survivors(losses, i, THETA / 3) == literal_survivors(losses, 3 * i) for i in range(1, 1000))


@pytest.mark.parametrize("learner", ["IWAL", "MHEAL"])
def test_literal_empties_at_theta_over_squared_loss(hyperplanes, learner):
    # Only poor hypotheses, so that the round comes soon.
    X, y = same_row(2000)
    losses = hyperplanes.losses(X[:1], y[:1])
    poor = np.flatnonzero(losses > 0.3)
    some = Hyperplanes(hyperplanes.weights[poor], hyperplanes.biases[poor])
    rule = MODES["literal"][learner]
    trace = prune(some, X, y, rule).traces[0]
    last = int(rule.theta / losses[poor].min() ** 2)
    assert trace.emptied_at == last + 1
    assert trace.alive[-1] == 1  # the best is kept all the same
    assert literal_survivors(losses[poor], last, rule.theta) > 0
    assert literal_survivors(losses[poor], last + 1, rule.theta) == 0


def test_excess_prunes_three_times_as_fast_with_a_third_of_the_constant(hyperplanes):
    X, y = same_row(600)
    mheal, iwal_ = (prune(hyperplanes, X, y, MODES["excess"][learner]).traces[0] for learner in ("MHEAL", "IWAL"))
    t = np.arange(1, 201)
    assert mheal.alive[t - 1].tolist() == iwal_.alive[3 * t - 1].tolist()
    assert mheal.emptied_at is None


def test_regions_are_separate_streams(cancer, hyperplanes):
    X, y, regions = cancer
    result = prune(hyperplanes, X, y, MODES["control"]["MHEAL"], regions=regions)
    assert len(result.traces) == CLUSTERS
    for region, trace in enumerate(result.traces):
        own = regions == region
        alone = iwal(hyperplanes, X[own], y[own], lambda t: np.sqrt(10 / t))
        assert trace.pruned_at.tolist() == alone.pruned_at.tolist()
    t = 200
    seen = [(regions[:t] == region).sum() for region in range(CLUSTERS)]
    assert result.rounds[:, t - 1].tolist() == seen
    alive = [trace.pruned_at > n for trace, n in zip(result.traces, seen, strict=True)]
    assert result.share[t - 1] == pytest.approx(np.mean(alive))
    assert result.alive(t).tolist() == np.any(alive, axis=0).tolist()
    assert result.winners[:, t - 1].tolist() == [tr.best[n - 1] for tr, n in zip(result.traces, seen, strict=True)]
    assert result.labels.tolist() == list(range(1, len(X) + 1))
    assert (result.weights == 1).all()


def test_before_its_first_row_a_region_has_all_hypotheses(cancer, hyperplanes):
    X, y, _ = cancer
    regions = np.r_[np.zeros(100, int), np.ones(len(X) - 100, int)]
    result = prune(hyperplanes, X, y, MODES["control"]["MHEAL"], regions=regions)
    assert result.winners[1, 99] == 0
    first = result.traces[0].alive[99] / len(hyperplanes)
    assert result.share[99] == pytest.approx((first + 1) / 2)


def test_control_has_one_constant_and_the_others_one_stream():
    assert MODES["control"]["IWAL"] == MODES["excess"]["IWAL"]
    assert MODES["control"]["MHEAL"].theta == MODES["control"]["IWAL"].theta
    assert not any(rule.regional for mode in ("literal", "excess") for rule in MODES[mode].values())


def test_sampling_buys_fewer_labels_and_weighs_them(cancer, hyperplanes):
    X, y, regions = cancer
    draws = np.random.default_rng(3).random(len(X))
    scale = hyperplanes.largest_loss(X)
    result = prune(hyperplanes, X, y, MODES["true-iwal"]["MHEAL"], regions=regions, scale=scale, draws=draws)
    assert result.labels[-1] == (result.weights > 0).sum() < 0.8 * len(X)
    for region, trace in enumerate(result.traces):
        assert result.weights[regions == region].tolist() == trace.weights.tolist()


def test_regional_rules_need_regions(cancer, hyperplanes):
    with pytest.raises(ValueError, match="regions"):
        prune(hyperplanes, *cancer[:2], MODES["control"]["MHEAL"])
