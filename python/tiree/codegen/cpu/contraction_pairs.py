"""Products of 8-bit integers in pairs: the packed form for `kernel.pair_dot`.

Where the target multiplies and adds pairs of i16 in one instruction, both factors are packed as i16, two neighbouring
summed indices side by side, instead of being widened to i32.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith as xarith
from xdsl.dialects import vector
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from tiree.codegen.common.builder import I32, Buffer, KernelBuilder, element_of, lanes_of
from tiree.codegen.common.evaluate import Evaluator
from tiree.codegen.common.linear import Lin
from tiree.codegen.common.points import Point
from tiree.codegen.common.reading import shuffle
from tiree.codegen.cpu.contraction_form import Contraction, Factor
from tiree.dialects.kernel import PairDotOp
from tiree.support.cpu_target import TargetDescription
from tiree.support.typed import is_integer_type

I16 = IntegerType(16)


def multiplies_pairs(c: Contraction, target: TargetDescription) -> bool:
    """Whether the factors fit in i16 and the target multiplies pairs of those."""
    sources = [_source(f) for f in (c.lane_factor, c.row_factor)]
    fits = all(source is not None and is_integer_type(source) and source.width.data <= 8 for source in sources)
    return fits and c.element == I32 and target.arch == "x86_64"


def _source(factor: Factor) -> Attribute | None:
    """The type of the number that the factor widens."""
    value = factor.value
    owner = value.owner
    if isinstance(owner, Operation) and owner.name in ("arith.extsi", "arith.extui"):
        value = owner.operands[0]
    return value.type if isinstance(value, BlockArgument) and value.owner is factor.generic.body else None


def narrow_values(ev: Evaluator, factor: Factor, points: Sequence[Point]) -> list[SSAValue]:
    """The factor at these points as i16, vectors where `ev.width` says so."""
    (number,) = factor.inputs
    generic = factor.generic
    found = ev.values(generic.operands[number], [Point(ev.apply(generic.maps[number], p.idx), p.mask) for p in points])
    values = [ev.b.broadcast(ev.ssa(value), ev.width) for value in found]
    owner = factor.value.owner
    signed = not (isinstance(owner, Operation) and owner.name == "arith.extui")
    return [ev.b.cast(xarith.ExtSIOp if signed else xarith.ExtUIOp, value, I16) for value in values]


def interleave(ev: Evaluator, even: SSAValue, odd: SSAValue) -> SSAValue:
    """even[0], odd[0], even[1], odd[1], ..."""
    width = lanes_of(even)
    return shuffle(ev, even, odd, [n // 2 + n % 2 * width for n in range(2 * width)])


def broadcast_pair(b: KernelBuilder, buffer: Buffer, at: Lin, lanes: int) -> SSAValue:
    """The two elements from `at` on, `lanes` times."""
    pair = b.load_vector(buffer, at, 2)
    word = b.emit(vector.BitcastOp, [pair], b.vector_type(I32, 1))
    words = b.emit(vector.BroadcastOp, [word], b.vector_type(I32, lanes))
    return b.emit(vector.BitcastOp, [words], b.vector_type(buffer.element, 2 * lanes))


def pair_dot(b: KernelBuilder, acc: SSAValue, row: SSAValue, lane: SSAValue) -> SSAValue:
    assert element_of(row) == element_of(lane)
    return b.emit(PairDotOp, [acc, row, lane], acc.type)
