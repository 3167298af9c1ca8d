"""Every scalar operation that the host executes, at edge values, with what numpy and the specification of `arith` and
`math` say it gives. A case is left out where the result is undefined: division by zero, shifts by the width and more,
conversions of what does not fit."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
FLOATS = {"f32": np.float32, "f64": np.float64}

Value = int | float


@dataclass(frozen=True)
class Case:
    """One operation on one type: `body` computes `%0` of type `result` from `%a`, `%b` and `%c`."""

    name: str
    operands: tuple[str, ...]
    result: str
    body: str
    expected: Callable[..., Value | None]
    """None: the result is undefined."""
    exact: bool = True


def wrap(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if width > 1 and value >> (width - 1) else value


def integers(width: int) -> list[int]:
    """Edges, in signed form (i1: 0 and 1)."""
    if width == 1:
        return [0, 1]
    top = 1 << (width - 1)
    return sorted({0, 1, 2, 3, 7, width - 1, 100, -1, -2, -3, -7, -100, top - 1, top - 2, -top, -top + 1, top >> 1})


def floats(name: str) -> list[float]:
    type = FLOATS[name]
    info = np.finfo(type)
    special = [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 3.5, 4.5, 1e-30, 8388609.0, 4503599627370497.0, 2.0**63, 1e20]
    special += [16777217.0, 2147483647.0, 4294967295.0, 2.0**63 + 2.0**40, 2.0**64 - 2.0**40, 2.0**53 - 1]
    special += [float(info.tiny), float(info.tiny) / 4, float(info.max), math.inf, 0.49999997, 1.0000001]
    return [*(float(type(v)) for s in special for v in (s, -s)), math.nan]


def signed(value: int, width: int) -> int:
    """An i1 as the signed number that it is."""
    return -value if width == 1 else value


def unsigned(value: int, width: int) -> int:
    return value & ((1 << width) - 1)


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


Integer = Callable[[int, int], int]

_SIGNED: dict[str, Integer] = {
    "divsi": _quotient,
    "remsi": lambda a, b: a - b * _quotient(a, b),
    "ceildivsi": lambda a, b: -(-a // b),
    "floordivsi": lambda a, b: a // b,
    "minsi": min,
    "maxsi": max,
    "shrsi": lambda a, b: a >> b,
}
_UNSIGNED: dict[str, Integer] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "divui": lambda a, b: a // b,
    "remui": lambda a, b: a % b,
    "ceildivui": lambda a, b: -(-a // b),
    "minui": min,
    "maxui": max,
    "shli": lambda a, b: a << b,
    "shrui": lambda a, b: a >> b,
}
_PREDICATES: dict[str, Callable[[int, int], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def _defined(name: str, a: int, b: int, width: int) -> bool:
    if name.startswith("sh"):
        return 0 <= b < width
    if "div" in name or name.startswith("rem"):
        overflow = name.endswith("si") and width > 1 and a == -(1 << (width - 1)) and b == -1
        return b != 0 and not overflow and not (width == 1 and name.endswith("si"))
    return True


def _integer_binary(type: str) -> Iterator[Case]:
    width = WIDTHS[type]
    for view, table in ((signed, _SIGNED), (unsigned, _UNSIGNED)):
        for name, compute in table.items():

            def expected(
                a: int, b: int, *, name: str = name, compute: Integer = compute, view: Integer = view
            ) -> int | None:
                if not _defined(name, a, b, width):
                    return None
                shift = unsigned(b, width) if name.startswith("sh") else view(b, width)
                return wrap(compute(view(a, width), shift), width)

            yield Case(name, (type, type), type, f"%0 = arith.{name} %a, %b : {type}", expected)


def _integer_compare(type: str) -> Iterator[Case]:
    width = WIDTHS[type]
    for name, compute in (("eq", lambda a, b: a == b), ("ne", lambda a, b: a != b)):
        body = f"%0 = arith.cmpi {name}, %a, %b : {type}"
        yield Case(f"cmpi_{name}", (type, type), "i1", body, lambda a, b, compute=compute: int(compute(a, b)))
    for sign, view in (("s", signed), ("u", unsigned)):
        for name, compute in _PREDICATES.items():
            body = f"%0 = arith.cmpi {sign}{name}, %a, %b : {type}"
            yield Case(
                f"cmpi_{sign}{name}",
                (type, type),
                "i1",
                body,
                lambda a, b, compute=compute, view=view: int(compute(view(a, width), view(b, width))),
            )


def _integer_unary(type: str) -> Iterator[Case]:
    width = WIDTHS[type]

    def trailing(a: int) -> int:
        bits = unsigned(a, width)
        return width if bits == 0 else (bits & -bits).bit_length() - 1

    table: dict[str, Callable[[int], int]] = {
        "ctlz": lambda a: width - unsigned(a, width).bit_length(),
        "cttz": trailing,
        "ctpop": lambda a: unsigned(a, width).bit_count(),
        "absi": lambda a: abs(signed(a, width)),
    }
    for name, compute in table.items():
        yield Case(
            name, (type,), type, f"%0 = math.{name} %a : {type}", lambda a, compute=compute: wrap(compute(a), width)
        )


def _extended(type: str) -> Iterator[Case]:
    width = WIDTHS[type]
    if type != "index":
        body = f"%s, %0 = arith.addui_extended %a, %b : {type}, i1"
        yield Case(
            "addui_carry", (type, type), "i1", body, lambda a, b: (unsigned(a, width) + unsigned(b, width)) >> width
        )
    for sign, view in (("s", signed), ("u", unsigned)):
        for part, shift in (("low", 0), ("high", width)):
            names = "%0, %h" if part == "low" else "%l, %0"
            yield Case(
                f"mul{sign}_{part}",
                (type, type),
                type,
                f"{names} = arith.mul{sign}i_extended %a, %b : {type}",
                lambda a, b, view=view, shift=shift: wrap((view(a, width) * view(b, width)) >> shift, width),
            )


def integer_cases(type: str) -> list[Case]:
    """Operations on integers of `type`, and from it to other types."""
    width = WIDTHS[type]
    cases = [*_integer_binary(type), *_integer_compare(type), *_integer_unary(type), *_extended(type)]
    body = f"%0 = arith.select %c, %a, %b : {type}"
    cases.append(Case("select", (type, type, "i1"), type, body, lambda a, b, c: a if c else b))
    for other, target in WIDTHS.items():
        cast = {(True, False): "trunci", (False, True): "ext"}.get((target < width, target > width))
        if "index" in (type, other):
            cast = None if type == other else "index_cast"
        if cast is None:
            continue
        for sign, view in (("s", signed), ("u", unsigned)):
            if cast == "trunci" and sign == "u":
                continue
            op = {"ext": f"ext{sign}i", "trunci": "trunci", "index_cast": "index_cast" + ("ui" if sign == "u" else "")}
            cases.append(
                Case(
                    f"{op[cast]}_{other}",
                    (type,),
                    other,
                    f"%0 = arith.{op[cast]} %a : {type} to {other}",
                    lambda a, view=view, target=target: wrap(view(a, width), target),
                )
            )
    return cases


def from_integer_cases(type: str) -> list[Case]:
    """Floats of integers of `type`, correctly rounded."""
    width, cases = WIDTHS[type], list[Case]()
    for target, numpy_type in FLOATS.items():
        for sign, view, whole in (("s", signed, np.int64), ("u", unsigned, np.uint64)):
            cases.append(
                Case(
                    f"{sign}itofp_{target}",
                    (type,),
                    target,
                    f"%0 = arith.{sign}itofp %a : {type} to {target}",
                    lambda a, view=view, whole=whole, numpy_type=numpy_type: float(numpy_type(whole(view(a, width)))),
                )
            )
    return cases


def to_integer_cases(type: str) -> list[Case]:
    """Integers of floats of `type`: what is behind the point goes."""
    cases = list[Case]()
    for target in ("i1", "i8", "i16", "i32", "i64"):
        width = WIDTHS[target]
        for sign in "su":
            low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if sign == "s" else (0, (1 << width) - 1)

            def expected(a: float, *, low: int = low, high: int = high, width: int = width) -> int | None:
                if not math.isfinite(a) or not low <= int(a) <= high:
                    return None
                return wrap(int(a), width)

            cases.append(
                Case(
                    f"fpto{sign}i_{target}",
                    (type,),
                    target,
                    f"%0 = arith.fpto{sign}i %a : {type} to {target}",
                    expected,
                )
            )
    return cases


def _extremum(name: str, a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return math.nan if name.endswith("imumf") else b if math.isnan(a) else a
    if a == b:  # -0 is less than 0
        low, high = sorted((a, b), key=lambda v: math.copysign(1, v))
    else:
        low, high = min(a, b), max(a, b)
    return high if name.startswith("max") else low


def _float_predicate(name: str, a: float, b: float) -> bool:
    unordered = math.isnan(a) or math.isnan(b)
    if name in ("ord", "uno"):
        return unordered == (name == "uno")
    if name in ("true", "false"):
        return name == "true"
    if unordered:
        return name[0] == "u"
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[name[1:]]


def _round(a: float) -> float:
    """Halves away from zero, with the sign of `a`."""
    if not math.isfinite(a) or abs(a) >= 2.0**52:
        return a
    whole = math.floor(abs(a))
    return math.copysign(whole + (abs(a) - whole >= 0.5), a)


def float_cases(type: str) -> list[Case]:
    """Operations on floats of `type` whose results have no error."""
    kind = FLOATS[type]

    def binary(name: str, op: str, compute: Callable[[float, float], float]) -> Case:
        return Case(name, (type, type), type, f"%0 = {op} %a, %b : {type}", compute)

    def of_numpy(function: Callable[..., np.floating]) -> Callable[..., float]:
        def compute(*values: float) -> float:
            with np.errstate(all="ignore"):
                return float(function(*(kind(v) for v in values)))

        return compute

    cases = [
        binary(name, f"arith.{name}", of_numpy(function))
        for name, function in (
            ("addf", np.add), ("subf", np.subtract), ("mulf", np.multiply), ("divf", np.divide), ("remf", np.fmod),
        )
    ]  # fmt: skip
    cases += [
        binary(name, f"arith.{name}", lambda a, b, name=name: _extremum(name, a, b))
        for name in ("maximumf", "minimumf")
    ]
    # Of two zeros, `maxnumf` and `minnumf` may give either.
    cases += [
        binary(name, f"arith.{name}", lambda a, b, name=name: None if a == b == 0 else _extremum(name, a, b))
        for name in ("maxnumf", "minnumf")
    ]
    cases.append(
        binary(
            "copysign", "math.copysign", lambda a, b: None if math.isnan(a) or math.isnan(b) else math.copysign(a, b)
        )
    )
    for name in (
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
        "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
    ):  # fmt: skip
        body = f"%0 = arith.cmpf {name}, %a, %b : {type}"
        cases.append(
            Case(f"cmpf_{name}", (type, type), "i1", body, lambda a, b, name=name: int(_float_predicate(name, a, b)))
        )
    unary: dict[str, Callable[[float], float]] = {
        "arith.negf": lambda a: -a,
        "math.absf": abs,
        "math.ceil": of_numpy(np.ceil),
        "math.floor": of_numpy(np.floor),
        "math.trunc": of_numpy(np.trunc),
        "math.round": _round,
        "math.roundeven": of_numpy(np.rint),
        "math.sqrt": of_numpy(np.sqrt),
    }
    cases += [Case(op.partition(".")[2], (type,), type, f"%0 = {op} %a : {type}", f) for op, f in unary.items()]
    tiny = float(np.finfo(kind).tiny)
    tests: dict[str, Callable[[float], bool]] = {
        "isnan": math.isnan,
        "isinf": math.isinf,
        "isfinite": math.isfinite,
        "isnormal": lambda a: math.isfinite(a) and abs(a) >= tiny,
    }
    cases += [Case(n, (type,), "i1", f"%0 = math.{n} %a : {type}", lambda a, f=f: int(f(a))) for n, f in tests.items()]
    other = "f64" if type == "f32" else "f32"
    cast = "extf" if type == "f32" else "truncf"
    cases.append(Case(cast, (type,), other, f"%0 = arith.{cast} %a : {type} to {other}", of_numpy(FLOATS[other])))
    body = f"%0 = arith.select %c, %a, %b : {type}"
    cases.append(Case("select", (type, type, "i1"), type, body, lambda a, b, c: a if c else b))
    return [*cases, *_float_bits(type), *to_integer_cases(type)]


def _float_bits(type: str) -> Iterator[Case]:
    kind = FLOATS[type]
    whole, name = (np.int32, "i32") if type == "f32" else (np.int64, "i64")
    body = f"%0 = arith.bitcast %a : {type} to {name}"
    yield Case("bitcast", (type,), name, body, lambda a: None if math.isnan(a) else int(kind(a).view(whole)))


_FUNCTIONS: dict[str, Callable[..., float]] = {
    "acos": math.acos, "acosh": math.acosh, "asin": math.asin, "asinh": math.asinh, "atan": math.atan,
    "atanh": math.atanh, "cos": math.cos, "cosh": math.cosh, "erf": math.erf,
    "exp": math.exp, "exp2": math.exp2, "expm1": math.expm1, "log": math.log, "log10": math.log10,
    "log1p": math.log1p, "log2": math.log2, "rsqrt": lambda a: 1 / math.sqrt(a), "sin": math.sin,
    "sinh": math.sinh, "tan": math.tan, "tanh": math.tanh,
}  # fmt: skip


def _in_domain(function: Callable[..., float], kind: type[np.floating]) -> Callable[..., float | None]:
    def compute(*values: float) -> float | None:
        try:
            result = function(*values)
        except (ValueError, OverflowError, ZeroDivisionError):
            return None
        with np.errstate(over="ignore"):
            return float(kind(result)) if isinstance(result, float) else None

    return compute


def function_cases(type: str) -> list[Case]:
    """Functions that are near what is right; where Python has no answer, none is asked for."""
    kind = FLOATS[type]
    cases = [
        Case(name, (type,), type, f"%0 = math.{name} %a : {type}", _in_domain(function, kind), exact=False)
        for name, function in _FUNCTIONS.items()
    ]
    for name, function in (("powf", math.pow), ("atan2", math.atan2)):
        body = f"%0 = math.{name} %a, %b : {type}"
        cases.append(Case(name, (type, type), type, body, _in_domain(function, kind), exact=False))
    return cases


def inputs(case: Case) -> Iterator[tuple[Value, ...]]:
    pools: list[list[Value]] = []
    for type in case.operands:
        pools.append(list(floats(type)) if type in FLOATS else list(integers(WIDTHS[type])))
    return itertools.product(*pools)


def module(cases: list[Case], *, open_bits: bool = False) -> str:
    """One function for each case, `f0` and so on.

    With `open_bits` narrow integers are cut from an i32 (see `with_open_bits`).
    """
    lines = list[str]()
    for number, case in enumerate(cases):
        operands = list(zip("abc", case.operands, strict=False))
        narrow = [n for n, t in operands if open_bits and t in ("i8", "i16")]
        arguments = ", ".join(f"%{n}_wide: i32" if n in narrow else f"%{n}: {t}" for n, t in operands)
        lines.append(f"func.func @f{number}({arguments}) -> {case.result} {{")
        lines += [f"  %{n} = arith.trunci %{n}_wide : i32 to {t}" for n, t in operands if n in narrow]
        lines += [f"  {case.body}", f"  return %0 : {case.result}", "}"]
    return "\n".join(lines)


def with_open_bits(case: Case, values: tuple[Value, ...]) -> tuple[Value, ...]:
    """What to pass for `values` of narrow integers so that the bits above them are anything."""
    return tuple(
        wrap(unsigned(int(value), WIDTHS[type]) | (0x5A5AB << WIDTHS[type]), 32) if type in ("i8", "i16") else value
        for type, value in zip(case.operands, values, strict=True)
    )
