"""Arithmetic, comparisons, logic and conversions: elements on their own, operands broadcast as numpy does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce

from xdsl.dialects.builtin import f32, i1, i32
from xdsl.ir import Attribute, SSAValue

from tiree.dialects.syntax.small_floats import small_float
from tiree.input.expansions.build import element_of, of_element
from tiree.input.lowering.context import Unsupported
from tiree.input.onnx.build import OnnxBuild, is_float, is_unsigned
from tiree.input.onnx.node import Conversion, Node
from tiree.input.onnx.types import element_of_number
from tiree.support.typed import is_integer_type


def unary(name: str) -> Conversion:
    return lambda node: node.build.unary(name, node.input(0))


def binary(name: str) -> Conversion:
    def convert(node: Node) -> SSAValue:
        a, b = node.input(0), node.input(1)
        if node.version < 7 and (node.int("broadcast", 0) or node.has("axis")):
            b = _aligned(node, b)
        return node.build.binary(name, a, b)

    return convert


def _aligned(node: Node, b: SSAValue) -> SSAValue:
    """Before opset 7 the second operand's dimensions are those of the first from `axis` on."""
    rank, own = node.rank(0), node.rank(1)
    return node.build.unsqueeze(b, range(own, rank - node.axis(rank - own, rank))) if own else b


def compare(direction: str) -> Conversion:
    return lambda node: node.build.compare(direction, node.input(0), node.input(1))


def _variadic(name: str) -> Conversion:
    return lambda node: reduce(partial(node.build.binary, name), node.inputs())


def _mean(node: Node) -> SSAValue:
    total = reduce(node.build.add_, node.inputs())
    return node.build.divide(total, node.build.like(total, len(node)))


def _absolute(node: Node) -> SSAValue:
    value = node.input(0)
    return value if is_unsigned(element_of(value)) else node.build.unary("abs", value)


