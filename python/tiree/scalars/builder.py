"""`ScalarBuilder`: emits arith and math operations on scalars into a block, in SSA order.

Types are signless; whoever calls knows the signedness. No flags: float operations are strict, integer ones wrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects import arith, math, tensor
from xdsl.dialects.arith import FastMathFlagsAttr, IntegerOverflowAttr
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    i1,
)
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.ir import Attribute, Block, Operation, SSAValue, TypedAttribute

from tiree.dialects import arith_ext
from tiree.dialects.arith import ConstantOp
from tiree.dialects.dense import encode_scalar
from tiree.support.typed import is_complex_type, is_float_attr, is_integer_attr, is_integer_type, tensor_type

if TYPE_CHECKING:
    from xdsl.dialects.complex import ComplexNumberAttr

ScalarAttr: TypeAlias = "IntegerAttr | FloatAttr | ComplexNumberAttr"

_FASTMATH = {"fastmath": FastMathFlagsAttr("none")}
_OVERFLOW = {"overflowFlags": IntegerOverflowAttr("none")}
_WITH_OVERFLOW = (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ShLIOp)
_CMPI = {name: IntegerAttr(i, 64) for i, name in enumerate(arith_ext.CMPI_PREDICATES)}
_CMPF = {name: IntegerAttr(i, 64) for i, name in enumerate(arith_ext.CMPF_PREDICATES)}
_INTEGER_CASTS = (arith.ExtSIOp, arith.ExtUIOp, arith.SIToFPOp, arith.UIToFPOp, arith.FPToSIOp, arith.FPToUIOp)


def inherent(op: Operation, name: str) -> Attribute | None:
    """A property by name; older text keeps properties in the attribute dictionary, so that is asked too."""
    attr = op.properties.get(name)
    return op.attributes.get(name) if attr is None else attr


def number_attribute(type: Attribute, value: complex) -> ScalarAttr:
    """The constant `value` of a scalar type, complex ones included."""
    if not is_complex_type(type):
        return scalar_attribute(type, value.real)
    from xdsl.dialects.complex import ComplexNumberAttr

    part = type.element_type
    assert isinstance(part, AnyFloat)
    return ComplexNumberAttr(value.real, value.imag, ComplexType(part))


def constant_op(value: TypedAttribute | ScalarAttr) -> Operation:
    """The op that makes a constant: `arith.constant`, or `complex.constant` for a complex scalar."""
    if value.name != "complex.number":
        assert isinstance(value, TypedAttribute)
        return ConstantOp.create(result_types=[value.get_type()], properties={"value": value})
    from xdsl.dialects import complex

    assert isinstance(value, complex.ComplexNumberAttr)
    part = value.type.element_type
    parts = ArrayAttr([FloatAttr(value.real.data, part), FloatAttr(value.imag.data, part)])
    return complex.ConstantOp.create(result_types=[value.type], properties={"value": parts})


def encoded(scalar: ScalarAttr) -> bytes:
    """The little-endian bytes of a scalar."""
    if is_integer_attr(scalar) or is_float_attr(scalar):
        return encode_scalar(scalar.type, scalar.value.data)
    part = scalar.type.element_type
    return encode_scalar(part, scalar.real.data) + encode_scalar(part, scalar.imag.data)


def scalar_attribute(type: Attribute, value: int | float) -> IntegerAttr | FloatAttr:
    """The constant `value` of a scalar type; integers wrap to the width (signed; `i1` is 0 or 1)."""
    if is_integer_type(type):
        width = type.width.data
        bits = int(value) & ((1 << width) - 1)
        if width > 1 and bits >> (width - 1):
            bits -= 1 << width
        return IntegerAttr(bits, IntegerType(width))
    if isinstance(type, IndexType):
        return IntegerAttr(int(value), type)
    assert isinstance(type, AnyFloat), type
    return FloatAttr(value, type)


def float_width(type: Attribute) -> int:
    """Bits of a float type."""
    assert isinstance(type, AnyFloat), type
    return type.bitwidth


def integer_width(type: Attribute) -> int:
    """Bits of an integer type; 64 for index."""
    if isinstance(type, IndexType):
        return 64
    assert is_integer_type(type), type
    return type.width.data


class ScalarBuilder:
    """Appends to `block`. Constants are emitted where they are first used and shared within the builder."""

    def __init__(self, block: Block, location: LocationAttr) -> None:
        self.block = block
        self.location = location
        self._constants: dict[Attribute, SSAValue] = {}

    def add(self, op: Operation) -> Operation:
        op.location = self.location
        self.block.add_op(op)
        return op

    def _value(self, op: Operation) -> SSAValue:
        return self.add(op).results[0]

    def constant(self, type: Attribute, value: int | float) -> SSAValue:
        return self.attribute(scalar_attribute(type, value))

    def attribute(self, attr: ScalarAttr) -> SSAValue:
        """The constant `attr`."""
        if is_complex_type(attr.type):
            assert not is_integer_attr(attr)
            assert not is_float_attr(attr)
            part = attr.type.element_type
            return self.create(self.constant(part, attr.real.data), self.constant(part, attr.imag.data))
        assert is_integer_attr(attr) or is_float_attr(attr)
        key = attr
        if is_float_attr(attr) and (attr.value.data != attr.value.data or attr.value.data == 0.0):
            # NaN never equals itself and -0.0 equals 0.0: both would confuse the table.
            return self._value(ConstantOp.create(result_types=[attr.type], properties={"value": attr}))
        if key not in self._constants:
            op = ConstantOp.create(result_types=[attr.type], properties={"value": attr})
            self._constants[key] = self._value(op)
        return self._constants[key]

    # Operations.

    def unary(self, op: type[Operation], a: SSAValue) -> SSAValue:
        """A float or integer op of one operand, result of the same type."""
        properties = _FASTMATH if isinstance(a.type, AnyFloat) else {}
        return self._value(op.create(operands=[a], result_types=[a.type], properties=dict(properties)))

    def binary(self, op: type[Operation], a: SSAValue, b: SSAValue) -> SSAValue:
        """A float or integer op of two operands, result of the same type."""
        integer = _OVERFLOW if op in _WITH_OVERFLOW else {}
        properties = _FASTMATH if isinstance(a.type, AnyFloat) else integer
        return self._value(op.create(operands=[a, b], result_types=[a.type], properties=dict(properties)))

    def fma(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        """a * b + c of floats, rounded once."""
        return self._value(math.FmaOp.create(operands=[a, b, c], result_types=[a.type], properties=dict(_FASTMATH)))

    def cast(self, op: type[Operation], a: SSAValue, type: Attribute) -> SSAValue:
        """A conversion op; `a` itself when it has the type already."""
        if a.type == type:
            return a
        return self._value(op.create(operands=[a], result_types=[type]))

    def cmpi(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._value(
            arith_ext.CmpIOp.create(operands=[a, b], result_types=[i1], properties={"predicate": _CMPI[predicate]})
        )

    def cmpf(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        properties = {"predicate": _CMPF[predicate], **_FASTMATH}
        return self._value(arith_ext.CmpFOp.create(operands=[a, b], result_types=[i1], properties=properties))

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._value(arith_ext.SelectOp.create(operands=[condition, a, b], result_types=[a.type]))

    def index(self, dim: int) -> SSAValue:
        """The counter of loop `dim` of the enclosing `linalg.generic`."""
        return self._value(
            IndexOp.create(result_types=[IndexType()], properties={"dim": IntegerAttr(dim, IntegerType(64))})
        )

    def extract(self, source: SSAValue, indices: list[SSAValue]) -> SSAValue:
        """One element of a tensor; the indices must be in range."""
        element = tensor_type(source).element_type
        return self._value(tensor.ExtractOp.create(operands=[source, *indices], result_types=[element]))

    # Complex numbers: pairs of floats.

    def create(self, real: SSAValue, imaginary: SSAValue) -> SSAValue:
        """The complex number of two floats of one type."""
        from xdsl.dialects.complex import CreateOp

        assert isinstance(real.type, AnyFloat)
        return self._value(CreateOp.create(operands=[real, imaginary], result_types=[ComplexType(real.type)]))

    def parts(self, a: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The real and the imaginary part of a complex number."""
        from xdsl.dialects.complex import CreateOp, ImOp, ReOp

        if isinstance(a.owner, CreateOp):
            return a.owner.real, a.owner.imaginary
        assert is_complex_type(a.type)
        part, properties = a.type.element_type, dict(_FASTMATH)
        real = ReOp.create(operands=[a], result_types=[part], properties=properties)
        imaginary = ImOp.create(operands=[a], result_types=[part], properties=properties)
        return self._value(real), self._value(imaginary)

    def complex_op(self, op: type[Operation], operands: Sequence[SSAValue], type: Attribute) -> SSAValue:
        """An op of the complex dialect on whole complex numbers."""
        return self._value(op.create(operands=operands, result_types=[type], properties=dict(_FASTMATH)))

    def _complex(self, name: str, *operands: SSAValue) -> SSAValue:
        from xdsl.dialects import complex

        return self.complex_op(getattr(complex, name), operands, operands[0].type)

    # Shorthands.

    def add_(self, a: SSAValue, b: SSAValue) -> SSAValue:
        if is_complex_type(a.type):
            return self._complex("AddOp", a, b)
        return self.binary(arith.AddfOp if isinstance(a.type, AnyFloat) else arith.AddiOp, a, b)

    def sub(self, a: SSAValue, b: SSAValue) -> SSAValue:
        if is_complex_type(a.type):
            return self._complex("SubOp", a, b)
        return self.binary(arith.SubfOp if isinstance(a.type, AnyFloat) else arith.SubiOp, a, b)

    def mul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        if is_complex_type(a.type):
            return self._complex("MulOp", a, b)
        return self.binary(arith.MulfOp if isinstance(a.type, AnyFloat) else arith.MuliOp, a, b)

    def div(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Float division."""
        return self.binary(arith.DivfOp, a, b)

    def and_(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.binary(arith.AndIOp, a, b)

    def or_(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.binary(arith.OrIOp, a, b)

    def not_(self, a: SSAValue) -> SSAValue:
        return self.binary(arith.XOrIOp, a, self.constant(a.type, -1))

    def neg(self, a: SSAValue) -> SSAValue:
        if isinstance(a.type, AnyFloat):
            return self.unary(arith.NegfOp, a)
        return self.sub(self.constant(a.type, 0), a)

    def abs(self, a: SSAValue) -> SSAValue:
        """Float magnitude."""
        return self.unary(math.AbsFOp, a)

    def float_resize(self, a: SSAValue, type: Attribute) -> SSAValue:
        """Converts between float types, rounding to nearest even."""
        if a.type == type:
            return a
        source, target = float_width(a.type), float_width(type)
        if source == target:
            # f16 and bf16: neither holds the other, f32 holds both.
            return self.float_resize(self.float_resize(a, Float32Type()), type)
        op = arith.ExtFOp if source < target else arith.TruncFOp
        return self._value(op.create(operands=[a], result_types=[type]))

    def bitcast(self, a: SSAValue, type: Attribute) -> SSAValue:
        return self.cast(arith.BitcastOp, a, type)

    def to_index(self, a: SSAValue, unsigned: bool) -> SSAValue:
        return self.cast(arith_ext.IndexCastUIOp if unsigned else arith.IndexCastOp, a, IndexType())

    def clamp_index(self, a: SSAValue, low: int, high: int) -> SSAValue:
        """`a` (index, signed) pinned to `low..high`."""
        a = self.binary(arith.MaxSIOp, a, self.constant(a.type, low))
        return self.binary(arith.MinSIOp, a, self.constant(a.type, high))


def widened(type: Attribute) -> Attribute:
    """The float type in which functions of `type` are evaluated: at least f32."""
    return Float32Type() if isinstance(type, (Float16Type, BFloat16Type)) else type


def is_double(type: Attribute) -> bool:
    return isinstance(type, Float64Type)
