"""`--forecast` measures as little as possible, and enough for a bound that is not exceeded."""

import re

import numpy as np
import polars as pl
import pytest

from mheal.cli import main
from mheal.cli.cost import LARGE, LITTLE, MEDIUM, SMALL, estimate
from mheal.strategies import get, names


class Clock:
    """Picking whose time is given by a formula, and the runs that were measured; the first compiles for a minute."""

    def __init__(self, seconds):
        self.seconds, self.measured = seconds, []

    def __call__(self, rows, n):
        assert 1 <= n <= rows
        self.measured.append(rows)
        return self.seconds(rows, n) + 60 * (len(self.measured) == 1)


def linear(rate):
    return Clock(lambda rows, n: rate * rows * n)


def test_a_quick_run_is_measured_on_few_rows():
    clock = linear(1e-8)
    found = estimate(clock, 200_000, 1000, quadratic=False)
    assert found.seconds == pytest.approx(clock.seconds(200_000, 1000))
    assert found.bound
    assert clock.measured == [SMALL, SMALL]


def test_time_that_grows_with_the_square_of_few_rows_is_measured_on_more():
    clock = Clock(lambda rows, n: 1e-9 * rows * min(rows, 10_000))
    found = estimate(clock, 200_000, 100, quadratic=True)
    assert found.seconds >= clock.seconds(200_000, 100)
    assert min(clock.measured[1:]) == MEDIUM


def test_a_long_run_is_measured_on_more_rows_and_extrapolated():
    clock = Clock(lambda rows, n: 3 + 1e-6 * rows * n)  # of few rows mostly the first three seconds
    found = estimate(clock, 1_000_000, 1000, quadratic=False)
    assert found.seconds == pytest.approx(clock.seconds(1_000_000, 1000))
    assert (found.measured, found.bound) == (LARGE, False)
    assert clock.measured == [SMALL, SMALL, MEDIUM, LARGE]


def test_a_bound_above_a_minute_is_only_given_where_no_larger_sample_is_allowed():
    for rows in (500, 20_000, 300_000):
        clock = linear(1e-2)
        found = estimate(clock, rows, 100, quadratic=False)
        assert found.seconds > LITTLE
        assert found.measured == max(clock.measured) == min(rows // 8 if rows > 800 else 100, MEDIUM)


@pytest.mark.parametrize(("rows", "budget"), [(1, 1), (3, 3), (100, 100), (101, 99), (5000, 5000)])
def test_pools_of_a_few_rows_are_measured_too(rows, budget):
    clock = linear(1e-9)
    found = estimate(clock, rows, budget, quadratic=False)
    assert found.seconds >= clock.seconds(rows, budget) * (1 - 1e-9)
    assert max(clock.measured) <= rows


def test_strategies_of_which_small_samples_say_little_are_known():
    assert all(get(name).quadratic for name in names() if "N²" in get(name).cost)
    assert not any(get(name).quadratic for name in ("mheal", "mheal-paper", "kmeans", "coreset", "random"))


def test_the_command_says_on_how_many_rows_it_measured(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    np.save("pool.npy", np.random.default_rng(0).standard_normal((30_000, 4)).astype(np.float32))
    assert main(["select", "pool.npy", "-b", "20", "--forecast", "--strategy", "support-points"]) == 0
    assert re.search(r"\(measured on 3,750 rows\)", capfd.readouterr().out)
    assert [path.name for path in tmp_path.iterdir()] == ["pool.npy"]


@pytest.mark.parametrize("text", [False, True])
def test_a_forecast_of_shards_measures_rows_of_several(text, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((10_000, 3))
    for at in range(10):
        columns = dict(zip("abc", X[1000 * at : 1000 * at + 1000].T, strict=True))
        words = {"word": ["one", "two"] * 500} if text else {}
        pl.DataFrame(columns | words).write_parquet(f"{at}.parquet")
    assert main(["select", "*.parquet", "-b", "10%", "--forecast"]) == 0
    said = capfd.readouterr()
    assert "Picking 1,000 of 10,000 rows should take at most" in said.out
    assert "(measured on 1,250 rows)" in said.out
    assert ("one-hot" in said.err) == text


def test_a_forecast_of_an_empty_file_says_so(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"a": [], "b": []}, {"a": pl.Float64, "b": pl.Float64}).write_parquet("pool.parquet")
    assert main(["select", "pool.parquet", "-b", "10", "--forecast"]) == 2
    assert "has no rows" in capfd.readouterr().err
