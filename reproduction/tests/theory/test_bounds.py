import numpy as np
import pytest

from mheal.sphere import unit_rows
from mheal_reproduction.theory.bounds import (
    lemma1_bound,
    lemma1_coverage,
    lemma2_flip_rate,
    lemma3_flip_rate,
    lemma3_violation_rate,
    proposition1,
    proposition3,
)
from mheal_reproduction.theory.printed import random_projection
from mheal_reproduction.theory.sequential import sequential

SLACK = 1e-9


def triangle(side: float) -> np.ndarray:
    """Three unit vectors of R³ at mutual chord `side`."""
    values, vectors = np.linalg.eigh(np.full((3, 3), 1 - side**2 / 2) + np.eye(3) * side**2 / 2)
    return vectors * np.sqrt(np.maximum(values, 0))


def simplex(n: int) -> np.ndarray:
    return np.eye(n) - 1 / n


def trials(count: int = 1000):
    rng = np.random.default_rng(0)
    for _ in range(count):
        yield rng.normal(size=(rng.integers(2, 25), rng.integers(2, 12)))


def closest_last(W: np.ndarray) -> np.ndarray:
    """W with an end of its shortest chord moved to the end, so that Proposition 1's assumption holds."""
    U = unit_rows(W)[0]
    cosines = U @ U.T - 3 * np.eye(len(U))
    i = int(cosines.max(axis=1).argmax())
    return np.vstack([np.delete(W, i, axis=0), W[i]])


def test_proposition1_corrected_chain_holds_on_1000_trials():
    for W in trials():
        terms = proposition1(closest_last(W))
        assert terms.assumption
        assert terms.log_lower <= terms.log_middle + SLACK
        assert terms.log_middle <= terms.log_product + SLACK


def test_proposition1_terms_are_the_products_they_stand_for():
    W = unit_rows(np.random.default_rng(0).normal(size=(5, 3)))[0]
    chord = np.linalg.norm(W[:, None] - W[None], axis=2)
    inside = np.prod([chord[i, j] for i in range(4) for j in range(i)])
    m = chord[4, :4].min()
    terms = proposition1(W)
    logs = terms.log_lower, terms.log_middle, terms.log_printed, terms.log_product
    expected = m**10, inside * m**4, inside * 4 * m, inside * chord[4, :4].prod()
    np.testing.assert_allclose(np.exp(logs), expected, rtol=1e-10)
    assert (terms.pairs, terms.shortest) == (10, pytest.approx(m))


@pytest.mark.parametrize(("side", "printed", "product"), [(3**0.5, 6, 5.196), (1, 2, 1), (0.5, 0.5, 0.125)])
def test_proposition1_printed_middle_term_exceeds_the_product_for_triangles(side, printed, product):
    terms = proposition1(triangle(side))
    assert terms.assumption
    assert np.exp(terms.log_printed) == pytest.approx(printed, rel=1e-3)
    assert np.exp(terms.log_product) == pytest.approx(product, rel=1e-3)


@pytest.mark.parametrize(
    ("W", "lower", "printed"),
    [(simplex(6), 710.5, 616.8), (np.eye(8), 16384, 14336)],
    ids=["simplex", "basis"],
)
def test_proposition1_printed_middle_term_falls_below_the_lower_bound(W, lower, printed):
    terms = proposition1(W)
    assert terms.assumption
    assert np.exp(terms.log_lower) == pytest.approx(lower, rel=1e-4)
    assert np.exp(terms.log_printed) == pytest.approx(printed, rel=1e-4)


def test_proposition1_needs_its_assumption():
    half = np.arcsin(0.005)
    a, b = [np.cos(half), np.sin(half), 0], [np.cos(half), -np.sin(half), 0]
    x = (1 - 1.9**2 / 2) / np.cos(half)  # at chord 1.9 from both
    terms = proposition1([a, b, [x, 0, np.sqrt(1 - x**2)]])
    assert not terms.assumption
    assert np.exp(terms.log_lower) == pytest.approx(6.859, rel=1e-3)
    assert np.exp(terms.log_product) == pytest.approx(0.0361, rel=1e-3)


def test_proposition1_assumption_fails_for_most_product_sequences_in_high_dimension():
    rng = np.random.default_rng(0)
    pools = [rng.normal(size=(200, 50)) for _ in range(20)]
    assert np.mean([proposition1(P[sequential(P, 20)]).assumption for P in pools]) < 0.5


def test_proposition3_corrected_lower_bound_and_upper_bound_of_the_root_hold_on_1000_trials():
    for W in trials():
        terms = proposition3(W)
        assert terms.lower - SLACK <= terms.root <= terms.longest + SLACK


def test_proposition3_fixed_upper_definition_holds_on_1000_trials():
    for W in trials():
        terms = proposition3(W)
        assert terms.log_product <= terms.log_upper + SLACK


def test_proposition3_printed_lower_bound_fails_in_the_plane_for_five_points():
    rng = np.random.default_rng(0)
    for _ in range(20):
        P = rng.normal(size=(200, 2))
        rows = sequential(P, 5)
        terms = proposition3(P[rows], pool=np.delete(P, rows[:-1], axis=0))
        assert terms.printed_lower > terms.root >= terms.lower


