import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from mheal_reproduction.theory import Hyperplanes, bootstrap_iwal, deviation, iwal, query_probability
from mheal_reproduction.theory.hyperplanes import logistic


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X = StandardScaler().fit_transform(X)[order] / np.sqrt(X.shape[1])
    return X.astype(np.float32), np.where(y[order] == 1, 1, -1)


@pytest.fixture(scope="module")
def hyperplanes():
    return Hyperplanes.random(300, 30, np.random.default_rng(1))


def plain_iwal(h, X, y, threshold, excess, scale, draws):
    """The definition, hypothesis by hypothesis, in double precision."""
    margins = X.astype(np.float64) @ h.weights.T.astype(np.float64) + h.biases
    loss = {s: np.log1p(np.exp(-s * margins)) / scale for s in (-1, 1)}
    alive, sums, counts, bests, queried = list(range(len(h))), np.zeros(len(h)), [], [], []
    best = 0
    for t in range(len(X)):
        p = 1.0
        if draws is not None:
            p = max(loss[s][t, f] - loss[s][t, g] for s in (-1, 1) for f in alive for g in alive)
        queried.append(draws is None or draws[t] < p)
        if queried[-1]:
            sums += loss[y[t]][t] / p
            best = min(alive, key=lambda i: sums[i])
            limit = threshold(t + 1) + (sums[best] / (t + 1) if excess else 0)
            alive = [i for i in alive if sums[i] / (t + 1) <= limit or i == best]
        counts.append(len(alive))
        bests.append(best)
    return counts, bests, queried


@pytest.mark.parametrize("excess", [True, False])
@pytest.mark.parametrize("sampled", [True, False])
def test_every_round_equals_the_plain_loop(cancer, excess, sampled):
    X, y = cancer[0][:150], cancer[1][:150]
    h = Hyperplanes.random(40, 30, np.random.default_rng(3))
    scale = h.largest_loss(X) if sampled else 1.0
    draws = np.random.default_rng(4).random(len(X)) if sampled else None
    theta = 0.05 if sampled else 4.0  # scaled losses are small: a tighter rule, so that something is pruned
    rule = lambda t: np.sqrt(theta / t)  # noqa: E731
    trace = iwal(h, X, y, rule, excess=excess, scale=scale, draws=draws)
    counts, bests, queried = plain_iwal(h, X, y, rule, excess, scale, draws)
    assert counts[-1] < 30  # something was pruned
    assert trace.alive.tolist() == counts
    assert trace.best.tolist() == bests
    assert trace.queried.tolist() == queried


def test_loss_is_unbiased_under_importance_weights(cancer, hyperplanes):
    X, y = cancer
    full = hyperplanes.losses(X, y)
    rng = np.random.default_rng(5)
    scale = hyperplanes.largest_loss(X)
    runs = []
    for _ in range(80):
        trace = iwal(hyperplanes, X, y, scale=scale, draws=rng.random(len(X)))
        runs.append(hyperplanes.losses(X, y, trace.weights))
    assert trace.queried.mean() < 0.7  # it does leave labels out
    error = np.mean(runs, axis=0) - full
    sigma = np.std(runs, axis=0, ddof=1) / np.sqrt(len(runs))
    assert (np.abs(error) < 5 * sigma).all()
    assert np.abs(error / sigma).mean() < 2  # 0.8 for one independent normal value; hypotheses move together
    biased = hyperplanes.losses(X, y, trace.queried)
    assert np.abs(biased - full).max() > 20 * np.abs(error).max()  # without the weights it is far off


def test_weighted_loss_of_ones_is_the_mean(cancer, hyperplanes):
    X, y = cancer
    margins = X.astype(np.float64) @ hyperplanes.weights.T + hyperplanes.biases
    np.testing.assert_allclose(
        hyperplanes.losses(X, y), np.log1p(np.exp(-y[:, None] * margins)).mean(axis=0), rtol=1e-4
    )
    np.testing.assert_allclose(hyperplanes.errors(X, y), (np.sign(margins) != y[:, None]).mean(axis=0), atol=1e-12)
    assert hyperplanes.largest_loss(X) == pytest.approx(np.log1p(np.exp(np.abs(margins).max())), rel=1e-5)


def test_true_iwal_keeps_the_best_hypothesis():
    rng = np.random.default_rng(6)
    X = rng.choice([-1.0, 1.0], size=(4000, 1)).astype(np.float32)
    y = np.where(rng.random(4000) < 0.9, X[:, 0], -X[:, 0])  # h(x) = x is right nine times out of ten
    h = Hyperplanes(np.linspace(-3, 3, 25, dtype=np.float32)[:, None], np.zeros(25, np.float32))
    best = h.losses(X, y).argmin()
    for _ in range(20):
        trace = iwal(h, X, y, scale=h.largest_loss(X), draws=rng.random(len(X)))
        assert trace.pruned_at[best] == len(X) + 1
        assert trace.alive[-1] < 20  # otherwise survival says nothing
        assert trace.best[-1] in (best - 1, best, best + 1)


