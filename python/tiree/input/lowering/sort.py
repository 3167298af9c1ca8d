"""sort and top_k: by merging (`factorizations/merge_sort.py`), or by exchanges where that does not go.

Lines of up to four elements, sizes that are not known and sorts inside a dispatch go by Batcher's odd-even merge sort,
a fixed sequence of parallel compare-and-exchange passes: O(n log^2 n) comparisons for any comparator and any length,
every pass one `linalg.generic` over the whole tensor. Ties are broken by the original position, which makes the order
stable.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tiree.dialects.dense import DenseAttr
from tiree.dialects.stablehlo_attrs import ComparisonDirectionAttr
from tiree.input.factorizations.elements import captured_tensors
from tiree.input.factorizations.greatest import select, selects
from tiree.input.factorizations.merge_sort import Comparator, sort_lines
from tiree.input.lowering.context import PARALLEL, Lowering, Unsupported, identity, ranked_type, signless, tensor_type
from tiree.input.lowering.reduce import body_of, emit_region
from tiree.input.lowering.scalar import ScalarBuilder, inherent
from tiree.input.lowering.scalar_ops import is_unsigned, total_order
from tiree.input.lowering.structural import int_property
from tiree.support.typed import is_integer_attr

Less = Callable[[ScalarBuilder, Sequence[SSAValue], Sequence[SSAValue]], SSAValue]


SHORT = 4
"""Up to this length a few exchanges sort a line; longer ones are merged (`factorizations/merge_sort.py`)."""
UNROLLED_PASSES = 3
"""Up to so many passes (length 4) are a dispatch each; more are one dispatch in a loop, which compiles once."""


def _passes(size: int) -> list[tuple[int, int]]:
    """The (p, k) of each pass: runs of length p are merged by exchanges over distance k."""
    passes: list[tuple[int, int]] = []
    p = 1
    while p < size:
        k = p
        while k >= 1:
            passes.append((p, k))
            k //= 2
        p *= 2
    return passes


def _is_lower(s: ScalarBuilder, x: SSAValue, p: SSAValue, k: SSAValue) -> SSAValue:
    """Whether position `x` (at least 0) is the lower end of an exchange with `x + k`, were `x + k` in range."""
    zero = s.constant(IndexType(), 0)
    # The first pass of a merge starts at 0, the others at k.
    relative = s.sub(x, s.select(s.cmpi("slt", k, p), k, zero))
    even = s.cmpi("eq", s.and_(relative, k), zero)
    same_run = s.cmpi("ult", s.binary(arith.XOrIOp, x, s.add_(x, k)), s.add_(p, p))
    return s.and_(s.and_(even, same_run), s.cmpi("sge", relative, zero))


def exchange(
    s: ScalarBuilder,
    sources: Sequence[SSAValue],
    dim: int,
    parameters: tuple[SSAValue, SSAValue],
    length: SSAValue,
    less: Less,
) -> Sequence[SSAValue]:
    """One pass, at one element: the element that belongs here, of this one and its partner.

    `parameters` are p and k, `length` is the size of dimension `dim`.
    """
    p, k = parameters
    rank = len(ranked_type(sources[0]).get_shape())
    x = s.index(dim)
    above, below = s.add_(x, k), s.sub(x, k)
    lower = s.and_(_is_lower(s, x, p, k), s.cmpi("slt", above, length))
    upper = s.and_(s.cmpi("sge", below, s.constant(_INDEX, 0)), _is_lower(s, below, p, k))
    first, second = s.select(upper, below, x), s.select(lower, above, x)
    others = {d: s.index(d) for d in range(rank) if d != dim}
    a = [s.extract(source, [others.get(d, first) for d in range(rank)]) for source in sources]
    b = [s.extract(source, [others.get(d, second) for d in range(rank)]) for source in sources]
    take_second = s.binary(arith.XOrIOp, upper, less(s, b, a))
    return [s.select(take_second, right, left) for left, right in zip(a, b, strict=True)]


def sort_values(lowering: Lowering, values: Sequence[SSAValue], dim: int, less: Less) -> Sequence[SSAValue]:
    """`values` (new tensors of one shape) sorted together along `dim`; `less` is strict."""
    shape = tensor_type(values[0]).get_shape()
    if 0 in shape:
        return values
    passes = _passes(shape[dim])
    if len(passes) > UNROLLED_PASSES:
        return _loop(lowering, values, dim, less, passes)
    for p, k in passes:
        values = _pass(lowering, values, dim, less, lambda s, p=p, k=k: (s.constant(_INDEX, p), s.constant(_INDEX, k)))
    return values


_INDEX = IndexType()


def _pass(
    lowering: Lowering,
    values: Sequence[SSAValue],
    dim: int,
    less: Less,
    parameters: Callable[[ScalarBuilder], tuple[SSAValue, SSAValue]],
) -> Sequence[SSAValue]:
    types = [tensor_type(value) for value in values]
    rank = len(types[0].get_shape())
    outputs = [lowering.empty(type) for type in types]

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        del args
        length = s.constant(_INDEX, types[0].get_shape()[dim])
        return exchange(s, values, dim, parameters(s), length, less)

    return lowering.generic([], outputs, [identity(rank)] * len(outputs), [PARALLEL] * rank, body)


def _loop(
    lowering: Lowering, values: Sequence[SSAValue], dim: int, less: Less, passes: Sequence[tuple[int, int]]
) -> Sequence[SSAValue]:
    """The passes as a loop on the host around one dispatch, which looks its parameters up by the loop's counter."""
    tables: list[SSAValue] = []
    for which in (0, 1):
        data = array("i", [one[which] for one in passes]).tobytes()
        tables.append(lowering.constant(DenseAttr.from_buffer(TensorType(IntegerType(32), [len(passes)]), data)))
    types = [value.type for value in values]
    block = Block(arg_types=[_INDEX, *types])
    counter = block.args[0]

    def parameters(s: ScalarBuilder) -> tuple[SSAValue, SSAValue]:
        p, k = (s.to_index(s.extract(table, [counter]), unsigned=False) for table in tables)
        return p, k

    with lowering.inside(block):
        results = _pass(lowering, block.args[1:], dim, less, parameters)
        lowering.emit_op(scf.YieldOp.create(operands=list(results)))
    bounds = [lowering.constant_index(bound) for bound in (0, len(passes), 1)]
    loop = scf.ForOp.create(operands=[*bounds, *values], result_types=types, regions=[Region(block)])
    lowering.emit_op(loop)
    return loop.results


