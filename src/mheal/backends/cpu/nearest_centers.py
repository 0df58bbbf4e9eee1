"""The two nearest of many centres, for several rows at once, with scores that stay in vector registers.

numba's own loops would sum each dot product across lanes, and BLAS would write all scores to memory and read them
again. Here one vector holds the scores of a row for as many centres as it has lanes: 16 in float32 with AVX-512. Each
coordinate of the row is multiplied by the same coordinate of these centres. Only the best score, the second best and
the number of the best centre are written to memory. The code is LLVM's vector language, so any CPU runs it. With
AVX-512, all totals of a tile of 6 rows by 64 centres fit into the registers.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .simd import Arrays, Vectors, part_of_kernel, prefetch_row, wide_vectors

_WIDE = bool(binding.get_host_cpu_features().get("avx512f", False))
VECTOR_BYTES = 64 if _WIDE else 32
PANEL = 4 if _WIDE else 2  # vectors of centres in a tile: more would not stay in the L1 cache
ROWS = (8, 8, 8, 6) if _WIDE else (8, 5, 4, 3)  # of a tile of 1 to 4 vectors, chosen so that totals stay in registers
AHEAD = 16  # rows that are prefetched
LEAST = -1e30  # less than any dot product


def lanes(dtype: Any) -> int:
    """Centres that fit into one vector."""
    return VECTOR_BYTES // np.dtype(dtype).itemsize


def pack(C: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Centres as the tiles read them: panels of (d, PANEL·lanes), and a bias by which padding is never the best.

    With AVX-512, up to 16 centres in float32 are packed in quads: a vector holds four coordinates of four centres, so
    one load reads four coordinates of a row. Memory bandwidth is then the only limit.
    """
    k, d = C.shape
    if _WIDE and C.dtype == np.float32 and k <= 16 and d % 4 == 0:
        return _pack_quads(C)
    width = PANEL * lanes(C.dtype)
    panels = -(-k // width)
    padded = np.zeros((panels * width, d), C.dtype)
    padded[:k] = C
    bias = np.full(panels * width, LEAST, C.dtype)
    bias[:k] = 0
    return np.ascontiguousarray(padded.reshape(panels, width, d).transpose(0, 2, 1)), bias.reshape(panels, width)


def _pack_quads(C: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """One panel (d/4, vectors·16): lane 4j + t of vector v is coordinate t of centre 4v + j."""
    k, d = C.shape
    vectors = max(2, -(-k // 4))
    padded = np.zeros((vectors * 4, d), C.dtype)
    padded[:k] = C
    panel = padded.reshape(vectors, 4, d // 4, 4).transpose(2, 0, 1, 3).reshape(1, d // 4, vectors * 16)
    lane = np.arange(16)  # after the sums over coordinates lane 4j + v belongs to centre 4v + j
    bias = np.where((lane % 4) * 4 + lane // 4 < k, 0, LEAST).astype(C.dtype)
    return np.ascontiguousarray(panel), bias[None]


def _tile(many: bool) -> Any:
    """An intrinsic that compares the centres of a panel with several rows from rows[z] on, or with one.

    It updates best, second and where: the two best scores so far and the number of the best centre. `base` is the
    number of the panel's first centre. `vectors` counts the panel's vectors, negative if centres are packed in quads.
    """

    @intrinsic
    def tile(
        typingctx: Any, X: Any, rows: Any, z: Any, Ct: Any, bias: Any, base: Any, best: Any, second: Any, where: Any,
        vectors: Any,
    ) -> Any:  # fmt: skip
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            quads = (-2, -3, -4) if signature.args[3].dtype == types.float32 else ()
            for vectors in (1, 2, 3, 4, *quads):
                with builder.if_then(builder.icmp_signed("==", args[9], args[9].type(vectors))):
                    n_rows = ROWS[abs(vectors) - 1] if many else 1
                    _emit(context, builder, signature.args, args, n_rows, abs(vectors), vectors < 0)
            return context.get_dummy_value()

        return types.void(X, rows, z, Ct, bias, base, best, second, where, vectors), codegen

    return tile


def _emit(context: Any, builder: Any, kinds: Any, args: Any, n_rows: int, n_vectors: int, quads: bool) -> None:
    """Generate the code of a tile of this size."""
    arrays = Arrays(context, builder, kinds, args)
    vec = Vectors(builder, context.get_value_type(kinds[3].dtype), 16 if quads else lanes(str(kinds[3].dtype)))
    intp, quad = args[2].type, ir.VectorType(vec.scalar, 4)
    offset = [intp(v * vec.n) for v in range(n_vectors)]
    z = [builder.add(args[2], intp(r)) for r in range(n_rows)]
    row = [arrays.at(0, builder.load(arrays.at(1, z[r])), intp(0)) for r in range(n_rows)]
    if quads:
        row = [builder.bitcast(pointer, quad.as_pointer()) for pointer in row]
    total = [[cgutils.alloca_once(builder, vec.type) for _ in range(n_vectors)] for _ in range(n_rows)]
    for r in range(n_rows):
        for v in range(n_vectors):
            start = ir.Constant(vec.type, [0.0] * vec.n) if quads else vec.load(arrays.at(4, offset[v]))
            builder.store(start, total[r][v])
    with cgutils.for_range(builder, arrays.length(3, 0)) as loop:
        centers = [vec.load(arrays.at(3, loop.index, offset[v])) for v in range(n_vectors)]
        for r in range(n_rows):
            pointer = builder.gep(row[r], [loop.index])
            if quads:
                x = vec.shuffle(vec.load(pointer, quad), [0, 1, 2, 3] * 4)
            else:
                x = vec.splat(builder.load(pointer))
            for v in range(n_vectors):
                builder.store(vec.fma(x, centers[v], builder.load(total[r][v])), total[r][v])
    for r in range(n_rows):
        sums, so_far = [builder.load(pointer) for pointer in total[r]], [arrays.at(i, z[r]) for i in (6, 7, 8)]
        if quads:
            _compete_in_quads(vec, sums, vec.load(arrays.at(4, intp(0))), *so_far)
        else:
            _compete_in_vectors(vec, sums, builder.trunc(args[5], vec.i32), *so_far)


def _compete_in_vectors(vec: Vectors, scores: list[Any], base: Any, best: Any, second: Any, where: Any) -> None:
    """Compare the vectors lane by lane: the best score, the second best, and the vector of the best."""
    b, top, runner_up = vec.b, scores[0], vec.splat(vec.scalar(LEAST))
    vector = vec.splat(vec.i32(0), vec.ints)
    for v, score in enumerate(scores[1:], start=1):
        runner_up = vec.max(runner_up, vec.min(top, score))
        vector = b.select(vec.above(score, top), vec.splat(vec.i32(v), vec.ints), vector)
        top = vec.max(top, score)

    def number(lane: Any) -> Any:
        return b.add(b.add(b.mul(b.extract_element(vector, lane), vec.i32(vec.n)), lane), base)

    _compete(vec, top, runner_up, number, best, second, where)


def _compete_in_quads(vec: Vectors, totals: list[Any], scores: Any, best: Any, second: Any, where: Any) -> None:
    """Sum the four lanes of each centre, then compare the centres; `scores` are the biases."""
    b = vec.b
    for v, total in enumerate(totals):
        for distance in (1, 2):  # add to each lane the one that far away inside its group of four
            total = b.fadd(total, vec.shuffle(total, [lane ^ distance for lane in range(16)]))
        mine = ir.Constant(ir.VectorType(ir.IntType(1), 16), [int(lane % 4 == v) for lane in range(16)])
        scores = b.select(mine, b.fadd(scores, total), scores)

    def number(lane: Any) -> Any:
        return b.or_(b.shl(b.and_(lane, vec.i32(3)), vec.i32(2)), b.lshr(lane, vec.i32(2)))

    _compete(vec, scores, vec.splat(vec.scalar(LEAST)), number, best, second, where)


def _compete(vec: Vectors, top: Any, runner_up: Any, number: Any, best: Any, second: Any, where: Any) -> None:
    """Compare the best of all lanes with the best of earlier panels; `runner_up` is the second best of each lane."""
    b = vec.b
    winner = vec.largest(top)
    lane = vec.first_lane(b.fcmp_ordered("==", top, vec.splat(winner)))
    rest = vec.largest(b.select(vec.lane_is(lane), runner_up, top))
    old = b.load(best)
    won = vec.above(winner, old)
    loser = b.select(won, old, winner)
    b.store(vec.max(vec.max(b.load(second), rest), loser), second)
    b.store(b.select(won, winner, old), best)
    b.store(b.select(won, number(lane), b.load(where)), where)


_tile_many, _tile_one = _tile(True), _tile(False)


@part_of_kernel
def _prefetch_ahead(X: Any, rows: Any, z: int, count: int, n: int) -> None:
    """Prefetch the rows that come AHEAD rows later; after the last of `rows`, those that follow it in the pool."""
    for i in range(z + AHEAD, z + AHEAD + count):
        row = rows[i] if i < n else rows[n - 1] + 1 + i - n
        if row < X.shape[0]:
            prefetch_row(X, row)


@part_of_kernel
def two_nearest(X: Any, rows: Any, n: int, panels: Any, bias: Any, k: int, best: Any, second: Any, where: Any) -> None:
    """The largest and second largest dot product of each of rows[:n] with k packed centres, and the best centre."""
    wide_vectors()
    for z in range(n):
        best[z] = LEAST
        second[z] = LEAST
        where[z] = 0
    width = panels.shape[2]
    for p in range(panels.shape[0]):
        if panels.shape[1] == X.shape[1]:
            vectors = min(PANEL, -(-(k - p * width) // (width // PANEL)))
        else:  # four coordinates a step
            vectors = -(width // 16)
        step, base = ROWS[abs(vectors) - 1], p * width
        for z in range(0, n - step + 1, step):
            if p == 0:  # the rows are in cache for later panels
                _prefetch_ahead(X, rows, z, step, n)
            _tile_many(X, rows, z, panels[p], bias[p], base, best, second, where, vectors)
        for z in range(n - n % step, n):
            _tile_one(X, rows, z, panels[p], bias[p], base, best, second, where, vectors)
