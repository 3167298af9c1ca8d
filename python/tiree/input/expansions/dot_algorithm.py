"""dot_general with an algorithm: operands are rounded to its precision, and the sum is made in its accumulation type.

Algorithms of several products emulate f32 by parts of fewer bits; here such a product is one of f32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import AnyFloat, BFloat16Type, Float16Type, Float32Type, Float64Type, IntegerAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects.stablehlo_attrs import DotAlgorithm, DotAlgorithmAttr
from tiree.dialects.syntax.small_floats import FORMATS
from tiree.input.expansions.build import Build, element_of, of_element
from tiree.input.lowering.context import Unsupported
from tiree.input.lowering.scalar import inherent

_TYPES: dict[str, Attribute] = {
    "f16": Float16Type(), "bf16": BFloat16Type(), "f32": Float32Type(), "f64": Float64Type(),
}  # fmt: skip
_SMALL: dict[str, Attribute] = {str(type()): type() for type in FORMATS if str(type()).startswith("f8")}
_TF32_EXPONENT, _TF32_MANTISSA = 8, 10
_KNOWN: dict[tuple[str, str, int], int] = {
    ("f16", "f16", 1): 1,
    ("f16", "f32", 1): 1,
    ("bf16", "bf16", 1): 1,
    ("bf16", "f32", 1): 1,
    ("bf16", "f32", 3): 2,
    ("bf16", "f32", 6): 3,
    ("bf16", "f32", 9): 3,
    ("tf32", "f32", 1): 1,
    ("tf32", "f32", 3): 2,
    ("f32", "f32", 1): 1,
    ("f64", "f64", 1): 1,
}
"""Precision of both operands, accumulation type and number of products; and of how many parts an operand is."""


def _parts(algorithm: DotAlgorithm) -> int:
    """Of how many parts an operand is. Raises `Unsupported` for an algorithm that there is not."""
    key = algorithm.lhs_precision_type, algorithm.accumulation_type, algorithm.num_primitive_operations
    parts = _KNOWN.get(key)
    same = algorithm.lhs_precision_type == algorithm.rhs_precision_type
    if {algorithm.lhs_precision_type, algorithm.rhs_precision_type} <= set(_SMALL):
        # Products of 8-bit floats, which may be of two formats; a sum may be less precise, but is not.
        parts, same = (1, True) if key[1:] == ("f32", 1) else (None, False)
        algorithm = replace(algorithm, allow_imprecise_accumulation=False)
    counts = {algorithm.lhs_component_count, algorithm.rhs_component_count}
    if parts is None or not same or counts != {parts} or algorithm.allow_imprecise_accumulation:
        raise Unsupported(f"with {DotAlgorithmAttr(algorithm)}")
    return parts


def _rounded(build: Build, value: SSAValue, precision: str, accumulation: Attribute) -> SSAValue:
    if precision == "tf32":
        value = build.convert(value, Float32Type())
        counts = {"exponent_bits": _TF32_EXPONENT, "mantissa_bits": _TF32_MANTISSA}
        properties = {name: IntegerAttr(count, i32) for name, count in counts.items()}
        return build.value("reduce_precision", [value], value.type, properties)
    return build.convert(build.convert(value, {**_TYPES, **_SMALL}[precision]), accumulation)


def _dot_general(build: Build, op: Operation) -> Sequence[SSAValue] | None:
    attr = inherent(op, "algorithm")
    if not isinstance(attr, DotAlgorithmAttr):
        return None
    if not all(isinstance(element_of(value), AnyFloat) for value in (*op.operands, *op.results)):
        # As the reference interpreter has it: products of integers are exact, whatever is said of floats.
        return None
    parts = _parts(attr.data)
    accumulation = _TYPES[attr.data.accumulation_type]
    precisions = (attr.data.lhs_precision_type, attr.data.rhs_precision_type) if parts == 1 else ("f32", "f32")
    operands = [
        _rounded(build, value, precision, accumulation)
        for value, precision in zip(op.operands, precisions, strict=True)
    ]
    properties = {name: value for name, value in op.properties.items() if name != "algorithm"}
    made = build.value("dot_general", operands, of_element(op.results[0], accumulation), properties)
    return [build.convert(made, element_of(op.results[0]))]


EXPANSIONS = {"stablehlo.dot_general": _dot_general}