def positions(lowering: Lowering, shape: Sequence[int], dim: int) -> SSAValue:
    """i32 positions along `dim`."""
    i32 = IntegerType(32)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        del args
        return s.cast(arith.IndexCastOp, s.index(dim), i32)

    return lowering.parallel([], TensorType(i32, shape), body)


def comes_first(s: ScalarBuilder, before: SSAValue, after: SSAValue, earlier: SSAValue) -> SSAValue:
    """Whether one element comes before another: by comparison both ways, which need not be strict, then by place."""
    decided, against = s.and_(before, s.not_(after)), s.and_(after, s.not_(before))
    return s.or_(decided, s.and_(earlier, s.not_(against)))


def stable(less: Less) -> Less:
    """`less` with ties broken by the last operand, the position."""

    def compare(s: ScalarBuilder, a: Sequence[SSAValue], b: Sequence[SSAValue]) -> SSAValue:
        before, after = less(s, a[:-1], b[:-1]), less(s, b[:-1], a[:-1])
        return comes_first(s, before, after, s.cmpi("slt", a[-1], b[-1]))

    return compare


def _is_strict(block: Block) -> bool:
    """Whether the region is one comparison by less or greater, of two values that change places when its arguments do.

    A comparison of anything else may hold both ways: `a <= b` can be written as a less of two booleans.
    """
    last = block.last_op
    compare = last.operands[0].owner if last is not None else None
    direction = inherent(compare, "comparison_direction") if isinstance(compare, Operation) else None
    if not isinstance(compare, Operation) or not isinstance(direction, ComparisonDirectionAttr):
        return False
    return direction.data in ("LT", "GT") and _is_mirrored(block, *compare.operands, known={})


