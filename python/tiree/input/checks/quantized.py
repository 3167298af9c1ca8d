"""Quantized tensors: which ops take them, with one scale or with many, and what their types have in common.

These checks run while the types are there; all others see the integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects.dense import DenseAttr
from tiree.input.checks import wrong_ops
from tiree.input.checks.quantized_contraction import CONTRACTIONS
from tiree.input.checks.quantized_moves import BY_AXIS, MOVES
from tiree.input.checks.values import Skip, Wrong, element, need, shape, tensor
from tiree.input.expansions.quantized import Quantized, quantized_type
from tiree.input.lowering.context import Unsupported
from tiree.scalars.builder import inherent
from tiree.support.errors import Diagnostic
from tiree.support.locations import location_of
from tiree.support.typed import is_tensor_type

_BORDERS = frozenset({"stablehlo.while", "stablehlo.if", "stablehlo.case", "stablehlo.optimization_barrier"})
_BODIES = frozenset(
    f"stablehlo.{name}"
    for name in ("all_reduce", "collective_reduce", "reduce", "reduce_scatter", "reduce_window", "scatter",
                 "select_and_scatter")
)  # fmt: skip
_NEVER = frozenset(
    f"stablehlo.{name}"
    for name in ("and", "complex", "convert", "count_leading_zeros", "fft", "imag", "not", "or", "popcnt", "real",
                 "rng", "rng_bit_generator", "shift_left", "shift_right_arithmetic", "shift_right_logical", "xor")
)  # fmt: skip
_COMPUTING = frozenset(
    f"stablehlo.{name}"
    for name in (
        "abs", "atan2", "batch_norm_grad", "batch_norm_inference", "batch_norm_training", "cbrt", "ceil", "cholesky",
        "clamp", "compare", "cosine", "divide", "exponential", "exponential_minus_one", "floor", "is_finite", "log",
        "log_plus_one", "logistic", "maximum", "minimum", "multiply", "negate", "power", "reduce_precision",
        "remainder", "round_nearest_afz", "round_nearest_even", "rsqrt", "select", "sign", "sine", "sqrt", "subtract",
        "tan", "tanh", "triangular_solve",
    )
)  # fmt: skip
_SCALES_BY_AXIS = frozenset(
    {
        *BY_AXIS,
        *CONTRACTIONS,
        *(f"stablehlo.{name}" for name in (
            "add", "bitcast_convert", "case", "composite", "constant", "custom_call", "get_dimension_size",
            "get_tuple_element", "if", "infeed", "outfeed", "recv", "return", "send", "set_dimension_size", "tuple",
            "uniform_dequantize", "uniform_quantize", "while",
        )),
    }
)  # fmt: skip
"""Ops of StableHLO that take a scale for each place of a dimension; the rest take one for all elements."""


class _Baseline(NamedTuple):
    """A quantized type without scales and zero points."""

    storage: Attribute
    low: int
    high: int
    expressed: Attribute
    axis: int | None


def _baseline(type: Quantized) -> _Baseline:
    return _Baseline(type.storage, type.low, type.high, type.expressed, type.axis)


def wrong_quantized(root: Operation) -> list[Diagnostic]:
    """A diagnostic for each op with quantized values that breaks a rule; if there are any, also for all other ops."""
    ops = [op for op in root.walk() if any(_is_quantized(value) for value in (*op.operands, *op.results))]
    found = list(_wrong(ops))
    if found:
        seen = set(ops)
        found += wrong_ops(root, lambda op: op not in seen)
    return found


def _is_quantized(value: SSAValue) -> bool:
    try:
        return quantized_type(value.type) is not None
    except Unsupported:
        return False


def _wrong(ops: Sequence[Operation]) -> Iterator[Diagnostic]:
    for op in ops:
        try:
            _check(op)
        except Wrong as reason:
            yield Diagnostic(f"{op.name} is not valid: {reason}", location_of(op))
        except (Skip, Unsupported):  # what a form that is not supported is refused for, the lowering says
            continue


def _check(op: Operation) -> None:
    if not op.name.startswith("stablehlo."):
        return
    need(op.name not in _NEVER, f"it does not take quantized elements; it has {_first(op)}")
    for value in (*op.operands, *op.results):
        _need_scales(op, value)
    if op.name in _COMPUTING:
        _need_one_baseline(op)
    elif op.name in _BODIES:
        _need_promotable(op)
    elif op.name in MOVES:
        MOVES[op.name](op)
    elif op.name in CONTRACTIONS:
        CONTRACTIONS[op.name](op)
    elif op.name in _OTHERS:
        _OTHERS[op.name](op)
    elif op.name in _BORDERS:
        _need_borders(op)


def _first(op: Operation) -> Attribute:
    return next(value.type for value in (*op.operands, *op.results) if quantized_type(value.type) is not None)


def _need_scales(op: Operation, value: SSAValue) -> None:
    """As many scales as the dimension has places, where they are for a dimension at all."""
    type = quantized_type(value.type)
    if type is None or type.axis is None:
        return
    need(op.name in _SCALES_BY_AXIS, f"it takes one scale for all elements; it has {value.type}")
    sizes = shape(value)
    need(type.axis < len(sizes), f"{value.type} has scales for dimension {type.axis}; its rank is {len(sizes)}")
    size = sizes[type.axis]
    fitting = size in (DYNAMIC_INDEX, len(type.scales))
    need(fitting, f"{value.type} has {len(type.scales)} scales for dimension {type.axis} of size {size}")


def _need_one_baseline(op: Operation) -> None:
    """Operands and results are all quantized alike, but for scales and zero points; predicates are i1."""
    values: list[SSAValue] = list(op.operands[1:] if op.name == "stablehlo.select" else op.operands)
    if op.name not in ("stablehlo.compare", "stablehlo.is_finite"):
        values += op.results
    types = [quantized_type(value.type) for value in values]
    alike = len({None if type is None else _baseline(type) for type in types}) == 1
    said = " and ".join(dict.fromkeys(str(element(value)) for value in values))
    need(alike, f"its operands and results must be quantized alike, but for scales and zero points; they are {said}")


def _need_promotable(op: Operation) -> None:
    """The body works on the same numbers as the op has, on integers that are as wide or wider."""
    blocks = [block for region in op.regions for block in region.blocks]
    values: list[SSAValue] = [*op.operands, *op.results]
    for block in blocks:
        values += block.args
    found: dict[Quantized, SSAValue] = {}
    for value in values:
        type = quantized_type(value.type)
        if type is not None:
            found[type] = value
    first, *others = found
    for other in others:
        same = (first.expressed, first.scales, first.zeros) == (other.expressed, other.scales, other.zeros)
        need(same, f"it mixes {element(found[first])} and {element(found[other])}")
    count = len(op.results)
    for operand, result in zip(op.operands[:count], op.results, strict=False):
        given, made = quantized_type(operand.type), quantized_type(result.type)
        need((given is None) == (made is None), f"it makes {result.type} of {operand.type}")


def _need_borders(op: Operation) -> None:
    """What crosses the border of a region has one type on both sides."""
    columns: list[Sequence[SSAValue]] = [op.results]
    if op.name in ("stablehlo.while", "stablehlo.optimization_barrier"):
        columns.append(op.operands)
    for number, region in enumerate(op.regions):
        block = region.blocks.first
        last = block.last_op if block is not None else None
        if block is None or last is None:
            continue
        if op.name == "stablehlo.while":
            columns.append(block.args)
        if op.name != "stablehlo.while" or number == 1:
            columns.append(last.operands)
    for values in zip(*columns, strict=False):
        for value in values[1:]:
            if is_tensor_type(value.type) and is_tensor_type(values[0].type):
                same = quantized_type(value.type) == quantized_type(values[0].type)
                need(same, f"what crosses its border must have one type; it is {values[0].type} and {value.type}")


def _add(op: Operation) -> None:
    types = [quantized_type(value.type) for value in (*op.operands, *op.results)]
    known = [type for type in types if type is not None]
    need(len(known) == len(types), f"all of it must be quantized; it makes {op.results[0].type} of {_sources(op)}")
    for name in ("storage", "expressed"):
        have = list(dict.fromkeys(str(getattr(type, name)) for type in known))
        need(len(have) == 1, f"its operands and result must have one {name} type; they have {' and '.join(have)}")
    *given, made = known
    axes = [type.axis for type in given if type.axis is not None]
    fitting = bool(axes) == (made.axis is not None) and all(axis == made.axis for axis in axes)
    need(fitting, f"scales for a dimension must be for the same one of operands and result; it makes {made_of(op)}")


def made_of(op: Operation) -> str:
    return f"{op.results[0].type} of {_sources(op)}"


def _sources(op: Operation) -> str:
    return " and ".join(str(operand.type) for operand in op.operands)


def _constant(op: Operation) -> None:
    value, type = inherent(op, "value"), quantized_type(op.results[0].type)
    if isinstance(value, DenseAttr) and type is not None:
        have = value.type.element_type
        need(have == type.storage, f"its value has elements of type {have}; {element(op.results[0])} stores others")


def _quantize(op: Operation) -> None:
    source, target = quantized_type(op.operands[0].type), quantized_type(op.results[0].type)
    if target is not None:
        given = element(op.operands[0]) if source is None else source.expressed
        need(given == target.expressed, f"it makes {tensor(op.results[0])} of {tensor(op.operands[0])}")


def _dequantize(op: Operation) -> None:
    source = quantized_type(op.operands[0].type)
    if source is not None:
        fitting = element(op.results[0]) == source.expressed
        need(fitting, f"it makes {tensor(op.results[0])} of {tensor(op.operands[0])}")


_OTHERS = {
    "stablehlo.add": _add,
    "stablehlo.constant": _constant,
    "stablehlo.uniform_quantize": _quantize,
    "stablehlo.uniform_dequantize": _dequantize,
}