def _sign(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    if is_unsigned(element_of(value)):
        return build.minimum(value, build.like(value, 1))
    return build.unary("sign", value)


def _reciprocal(node: Node) -> SSAValue:
    return node.build.divide(node.build.like(node.input(0), 1), node.input(0))


def _modulo(node: Node) -> SSAValue:
    """With `fmod` the sign is that of the first operand, else of the second."""
    build, a, b = node.build, node.input(0), node.input(1)
    rest = build.binary("remainder", a, b)
    if node.int("fmod", 0) or is_unsigned(element_of(a)):
        return rest
    zero = build.like(rest, 0)
    differ = build.compare("NE", build.compare("LT", rest, zero), build.compare("LT", b, zero))
    wrong = build.binary("and", build.compare("NE", rest, zero), differ)
    return build.select(wrong, build.add_(rest, b), rest)


def _power(node: Node) -> SSAValue:
    """In the type of the first operand; of integers to a float in that float."""
    build, a, b = node.build, node.input(0), node.input(1)
    base, exponent = element_of(a), element_of(b)
    if base == exponent:
        return build.binary("power", a, b)
    if is_float(base) or not is_float(exponent):
        return build.binary("power", a, build.convert(b, base))
    return build.convert(build.binary("power", build.convert(a, exponent), b), base)


def _shift(node: Node) -> SSAValue:
    """Of numbers with a sign, to the right, the sign is kept."""
    right = "logical" if is_unsigned(node.element()) else "arithmetic"
    names = {"LEFT": "shift_left", "RIGHT": f"shift_right_{right}"}
    direction = node.string("direction")
    if direction not in names:
        raise Unsupported(f"with the direction {direction!r}")
    return node.build.binary(names[direction], node.input(0), node.input(1))


def _where(node: Node) -> SSAValue:
    return node.build.select(node.input(0), node.input(1), node.input(2))


def _identity(node: Node) -> SSAValue:
    return node.input(0)


def _is_nan(node: Node) -> SSAValue:
    return node.build.compare("NE", node.input(0), node.input(0))


def _is_infinite(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    if element_of(value).name.startswith(("f8", "f4")):
        value = build.convert(value, f32)
    found = [
        build.compare("EQ", value, build.like(value, number))
        for key, number in (("detect_negative", float("-inf")), ("detect_positive", float("inf")))
        if node.int(key, 1)
    ]
    if not found:
        return build.compare("LT", value, value)
    return reduce(partial(build.binary, "or"), found)


def cast_to(build: OnnxBuild, value: SSAValue, element: Attribute, saturate: bool = True) -> SSAValue:
    """A conversion as ONNX has it: toward zero to integers, small floats at their largest number if `saturate`."""
    own = element_of(value)
    if own == element:
        return value
    format = small_float(element)
    if format is not None and not is_integer_type(own) and small_float(own) is None and saturate:
        if format.kind == "scale":
            raise Unsupported(f"to {element}")
        largest = format.value(format.largest)
        finite = build.clamp(build.like(value, -largest), value, build.like(value, largest))
        return build.convert(finite, element)
    if small_float(own) is not None and (format is not None or is_integer_type(element)):
        return cast_to(build, build.convert(value, f32), element, saturate)
    if format is not None and is_integer_type(own):
        return cast_to(build, build.convert(value, f32), element, saturate)
    if is_integer_type(element) and not is_integer_type(own) and 1 < element.width.data < 8:
        return build.convert(build.convert(value, i32), element)  # What is beyond them wraps.
    return build.convert(value, element)


def _cast(node: Node) -> SSAValue:
    element = element_of_number(node.int("to"))
    return cast_to(node.build, node.input(0), element, bool(node.int("saturate", 1)))


def _cast_like(node: Node) -> SSAValue:
    return cast_to(node.build, node.input(0), node.element(1), bool(node.int("saturate", 1)))


def _bit_cast(node: Node) -> SSAValue:
    element = element_of_number(node.int("to"))
    return node.build.value("bitcast_convert", [node.input(0)], of_element(node.input(0), element))


def _clip(node: Node) -> SSAValue:
    """The smaller bound counts less: where `min` is above `max`, all is `max`."""
    build, value = node.build, node.input(0)
    bounds: list[SSAValue | None] = [node.optional(1), node.optional(2)]
    if node.version < 11:
        bounds = [build.like(value, node.float(key)) if node.has(key) else None for key in ("min", "max")]
    for name, bound in zip(("maximum", "minimum"), bounds, strict=True):
        if bound is not None:
            value = build.binary(name, value, bound)
    return value


def _logical(name: str) -> Conversion:
    convert = binary(name)

    def checked(node: Node) -> Sequence[SSAValue | None] | SSAValue:
        if node.element() != i1:
            raise Unsupported(f"on elements of type {node.element()}")
        return convert(node)

    return checked


UNARY: dict[str, Conversion] = {
    name: unary(op)
    for name, op in {
        "Acos": "chlo.acos",
        "Acosh": "chlo.acosh",
        "Asin": "chlo.asin",
        "Asinh": "chlo.asinh",
        "Atan": "chlo.atan",
        "Atanh": "chlo.atanh",
        "BitwiseNot": "not",
        "Ceil": "ceil",
        "Cos": "cosine",
        "Cosh": "chlo.cosh",
        "Erf": "chlo.erf",
        "Exp": "exponential",
        "Floor": "floor",
        "Log": "log",
        "Neg": "negate",
        "Not": "not",
        "Round": "round_nearest_even",
        "Sigmoid": "logistic",
        "Sin": "sine",
        "Sinh": "chlo.sinh",
        "Sqrt": "sqrt",
        "Tan": "chlo.tan",
        "Tanh": "tanh",
    }.items()
}
BINARY: dict[str, Conversion] = {
    "Add": binary("add"),
    "And": _logical("and"),
    "BitShift": _shift,
    "BitwiseAnd": binary("and"),
    "BitwiseOr": binary("or"),
    "BitwiseXor": binary("xor"),
    "Div": binary("divide"),
    "Equal": compare("EQ"),
    "Greater": compare("GT"),
    "GreaterOrEqual": compare("GE"),
    "Less": compare("LT"),
    "LessOrEqual": compare("LE"),
    "Max": _variadic("maximum"),
    "Mean": _mean,
    "Min": _variadic("minimum"),
    "Mod": _modulo,
    "Mul": binary("multiply"),
    "Or": _logical("or"),
    "Pow": _power,
    "Sub": binary("subtract"),
    "Sum": _variadic("add"),
    "Xor": _logical("xor"),
}
CONVERSIONS: dict[str, Conversion] = {
    **UNARY,
    **BINARY,
    "Abs": _absolute,
    "BitCast": _bit_cast,
    "Cast": _cast,
    "CastLike": _cast_like,
    "Clip": _clip,
    "Identity": _identity,
    "IsInf": _is_infinite,
    "IsNaN": _is_nan,
    "Reciprocal": _reciprocal,
    "Sign": _sign,
    "Where": _where,
}
