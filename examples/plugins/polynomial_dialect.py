"""A dialect of its own, with a lowering: `poly.eval` evaluates a polynomial at every element of a tensor.

    %y = poly.eval %x [1.0, 0.0, 0.5] : tensor<4xf32>        // 1 + 0.5 x^2

    tiree-compile --tiree-plugin=examples/plugins/polynomial_dialect.py model.mlir -o model.vmfb

The op is a class of xDSL, with its syntax and its check. The lowering says what it means in `linalg` (here Horner's
rule, one multiply-add per coefficient); fusion, vectors and threads come from what Tiree does with every
`linalg.generic`.
"""

from __future__ import annotations

from typing import ClassVar

from tiree.plugins import Lowering, Registry, Unsupported
from tiree.support.typed import is_tensor_type
from xdsl.dialects.builtin import AnyFloat, ArrayAttr, FloatAttr, TensorType
from xdsl.ir import Dialect
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class EvalOp(IRDLOperation):
    """`coefficients[0] + coefficients[1] x + coefficients[2] x^2 + ...` at every element."""

    name = "poly.eval"
    T: ClassVar = VarConstraint("T", base(TensorType))
    value = operand_def(T)
    coefficients = prop_def(ArrayAttr[FloatAttr])
    result = result_def(T)
    traits = traits_def(Pure())
    assembly_format = "$value $coefficients attr-dict `:` type($value)"

    def verify_(self) -> None:
        if not self.coefficients.data:
            raise VerifyException("poly.eval needs a coefficient")


def lower_eval(builder: Lowering, op: EvalOp) -> None:
    """One `linalg.generic` over the elements, with Horner's rule in its body."""
    type = op.result.type
    if not is_tensor_type(type) or not isinstance(type.element_type, AnyFloat):
        raise Unsupported(f"on {type}; a tensor of floats is needed")
    coefficients = [attr.value.data for attr in op.coefficients.data]
    x = builder.get(op.value)
    identity = builder.identity(len(type.shape))

    def horner(scalars, elements):
        (element,) = elements
        sum = scalars.constant(element.type, coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            sum = scalars.fma(sum, element, scalars.constant(element.type, coefficient))
        return sum

    builder.set(op.result, builder.parallel([(x, identity)], type, horner))


def register(registry: Registry) -> None:
    registry.add_dialect(Dialect("poly", [EvalOp], []))
    registry.add_lowering(EvalOp, lower_eval)
