"""Host arithmetic, executed by the reference VM and compared with Python's integers and floats."""

import math
import re
import struct

import pytest

INT_CASES = [(7, 3), (-7, 3), (7, -3), (-1, 5), (2147483647, 1), (-2147483648, 7), (0, 9), (12, 2)]
FLOAT_CASES = [(1.5, 2.25), (-3.5, 2.0), (0.0, -0.0), (1e30, 1e-30)]


def wrap(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def unsigned(value: int, bits: int = 32) -> int:
    return value & ((1 << bits) - 1)


BINARY = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "divsi": lambda a, b: int(math.copysign(1, a * b)) * (abs(a) // abs(b)) if a else 0,
    "divui": lambda a, b: unsigned(a) // unsigned(b),
    "remsi": lambda a, b: int(math.fmod(a, b)),
    "remui": lambda a, b: unsigned(a) % unsigned(b),
    "minsi": min,
    "maxsi": max,
    "minui": lambda a, b: min(unsigned(a), unsigned(b)),
    "maxui": lambda a, b: max(unsigned(a), unsigned(b)),
    "ceildivsi": lambda a, b: -(-a // b),
    "floordivsi": lambda a, b: a // b,
    "ceildivui": lambda a, b: -(-unsigned(a) // unsigned(b)),
}
PREDICATES = [
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    lambda a, b: unsigned(a) < unsigned(b),
    lambda a, b: unsigned(a) <= unsigned(b),
    lambda a, b: unsigned(a) > unsigned(b),
    lambda a, b: unsigned(a) >= unsigned(b),
]


def module(body: str, inputs: str, outputs: str, args: str) -> str:
    return f"""
"builtin.module"() ({{
  "util.func"() <{{function_type = ({inputs}) -> ({outputs}), sym_name = "f"}}> ({{
  ^bb0({args}):
{body}
  }}) : () -> ()
}}) : () -> ()
"""


def results(output: str) -> list[float]:
    return [float(x) for x in re.findall(r"result\[\d+\]: \w+=(\S+)", output)]


def test_integer_operations_on_i32(run_with_iree) -> None:
    lines = [f'    %{n} = "arith.{n}"(%a, %b) : (i32, i32) -> i32' for n in BINARY]
    names = ", ".join(f"%{n}" for n in BINARY)
    types = ", ".join(["i32"] * len(BINARY))
    lines.append(f'    "util.return"({names}) : ({types}) -> ()')
    text = module("\n".join(lines), "i32, i32", types, "%a: i32, %b: i32")
    for a, b in INT_CASES:
        got = results(run_with_iree(text, "f", str(a), str(b)))
        assert dict(zip(BINARY, got, strict=True)) == {n: wrap(f(a, b)) for n, f in BINARY.items()}, (a, b)


@pytest.mark.parametrize("type", ["i8", "i32", "i64"])
def test_comparisons(run_with_iree, type: str) -> None:
    bits = int(type[1:])
    lines = [
        f'    %{i} = "arith.cmpi"(%a, %b) <{{predicate = {i} : i64}}> : ({type}, {type}) -> i1\n'
        f'    %e{i} = "arith.extui"(%{i}) : (i1) -> i32'
        for i in range(10)
    ]
    lines.append(f'    "util.return"({", ".join(f"%e{i}" for i in range(10))}) : ({", ".join(["i32"] * 10)}) -> ()')
    text = module("\n".join(lines), f"{type}, {type}", ", ".join(["i32"] * 10), f"%a: {type}, %b: {type}")
    for a, b in [(1, 2), (2, 1), (-1, 1), (3, 3), (-128, 127)]:
        got = results(run_with_iree(text, "f", str(a), str(b)))
        expected = [f(a, b) if i < 6 else f(a % (1 << bits), b % (1 << bits)) for i, f in enumerate(PREDICATES)]
        assert got == [float(x) for x in expected], (a, b)


def test_conversions_between_widths(run_with_iree) -> None:
    text = module(
        """    %t = "arith.trunci"(%a) : (i64) -> i8
    %s = "arith.extsi"(%t) : (i8) -> i64
    %u = "arith.extui"(%t) : (i8) -> i32
    %f = "arith.sitofp"(%a) : (i64) -> f32
    %d = "arith.sitofp"(%t) : (i8) -> f64
    %i = "arith.fptosi"(%d) : (f64) -> i32
    "util.return"(%s, %u, %f, %d, %i) : (i64, i32, f32, f64, i32) -> ()""",
        "i64",
        "i64, i32, f32, f64, i32",
        "%a: i64",
    )
    assert results(run_with_iree(text, "f", "200")) == [-56, 200, 200.0, -56.0, -56]


@pytest.mark.parametrize(("type", "given", "wrapped"), [("i8", 100, -56), ("i8", -128, 0), ("i16", 20000, -25536)])
def test_narrow_results_are_signed_numbers(run_with_iree, type: str, given: int, wrapped: int) -> None:
    body = f"""    %s = "arith.addi"(%a, %a) <{{overflowFlags = #arith.overflow<none>}}> : ({type}, {type}) -> {type}
    "util.return"(%s, %a) : ({type}, {type}) -> ()"""
    text = module(body, type, f"{type}, {type}", f"%a: {type}")
    assert results(run_with_iree(text, "f", str(given))) == [wrapped, given]


def test_float_operations(run_with_iree) -> None:
    names = ["addf", "subf", "mulf", "divf", "maximumf", "minimumf"]
    lines = [
        f'    %{n} = "arith.{n}"(%a, %b) <{{fastmath = #arith.fastmath<none>}}> : (f32, f32) -> f32' for n in names
    ]
    lines.append(f'    "util.return"({", ".join("%" + n for n in names)}) : ({", ".join(["f32"] * 6)}) -> ()')
    text = module("\n".join(lines), "f32, f32", ", ".join(["f32"] * 6), "%a: f32, %b: f32")

    def f32(x: float) -> float:
        return struct.unpack("<f", struct.pack("<f", x))[0]

    for a, b in FLOAT_CASES:
        got = results(run_with_iree(text, "f", repr(a), repr(b)))
        quotient = a / b if b else math.nan
        quotient = math.inf if abs(quotient) > 3.5e38 else f32(quotient)
        expected = [f32(a + b), f32(a - b), f32(a * b), quotient, max(a, b), min(a, b)]
        for g, e in zip(got, expected, strict=True):
            assert g == pytest.approx(e, rel=1e-5, nan_ok=True), (a, b)


def test_float_to_int_cuts_the_fraction(run_with_iree) -> None:
    text = module(
        """    %i = "arith.fptosi"(%a) : (f32) -> i32
    "util.return"(%i) : (i32) -> ()""",
        "f32",
        "i32",
        "%a: f32",
    )
    for value in (2.5, -2.5, 0.99, -0.99, 3.5):
        assert results(run_with_iree(text, "f", repr(value))) == [int(value)]
