"""The two nearest of many centres from rows and centres in 16 bits a coordinate: half the memory traffic of float32.

A unit row x is stored as q = round(x·UNIT). The cosine of a quantized row and a quantized centre is wrong by at most
`tolerance(d)`. If the intervals of the two best centres do not overlap, the nearest centre is known; other rows are
compared exactly. Each lane of a vector holds one of 16 quantized rows, so lanes never exchange numbers. One instruction
(VNNI) sums products of 16-bit numbers; `usable` is False on CPUs without it.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .simd import Arrays, Vectors, finite_part, part_of_kernel, wide_vectors

_PRODUCTS = bool(binding.get_host_cpu_features().get("avx512vnni", False))
_TYPED_AS_PAIRS = binding.llvm_version_info[0] < 21  # operands were 32-bit words, since LLVM 21 they are 16-bit numbers
UNIT = 32512  # below 2¹⁵; sums of products are at most UNIT² (Cauchy–Schwarz), which 32 bits can hold
LANES = 16  # rows in a vector
TILE = 2 * LANES  # rows in a tile
MANY, FEW = 12, 10  # centres in a tile: it has twice as many totals, which just fit into the registers
LIMIT = 1 << 30  # bytes of a quantized copy: rows are not quantized if it would be larger
LEAST = -(2**31)


def usable(n: int, d: int, k: int) -> bool:
    """Whether quantized rows can save time on this CPU for a pool of this size."""
    return _PRODUCTS and d >= 16 and k > 1 and 4096 <= n <= LIMIT // (2 * d)


def empty_rows(n: int, d: int) -> npt.NDArray[np.int32]:
    """An empty array for n quantized rows: (vectors of rows, pairs of coordinates, LANES)."""
    return np.empty((-(-n // TILE) * TILE // LANES, -(-d // 2), LANES), np.int32)


def tolerance(d: int) -> float:
    """The largest error of a cosine, in units of 1/UNIT²: half a step in each coordinate of both vectors."""
    error = 0.5 * d**0.5 + 1e-6 * UNIT  # ‖x·UNIT − q‖; the second term is rounding of x itself
    return error * (2 * UNIT + error) + 128  # rounding such a number to float32 changes it by up to 64


def quantize_centers(C: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Unit centres as the tiles read them: panels of (pairs of coordinates, centres), and a bias for each.

    With its bias, padding is never the best.
    """
    k, d = C.shape
    width = min(MANY, FEW, key=lambda w: -(-k // w) * w)
    panels = -(-k // width)
    padded = np.zeros((panels * width, -(-d // 2) * 2), np.int16)
    padded[:k, :d] = np.rint(C * UNIT)
    bias = np.full(panels * width, LEAST, np.int32)
    bias[:k] = 0
    pairs = padded.view(np.int32).reshape(panels, width, -1).transpose(0, 2, 1)
    return np.ascontiguousarray(pairs), bias.reshape(panels, width)


@finite_part
def quantize(U: Any, n: int, inverse: Any, out: Any, at: int) -> None:
    """Quantize the unit rows U[z]·inverse[z], z < n ≤ LANES, into out[at]; lanes without a row become 0."""
    wide_vectors()
    d = U.shape[1]
    small = np.zeros((LANES, 2 * out.shape[1]), np.int16)
    for z in range(n):
        row, mine, scale = U[z], small[z], inverse[z] * inverse.dtype.type(UNIT)
        for t in range(d):
            mine[t] = np.int16(np.int32(np.rint(row[t] * scale)))
    pairs, target = small.view(np.int32), out[at]
    for t in range(target.shape[0]):
        for z in range(LANES):
            target[t, z] = pairs[z, t]


def _tile(n_centers: int) -> Any:
    """An intrinsic that compares the centres of a panel with the TILE rows in quantized[at] and quantized[at + 1].

    It updates best, second and where: the two best scores of each row so far and the number of the best centre. `base`
    is the number of the panel's first centre. Ties go to the first centre.
    """

    @intrinsic
    def tile(
        typingctx: Any, quantized: Any, at: Any, panel: Any, bias: Any, base: Any, best: Any, second: Any, where: Any,
        z: Any,
    ) -> Any:  # fmt: skip
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            arrays, i32, intp = Arrays(context, builder, signature.args, args), ir.IntType(32), args[1].type
            vec = Vectors(builder, i32, LANES)
            operand = vec.type if _TYPED_AS_PAIRS else ir.VectorType(ir.IntType(16), 2 * LANES)
            products = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(vec.type, [vec.type, operand, operand]), "llvm.x86.avx512.vpdpwssd.512"
            )
            halves = (0, 1)
            total = [[cgutils.alloca_once(builder, vec.type) for _ in range(n_centers)] for _ in halves]
            for c in range(n_centers):
                start = vec.splat(builder.load(arrays.at(3, intp(c))))
                for h in halves:
                    builder.store(start, total[h][c])
            vectors = [builder.add(args[1], intp(h)) for h in halves]
            with cgutils.for_range(builder, arrays.length(0, 1)) as loop:
                rows = [builder.bitcast(vec.load(arrays.at(0, v, loop.index, intp(0))), operand) for v in vectors]
                for c in range(n_centers):
                    center = builder.bitcast(vec.splat(builder.load(arrays.at(2, loop.index, intp(c)))), operand)
                    for h in halves:
                        sum_ = builder.call(products, [builder.load(total[h][c]), rows[h], center])
                        builder.store(sum_, total[h][c])
            first = builder.trunc(args[4], i32)
            for h in halves:
                place = builder.add(args[8], intp(LANES * h))
                top, runner_up, number = (vec.load(arrays.at(i, place)) for i in (5, 6, 7))
                for c in range(n_centers):
                    score = builder.load(total[h][c])
                    above = builder.icmp_signed(">", score, top)
                    lower = builder.select(above, top, score)
                    runner_up = builder.select(builder.icmp_signed(">", lower, runner_up), lower, runner_up)
                    number = builder.select(above, vec.splat(builder.add(first, i32(c))), number)
                    top = builder.select(above, score, top)
                for i, value in ((5, top), (6, runner_up), (7, number)):
                    vec.store(value, arrays.at(i, place))
            return context.get_dummy_value()

        return types.void(quantized, at, panel, bias, base, best, second, where, z), codegen

    return tile


_tile_many, _tile_few = _tile(MANY), _tile(FEW)


@part_of_kernel
def two_nearest_quantized(
    quantized: Any, at: int, n: int, panels: Any, bias: Any, best: Any, second: Any, where: Any
) -> None:
    """The two largest products with the centres for the n rows from vector `at` on, and the number of the best centre.

    The result arrays must have room for n rounded up to a multiple of TILE.
    """
    wide_vectors()
    for z in range(n + TILE - 1):
        if z < best.size:
            best[z], second[z], where[z] = LEAST, LEAST, 0
    width = panels.shape[2]
    for p in range(panels.shape[0]):
        for z in range(0, n, TILE):
            if width == MANY:
                _tile_many(quantized, at + z // LANES, panels[p], bias[p], p * width, best, second, where, z)
            else:
                _tile_few(quantized, at + z // LANES, panels[p], bias[p], p * width, best, second, where, z)
