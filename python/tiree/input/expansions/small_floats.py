"""Arithmetic on 4, 6 and 8 bit floats: operands are widened to f32, and the result of each op is rounded back.

Ops that only move elements stay as they are; to them an element is a byte.
"""

from __future__ import annotations

from xdsl.dialects.builtin import Float32Type, StringAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects.chlo import BROADCASTING
from tiree.dialects.stablehlo_base import BinaryOp, UnaryOp
from tiree.dialects.syntax.small_floats import small_float
from tiree.input.expansions.build import Build
from tiree.input.lowering.known_calls import KNOWN_CALLS
from tiree.input.lowering.scalar import inherent
from tiree.support.typed import is_tensor_type

_F32 = Float32Type()
_COMPUTE = frozenset(
    {
        "stablehlo.clamp",
        "stablehlo.iota",
        "stablehlo.dynamic_iota",
        "stablehlo.dot",
        "stablehlo.dot_general",
        "stablehlo.einsum",
        "stablehlo.unary_einsum",
        "stablehlo.convolution",
        "stablehlo.dynamic_conv",
        "stablehlo.cholesky",
        "stablehlo.triangular_solve",
        "stablehlo.batch_norm_grad",
        "stablehlo.batch_norm_inference",
        "stablehlo.batch_norm_training",
        "chlo.ragged_dot",
        "chlo.top_k",
    }
)
_MOVE = frozenset({"stablehlo.convert", "stablehlo.uniform_quantize", "stablehlo.uniform_dequantize"})


def computes(op: Operation) -> bool:
    """Whether `op` does arithmetic on its operands, or makes numbers."""
    if op.name in _COMPUTE or op.name in BROADCASTING:
        return True
    if op.name == "stablehlo.custom_call":
        target = inherent(op, "call_target_name")
        return isinstance(target, StringAttr) and target.data in KNOWN_CALLS
    return isinstance(op, UnaryOp | BinaryOp) and op.name not in _MOVE


def has_small_floats(op: Operation) -> bool:
    return any(
        is_tensor_type(value.type) and small_float(value.type.element_type) is not None
        for value in (*op.operands, *op.results)
    )


def is_foreign(op: Operation) -> bool:
    """Whether `op` is a structured op of another dialect than StableHLO, or works on elements."""
    return op.name.startswith(("linalg.", "arith.", "math."))


def widen(op: Operation) -> None:
    """Makes `op` compute in f32."""
    before = Build(op)
    for index, operand in enumerate(op.operands):
        if is_tensor_type(operand.type) and small_float(operand.type.element_type) is not None:
            op.operands[index] = before.convert(operand, _F32)
    if not any(is_tensor_type(r.type) and small_float(r.type.element_type) is not None for r in op.results):
        return
    types = [
        TensorType(_F32, r.type.shape, r.type.encoding)
        if is_tensor_type(r.type) and small_float(r.type.element_type) is not None
        else r.type
        for r in op.results
    ]
    regions = [op.detach_region(region) for region in list(op.regions)]
    wide = before.add(
        type(op).create(
            operands=op.operands,
            result_types=types,
            properties=op.properties,
            attributes=op.attributes,
            regions=regions,
        )
    )
    for old, new in zip(op.results, wide.results, strict=True):
        assert is_tensor_type(old.type)
        old.replace_all_uses_with(before.convert(_known(before, new, old.type.element_type), old.type.element_type))
    op.detach()
    op.erase()


def _known(build: Build, value: SSAValue, element: Attribute) -> SSAValue:
    """`value`, a result in f32, with 0 for NaN where `element` has none.

    Its conversion would take the sign of NaN for that of the zero, and processors differ in the sign they give to NaN.
    """
    format = small_float(element)
    if format is None or format.nan is not None:
        return value
    unknown = build.compare("NE", value, value)
    return build.select(unknown, build.constant(_F32, 0.0), value)
