"""Standardised columns, and one-hot encoded categories, which together weigh as much as one column of numbers.

Standardised column by column, a category of 20 values weighs as much as 20 numbers, and its rarest values most of all.
`benchmarks/labels/one_hot` measures what that costs.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

RUNS, RUN = 64, 64  # number and length of the runs of rows in a sample, which touch few pages of a memory map
CLOSE = 1e-3  # relative: moments are rounded, and those of large pools may be taken in float32

Float64 = npt.NDArray[np.float64]


def column_moments(sums: Float64, shift: Float64, n: int, sample: npt.NDArray[Any]) -> tuple[Float64, Float64]:
    """Mean of each column, and what to divide it by; infinite or NaN where numbers are, or overflow.

    sums : of x − shift and of its square over n rows, (2, columns); a shift keeps the squares small
    sample : the rows `sample_rows(n)`
    """
    with np.errstate(invalid="ignore", over="ignore"):
        first, second = sums / n
        mean, deviation = first + shift, np.sqrt(np.maximum(second - first * first, 0.0))
    return mean, block_deviation(mean, deviation, sample)


def offset_and_scale(mean: Float64, deviation: Float64, dtype: np.dtype[Any]) -> tuple[npt.NDArray[Any], ...]:
    """What standardises columns as (x − offset)·scale; a column whose spread is lost in rounding becomes 0."""
    constant = deviation <= 8 * np.finfo(dtype).eps * np.abs(mean)
    scale = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, deviation))
    return mean.astype(dtype), scale.astype(dtype)


def sample_rows(n: int) -> npt.NDArray[np.int64]:
    """The rows in which `column_moments` looks for one-hot blocks: runs, evenly spread."""
    if n <= RUNS * RUN:
        return np.arange(n)
    starts = np.linspace(0, n - RUN, RUNS).astype(np.int64)
    return (starts[:, None] + np.arange(RUN)).ravel()


def block_deviation(mean: Float64, deviation: Float64, sample: npt.NDArray[Any]) -> Float64:
    """What to divide columns by: their standard deviations, but for one-hot blocks the root of their total variance.

    mean, deviation : of all columns, over all rows
    sample : some rows
    """
    found = deviation.copy()
    for lo, hi in one_hot_blocks(mean, deviation, sample):
        varying = deviation[lo:hi] > 0
        found[lo:hi][varying] = np.sqrt(np.square(deviation[lo:hi]).sum())
    return found


def one_hot_blocks(mean: Float64, deviation: Float64, sample: npt.NDArray[Any]) -> list[tuple[int, int]]:
    """Runs of adjacent columns of which one is 1 and the others 0 in each row."""
    variance = mean * (1 - mean)  # what only columns of 0 and 1 have
    binary = ((sample == 0) | (sample == 1)).all(axis=0) & np.isclose(deviation**2, variance, rtol=CLOSE, atol=1e-9)
    blocks, at, total = [], 0, np.zeros(len(sample))  # of the columns from `at` on, in each row
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
            else:  # not a part of the block: it is 1 in other rows
                at += 1
    return blocks
