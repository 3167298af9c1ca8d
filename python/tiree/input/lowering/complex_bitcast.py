"""`bitcast_convert` between complex types: a complex<f64> is two complex<f32>, of its real and its imaginary part.

Element 0 holds the bits of the real part, its own real part the lower ones, as in memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, Float64Type, IndexType, IntegerType, TensorType
from xdsl.ir import SSAValue

from tiree.input.lowering.context import Lowering, Size, map_attr, ranked_type
from tiree.input.lowering.scalar import ScalarBuilder

_I32, _I64 = IntegerType(32), IntegerType(64)


def split_complex(lowering: Lowering, value: SSAValue, type: TensorType, sizes: Sequence[Size] | None) -> SSAValue:
    """complex<f64> as pairs of complex<f32> along a new last dimension."""
    rank = len(type.get_shape())

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        first = s.cmpi("eq", s.index(rank - 1), s.constant(IndexType(), 0))
        bits = s.bitcast(s.select(first, *s.parts(args[0])), _I64)
        halves = (bits, s.binary(arith.ShRUIOp, bits, s.constant(_I64, 32)))
        low, high = (s.bitcast(s.cast(arith.TruncIOp, half, _I32), Float32Type()) for half in halves)
        return s.create(low, high)

    return lowering.parallel([(value, map_attr(rank, tuple(range(rank - 1))))], type, body, sizes)


def join_complex(lowering: Lowering, value: SSAValue, type: TensorType, sizes: Sequence[Size] | None) -> SSAValue:
    """Pairs of complex<f32> along the last dimension as complex<f64>."""
    rank = len(ranked_type(value).get_shape()) - 1

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        found: list[SSAValue] = []
        for part in (0, 1):
            at = [*(s.index(dim) for dim in range(rank)), s.constant(IndexType(), part)]
            halves = [s.bitcast(half, _I32) for half in s.parts(s.extract(value, at))]
            low, high = (s.cast(arith.ExtUIOp, half, _I64) for half in halves)
            found.append(s.bitcast(s.or_(low, s.binary(arith.ShLIOp, high, s.constant(_I64, 32))), Float64Type()))
        return s.create(found[0], found[1])

    return lowering.parallel([], type, body, sizes)
