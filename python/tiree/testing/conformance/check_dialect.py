"""The `check` dialect of StableHLO's interpreter tests: ops that compare a value with a constant or another value.

Their text: `check.expect_eq_const %x, dense<...> : tensor<...>` with perhaps `, tolerance = 0.1` behind it, and
`check.expect_eq %x, %y : tensor<...>`, where a tolerance or `max_ulp_difference` may stand before the types.
"""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, f64
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.parser.core import UnresolvedOperand

_LIMITS = ("tolerance", "max_ulp_difference", "min_ulp_difference")


class _CheckOp(Operation):
    """`value` among the properties is the constant, where there is one; limits are there as they are written."""

    PROPERTIES = ("value", *_LIMITS)


def _read_limits(parser: Parser) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    while parser.parse_optional_punctuation(",") is not None:
        name = parser.parse_identifier()
        if name not in _LIMITS:
            parser.raise_error(f"{name} is none of {', '.join(_LIMITS)}")
        parser.parse_punctuation("=")
        number = parser.parse_number()
        found[name] = FloatAttr(float(number), f64)
        # `0.1 : f64`; a type that is a tensor belongs to the operands.
        place = parser.pos
        if parser.parse_optional_punctuation(":") is not None and not isinstance(parser.parse_type(), AnyFloat):
            parser._resume_from(place)  # pyright: ignore[reportPrivateUsage]: xDSL's parser has no other way back
    return found


class _ConstantCheckOp(_CheckOp):
    @classmethod
    def parse(cls, parser: Parser) -> Operation:
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        value = parser.parse_attribute()
        properties = {"value": value, **_read_limits(parser), **parser.parse_optional_attr_dict()}
        type = getattr(value, "type", None)
        if type is None:
            parser.raise_error("the value of a check is dense<...>")
        return cls.create(operands=[parser.resolve_operand(operand, type)], properties=properties)


class _PairCheckOp(_CheckOp):
    @classmethod
    def parse(cls, parser: Parser) -> Operation:
        operands: list[UnresolvedOperand] = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        operands.append(parser.parse_unresolved_operand())
        properties = _read_limits(parser) | parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = [parser.parse_type()]
        if parser.parse_optional_punctuation(",") is not None:
            types.append(parser.parse_type())
        values: list[SSAValue] = [
            parser.resolve_operand(operand, type) for operand, type in zip(operands, types * 2, strict=False)
        ]
        return cls.create(operands=values, properties=properties)


class ExpectEqConstOp(_ConstantCheckOp):
    name = "check.expect_eq_const"


class ExpectAlmostEqConstOp(_ConstantCheckOp):
    name = "check.expect_almost_eq_const"


class ExpectEqOp(_PairCheckOp):
    name = "check.expect_eq"


class ExpectAlmostEqOp(_PairCheckOp):
    name = "check.expect_almost_eq"


class ExpectCloseOp(_PairCheckOp):
    name = "check.expect_close"


CHECK = Dialect("check", [ExpectEqConstOp, ExpectAlmostEqConstOp, ExpectEqOp, ExpectAlmostEqOp, ExpectCloseOp], [])


def limit(op: Operation, name: str, default: float) -> float:
    """A limit of a check as a number."""
    attr = op.properties.get(name)
    return float(attr.value.data) if isinstance(attr, (FloatAttr, IntegerAttr)) else default
