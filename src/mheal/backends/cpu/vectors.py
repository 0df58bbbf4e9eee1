"""Shorthand for LLVM's vector instructions, from which the tiles of nearest_centers.py are built."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils


class Vectors:
    """Shorthand for LLVM's vector instructions on `n` lanes of one floating type."""

    def __init__(self, builder: Any, scalar: Any, n: int) -> None:
        self.b, self.scalar, self.n = builder, scalar, n
        self.type, self.i32 = ir.VectorType(scalar, n), ir.IntType(32)
        self.ints = ir.VectorType(self.i32, n)
        self.suffix = f"v{n}f{32 if isinstance(scalar, ir.FloatType) else 64}"

    def call(self, name: str, result: Any, *args: Any) -> Any:
        """An LLVM intrinsic."""
        function = ir.FunctionType(result, [a.type for a in args])
        callee = cgutils.get_or_insert_function(self.b.module, function, name)
        return self.b.call(callee, args, fastmath=("fast",) if result in (self.type, self.scalar) else ())

    def splat(self, value: Any, kind: Any = None) -> Any:
        """The same value in all lanes."""
        kind = kind or self.type
        one = self.b.insert_element(ir.Constant(kind, ir.Undefined), value, self.i32(0))
        return self.b.shuffle_vector(one, ir.Constant(kind, ir.Undefined), ir.Constant(self.ints, [0] * self.n))

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """x·y + z."""
        return self.call(f"llvm.fma.{self.suffix}", self.type, x, y, z)

    def above(self, x: Any, y: Any) -> Any:
        """Lanes in which x > y."""
        return self.b.fcmp_ordered(">", x, y, flags=("fast",))

    def max(self, x: Any, y: Any) -> Any:
        """The larger of each lane."""
        return self.b.select(self.above(x, y), x, y)

    def min(self, x: Any, y: Any) -> Any:
        """The smaller of each lane."""
        return self.b.select(self.above(x, y), y, x)

    def largest(self, x: Any) -> Any:
        """The largest of all lanes."""
        return self.call(f"llvm.vector.reduce.fmax.{self.suffix}", self.scalar, x)

    def first_lane(self, mask: Any) -> Any:
        """The number of the first lane that is set."""
        bits = ir.IntType(self.n)
        found = self.call(f"llvm.cttz.i{self.n}", bits, self.b.bitcast(mask, bits), ir.IntType(1)(0))
        return self.b.zext(found, self.i32)

    def lane_is(self, lane: Any) -> Any:
        """A mask of one lane."""
        numbers = ir.Constant(self.ints, list(range(self.n)))
        return self.b.icmp_unsigned("==", numbers, self.splat(lane, self.ints))

    def load(self, pointer: Any) -> Any:
        """A vector from memory."""
        loaded = self.b.load(self.b.bitcast(pointer, self.type.as_pointer()))
        loaded.align = 4  # rows of a pool are aligned to their numbers only
        return loaded


def compete(vec: Vectors, top: Any, runner_up: Any, number: Any, best: Any, second: Any, where: Any) -> None:
    """The best of all lanes against what other panels had; runner_up is what each lane had besides its top."""
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
