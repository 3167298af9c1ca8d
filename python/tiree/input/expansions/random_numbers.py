"""`rng`: uniform and normal numbers from Philox, with a counter that lives in the module.

The counter goes on with every use and every call, so a program draws new numbers each time; a module that is loaded
again draws the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    ModuleOp,
    TensorType,
    UnitAttr,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects import util
from tiree.dialects.dense import DenseAttr
from tiree.dialects.stablehlo_attrs import RngDistributionAttr
from tiree.dialects.syntax.small_floats import small_float
from tiree.input.expansions.build import Build, element_of, of_element
from tiree.input.expansions.random_bits import U32, U64, philox_numbers, philox_of_unknown
from tiree.input.lowering.bits import bit_width
from tiree.input.lowering.context import Unsupported, ranked_type
from tiree.input.lowering.scalar import inherent
from tiree.input.lowering.scalar_ops import is_float
from tiree.support.typed import symbol_name

_PLACES = ("func.func", "util.func", "stablehlo.while", "stablehlo.if", "stablehlo.case")
_MARK = "tiree.rng_counter"
_SCALAR = TensorType(IntegerType(64), [])


def _module_of(op: Operation) -> ModuleOp:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ModuleOp):
        parent = parent.parent_op()
    if parent is None:
        raise Unsupported("outside of a module")
    return parent


def _counter(module: ModuleOp) -> str:
    """The name of the counter, which is made when there is none."""
    names: set[str] = set()
    for op in module.body.block.ops:
        if isinstance(op, util.GlobalOp) and _MARK in op.attributes:
            return op.sym_name.data
        if "sym_name" in op.properties:
            names.add(symbol_name(op))
    name = "rng_counter"
    while name in names:
        name += "_"
    made = util.GlobalOp(name, _SCALAR, DenseAttr.from_buffer(_SCALAR, bytes(8), splat=True), mutable=True)
    made.attributes[_MARK] = UnitAttr()
    first = module.body.block.first_op
    assert first is not None
    module.body.block.insert_op_before(made, first)
    return name


def _bits(build: Build, op: Operation, shape: Sequence[int], wide: bool) -> SSAValue:
    """New random words; the counter is moved on."""
    name = _counter(_module_of(op))
    loaded = build.add(util.GlobalLoadOp(name, _SCALAR)).results[0]
    start = build.convert(loaded, U64)
    zero = build.constant(U64, 0)
    if DYNAMIC_INDEX in shape:
        sizes = op.operands[2]
        count = build.reduce(sizes, [0], "multiply", 1)
        flat = philox_of_unknown(build, zero, (start, zero), count, wide)
        bits = build.value("dynamic_reshape", [flat, sizes], TensorType(element_of(flat), shape))
        moved = build.convert(count, _SCALAR.element_type)
    else:
        bits, blocks = philox_numbers(build, zero, (start, zero), shape, wide)
        moved = build.constant(_SCALAR.element_type, max(blocks, 1))
    build.add(util.GlobalStoreOp(build.add_(loaded, moved), name))
    return bits


def _unit(build: Build, bits: SSAValue, element: Attribute) -> SSAValue:
    """Random words as numbers of [0, 1): as many bits as the mantissa has."""
    width, mantissa = (64, 52) if isinstance(element, Float64Type) else (32, 23)
    word = U64 if width == 64 else U32
    top = build.binary("shift_right_logical", bits, build.constant(word, width - mantissa))
    return build.multiply(build.convert(top, element), build.constant(element, 2.0**-mantissa))


def _between(build: Build, unit: SSAValue, low: SSAValue, high: SSAValue) -> SSAValue:
    """Numbers of [0, 1) brought to those from `low` to `high`, which may be further apart than the largest number."""
    element = element_of(low)
    span = build.subtract(high, low)
    apart = build.value("is_finite", [span], of_element(span, i1))
    scale = build.select(apart, build.constant(element, 1.0), build.constant(element, 0.5))
    low, high = build.multiply(low, scale), build.multiply(high, scale)
    scaled = build.add_(build.multiply(unit, build.subtract(high, low)), low)
    return build.multiply(scaled, build.select(apart, build.constant(element, 1.0), build.constant(element, 2.0)))


def _below(build: Build, op: Operation, element: Attribute) -> SSAValue:
    """The last number of the op's type before the upper bound, which rounding would reach otherwise."""
    low, high = op.operands[:2]
    format = small_float(element_of(high))
    if format is None:
        return build.convert(build.value("chlo.next_after", [high, low], high.type), element)
    # In f32, by more than half the distance to the neighbour and less than 1.5 of it; the rounding finds it.
    wide = build.convert(high, element)
    smallest = format.value(1)
    by = build.multiply(build.unary("abs", wide), build.constant(element, 1.25 * 2.0 ** -(format.mantissa + 1)))
    by = build.binary("maximum", by, build.constant(element, 0.75 * smallest))
    return build.convert(build.convert(build.subtract(wide, by), element_of(high)), element)


def _uniform(build: Build, op: Operation, element: Attribute) -> SSAValue:
    low, high = (build.convert(operand, element) for operand in op.operands[:2])
    shape = ranked_type(op.results[0]).get_shape()
    if is_float(element):
        unit = _unit(build, _bits(build, op, shape, isinstance(element, Float64Type)), element)
        return build.clamp(low, _between(build, unit, low, high), _below(build, op, element))
    bits = _bits(build, op, shape, wide=True)
    span = build.subtract(build.convert(high, U64), build.convert(low, U64))
    place = build.binary("remainder", bits, build.broadcast(span, [], bits))
    return build.add_(build.convert(place, element), low)


def _normal(build: Build, op: Operation, element: Attribute) -> SSAValue:
    """Box and Muller: the length of a random vector times the cosine of its angle."""
    if not is_float(element):
        raise Unsupported(f"of normal numbers of type {element}")
    mean, deviation = (build.convert(operand, element) for operand in op.operands[:2])
    shape = ranked_type(op.results[0]).get_shape()
    wide = isinstance(element, Float64Type)
    first, second = (_unit(build, _bits(build, op, shape, wide), element) for _ in range(2))
    # 1 - u is never zero.
    logarithm = build.unary("log", build.subtract(build.constant(element, 1.0), first))
    length = build.unary("sqrt", build.multiply(logarithm, build.constant(element, -2.0)))
    turn = build.unary("cosine", build.multiply(second, build.constant(element, 2 * math.pi)))
    return build.add_(build.multiply(build.multiply(length, turn), deviation), mean)


def _rng(build: Build, op: Operation) -> Sequence[SSAValue]:
    attr = inherent(op, "rng_distribution")
    type = ranked_type(op.results[0])
    around = op.parent_op()
    if around is not None and around.name not in _PLACES:
        raise Unsupported(f"in the body of {around.name}")
    if not isinstance(attr, RngDistributionAttr):
        raise Unsupported("without rng_distribution")
    element = type.element_type
    narrow = isinstance(element, Float16Type | BFloat16Type) or small_float(element) is not None
    computed = Float32Type() if narrow else element
    if bit_width(element) == 1:
        computed = IntegerType(8)
    make = _normal if attr.data == "NORMAL" else _uniform
    return [build.convert(make(build, op, computed), element)]


EXPANSIONS = {"stablehlo.rng": _rng}
