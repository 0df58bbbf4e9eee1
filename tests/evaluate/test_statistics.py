import numpy as np
import pytest
from scipy import stats

from mheal.evaluate.statistics import area, holm, paired_tests, t_interval


def test_holm_by_hand():
    # sorted .01 .02 .03 .04 times 4 3 2 1 = .04 .06 .06 .04, made non-decreasing
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]
    assert holm([0.3]).tolist() == [0.3]
    assert holm([]).tolist() == []


def test_paired_tests_are_scipys():
    a = np.array([0.81, 0.84, 0.86, 0.79, 0.88, 0.90])
    b = np.array([0.80, 0.80, 0.87, 0.74, 0.82, 0.88])
    t, wilcoxon = paired_tests(a - b)
    assert t == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert wilcoxon == pytest.approx(stats.wilcoxon(a - b).pvalue)


def test_wilcoxon_is_exact_for_few_seeds_also_with_ties_and_zeros():
    assert paired_tests([0.1, 0.2, 0.3, 0.4, 0.5])[1] == 2 / 2**5
    assert paired_tests([0.1, 0.1, 0.1, 0.2, 0.2])[1] == 2 / 2**5
    signs = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1).T  # by enumeration; the zero is dropped
    d = np.array([0.0, 0.2, -0.1, 0.3, 0.4])
    ranks = np.array([2, 1, 3, 4])
    sums = (signs > 0) @ ranks
    seen = ranks[d[1:] > 0].sum()
    assert paired_tests(d)[1] == pytest.approx(2 * np.mean(sums >= seen))


def test_differences_that_tell_nothing():
    assert paired_tests(np.zeros(5)) == (1.0, 1.0)
    assert paired_tests([0.3]) == (1.0, 1.0)
    t, wilcoxon = paired_tests(np.array([0.9, 0.8, 0.7]) - np.array([0.8, 0.7, 0.6]))  # .1 but for rounding
    assert t == wilcoxon == 2 / 2**3


def test_t_interval_by_hand():
    mean, half = t_interval([1.0, 2.0, 4.0])
    assert mean == pytest.approx(7 / 3)
    assert half == pytest.approx(4.302653 * np.std([1, 2, 4], ddof=1) / np.sqrt(3), rel=1e-6)
    for values, fewest in (([[0.5, 0.6]], 2), ([[0.4, 0.6], [0.6, 0.6]], 3)):
        mean, half = t_interval(values, fewest)
        assert mean.tolist() == [0.5, 0.6]
        assert np.isnan(half).all()


def test_area_is_the_mean_height():
    assert area([10, 20, 50], [[0.7, 0.7, 0.7]]) == pytest.approx([0.7])
    assert area([10, 20, 50], [0.0, 1.0, 1.0]) == pytest.approx((5 + 30) / 40)
    assert area([10], [[0.3], [0.4]]).tolist() == [0.3, 0.4]
