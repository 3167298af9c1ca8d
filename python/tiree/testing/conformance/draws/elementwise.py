"""Elementwise ops: of one to three operands, comparisons, conversions."""

from __future__ import annotations

from tiree.testing.conformance.draws.program import (
    ANY,
    COMPLEX,
    DTYPES,
    FLOATS,
    INTEGERS,
    NUMBERS,
    REALS,
    Draw,
    Drawer,
    Drawn,
    Entry,
    Value,
    is_complex,
    is_float,
    tensor,
)


def _unary(low: float = -4.0, high: float = 4.0, edges: int = 8) -> Drawer:
    def draw(d: Draw, name: str, element: str) -> Drawn:
        shape = d.shape()
        value = d.argument(shape, element, low=low, high=high, edges=edges)
        return d.done([d.one(name, [value], shape, element)])

    return draw


def _binary(low: float = -4.0, high: float = 4.0, edges: int = 8) -> Drawer:
    def draw(d: Draw, name: str, element: str) -> Drawn:
        shape = d.shape()
        values = [d.argument(shape, element, low=low, high=high, edges=edges) for _ in range(2)]
        return d.done([d.one(name, values, shape, element)])

    return draw


def _predicate(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    return d.done([d.one(name, [d.argument(shape, element, edges=40)], shape, "i1")])


def _abs(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    result = element.removeprefix("complex<").removesuffix(">")
    return d.done([d.one(name, [d.argument(shape, element)], shape, result)])


def _shift(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    values = [d.argument(shape, element, low=-100, high=100), d.argument(shape, element, low=0, high=70)]
    return d.done([d.one(name, values, shape, element)])


def _power(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    if is_float(element) or is_complex(element):
        values = [d.argument(shape, element, low=0.1, high=4), d.argument(shape, element)]
    else:
        values = [d.argument(shape, element), d.argument(shape, element, low=0, high=9, edges=0)]
    return d.done([d.one(name, values, shape, element)])


def _compare(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    values = [d.argument(shape, element, low=-2, high=2, edges=40) for _ in range(2)]
    directions = ("EQ", "NE") if is_complex(element) else ("EQ", "NE", "LT", "LE", "GT", "GE")
    if is_float(element) or is_complex(element):
        kind = d.pick(("FLOAT", "TOTALORDER")) if is_float(element) else "FLOAT"
    else:
        kind = "UNSIGNED" if element.startswith("ui") or element == "i1" else "SIGNED"
    results = [
        d.one(
            name,
            values,
            shape,
            "i1",
            f"comparison_direction = #stablehlo<comparison_direction {direction}>, "
            f"compare_type = #stablehlo<comparison_type {kind}>",
        )
        for direction in directions
    ]
    return d.done(results)


def _select(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    condition = d.argument(() if d.chance(30) else shape, "i1")
    values = [d.argument(shape, element) for _ in range(2)]
    return d.done([d.one(name, [condition, *values], shape, element)])


def _clamp(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    outer = () if d.chance(50) else shape
    low = d.argument(outer, element, low=-3, high=1, edges=0)
    high = d.argument(outer, element, low=1, high=3, edges=0)
    return d.done([d.one(name, [low, d.argument(shape, element), high], shape, element)])


def _convert(d: Draw, name: str, element: str) -> Drawn:
    """To every type, so that all pairs occur."""
    shape = d.shape(highest=3)
    value = d.argument(shape, element, low=-100, high=100, edges=20)
    targets = ANY if not is_complex(element) else (*COMPLEX, *FLOATS)
    return d.done([d.one(name, [value], shape, target) for target in targets])


def _bitcast(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape(highest=3)
    size = DTYPES[element].itemsize
    value = d.argument(shape, element, edges=0)
    results: list[Value] = []
    for target in (*REALS, *COMPLEX):
        wide = DTYPES[target].itemsize
        if is_complex(target) != is_complex(element):
            continue
        if wide == size:
            results.append(d.one(name, [value], shape, target))
        elif wide < size and not is_complex(element):
            results.append(d.one(name, [value], (*shape, size // wide), target))
        elif shape and shape[-1] * size == wide and not is_complex(element):
            results.append(d.one(name, [value], shape[:-1], target))
    return d.done(results)


def _reduce_precision(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    exponent, mantissa = d.pick((5, 8, 4, 3)), d.pick((10, 7, 3, 2, 1))
    properties = f"exponent_bits = {exponent} : i32, mantissa_bits = {mantissa} : i32"
    return d.done([d.one(name, [d.argument(shape, element, low=-300, high=300)], shape, element, properties)])


def _complex(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape()
    values = [d.argument(shape, element) for _ in range(2)]
    return d.done([d.one(name, values, shape, f"complex<{element}>")])


def _broadcast_select(d: Draw, name: str, element: str) -> Drawn:
    shape = d.shape(lowest=1, zero=0)
    shapes = [tuple(1 if d.chance(30) else extent for extent in shape) for _ in range(2)]
    operands = [d.argument(shapes[0], "i1"), d.argument(shapes[1], element), d.argument(shape, element)]
    return d.done([d.one(name, operands, shape, element)])


def _chlo_constant(d: Draw, name: str, element: str) -> Drawn:
    """One value, of its own shape or in the shape of an operand."""
    number = d.pick((0, 1, 2)) if element[0] in "ui" else d.pick((0.5, -2.0, 0.0))
    text = str(number)
    if name == "chlo.constant":
        shape = d.shape(highest=2)
        return d.done([d.one(name, [], shape, element, f"value = dense<{text}> : {tensor(shape, element)}")])
    value = d.argument(d.shape(), element)
    return d.done([d.one(name, [value], value.shape, element, f"value = {text} : {element}")])


def _broadcasting(d: Draw, name: str, element: str) -> Drawn:
    """CHLO's binary ops: extents of 1 stretch, and a lower rank stands at the end."""
    shape = d.shape(lowest=1, zero=0)
    other = tuple(1 if d.chance(30) else extent for extent in shape)[d.below(len(shape) + 1) :]
    shapes = [shape, other] if d.chance(70) else [other, shape]
    floats = is_float(element) or is_complex(element)
    low = 1.1 if "zeta" in name or "poly" in name else 0.1 if "power" in name else -4.0
    edges = 0 if "power" in name or "zeta" in name or "poly" in name or not floats else 8
    if "shift" in name:
        values = [d.argument(shapes[0], element, low=-100, high=100), d.argument(shapes[1], element, low=0, high=40)]
    else:
        values = [d.argument(each, element, low=low, edges=edges) for each in shapes]
    properties, result = "", element
    if name == "chlo.broadcast_compare":
        result = "i1"
        properties = "comparison_direction = #chlo<comparison_direction LT>"
    if name == "chlo.broadcast_complex":
        result = f"complex<{element}>"
    return d.done([d.one(name, values, shape, result, properties)])


_LOGICAL = (*INTEGERS, "i1")
_INEXACT = FLOATS + COMPLEX
_SIGNED = (*FLOATS, "i32", "i8", "i16", "i64")
_SINGLE = ("f32", "f64")

_UNARY: dict[str, tuple[Drawer, tuple[str, ...]]] = {
    **{
        f"stablehlo.{name}": (_unary(), _INEXACT)
        for name in ("exponential", "exponential_minus_one", "logistic", "tanh")
    },
    **{f"stablehlo.{name}": (_unary(-9, 9, 4), _INEXACT) for name in ("sine", "cosine")},
    "stablehlo.tan": (_unary(-1.4, 1.4, 0), _INEXACT),
    "stablehlo.cbrt": (_unary(), FLOATS),
    **{f"stablehlo.{name}": (_unary(0.01, 9), _INEXACT) for name in ("log", "sqrt", "rsqrt")},
    "stablehlo.log_plus_one": (_unary(-0.9, 9), _INEXACT),
    **{
        f"stablehlo.{name}": (_unary(-9, 9), FLOATS)
        for name in ("ceil", "floor", "round_nearest_afz", "round_nearest_even")
    },
    "stablehlo.sign": (_unary(), (*_SIGNED, *COMPLEX)),
    "stablehlo.negate": (_unary(), NUMBERS),
    "stablehlo.not": (_unary(), _LOGICAL),
    "stablehlo.popcnt": (_unary(-100, 100), INTEGERS),
    "stablehlo.count_leading_zeros": (_unary(-100, 100), INTEGERS),
    **{f"chlo.{name}": (_unary(-0.95, 0.95, 0), FLOATS) for name in ("acos", "asin", "atanh", "erf_inv")},
    **{f"chlo.{name}": (_unary(), FLOATS) for name in ("atan", "asinh", "sinh", "cosh", "erf", "erfc", "bessel_i1e")},
    "chlo.tan": (_unary(-1.4, 1.4, 0), FLOATS),
    "chlo.acosh": (_unary(1, 9, 0), FLOATS),
    **{f"chlo.{name}": (_unary(0.1, 20, 0), FLOATS) for name in ("lgamma", "digamma")},
    "chlo.square": (_unary(), (*FLOATS, *COMPLEX)),
    "chlo.conj": (_unary(), COMPLEX),
}

_BINARY: dict[str, tuple[Drawer, tuple[str, ...]]] = {
    **{f"stablehlo.{name}": (_binary(), ANY) for name in ("add", "multiply")},
    "stablehlo.subtract": (_binary(), NUMBERS),
    "stablehlo.divide": (_binary(), NUMBERS),
    "stablehlo.remainder": (_binary(-99, 99), REALS),
    **{f"stablehlo.{name}": (_binary(), (*REALS, "i1")) for name in ("maximum", "minimum")},
    **{f"stablehlo.{name}": (_binary(-100, 100), _LOGICAL) for name in ("and", "or", "xor")},
    "stablehlo.atan2": (_binary(), FLOATS),
    "stablehlo.power": (_power, NUMBERS),
    **{
        f"stablehlo.{name}": (_shift, INTEGERS)
        for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical")
    },
    "stablehlo.complex": (_complex, _SINGLE),
    "chlo.mulhi": (_binary(-100, 100, 30), INTEGERS),
    "chlo.next_after": (_binary(edges=0), FLOATS),
    "chlo.zeta": (_binary(1.1, 6, 0), _SINGLE),
    "chlo.polygamma": (_binary(1, 6, 0), ("f64",)),
    **{
        f"chlo.broadcast_{name}": (_broadcasting, ("f32", "i32"))
        for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder", "compare")
    },
    **{f"chlo.broadcast_{name}": (_broadcasting, ("f32",)) for name in ("atan2", "complex", "power", "next_after")},
    **{f"chlo.broadcast_{name}": (_broadcasting, ("f64",)) for name in ("zeta", "polygamma")},
    **{
        f"chlo.broadcast_{name}": (_broadcasting, ("i32", "ui8"))
        for name in ("and", "or", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical")
    },
}

ELEMENTWISE: dict[str, Entry] = {
    **{name: Entry(*row) for name, row in (_UNARY | _BINARY).items()},
    "stablehlo.is_finite": Entry(_predicate, FLOATS),
    **{f"chlo.is_{name}": Entry(_predicate, FLOATS) for name in ("inf", "pos_inf", "neg_inf")},
    "stablehlo.abs": Entry(_abs, (*_SIGNED, *COMPLEX)),
    "stablehlo.real": Entry(_abs, COMPLEX),
    "stablehlo.imag": Entry(_abs, COMPLEX),
    "stablehlo.compare": Entry(_compare, ANY),
    "stablehlo.select": Entry(_select, ANY),
    "chlo.broadcast_select": Entry(_broadcast_select, ("f32", "i32")),
    "chlo.constant": Entry(_chlo_constant, ("f32", "i32")),
    "chlo.constant_like": Entry(_chlo_constant, ("f32", "i32")),
    "stablehlo.clamp": Entry(_clamp, REALS),
    "stablehlo.convert": Entry(_convert, ANY),
    "stablehlo.bitcast_convert": Entry(_bitcast, REALS + COMPLEX),
    "stablehlo.reduce_precision": Entry(_reduce_precision, FLOATS),
}
