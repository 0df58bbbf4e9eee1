"""What every CPU kernel is compiled with, and two things that numba does not offer."""

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

# Sums may be reordered and fused so that they vectorise; infinities and NaNs keep their meaning.
FASTMATH = {"reassoc", "contract", "arcp", "nsz"}
kernel = njit(nogil=True, fastmath=FASTMATH, cache=True, error_model="numpy")
finite_kernel = njit(nogil=True, fastmath=True, cache=True, error_model="numpy")  # where neither can occur


@intrinsic
def _prefetch(typingctx: Any, array: Any, i: Any, j: Any) -> Any:
    """Ask for the cache line of array[i, j] ahead of time; never faults."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type = signature.args[0]
        struct = context.make_array(array_type)(context, builder, args[0])
        pointer = cgutils.get_item_pointer(
            context, builder, array_type, struct, [args[1], args[2]], wraparound=False, boundscheck=False
        )
        byte_pointer, i32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [byte_pointer, i32, i32, i32])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        # read, moderate locality, data cache
        builder.call(function, [builder.bitcast(pointer, byte_pointer), i32(0), i32(2), i32(1)])
        return context.get_dummy_value()

    return types.void(array, i, j), codegen


@intrinsic
def wide_vectors(typingctx: Any) -> Any:
    """Let the loops of the calling kernel use 512-bit registers where the CPU has them.

    LLVM prefers 256 bits on such CPUs for fear of lower clocks. The tiles of nearest_centers.py are cut for 512 bits.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        attributes = builder.function.attributes
        if isinstance(attributes, set):  # llvmlite's own `add` knows only attributes without a value
            set.add(attributes, '"prefer-vector-width"="512"')
            set.add(attributes, '"min-legal-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), codegen


@kernel
def prefetch_row(X: Any, i: int) -> None:
    """Start loading row i: the hardware alone does not overlap these loads with arithmetic."""
    step = 64 // X.itemsize
    for j in range(0, X.shape[1], step):
        _prefetch(X, i, j)
