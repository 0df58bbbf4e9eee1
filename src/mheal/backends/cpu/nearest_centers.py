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
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .simd import kernel, prefetch_row, wide_vectors
from .vectors import Vectors, compete

_WIDE = bool(binding.get_host_cpu_features().get("avx512f", False))
VECTOR_BYTES = 64 if _WIDE else 32
PANEL = 4 if _WIDE else 2  # vectors of centres in a tile: more would not stay in the innermost cache
# Rows in a tile of 1, 2, 3 or 4 vectors: as many as keep all totals in registers.
R1, R2, R3, R4 = (8, 8, 8, 6) if _WIDE else (8, 5, 4, 3)
AHEAD = 16  # rows whose loading starts in advance
LEAST = -1e30  # less than any dot product


def lanes(dtype: Any) -> int:
    """Centres that fit into one vector."""
    return VECTOR_BYTES // np.dtype(dtype).itemsize


def pack(C: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Centres as the tiles read them: panels of (d, PANEL·lanes), and a bias that makes the padding lose.

    Up to 16 centres in float32 are packed in quads instead: a vector holds four coordinates of four centres, so that
    one load serves four coordinates of a row. Memory is then the only limit.
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


def _quad_tile(n_rows: int, n_vectors: int) -> Any:
    """As _tile, for centres packed in quads; there is only one panel of them."""

    @intrinsic
    def tile(typingctx: Any, X: Any, rows: Any, z: Any, Ct: Any, bias: Any, best: Any, second: Any, where: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds = signature.args
            array = {i: context.make_array(kinds[i])(context, builder, args[i]) for i in (0, 1, 3, 4, 5, 6, 7)}

            def at(i: int, *index: Any) -> Any:
                return cgutils.get_item_pointer(
                    context, builder, kinds[i], array[i], index, wraparound=False, boundscheck=False
                )

            intp, scalar = args[2].type, context.get_value_type(kinds[3].dtype)  # float32 where it is used
            vec = Vectors(builder, scalar, 16)
            nothing = ir.Constant(vec.type, ir.Undefined)
            quad, four = ir.VectorType(vec.scalar, 4), ir.Constant(vec.ints, [0, 1, 2, 3] * 4)
            z = [builder.add(args[2], intp(r)) for r in range(n_rows)]
            row = [builder.bitcast(at(0, builder.load(at(1, z[r])), intp(0)), quad.as_pointer()) for r in range(n_rows)]
            total = [[cgutils.alloca_once(builder, vec.type) for _ in range(n_vectors)] for _ in range(n_rows)]
            for r in range(n_rows):
                for v in range(n_vectors):
                    builder.store(ir.Constant(vec.type, [0.0] * 16), total[r][v])
            with cgutils.for_range(builder, cgutils.unpack_tuple(builder, array[3].shape)[0]) as loop:
                centers = [vec.load(at(3, loop.index, intp(16 * v))) for v in range(n_vectors)]
                for r in range(n_rows):
                    x = builder.load(builder.gep(row[r], [loop.index]))
                    x.align = 4
                    x = builder.shuffle_vector(x, ir.Constant(quad, ir.Undefined), four)
                    for v in range(n_vectors):
                        builder.store(vec.fma(x, centers[v], builder.load(total[r][v])), total[r][v])

            def fold(x: Any, distance: int) -> Any:
                """Add to each lane the one `distance` away inside its group of four."""
                other = ir.Constant(vec.ints, [lane ^ distance for lane in range(16)])
                return builder.fadd(x, builder.shuffle_vector(x, nothing, other))

            def number(lane: Any) -> Any:
                return builder.or_(
                    builder.shl(builder.and_(lane, vec.i32(3)), vec.i32(2)), builder.lshr(lane, vec.i32(2))
                )

            for r in range(n_rows):
                scores = vec.load(at(4, intp(0)))
                for v in range(n_vectors):
                    mine = ir.Constant(ir.VectorType(ir.IntType(1), 16), [int(lane % 4 == v) for lane in range(16)])
                    total_v = fold(fold(builder.load(total[r][v]), 1), 2)
                    scores = builder.select(mine, builder.fadd(scores, total_v), scores)
                compete(vec, scores, vec.splat(vec.scalar(LEAST)), number, *(at(i, z[r]) for i in (5, 6, 7)))
            return context.get_dummy_value()

        return types.void(X, rows, z, Ct, bias, best, second, where), codegen

    return tile


def _tile(n_rows: int, n_vectors: int) -> Any:
    """An instruction: let a panel's centres compete for the rows rows[z : z + n_rows].

    best, second and where hold the two best scores so far and the number of the best centre; `base` is the number
    of the panel's first centre.
    """

    @intrinsic
    def tile(
        typingctx: Any, X: Any, rows: Any, z: Any, Ct: Any, bias: Any, base: Any, best: Any, second: Any, where: Any
    ) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds = signature.args
            array = {i: context.make_array(kinds[i])(context, builder, args[i]) for i in (0, 1, 3, 4, 6, 7, 8)}

            def at(i: int, *index: Any) -> Any:
                return cgutils.get_item_pointer(
                    context, builder, kinds[i], array[i], index, wraparound=False, boundscheck=False
                )

            intp, scalar = args[2].type, context.get_value_type(kinds[3].dtype)
            vec = Vectors(builder, scalar, lanes(str(kinds[3].dtype)))
            offset = [intp(v * vec.n) for v in range(n_vectors)]
            z = [builder.add(args[2], intp(r)) for r in range(n_rows)]
            row = [at(0, builder.load(at(1, z[r])), intp(0)) for r in range(n_rows)]
            total = [[cgutils.alloca_once(builder, vec.type) for _ in range(n_vectors)] for _ in range(n_rows)]
            for r in range(n_rows):
                for v in range(n_vectors):
                    builder.store(vec.load(at(4, offset[v])), total[r][v])
            with cgutils.for_range(builder, cgutils.unpack_tuple(builder, array[0].shape)[1]) as loop:
                centers = [vec.load(at(3, loop.index, offset[v])) for v in range(n_vectors)]
                for r in range(n_rows):
                    x = vec.splat(builder.load(builder.gep(row[r], [loop.index])))
                    for v in range(n_vectors):
                        builder.store(vec.fma(x, centers[v], builder.load(total[r][v])), total[r][v])
            for r in range(n_rows):
                # Lane by lane over the vectors: best, second best, and in which vector the best is.
                top, runner_up = builder.load(total[r][0]), vec.splat(scalar(LEAST))
                vector = vec.splat(vec.i32(0), vec.ints)
                for v in range(1, n_vectors):
                    score = builder.load(total[r][v])
                    runner_up = vec.max(runner_up, vec.min(top, score))
                    vector = builder.select(vec.above(score, top), vec.splat(vec.i32(v), vec.ints), vector)
                    top = vec.max(top, score)

                def number(lane: Any, vector: Any = vector) -> Any:
                    center = builder.add(builder.mul(builder.extract_element(vector, lane), vec.i32(vec.n)), lane)
                    return builder.add(center, builder.trunc(args[5], vec.i32))

                compete(vec, top, runner_up, number, *(at(i, z[r]) for i in (6, 7, 8)))
            return context.get_dummy_value()

        return types.void(X, rows, z, Ct, bias, base, best, second, where), codegen

    return tile


_one_1, _many_1 = _tile(1, 1), _tile(R1, 1)
_one_2, _many_2 = _tile(1, 2), _tile(R2, 2)
_one_3, _many_3 = _tile(1, 3), _tile(R3, 3)
_one_4, _many_4 = _tile(1, 4), _tile(R4, 4)
_one_quad_2, _many_quad_2 = _quad_tile(1, 2), _quad_tile(R2, 2)
_one_quad_3, _many_quad_3 = _quad_tile(1, 3), _quad_tile(R3, 3)
_one_quad_4, _many_quad_4 = _quad_tile(1, 4), _quad_tile(R4, 4)


@kernel
def _prefetch_ahead(X: Any, rows: Any, z: int, count: int, n: int) -> None:
    """Start loading the rows that will be needed a little later; behind the last one, its neighbours in the pool."""
    for i in range(z + AHEAD, z + AHEAD + count):
        row = rows[i] if i < n else rows[n - 1] + 1 + i - n
        if row < X.shape[0]:
            prefetch_row(X, row)


@kernel
def _panel(
    X: Any, rows: Any, n: int, Ct: Any, bias: Any, base: int, vectors: int, best: Any, second: Any, where: Any
) -> None:
    wide_vectors()
    z = 0
    if vectors == 1:
        for z in range(0, n - R1 + 1, R1):
            if base == 0:  # later panels find the rows in cache
                _prefetch_ahead(X, rows, z, R1, n)
            _many_1(X, rows, z, Ct, bias, base, best, second, where)
        for z in range(n - n % R1, n):
            _one_1(X, rows, z, Ct, bias, base, best, second, where)
    elif vectors == 2:
        for z in range(0, n - R2 + 1, R2):
            if base == 0:  # later panels find the rows in cache
                _prefetch_ahead(X, rows, z, R2, n)
            _many_2(X, rows, z, Ct, bias, base, best, second, where)
        for z in range(n - n % R2, n):
            _one_2(X, rows, z, Ct, bias, base, best, second, where)
    elif vectors == 3:
        for z in range(0, n - R3 + 1, R3):
            if base == 0:  # later panels find the rows in cache
                _prefetch_ahead(X, rows, z, R3, n)
            _many_3(X, rows, z, Ct, bias, base, best, second, where)
        for z in range(n - n % R3, n):
            _one_3(X, rows, z, Ct, bias, base, best, second, where)
    else:
        for z in range(0, n - R4 + 1, R4):
            if base == 0:  # later panels find the rows in cache
                _prefetch_ahead(X, rows, z, R4, n)
            _many_4(X, rows, z, Ct, bias, base, best, second, where)
        for z in range(n - n % R4, n):
            _one_4(X, rows, z, Ct, bias, base, best, second, where)


@kernel
def _quads(X: Any, rows: Any, n: int, Ct: Any, bias: Any, best: Any, second: Any, where: Any) -> None:
    wide_vectors()
    vectors = Ct.shape[1] // 16
    if vectors == 2:
        for z in range(0, n - R2 + 1, R2):
            _prefetch_ahead(X, rows, z, R2, n)
            _many_quad_2(X, rows, z, Ct, bias, best, second, where)
        for z in range(n - n % R2, n):
            _one_quad_2(X, rows, z, Ct, bias, best, second, where)
    elif vectors == 3:
        for z in range(0, n - R3 + 1, R3):
            _prefetch_ahead(X, rows, z, R3, n)
            _many_quad_3(X, rows, z, Ct, bias, best, second, where)
        for z in range(n - n % R3, n):
            _one_quad_3(X, rows, z, Ct, bias, best, second, where)
    else:
        for z in range(0, n - R4 + 1, R4):
            _prefetch_ahead(X, rows, z, R4, n)
            _many_quad_4(X, rows, z, Ct, bias, best, second, where)
        for z in range(n - n % R4, n):
            _one_quad_4(X, rows, z, Ct, bias, best, second, where)


@kernel
def two_nearest(X: Any, rows: Any, n: int, panels: Any, bias: Any, k: int, best: Any, second: Any, where: Any) -> None:
    """Best and second best dot product of each row rows[:n] with k packed centres, and which centre is best."""
    wide_vectors()
    for z in range(n):
        best[z] = LEAST
        second[z] = LEAST
        where[z] = 0
    if panels.shape[1] != X.shape[1]:  # four coordinates a step
        _quads(X, rows, n, panels[0], bias[0], best, second, where)
        return
    width = panels.shape[2]
    lane = width // PANEL
    for p in range(panels.shape[0]):
        vectors = min(PANEL, -(-(k - p * width) // lane))
        _panel(X, rows, n, panels[p], bias[p], p * width, vectors, best, second, where)