def test_deviation_of_ten_thousand_hypotheses():
    values = [deviation(t, 10_000) for t in (100, 200, 300, 1000, 5000)]
    np.testing.assert_allclose(values, [1.58, 1.14, 0.95, 0.54, 0.25], atol=0.005)


def test_query_probability_is_the_largest_difference():
    z = np.random.default_rng(0).normal(size=50) * 3
    losses = np.array([logistic(z), logistic(-z)])
    assert query_probability(z.min(), z.max(), 10) == pytest.approx((np.ptp(losses, axis=1)).max() / 10)
    assert query_probability(1.0, 1.0) == 0
    assert query_probability(-50.0, 50.0) == 1


def test_logistic_loss_is_stable():
    np.testing.assert_allclose(logistic(np.array([-1000.0, 0, 1000])), [1000, np.log(2), 0])


class Thresholds:
    """h(x) = 20 from a threshold in [0, 1] on, −20 below: losses are 0 or 20, so IWAL's, divided by 20, are 0 or 1."""

    def __init__(self, n):
        self.at = (np.arange(n) + 0.5) / n

    def __len__(self):
        return len(self.at)

    def margins(self, X, rows=slice(None)):
        return np.where(self.at[rows] <= X, np.float32(20), np.float32(-20))


def labels_bought(n, rule, seeds, rounds=(100, 1000, 10_000)):
    """Labels after so many rounds of a stream that threshold number n // 3 labels without error: (seeds, rounds)."""
    h, counts = Thresholds(n), []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X = rng.random((max(rounds), 1)).astype(np.float32)
        y = np.where(X[:, 0] >= h.at[n // 3], 1, -1)
        trace = iwal(h, X, y, rule, scale=20.0, draws=rng.random(len(X)))
        assert trace.pruned_at[n // 3] == len(X) + 1
        assert set(trace.probability) <= {0.0, 1.0}
        counts.append(np.cumsum(trace.queried)[np.array(rounds) - 1])
    return np.array(counts)


def test_realizable_thresholds_use_two_log_t_labels_when_an_error_prunes():
    """The t rows seen leave an interval that the next one hits with probability 2 / (t + 1)."""
    counts = labels_bought(20_000, lambda t: 0.5 / t, seeds=10)
    mean, error = counts.mean(axis=0), counts.std(axis=0, ddof=1) / np.sqrt(len(counts))
    assert (np.abs(mean - 2 * np.log([100, 1000, 10_000])) < 3 * error).all()
    assert counts[:, -1].max() < 0.004 * 10_000


def test_realizable_thresholds_use_polylogarithmic_labels_under_a_deviation_of_log_t_over_t():
    """The deviation of losses without variance, right for all |H| and t with probability 1 − δ."""
    counts = labels_bought(2000, lambda t: np.log(2 * t * (t + 1) * 2000 / 0.05) / t, seeds=3).mean(axis=0)
    assert counts[-1] < 0.04 * 10_000
    assert np.diff(counts)[1] < 1.5 * np.diff(counts)[0]  # a tenfold T adds about as many again


def test_realizable_thresholds_use_labels_like_the_root_of_t_under_the_printed_deviation():
    """Δ_t falls like √(log t / t) however small the losses are, and so does the interval left: not O(log)."""
    counts = labels_bought(2000, None, seeds=1, rounds=(100, 10_000, 20_000, 40_000))[0]
    assert counts[0] == 100  # nothing is pruned yet
    assert 0.5 * 10_000 < counts[1] < 0.6 * 10_000
    assert np.diff(counts[1:])[1] == pytest.approx(np.sqrt(2) * np.diff(counts[1:])[0], rel=0.05)


def test_one_hypothesis_left_asks_for_nothing_more(cancer, hyperplanes):
    X, y = cancer
    trace = iwal(hyperplanes, X, y, lambda t: 0.0, scale=hyperplanes.largest_loss(X), draws=np.zeros(len(X)))
    assert trace.queried[0]
    assert not trace.queried[1:].any()
    assert (trace.alive == 1).all()


def test_bootstrap_iwal_is_unbiased_and_asks_at_least_for_a_tenth(cancer):
    X, y = cancer
    trace = bootstrap_iwal(X, y, 50, np.random.default_rng(0))
    assert trace.queried[:50].all()
    assert trace.probability.min() >= 0.1
    assert 0.1 < trace.queried[50:].mean() < 0.7
    assert trace.best.max() < 10
    weight = [bootstrap_iwal(X, y, 50, np.random.default_rng(seed)).weights.mean() for seed in range(12)]
    assert np.mean(weight) == pytest.approx(1, abs=5 * np.std(weight) / np.sqrt(12))


def test_bootstrap_needs_both_classes(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="one class"):
        bootstrap_iwal(X, np.ones_like(y), 20, np.random.default_rng(0))
    with pytest.raises(ValueError, match="initial"):
        bootstrap_iwal(X, y, 0, np.random.default_rng(0))
