"""What the short forms of named linalg ops leave out: scalar bodies and the indexing maps that are the default.

The operations are those that MLIR puts there, so that the generic forms agree.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.arith import FastMathFlagsAttr, IntegerOverflowAttr
from xdsl.dialects.builtin import AffineMapAttr, AnyFloat, ArrayAttr, FloatAttr, i1
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tiree.dialects.linalg_ext import CONTRACTIONS, CONVOLUTIONS, POOLINGS, ElementwiseKindAttr
from tiree.dialects.syntax.reader import Reader
from tiree.support.typed import is_array_attr, is_integer_type

_DEFAULT_MAPS: dict[str, tuple[int, tuple[tuple[int, ...], ...]]] = {
    "matmul": (3, ((0, 2), (2, 1), (0, 1))),
    "batch_matmul": (4, ((0, 1, 3), (0, 3, 2), (0, 1, 2))),
    "batch_reduce_matmul": (4, ((0, 1, 3), (0, 3, 2), (1, 2))),
}
"""Loops, and the dims of each operand, of ops whose maps may be given."""

_FLOAT_UNARY = {
    "exp": "math.exp",
    "log": "math.log",
    "abs": "math.absf",
    "ceil": "math.ceil",
    "floor": "math.floor",
    "negf": "arith.negf",
    "round": "math.round",
    "sqrt": "math.sqrt",
    "rsqrt": "math.rsqrt",
    "tanh": "math.tanh",
    "erf": "math.erf",
}
_FLOAT_BINARY = {
    "add": "addf",
    "sub": "subf",
    "mul": "mulf",
    "div": "divf",
    "max_signed": "maximumf",
    "min_signed": "minimumf",
    "sum": "addf",
    "max": "maximumf",
    "min": "minimumf",
}
_INTEGER_BINARY = {
    "add": "addi",
    "sub": "subi",
    "mul": "muli",
    "div": "divsi",
    "div_unsigned": "divui",
    "max_signed": "maxsi",
    "min_signed": "minsi",
    "max_unsigned": "maxui",
    "min_unsigned": "minui",
    "sum": "addi",
    "max": "maxsi",
    "min": "minsi",
}
_BOOLEAN_BINARY = {"add": "ori", "mul": "andi"}


def element_of(type: Attribute) -> Attribute:
    """The element type of a shaped type, the type itself of a scalar."""
    return getattr(type, "element_type", type)


def default_maps(name: str) -> ArrayAttr[Attribute] | None:
    """The indexing maps that `name` has when its text gives none."""
    found = _DEFAULT_MAPS.get(name.removeprefix("linalg."))
    if found is None:
        return None
    loops, operands = found
    dims = [tuple(AffineExpr.dimension(dim) for dim in operand) for operand in operands]
    return ArrayAttr([AffineMapAttr(AffineMap(loops, 0, one)) for one in dims])


def copy_body(reader: Reader, types: Sequence[Attribute], position: int) -> Region:
    """The body of an op that only moves elements: it yields its first argument."""
    block = Block(arg_types=[element_of(type) for type in types])
    block.add_op(reader.build("linalg.yield", position, [block.args[0]]))
    return Region(block)


class _Builder:
    """Adds operations to a body."""

    def __init__(self, reader: Reader, types: Sequence[Attribute], position: int) -> None:
        self.reader = reader
        self.position = position
        self.block = Block(arg_types=[element_of(type) for type in types])
        self.target = element_of(types[-1])

    def op(self, name: str, *operands: SSAValue, **properties: Attribute) -> SSAValue:
        """An operation on `operands` with a result of the target's type and the flags that MLIR prints."""
        if name in ("arith.addi", "arith.subi", "arith.muli"):
            properties["overflowFlags"] = IntegerOverflowAttr("none")
        elif isinstance(self.target, AnyFloat) and name not in ("arith.constant", "arith.select"):
            properties["fastmath"] = FastMathFlagsAttr("none")
        op = self.reader.build(name, self.position, operands, [self.target], properties)
        self.block.add_op(op)
        return op.results[0]

    def binary(self, kind: str, left: SSAValue, right: SSAValue) -> SSAValue | None:
        """`add`, `max_unsigned`, ... on two values; None for a kind that the target's type does not have."""
        table = _FLOAT_BINARY if isinstance(self.target, AnyFloat) else _INTEGER_BINARY
        if self.target == i1 and kind in _BOOLEAN_BINARY:
            table = _BOOLEAN_BINARY
        return self.op(f"arith.{table[kind]}", left, right) if kind in table else None

    def converted(self, value: SSAValue, unsigned: bool) -> SSAValue:
        """`value` in the type of the target."""
        source, target = value.type, self.target
        if source == target:
            return value
        if isinstance(target, AnyFloat) and isinstance(source, AnyFloat):
            name = "arith.extf" if source.bitwidth < target.bitwidth else "arith.truncf"
        elif isinstance(target, AnyFloat):
            name = "arith.uitofp" if unsigned else "arith.sitofp"
        elif is_integer_type(source) and is_integer_type(target):
            wider = "arith.extui" if unsigned else "arith.extsi"
            name = wider if source.width.data < target.width.data else "arith.trunci"
        else:
            name = "arith.fptoui" if unsigned else "arith.fptosi"
        properties = {"overflowFlags": IntegerOverflowAttr("none")} if name == "arith.trunci" else {}
        op = self.reader.build(name, self.position, [value], [target], properties)
        self.block.add_op(op)
        return op.results[0]

    def finish(self, value: SSAValue | None) -> list[Region]:
        if value is None:
            return []
        self.block.add_op(self.reader.build("linalg.yield", self.position, [value]))
        return [Region(self.block)]


