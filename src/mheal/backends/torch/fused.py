"""The best column of each row of a matrix product, computed by a Triton kernel that does not store the product.

The product of ten million rows and a thousand centres would take 40 GB. Here each block of it is compared in registers.
Tensor cores multiply in TF32. A float32 is about the sum of two TF32 numbers, so three TF32 products make one of
float32 precision. This is still faster than the GPU's float32 units.
"""

import torch
import triton
import triton.language as tl

ROWS, COLUMNS, DEPTH = 128, 64, 32  # of a block of scores; columns multiplied at a time
WARPS, STAGES = 4, 3  # the fastest of several values on an H200


def best_column(A: torch.Tensor, B: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """For each row a of A, the largest a·b over the rows b of B and the number of that b; ties go to the first."""
    value = torch.empty(len(A), dtype=torch.float32, device=A.device)
    index = torch.empty(len(A), dtype=torch.int64, device=A.device)
    A, B = A.contiguous(), B.contiguous()
    with torch.cuda.device_of(A):
        _best_column[(triton.cdiv(len(A), ROWS),)](
            A, B, value, index, len(A), len(B), A.shape[1], ROWS, COLUMNS, DEPTH, num_warps=WARPS, num_stages=STAGES
        )
    return value, index


@triton.jit
def _best_column(  # type: ignore[no-untyped-def]  # Triton finds the types
    A, B, value, index, n, k, d, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    step = tl.arange(0, DEPTH)
    best = tl.full((ROWS,), float("-inf"), tl.float32)
    which = tl.zeros((ROWS,), tl.int64)
    for first in range(0, k, COLUMNS):
        column = first + tl.arange(0, COLUMNS)
        score = tl.zeros((ROWS, COLUMNS), tl.float32)
        for at in range(0, d, DEPTH):
            inside = at + step < d
            a = tl.load(A + row[:, None] * d + at + step[None, :], (row[:, None] < n) & inside[None, :], 0.0)
            b = tl.load(B + column[None, :] * d + at + step[:, None], (column[None, :] < k) & inside[:, None], 0.0)
            score = tl.dot(a, b, score, input_precision="tf32x3")
        score = tl.where(column[None, :] < k, score, float("-inf"))
        high, place = tl.max(score, axis=1, return_indices=True)
        better = high > best
        best = tl.where(better, high, best)
        which = tl.where(better, first + place, which)
    tl.store(value + row, best, row < n)
    tl.store(index + row, which, row < n)