def test_proposition3_printed_lower_bound_takes_the_smallest_spread_of_the_pool():
    W = [[1.0, 0.0], [-1.0, 0.0], [0.6, 0.8]]
    assert proposition3(W).printed_lower == pytest.approx(2 * (np.sqrt(3.2) - np.sqrt(0.8)))
    assert proposition3(W, pool=[[0.0, 1.0], [1.0, 0.1]]).printed_lower == pytest.approx(0, abs=1e-12)


def test_proposition3_printed_upper_definition_is_false():
    terms = proposition3([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    assert np.exp(terms.log_product) == pytest.approx(4)
    assert np.exp(terms.log_printed_upper) == pytest.approx(2.828, rel=1e-3)
    assert np.exp(terms.log_upper) == pytest.approx(8)


def test_proposition3_root_is_stable_where_the_powers_overflow():
    small = proposition3(np.random.default_rng(0).normal(size=(4, 3)))
    direct = (small.longest**6 - small.shortest**6) ** (1 / 6)
    assert small.root == pytest.approx(direct, rel=1e-12)
    large = proposition3(np.random.default_rng(0).normal(size=(80, 3)))
    assert large.longest > 1.9
    assert large.root == pytest.approx(large.longest, rel=1e-3)


def test_propositions_refuse_a_single_point():
    for proposition in (proposition1, proposition3):
        with pytest.raises(ValueError, match="at least 2 rows"):
            proposition([[1.0, 0.0]])


@pytest.mark.parametrize(("kappa", "eps"), [(30, 0.5), (50, 0.6), (150, 0.7)])
def test_lemma1_coverage_is_above_the_bound_for_n_1_and_zero_for_n_kappa(kappa, eps):
    x = np.random.default_rng(0).normal(size=20)
    assert 0 < lemma1_bound(kappa, eps) <= lemma1_coverage(x, kappa, eps, 2000, n=1)
    assert lemma1_coverage(x, kappa, eps, 2000, n=kappa) == 0
    assert lemma1_coverage(x, kappa, eps, 2000, n=20) == 0


def test_lemma1_bound_is_empty_at_the_printed_threshold():
    assert lemma1_bound(1, np.sqrt(5.54517744)) == pytest.approx(0, abs=1e-8)


def test_lemma1_coverage_has_the_distribution_of_a_full_projection():
    x, kappa, eps = np.arange(1.0, 6.0), 12, 0.4
    full = [
        abs((random_projection(x[None], kappa, random_state=s) ** 2).sum() / (kappa * (x @ x)) - 1) < eps
        for s in range(3000)
    ]
    assert lemma1_coverage(x, kappa, eps, 20_000) == pytest.approx(np.mean(full), abs=0.035)


@pytest.mark.parametrize(
    ("d", "ratio", "quoted"),
    [(2, 0.9, 0.39), (10, 0.9, 0.37), (50, 0.9, 0.24), (10, 0.99, 0.48), (2, 0.5, 0.11), (10, 0.5, 0.017)],
)
def test_lemma2_order_flips(d, ratio, quoted):
    assert lemma2_flip_rate(d, d, ratio, 8000) == pytest.approx(quoted, abs=0.025)
    assert lemma2_flip_rate(d, d, ratio, 2000, on_sphere=True) > 0


def test_lemma2_order_holds_for_a_small_ratio_in_high_dimension():
    assert lemma2_flip_rate(784, 784, 0.5, 300) == 0


def test_lemma2_flips_as_often_under_a_full_projection():
    rng, d, flips = np.random.default_rng(0), 3, []
    for seed in range(2000):
        short, long = unit_rows(rng.normal(size=(2, d)))[0] * [[0.9], [1.0]]
        image = random_projection(np.array([short, long]), d, random_state=seed)
        flips.append(np.linalg.norm(image[0]) > np.linalg.norm(image[1]))
    assert lemma2_flip_rate(d, d, 0.9, 8000) == pytest.approx(np.mean(flips), abs=0.045)


@pytest.mark.parametrize("d", [3, 50, 300])
def test_lemma3_order_of_cosines_flips_for_a_fifth_of_random_triples(d):
    assert 0.17 < lemma3_flip_rate(d, 3000) < 0.27


@pytest.mark.parametrize(
    ("d", "eps", "quoted"),
    [(3, 0.1, 0.16), (3, 0.3, 0.13), (3, 0.5, 0.12), (50, 0.1, 0.08), (50, 0.3, 0.013)],
)
def test_lemma3_second_inequality_is_violated(d, eps, quoted):
    assert lemma3_violation_rate(d, eps, 8000) == pytest.approx(quoted, abs=0.015)


def test_rates_are_decided_by_the_seed_and_need_a_trial():
    assert lemma3_flip_rate(5, 500, seed=1) == lemma3_flip_rate(5, 500, seed=1)
    assert lemma2_flip_rate(5, 5, 0.9, 999, seed=1) != lemma2_flip_rate(5, 5, 0.9, 999, seed=2)
    with pytest.raises(ValueError, match="trials"):
        lemma3_flip_rate(5, 0)
    with pytest.raises(ValueError, match="ratio"):
        lemma2_flip_rate(5, 5, 1.5)