def _elementwise(b: _Builder, kind: str) -> SSAValue | None:
    *values, _ = b.block.args
    if kind == "select" and len(values) == 3:
        return b.op("arith.select", *values)
    if kind == "powf" and len(values) == 2:
        return b.op("math.powf", *values)
    if len(values) == 2:
        return b.binary(kind, *values)
    if kind == "square":
        return b.binary("mul", values[0], values[0])
    if not isinstance(b.target, AnyFloat):
        return None
    if kind == "reciprocal":
        one = b.op("arith.constant", value=FloatAttr(1.0, b.target))
        return b.op("arith.divf", one, values[0])
    return b.op(_FLOAT_UNARY[kind], values[0]) if kind in _FLOAT_UNARY else None


def understood_body(
    reader: Reader, name: str, types: Sequence[Attribute], properties: dict[str, Attribute], position: int
) -> list[Region]:
    """The body that a named op stands for; none where the name is all that is known here."""
    suffix = name.removeprefix("linalg.")
    if suffix == "copy":
        return [copy_body(reader, types, position)]
    b = _Builder(reader, types, position)
    if not (is_integer_type(b.target) or isinstance(b.target, AnyFloat)):
        return []
    if suffix == "elementwise":
        kind = properties.get("kind")
        properties.setdefault("indexing_maps", _identities(types))
        return b.finish(_elementwise(b, kind.kind.data) if isinstance(kind, ElementwiseKindAttr) else None)
    if suffix in POOLINGS:
        kind = suffix.split("_", 2)[2]
        value, _, out = b.block.args
        return b.finish(b.binary(kind, out, b.converted(value, kind.endswith("unsigned"))))
    if suffix not in (*CONTRACTIONS, *CONVOLUTIONS):
        return []
    unsigned = "cast_unsigned" in str(properties.get("cast", ""))
    left, right = (b.converted(value, unsigned) for value in b.block.args[:2])
    product = b.binary("mul", left, right)
    return b.finish(b.binary("add", b.block.args[-1], product) if product is not None else None)


def _identities(types: Sequence[Attribute]) -> Attribute:
    rank = len(getattr(types[-1], "get_shape", tuple)())
    maps = ArrayAttr([AffineMapAttr(AffineMap.identity(rank))] * len(types))
    assert is_array_attr(maps)
    return maps
