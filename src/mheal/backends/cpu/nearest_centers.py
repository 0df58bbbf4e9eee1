"""The two nearest of many centres, for several rows at once, without leaving the registers.

numba's own loops would sum every dot product across lanes, and BLAS would write all scores to memory and read them
again. Here a vector holds the scores of one row against 16 centres (8 in float64): each coordinate of the row
is multiplied with the same coordinate of all centres, and what leaves the registers is the best score, the second best,
and which centre it was. The code is LLVM's vector language, so any CPU runs it; with AVX-512 a tile of 6 rows by
64 centres keeps all its totals in registers.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import binding
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .simd import Arrays, Vectors, part_of_kernel, prefetch_row, wide_vectors

_WIDE = bool(binding.get_host_cpu_features().get("avx512f", False))
VECTOR_BYTES = 64 if _WIDE else 32
PANEL = 4 if _WIDE else 2  # vectors of centres in a tile: more would not stay in the innermost cache
ROWS = (8, 8, 8, 6) if _WIDE else (8, 5)  # in a tile of 1, 2, … vectors: as many as keep all totals in registers
AHEAD = 16  # rows whose loading starts in advance
LEAST = -1e30  # less than any dot product


def lanes(dtype: Any) -> int:
    """Centres that fit into one vector."""
    return VECTOR_BYTES // np.dtype(dtype).itemsize


def pack(C: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Centres as the tiles read them: panels of (d, PANEL·lanes), and a bias that makes the padding lose."""
    k, d = C.shape
    width = PANEL * lanes(C.dtype)
    panels = -(-k // width)
    padded = np.zeros((panels * width, d), C.dtype)
    padded[:k] = C
    bias = np.full(panels * width, LEAST, C.dtype)
    bias[:k] = 0
    return np.ascontiguousarray(padded.reshape(panels, width, d).transpose(0, 2, 1)), bias.reshape(panels, width)


def _tile(many: bool) -> Any:
    """An instruction: let a panel's centres compete for the rows from rows[z] on, many of them or one.

    best, second and where hold the two best scores so far and the number of the best centre; `base` is the number
    of the panel's first centre, `vectors` how many vectors of centres the panel has.
    """

    @intrinsic
    def tile(
        typingctx: Any, X: Any, rows: Any, z: Any, Ct: Any, bias: Any, base: Any, best: Any, second: Any, where: Any,
        vectors: Any,
    ) -> Any:  # fmt: skip
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            for n_vectors in range(1, PANEL + 1):
                with builder.if_then(builder.icmp_signed("==", args[9], args[9].type(n_vectors))):
                    _emit(context, builder, signature.args, args, ROWS[n_vectors - 1] if many else 1, n_vectors)
            return context.get_dummy_value()

        return types.void(X, rows, z, Ct, bias, base, best, second, where, vectors), codegen

    return tile


def _emit(context: Any, builder: Any, kinds: Any, args: Any, n_rows: int, n_vectors: int) -> None:
    """The code of a tile of so many rows and vectors."""
    arrays = Arrays(context, builder, kinds, args)
    vec = Vectors(builder, context.get_value_type(kinds[3].dtype), lanes(str(kinds[3].dtype)))
    intp = args[2].type
    offset = [intp(v * vec.n) for v in range(n_vectors)]
    z = [builder.add(args[2], intp(r)) for r in range(n_rows)]
    row = [arrays.at(0, builder.load(arrays.at(1, z[r])), intp(0)) for r in range(n_rows)]
    total = [[cgutils.alloca_once(builder, vec.type) for _ in range(n_vectors)] for _ in range(n_rows)]
    for r in range(n_rows):
        for v in range(n_vectors):
            builder.store(vec.load(arrays.at(4, offset[v])), total[r][v])
    with cgutils.for_range(builder, arrays.length(3, 0)) as loop:
        centers = [vec.load(arrays.at(3, loop.index, offset[v])) for v in range(n_vectors)]
        for r in range(n_rows):
            x = vec.splat(builder.load(builder.gep(row[r], [loop.index])))
            for v in range(n_vectors):
                builder.store(vec.fma(x, centers[v], builder.load(total[r][v])), total[r][v])
    base = builder.trunc(args[5], vec.i32)
    for r in range(n_rows):
        _compete(vec, [builder.load(pointer) for pointer in total[r]], base, *(arrays.at(i, z[r]) for i in (6, 7, 8)))


def _compete(vec: Vectors, scores: list[Any], base: Any, best: Any, second: Any, where: Any) -> None:
    """The best and the second best of these scores against what other panels had."""
    b, top, runner_up = vec.b, scores[0], vec.splat(vec.scalar(LEAST))
    vector = vec.splat(vec.i32(0), vec.ints)
    for v, score in enumerate(scores[1:], start=1):  # lane by lane: best, second best, and in which vector the best is
        runner_up = vec.max(runner_up, vec.min(top, score))
        vector = b.select(vec.above(score, top), vec.splat(vec.i32(v), vec.ints), vector)
        top = vec.max(top, score)
    winner = vec.largest(top)
    lane = vec.first_lane(b.fcmp_ordered("==", top, vec.splat(winner)))
    number = b.add(b.add(b.mul(b.extract_element(vector, lane), vec.i32(vec.n)), lane), base)
    rest = vec.largest(b.select(vec.lane_is(lane), runner_up, top))
    old = b.load(best)
    won = vec.above(winner, old)
    loser = b.select(won, old, winner)
    b.store(vec.max(vec.max(b.load(second), rest), loser), second)
    b.store(b.select(won, winner, old), best)
    b.store(b.select(won, number, b.load(where)), where)


_tile_many, _tile_one = _tile(True), _tile(False)


@part_of_kernel
def _prefetch_ahead(X: Any, rows: Any, z: int, count: int, n: int) -> None:
    """Start loading the rows that will be needed a little later; behind the last one, its neighbours in the pool."""
    for i in range(z + AHEAD, z + AHEAD + count):
        row = rows[i] if i < n else rows[n - 1] + 1 + i - n
        if row < X.shape[0]:
            prefetch_row(X, row)


@part_of_kernel
def two_nearest(X: Any, rows: Any, n: int, panels: Any, bias: Any, k: int, best: Any, second: Any, where: Any) -> None:
    """Best and second best dot product of each row rows[:n] with k packed centres, and which centre is best."""
    wide_vectors()
    for z in range(n):
        best[z] = LEAST
        second[z] = LEAST
        where[z] = 0
    width = panels.shape[2]
    for p in range(panels.shape[0]):
        vectors = min(PANEL, -(-(k - p * width) // (width // PANEL)))
        step, base = ROWS[vectors - 1], p * width
        for z in range(0, n - step + 1, step):
            if p == 0:  # later panels find the rows in cache
                _prefetch_ahead(X, rows, z, step, n)
            _tile_many(X, rows, z, panels[p], bias[p], base, best, second, where, vectors)
        for z in range(n - n % step, n):
            _tile_one(X, rows, z, panels[p], bias[p], base, best, second, where, vectors)
