"""sort and top_k: Batcher's odd-even merge sort, a fixed sequence of parallel compare-and-exchange passes.

O(n log^2 n) comparisons for any comparator and any length, every pass one `linalg.generic` over the whole tensor. Ties
are broken by the original position, which makes the order stable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.input.lowering.context import PARALLEL, Lowering, identity, signless, tensor_type
from tiree.input.lowering.reduce import body_of, emit_region
from tiree.input.lowering.scalar import ScalarBuilder, inherent
from tiree.input.lowering.scalar_ops import is_unsigned, total_order
from tiree.input.lowering.structural import int_property

Less = Callable[[ScalarBuilder, Sequence[SSAValue], Sequence[SSAValue]], SSAValue]


def _passes(size: int) -> Iterator[tuple[int, int]]:
    """The (p, k) of each pass: runs of length p are merged by exchanges over distance k."""
    p = 1
    while p < size:
        k = p
        while k >= 1:
            yield p, k
            k //= 2
        p *= 2


def _is_lower(s: ScalarBuilder, x: SSAValue, p: int, k: int) -> SSAValue:
    """Whether position `x` (at least 0) is the lower end of an exchange with `x + k`."""
    index = IndexType()
    offset = k % p
    zero = s.constant(index, 0)
    relative = s.sub(x, s.constant(index, offset)) if offset else x
    even = s.cmpi("eq", s.and_(relative, s.constant(index, k)), zero)
    upper = s.add_(x, s.constant(index, k))
    same_run = s.cmpi("ult", s.binary(arith.XOrIOp, x, upper), s.constant(index, 2 * p))
    lower = s.and_(even, same_run)
    return s.and_(lower, s.cmpi("sge", relative, zero)) if offset else lower


def sort_values(lowering: Lowering, values: Sequence[SSAValue], dim: int, less: Less) -> Sequence[SSAValue]:
    """`values` (new tensors of one shape) sorted together along `dim`; `less` is strict."""
    types = [value.type for value in values]
    shape = types[0].get_shape()  # pyright: ignore[reportAttributeAccessIssue]
    rank, size = len(shape), shape[dim]
    index = IndexType()
    if 0 in shape:
        return values
    for p, k in _passes(size):

        def body(
            s: ScalarBuilder,
            args: Sequence[SSAValue],
            p: int = p,
            k: int = k,
            sources: Sequence[SSAValue] = tuple(values),
        ) -> Sequence[SSAValue]:
            del args
            x = s.index(dim)
            step = s.constant(index, k)
            above, below = s.add_(x, step), s.sub(x, step)
            lower = s.and_(_is_lower(s, x, p, k), s.cmpi("slt", above, s.constant(index, size)))
            reachable = s.cmpi("sge", below, s.constant(index, 0))
            upper = s.and_(reachable, _is_lower(s, below, p, k))
            first, second = s.select(upper, below, x), s.select(lower, above, x)
            others = {d: s.index(d) for d in range(rank) if d != dim}
            a = [s.extract(source, [others.get(d, first) for d in range(rank)]) for source in sources]
            b = [s.extract(source, [others.get(d, second) for d in range(rank)]) for source in sources]
            take_second = s.binary(arith.XOrIOp, upper, less(s, b, a))
            return [s.select(take_second, right, left) for left, right in zip(a, b, strict=True)]

        outputs = [lowering.empty(type) for type in types]  # pyright: ignore[reportArgumentType]
        values = lowering.generic([], outputs, [identity(rank)] * len(outputs), [PARALLEL] * rank, body)
    return values


def _positions(lowering: Lowering, shape: Sequence[int], dim: int) -> SSAValue:
    """i32 positions along `dim`."""
    i32 = IntegerType(32)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        return s.cast(arith.IndexCastOp, s.index(dim), i32)

    return lowering.parallel([], TensorType(i32, shape), body)


def stable(less: Less) -> Less:
    """`less` with ties broken by the last operand, the position."""

    def compare(s: ScalarBuilder, a: Sequence[SSAValue], b: Sequence[SSAValue]) -> SSAValue:
        before, after = less(s, a[:-1], b[:-1]), less(s, b[:-1], a[:-1])
        earlier = s.cmpi("slt", a[-1], b[-1])
        return s.or_(before, s.and_(s.not_(after), earlier))

    return compare


def _sort(lowering: Lowering, op: Operation) -> None:
    shape = tensor_type(op.operands[0]).get_shape()
    dim = int_property(op, "dimension", -1) % max(len(shape), 1)
    block = body_of(op)

    def less(s: ScalarBuilder, a: Sequence[SSAValue], b: Sequence[SSAValue]) -> SSAValue:
        pairs = [value for pair in zip(a, b, strict=True) for value in pair]
        return emit_region(lowering, s, block, pairs)[0]

    values = [lowering.get(value) for value in op.operands]
    attr = inherent(op, "is_stable")
    if isinstance(attr, IntegerAttr) and attr.value.data:
        results = sort_values(lowering, [*values, _positions(lowering, shape, dim)], dim, stable(less))
    else:
        results = sort_values(lowering, values, dim, less)
    for old, new in zip(op.results, results, strict=False):
        lowering.set(old, new)


def _greater(element: Attribute) -> Less:
    """Descending order of `element`; floats in total order, NaN first."""

    def compare(s: ScalarBuilder, a: Sequence[SSAValue], b: Sequence[SSAValue]) -> SSAValue:
        if isinstance(element, AnyFloat):
            return s.cmpi("sgt", total_order(s, a[0]), total_order(s, b[0]))
        return s.cmpi("ugt" if is_unsigned(element) else "sgt", a[0], b[0])

    return compare


def _top_k(lowering: Lowering, op: Operation) -> None:
    """The `k` greatest along the last dimension, and where they were."""
    source = tensor_type(op.operands[0])
    shape = source.get_shape()
    dim = len(shape) - 1
    positions = _positions(lowering, shape, dim)
    less = stable(_greater(source.element_type))
    results = sort_values(lowering, [lowering.get(op.operands[0]), positions], dim, less)
    for old, new in zip(op.results, results, strict=True):
        sizes = tensor_type(old).get_shape()
        type = signless(tensor_type(old))
        value = new if new.type == type else lowering.slice(new, [0] * len(sizes), sizes)
        lowering.set(old, value)


HANDLERS = {"stablehlo.sort": _sort, "chlo.top_k": _top_k}
