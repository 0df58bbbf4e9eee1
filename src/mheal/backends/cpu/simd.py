"""The compiler options of all CPU kernels, and helpers for LLVM instructions that numba does not offer."""

from collections.abc import Callable
from functools import partial
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from .kernel_cache import cached

# Sums may be reordered and fused so that they vectorise; infinities and NaNs keep their meaning.
FASTMATH = {"reassoc", "contract", "arcp", "nsz"}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function on its first call with arguments of each type, and cache it on disk."""
    return cached(njit(nogil=True, fastmath=FASTMATH, error_model="numpy")(function))


def part_of_kernel(function: Callable[..., Any], finite: bool = False) -> Any:
    """Compile a function that only kernels call, as a part of them.

    finite : neither infinities nor NaNs can occur
    """
    fastmath = True if finite else FASTMATH
    alone = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # wrappers for Python take long to compile
    return njit(nogil=True, fastmath=fastmath, error_model="numpy", **alone)(function)


finite_part = partial(part_of_kernel, finite=True)


class Arrays:
    """The arrays among the arguments of an intrinsic, by their positions in its signature."""

    def __init__(self, context: Any, builder: Any, kinds: Any, args: Any) -> None:
        self.context, self.builder, self.kinds = context, builder, kinds
        places = [i for i, kind in enumerate(kinds) if isinstance(kind, types.Array)]
        self.structs = {i: context.make_array(kinds[i])(context, builder, args[i]) for i in places}

    def at(self, i: int, *index: Any) -> Any:
        """A pointer to an element of argument i."""
        return cgutils.get_item_pointer(
            self.context, self.builder, self.kinds[i], self.structs[i], index, wraparound=False, boundscheck=False
        )

    def length(self, i: int, axis: int) -> Any:
        """The length of argument i along an axis."""
        return cgutils.unpack_tuple(self.builder, self.structs[i].shape)[axis]


class Vectors:
    """LLVM's vector instructions on `n` lanes of one type."""

    def __init__(self, builder: Any, scalar: Any, n: int) -> None:
        self.b, self.scalar, self.n = builder, scalar, n
        self.type, self.i32 = ir.VectorType(scalar, n), ir.IntType(32)
        self.ints = ir.VectorType(self.i32, n)
        self.suffix = f"v{n}f{32 if isinstance(scalar, ir.FloatType) else 64}"

    def call(self, name: str, result: Any, *args: Any) -> Any:
        function = ir.FunctionType(result, [a.type for a in args])
        callee = cgutils.get_or_insert_function(self.b.module, function, name)
        return self.b.call(callee, args, fastmath=("fast",) if result in (self.type, self.scalar) else ())

    def shuffle(self, x: Any, lanes: list[int]) -> Any:
        return self.b.shuffle_vector(x, ir.Constant(x.type, ir.Undefined), ir.Constant(self.ints, lanes))

    def splat(self, value: Any, kind: Any = None) -> Any:
        nothing = ir.Constant(kind or self.type, ir.Undefined)
        return self.shuffle(self.b.insert_element(nothing, value, self.i32(0)), [0] * self.n)

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        return self.call(f"llvm.fma.{self.suffix}", self.type, x, y, z)

    def above(self, x: Any, y: Any) -> Any:
        return self.b.fcmp_ordered(">", x, y, flags=("fast",))

    def max(self, x: Any, y: Any) -> Any:
        return self.b.select(self.above(x, y), x, y)

    def min(self, x: Any, y: Any) -> Any:
        return self.b.select(self.above(x, y), y, x)

    def largest(self, x: Any) -> Any:
        return self.call(f"llvm.vector.reduce.fmax.{self.suffix}", self.scalar, x)

    def first_lane(self, mask: Any) -> Any:
        bits = ir.IntType(self.n)
        found = self.call(f"llvm.cttz.i{self.n}", bits, self.b.bitcast(mask, bits), ir.IntType(1)(0))
        return self.b.zext(found, self.i32)

    def lane_is(self, lane: Any) -> Any:
        numbers = ir.Constant(self.ints, list(range(self.n)))
        return self.b.icmp_unsigned("==", numbers, self.splat(lane, self.ints))

    def load(self, pointer: Any, kind: Any = None) -> Any:
        loaded = self.b.load(self.b.bitcast(pointer, (kind or self.type).as_pointer()))
        loaded.align = 4  # rows of a pool are aligned only to the size of a number
        return loaded

    def store(self, value: Any, pointer: Any) -> None:
        self.b.store(value, self.b.bitcast(pointer, self.type.as_pointer())).align = 4


@intrinsic
def _prefetch(typingctx: Any, array: Any, i: Any, j: Any) -> Any:
    """Prefetch the cache line of array[i, j]; it never faults."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = Arrays(context, builder, signature.args, args).at(0, args[1], args[2])
        byte_pointer, i32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [byte_pointer, i32, i32, i32])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        # read, moderate locality, data cache
        builder.call(function, [builder.bitcast(pointer, byte_pointer), i32(0), i32(2), i32(1)])
        return context.get_dummy_value()

    return types.void(array, i, j), codegen


@intrinsic
def wide_vectors(typingctx: Any) -> Any:
    """Let the loops of the calling kernel use 512-bit registers if the CPU has them.

    LLVM prefers 256 bits by default, because 512 bits may lower the clock. The tiles of nearest_centers.py need 512.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        attributes = builder.function.attributes
        if isinstance(attributes, set):  # llvmlite's own `add` knows only attributes without a value
            set.add(attributes, '"prefer-vector-width"="512"')
            set.add(attributes, '"min-legal-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), codegen


@part_of_kernel
def prefetch_row(X: Any, i: int) -> None:
    """Prefetch row i: the hardware alone does not overlap these loads with arithmetic."""
    step = 64 // X.itemsize
    for j in range(0, X.shape[1], step):
        _prefetch(X, i, j)