def _is_mirrored(block: Block, x: SSAValue, y: SSAValue, known: dict[tuple[SSAValue, SSAValue], bool]) -> bool:
    """Whether `y` is made of the second elements as `x` is of the first; `known` keeps what was found."""
    one, other = x.owner, y.owner
    if one is block and other is block:
        return x in block.args[::2] and block.args.index(y) == block.args.index(x) + 1
    if not isinstance(one, Operation) or not isinstance(other, Operation) or block not in (one.parent, other.parent):
        return x is y and one is not block
    if (x, y) not in known:
        known[x, y] = (
            (one.name, one.properties, one.attributes) == (other.name, other.properties, other.attributes)
            and len(one.operands) == len(other.operands)
            and not one.regions
            and all(_is_mirrored(block, *pair, known) for pair in zip(one.operands, other.operands, strict=True))
        )
    return known[x, y]


def _sort(lowering: Lowering, op: Operation) -> None:
    shape = tensor_type(op.operands[0]).get_shape()
    dim = int_property(op, "dimension", -1) % max(len(shape), 1)
    block = body_of(op)

    def less(s: ScalarBuilder, a: Sequence[SSAValue], b: Sequence[SSAValue]) -> SSAValue:
        pairs = [value for pair in zip(a, b, strict=True) for value in pair]
        return emit_region(lowering, s, block, pairs)[0]

    values = [lowering.get(value) for value in op.operands]
    attr = inherent(op, "is_stable")
    if shape[dim] > SHORT and 0 not in shape:
        comparator = Comparator(less, _is_strict(block), captured_tensors(lowering, block))
        results = sort_lines(lowering, values, dim, comparator)
    elif is_integer_attr(attr) and attr.value.data:
        results = sort_values(lowering, [*values, positions(lowering, shape, dim)], dim, stable(less))
    else:
        results = sort_values(lowering, values, dim, less)
    for old, new in zip(op.results, results, strict=False):
        lowering.set(old, new)


def greater(element: Attribute) -> Less:
    """Descending order of `element`; floats in total order, NaN first."""

    def compare(s: ScalarBuilder, a: Sequence[SSAValue], b: Sequence[SSAValue]) -> SSAValue:
        if isinstance(element, AnyFloat):
            return s.cmpi("sgt", total_order(s, a[0]), total_order(s, b[0]))
        return s.cmpi("ugt" if is_unsigned(element) else "sgt", a[0], b[0])

    return compare


def check_top_k(op: Operation) -> None:
    """Raises `Unsupported` for what MHLO's `topk` may ask for and CHLO's cannot."""
    largest, dim = inherent(op, "largest"), inherent(op, "dimension")
    if is_integer_attr(largest) and not largest.value.data:
        raise Unsupported("of the smallest elements (largest = false)")
    last = len(ranked_type(op.operands[0]).get_shape()) - 1
    if is_integer_attr(dim) and dim.value.data not in (-1, last):
        raise Unsupported(f"along dimension {dim.value.data}, which is not the last,")


def top_k(lowering: Lowering, op: Operation) -> None:
    """The `k` greatest along the last dimension, and where they were."""
    check_top_k(op)
    source = tensor_type(op.operands[0])
    shape = source.get_shape()
    dim = len(shape) - 1
    line = positions(lowering, shape, dim)
    less, values = greater(source.element_type), [lowering.get(op.operands[0]), line]
    count = tensor_type(op.results[0]).get_shape()[dim]
    if 0 not in shape and selects(source.element_type, shape[dim], count):
        results = select(lowering, values[0], source.element_type, count)
    elif shape[dim] > SHORT and 0 not in shape:
        results = sort_lines(lowering, values, dim, Comparator(less, strict=True))
    else:
        results = sort_values(lowering, values, dim, stable(less))
    for old, new in zip(op.results, results, strict=True):
        sizes = tensor_type(old).get_shape()
        type = signless(tensor_type(old))
        value = new if new.type == type else lowering.slice(new, [0] * len(sizes), sizes)
        lowering.set(old, value)


HANDLERS = {"stablehlo.sort": _sort, "chlo.top_k": top_k}
