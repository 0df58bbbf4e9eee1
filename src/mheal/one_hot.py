"""Standardisation of columns that gives all columns of a one-hot encoded category the weight of one column of numbers.

If each were standardised, a category of 20 values would weigh as much as 20 numbers, and rare values would weigh most.
`benchmarks/labels/one_hot` measures the effect.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

RUNS, RUN = 64, 64  # number and length of the runs of adjacent rows in a sample: they read few pages of a memory map
CLOSE = 1e-3  # relative tolerance, for rounding of the moments

Float64 = npt.NDArray[np.float64]


def column_moments(sums: Float64, shift: Float64, n: int, sample: npt.NDArray[Any]) -> tuple[Float64, Float64]:
    """The mean of each column, and the number to divide it by: not finite if numbers in the column are not or overflow.

    sums : sums of x − shift and of its square over n rows, (2, columns); a shift keeps the squares small
    sample : the rows `sample_rows(n)`
    """
    with np.errstate(invalid="ignore", over="ignore"):
        first, second = sums / n
        mean, deviation = first + shift, np.sqrt(np.maximum(second - first * first, 0.0))
    return mean, block_deviation(mean, deviation, sample)


def offset_and_scale(mean: Float64, deviation: Float64, dtype: np.dtype[Any]) -> tuple[npt.NDArray[Any], ...]:
    """Offset and scale that standardise columns as (x − offset)·scale; columns that vary only by rounding become 0."""
    constant = deviation <= 8 * np.finfo(dtype).eps * np.abs(mean)
    scale = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, deviation))
    return mean.astype(dtype), scale.astype(dtype)


def sample_rows(n: int) -> npt.NDArray[np.int64]:
    """The rows in which `column_moments` looks for one-hot blocks: evenly spaced runs of adjacent rows."""
    if n <= RUNS * RUN:
        return np.arange(n)
    starts = np.linspace(0, n - RUN, RUNS).astype(np.int64)
    return (starts[:, None] + np.arange(RUN)).ravel()


def block_deviation(mean: Float64, deviation: Float64, sample: npt.NDArray[Any]) -> Float64:
    """The number to divide each column by: its standard deviation or, in a one-hot block, the root of total variance.

    mean, deviation : of each column, over all rows
    sample : some rows
    """
    found = deviation.copy()
    for lo, hi in one_hot_blocks(mean, deviation, sample):
        varying = deviation[lo:hi] > 0
        found[lo:hi][varying] = np.sqrt(np.square(deviation[lo:hi]).sum())
    return found


def one_hot_blocks(mean: Float64, deviation: Float64, sample: npt.NDArray[Any]) -> list[tuple[int, int]]:
    """Blocks of adjacent columns, (first, end), of which one is 1 and the others are 0 in each row."""
    variance = mean * (1 - mean)  # the variance of columns of 0 and 1
    binary = ((sample == 0) | (sample == 1)).all(axis=0) & np.isclose(deviation**2, variance, rtol=CLOSE, atol=1e-9)
    blocks, at, total = [], 0, np.zeros(len(sample))  # total: sum of the columns from `at` on, in each row
    for column in range(len(binary)):
        if not binary[column]:
            at, total[:] = column + 1, 0
            continue
        total += sample[:, column]
        while total.max() > 1:
            total -= sample[:, at]
            at += 1
        while (total == 1).all():
            if abs(mean[at : column + 1].sum() - 1) < CLOSE:
                if column > at:
                    blocks.append((at, column + 1))
                at, total[:] = column + 1, 0
            elif sample[:, at].any():
                break
            else:  # this column is 1 only outside the sample: the block begins after it
                at += 1
    return blocks
