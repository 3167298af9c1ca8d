"""Evaluates the scalar body of a structured op at one point: scalars, or all lanes of a vector at once.

Element values are SSA values (scalar where all lanes agree, else 1-D vectors) or `IndexValue`s: integers still known as
linear forms of loop variables, which keeps table lookups contiguous and folds clamps and compares whose outcome the
ranges decide. An op with a region (`scf.if`, `scf.for`, `scf.while`) is copied as it stands and needs scalar operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects import math, vector
from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiree.codegen.common.builder import (
    BF16,
    CONDITIONAL,
    DYNAMIC_LOOP,
    F32,
    I32,
    I64,
    INDEX,
    NO_FASTMATH,
    element_of,
    lanes_of,
)
from tiree.codegen.common.combine import fused_products
from tiree.codegen.common.linear import UNBOUNDED, Lin
from tiree.support.typed import int_of, is_float_attr, is_integer_attr, is_integer_type

if TYPE_CHECKING:
    from tiree.codegen.common.evaluate import Evaluator, Point
    from tiree.codegen.common.graph import GenericNode


class IndexValue:
    """An index or integer of `type` that equals a linear form (which fits the type)."""

    __slots__ = ("lin", "type")

    def __init__(self, lin: Lin, type: Attribute) -> None:
        self.lin = lin
        self.type = type


Value = SSAValue | IndexValue

EXACT = frozenset(["arith.bitcast", "arith.truncf"])
"""Ops that see bf16 values as they are stored. All other arithmetic on bf16 is done, and kept between ops, in f32:
values are rounded where they are stored and where the program says `truncf`."""

TRAPPING = frozenset(
    [
        "arith.divsi",
        "arith.divui",
        "arith.remsi",
        "arith.remui",
        "arith.floordivsi",
        "arith.ceildivsi",
        "arith.ceildivui",
    ]
)
"""Ops that must not run where the program would not run them."""


class BodyEvaluator:
    """One evaluation of one body. `indices` are the loop indices of the point (for `linalg.index`)."""

    def __init__(self, ev: Evaluator, generic: GenericNode | None, indices: Sequence[Lin], point: Point | None) -> None:
        self.ev = ev
        self.b = ev.b
        self.generic = generic
        self.indices = indices
        self.point = point
        self.env: dict[SSAValue, Value] = {}
        self.fused: dict[Operation, None] = {}
        if generic is not None and ev.tuning.fuse_multiply_add:
            self.fused = fused_products(generic)

    def run(self, body: Block, args: Sequence[Value | None]) -> list[Value]:
        """The yielded values; `args[i]` may be None where the body ignores that argument."""
        for arg, value in zip(body.args, args, strict=True):
            if value is not None:
                self.env[arg] = value
        for op in body.ops:
            if op.name == "linalg.yield":
                return [self.get(v) for v in op.operands]
            self.visit(op)
        raise AssertionError("body without linalg.yield")

    def get(self, value: SSAValue) -> Value:
        found = self.env.get(value)
        return found if found is not None else self.ev.outer(value)

    def visit(self, op: Operation) -> None:
        if op in self.fused:
            return
        handler = _HANDLERS.get(op.name)
        if handler is not None:
            result = handler(self, op)
            if result is not None:
                self.env[op.results[0]] = result
                return
        self.plain(op)

    def plain(self, op: Operation) -> None:
        """The same op on scalars or on vectors."""
        if op.regions:
            self.copy_region_op(op)
            return
        values = [self.ev.ssa(self.get(v)) for v in op.operands]
        wide = op.name not in EXACT and any(v.type == BF16 for v in op.operands)
        if wide:
            values = [self.b.widen(v) for v in values]
        elif op.name in EXACT:
            values = [self.b.narrow(v, old.type) for v, old in zip(values, op.operands, strict=True)]
        lanes = max([lanes_of(v) for v in values], default=0)
        if lanes:
            values = [self.b.broadcast(v, lanes) for v in values]
        elements = [F32 if wide and r.type == BF16 else r.type for r in op.results]
        types = [self.b.vector_type(e, lanes) if lanes else e for e in elements]
        if len(types) != 1:
            copied = type(op).create(operands=values, result_types=types, properties=op.properties)
            for old, new in zip(op.results, self.b.append(copied), strict=True):
                self.env[old] = new
            return
        level = self.b.barrier(CONDITIONAL, DYNAMIC_LOOP) if op.name in TRAPPING else 0
        properties = op.properties
        extra = tuple(properties.values()) if properties else None
        self.env[op.results[0]] = self.wrap(self.b.emit(type(op), values, types[0], properties, extra, level))

    def wrap(self, value: SSAValue, low: int = -UNBOUNDED, high: int = UNBOUNDED) -> Value:
        """Index values travel as linear forms."""
        if isinstance(element_of(value), IndexType):
            return IndexValue(self.b.opaque(value, low, high), INDEX)
        return value

    def copy_region_op(self, op: Operation) -> None:
        """Clones an op with regions; its inputs from outside are evaluated first."""
        inner = set(_defined_within(op))
        mapping: dict[SSAValue, SSAValue] = {}
        for nested in op.walk():
            for operand in nested.operands:
                if operand not in inner and operand not in mapping:
                    mapping[operand] = self.b.narrow(self.ev.ssa(self.get(operand)), operand.type)
        for nested in op.walk():
            if nested.name in ("tensor.extract", "linalg.index"):
                raise self.ev.fail(nested, f"{nested.name} inside {op.name} of a structured op's body is not supported")
        cloned = op.clone(mapping)
        results = self.b.append(cloned)
        for old, new in zip(op.results, results, strict=True):
            self.env[old] = self.wrap(new)

    # Index arithmetic --------------------------------------------------------------------------------------------

    def as_index(self, value: Value) -> Lin | None:
        """The linear form of an `IndexValue` or of an integer constant."""
        if isinstance(value, IndexValue):
            return value.lin
        constant = constant_of_ssa(value)
        return Lin(constant) if constant is not None else None

    def fitted(self, lin: Lin, type: Attribute) -> IndexValue | None:
        """`lin` as a value of `type` when it cannot overflow it."""
        if is_integer_type(type):
            low, high = lin.bounds()
            limit = 1 << (type.width.data - 1)
            if low < -limit or high >= limit:
                return None
        return IndexValue(lin, type)


def _defined_within(op: Operation) -> list[SSAValue]:
    found: list[SSAValue] = []
    for nested in op.walk():
        found.extend(nested.results)
        for region in nested.regions:
            for block in region.blocks:
                found.extend(block.args)
    return found


def constant_of_ssa(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, Operation) and owner.name == "arith.constant":
        attr = owner.properties["value"]
        if is_integer_attr(attr):
            return attr.value.data
    return None


# Handlers: a Value, or None to treat the op like any other.


def _constant(body: BodyEvaluator, op: Operation) -> Value | None:
    attr = op.properties["value"]
    if is_integer_attr(attr):
        if isinstance(attr.type, IndexType):
            return IndexValue(Lin(attr.value.data), INDEX)
        return body.b.constant(attr.value.data, attr.type)
    if is_float_attr(attr):
        return body.b.constant(attr.value.data, attr.type)
    raise body.ev.fail(op, f"constant {attr} inside a structured op's body is not a scalar")


def _index(body: BodyEvaluator, op: Operation) -> Value:
    return IndexValue(body.indices[int_of(op.properties["dim"])], INDEX)


def _extract(body: BodyEvaluator, op: Operation) -> Value:
    assert body.generic is not None or body.point is None
    source, *indices = op.operands
    node = body.generic.extracted[source] if body.generic is not None else body.ev.node_of(source)
    lins: list[Lin] = []
    for value in indices:
        lin = body.as_index(body.get(value))
        assert lin is not None
        lins.append(lin)
    return body.ev.value(node, tuple(lins), body.point.mask if body.point is not None else None)


def _cast(body: BodyEvaluator, op: Operation) -> Value | None:
    """index_cast, and sign changes of width that the range allows."""
    value, type = body.get(op.operands[0]), op.results[0].type
    if isinstance(value, IndexValue):
        unsigned = op.name in ("arith.extui", "arith.index_castui")
        if unsigned and value.lin.bounds()[0] < 0:
            return None if not isinstance(type, IndexType) else body.wrap(_emit_cast(body, op, body.ev.ssa(value)))
        fitted = body.fitted(value.lin, type)
        if fitted is not None:
            return fitted
        return None
    if isinstance(type, IndexType):
        low, high = body.ev.ranges.get(value, (-UNBOUNDED, UNBOUNDED))
        if op.name == "arith.index_castui":
            low, high = max(low, 0), high
        return body.wrap(_emit_cast(body, op, value), low, high)
    return None


def _extend(body: BodyEvaluator, op: Operation) -> Value | None:
    """extf of bf16: what arithmetic has left in f32 already is the result."""
    if op.operands[0].type != BF16:
        return None
    value = body.b.widen(body.ev.ssa(body.get(op.operands[0])))
    return value if op.results[0].type == F32 else body.b.cast(type(op), value, op.results[0].type)


def _emit_cast(body: BodyEvaluator, op: Operation, value: SSAValue) -> SSAValue:
    return body.b.cast(type(op), value, op.results[0].type)


def _linear(combine: Callable[[Lin, Lin], Lin | None]) -> Callable[[BodyEvaluator, Operation], Value | None]:
    def handler(body: BodyEvaluator, op: Operation) -> Value | None:
        a, b = body.get(op.operands[0]), body.get(op.operands[1])
        if not isinstance(a, IndexValue) and not isinstance(b, IndexValue):
            return None
        x, y = body.as_index(a), body.as_index(b)
        if x is None or y is None:
            return None
        total = combine(x, y)
        return None if total is None else body.fitted(total, op.results[0].type)

    return handler


def _product(a: Lin, b: Lin) -> Lin | None:
    if b.is_const:
        return a * b.const
    return b * a.const if a.is_const else None


def _quotient(part: int) -> Callable[[BodyEvaluator, Operation], Value | None]:
    """Division (part 0) or remainder (part 1) of a non-negative form by a positive constant."""

    def handler(body: BodyEvaluator, op: Operation) -> Value | None:
        a, b = body.get(op.operands[0]), body.get(op.operands[1])
        if not isinstance(a, IndexValue):
            return None
        divisor = body.as_index(b)
        low, _ = a.lin.bounds()
        if divisor is None or not divisor.is_const or divisor.const <= 0 or low < 0:
            return None
        return IndexValue(body.ev.divide(a.lin, divisor.const)[part], op.results[0].type)

    return handler


def _extremum(greatest: bool) -> Callable[[BodyEvaluator, Operation], Value | None]:
    """maxsi / minsi: decided by the ranges where possible; otherwise the range of the result is noted."""

    def handler(body: BodyEvaluator, op: Operation) -> Value | None:
        a, b = body.get(op.operands[0]), body.get(op.operands[1])
        (a_low, a_high), (b_low, b_high) = _bounds(body, a), _bounds(body, b)
        if a_low >= b_high:
            return a if greatest else b
        if b_low >= a_high:
            return b if greatest else a
        low, high = (max(a_low, b_low), max(a_high, b_high)) if greatest else (min(a_low, b_low), min(a_high, b_high))
        x, y = body.b.match(body.ev.ssa(a), body.ev.ssa(b))
        value = body.b.emit(type(op), [x, y], x.type)
        body.ev.ranges[value] = (low, high)
        return body.wrap(value, low, high)

    return handler


def _bounds(body: BodyEvaluator, value: Value) -> tuple[int, int]:
    if isinstance(value, IndexValue):
        return value.lin.bounds()
    constant = constant_of_ssa(value)
    if constant is not None:
        return constant, constant
    return body.ev.ranges.get(value, (-UNBOUNDED, UNBOUNDED))


def _compare(body: BodyEvaluator, op: Any) -> Value | None:
    """cmpi of two linear forms: a constant where the ranges decide, else on 32 bits where they fit."""
    a, b = body.get(op.operands[0]), body.get(op.operands[1])
    if not isinstance(a, IndexValue) and not isinstance(b, IndexValue):
        return None
    x, y = body.as_index(a), body.as_index(b)
    if x is None or y is None:
        return None
    low, high = (x - y).bounds()
    predicate: int = op.predicate.value.data
    unsigned = predicate >= 6
    if unsigned and (x.bounds()[0] < 0 or y.bounds()[0] < 0):
        return None
    known = _decided(predicate - 4 if unsigned else predicate, low, high)
    if known is not None:
        return body.b.constant(int(known), i1)
    type = I32 if _fits32(x) and _fits32(y) else I64
    lanes = body.ev.width
    return body.b.compare(predicate, body.b.integers(x, type, lanes), body.b.integers(y, type, lanes))


def _fits32(lin: Lin) -> bool:
    low, high = lin.bounds()
    return low >= -(1 << 31) and high < 1 << 31


def _decided(predicate: int, low: int, high: int) -> bool | None:
    """Outcome of `a PRED b` from the range of a - b; predicates eq ne slt sle sgt sge."""
    match predicate:
        case 0:
            return True if low == high == 0 else (False if low > 0 or high < 0 else None)
        case 1:
            return False if low == high == 0 else (True if low > 0 or high < 0 else None)
        case 2:
            return True if high < 0 else (False if low >= 0 else None)
        case 3:
            return True if high <= 0 else (False if low > 0 else None)
        case 4:
            return True if low > 0 else (False if high <= 0 else None)
        case _:
            return True if low >= 0 else (False if high < 0 else None)


def _select(body: BodyEvaluator, op: Operation) -> Value | None:
    condition, a, b = (body.get(v) for v in op.operands)
    if isinstance(condition, SSAValue):
        constant = constant_of_ssa(condition)
        if constant is not None:
            return a if constant else b
    if isinstance(a, IndexValue) and isinstance(b, IndexValue) and a.lin == b.lin:
        return a
    low, high = _bounds(body, a)[0], _bounds(body, a)[1]
    low, high = min(low, _bounds(body, b)[0]), max(high, _bounds(body, b)[1])
    value = body.b.select(body.ev.ssa(condition), body.ev.ssa(a), body.ev.ssa(b))
    if low > -UNBOUNDED and high < UNBOUNDED:
        body.ev.ranges[value] = (low, high)
    return body.wrap(value, low, high)


def _addf(body: BodyEvaluator, op: Operation) -> Value | None:
    """The sum with a fused product is one multiply-add."""
    for position, operand in enumerate(op.operands):
        product = operand.owner
        if product in body.fused:
            assert isinstance(product, Operation)
            terms = [*product.operands, op.operands[1 - position]]
            a, b, c = body.b.match(*[body.b.widen(body.ev.ssa(body.get(v))) for v in terms])
            if lanes_of(c):
                return body.b.emit(vector.FMAOp, [a, b, c], c.type)
            return body.b.emit(math.FmaOp, [a, b, c], c.type, NO_FASTMATH)
    return None


_HANDLERS: dict[str, Callable[[BodyEvaluator, Any], Value | None]] = {
    "arith.constant": _constant,
    "linalg.index": _index,
    "tensor.extract": _extract,
    "arith.index_cast": _cast,
    "arith.index_castui": _cast,
    "arith.extsi": _cast,
    "arith.extui": _cast,
    "arith.trunci": _cast,
    "arith.addi": _linear(lambda a, b: a + b),
    "arith.subi": _linear(lambda a, b: a - b),
    "arith.muli": _linear(_product),
    "arith.divsi": _quotient(0),
    "arith.divui": _quotient(0),
    "arith.floordivsi": _quotient(0),
    "arith.remsi": _quotient(1),
    "arith.remui": _quotient(1),
    "arith.maxsi": _extremum(True),
    "arith.minsi": _extremum(False),
    "arith.cmpi": _compare,
    "arith.select": _select,
    "arith.addf": _addf,
    "arith.extf": _extend,
}
