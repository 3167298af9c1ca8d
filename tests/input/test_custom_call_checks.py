"""Custom calls whose operands, results or settings are none of their target: refused at their place, never compiled.

A call of a wrong size would read and write memory that is not its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
import tiree
from tiree.input.factorizations.custom_calls import ROUTINES
from tiree.input.lapack import call_of
from tiree.input.lowering.control_flow import FUNCTION_TARGETS, IDENTITY_TARGETS
from tiree.support.errors import CompileError

SETTINGS = (
    "mode=86:ui8, uplo=76:ui8, side=76:ui8, trans_x=78:ui8, diag=78:ui8, sort=78:ui8, compute_left=86:ui8, "
    "compute_right=86:ui8, low=1:i32, high=4:i32, left=true, transpose=false"
)
F, V, PLACES, NUMBER = "4x4xf32", "4xf32", "4xi32", "i32"


def text(target: str, operands: Sequence[str], results: Sequence[str], settings: str = SETTINGS) -> str:
    def types(names: Sequence[str]) -> str:
        return ", ".join(f"tensor<{name}>" for name in names)

    arguments = ", ".join(f"%a{n}: tensor<{name}>" for n, name in enumerate(operands))
    used = ", ".join(f"%a{n}" for n in range(len(operands)))
    made = ", ".join(f"%r#{n}" for n in range(len(results)))
    bound = f"%r:{len(results)} = " if results else ""
    returned = f"return {made} : {types(results)}" if results else "return"
    return f"""func.func @main({arguments}) -> ({types(results)}) {{
  {bound}"stablehlo.custom_call"({used}) <{{call_target_name = "{target}"}}> {{mhlo.backend_config = {{{settings}}}}}
    : ({types(operands)}) -> ({types(results)})
  {returned}
}}"""


def refusal(*call: object) -> str:
    with pytest.raises(CompileError) as error:
        tiree.compile(text(*call))  # type: ignore[arg-type]
    assert "internal error" not in str(error.value)
    return str(error.value)


def said_of(module: str) -> str:
    """What the compiler says of a program; nothing if it takes it."""
    try:
        tiree.compile(module)
    except CompileError as error:
        return str(error)
    return ""


WRONG = [
    ("sormqr", [F, V, "9x2xf32"], ["9x2xf32"], "operand 3 has 9 rows; the reflectors in operand 1 have 4"),
    ("sormqr", [F, "5xf32", F], [F], "it has 5 reflectors, and only 4 fit"),
    ("sorgqr", [F, V], ["9x9xf32"], "result 1 is tensor<9x9xf32>; dimension -2 must be 4"),
    ("sorgqr", [F, "7xf32"], [F], "it has 7 reflectors, and only 4 fit"),
    ("sorgqr", [F, F], [F], "operand 2 is tensor<4x4xf32>, with the leading dimensions"),
    ("sorgqr", ["3x4xf32", "3xf32"], ["3x4xf32"], "it has 4 columns, and only 3 fit"),
    ("sorgqr", [F, V], ["4x4xi64"], "needs elements of type f32"),
    ("cungqr", [F, V], [F], "needs elements of type complex<f32>"),
    ("spotrf", ["4x3xf32"], [F, NUMBER], "dimension -1 must be 4"),
    ("spotrf", [F], ["9x9xf32", NUMBER], "result 1 is tensor<9x9xf32>"),
    ("spotrf", [F, V], [F, NUMBER], "it has 2 operands; needs 1"),
    ("sgetrf", [F], [F, "9xi32", NUMBER], "result 2 is tensor<9xi32>; dimension -1 must be 4"),
    ("sgetrf", [F], [F], "it has 1 results; needs 3"),
    ("strsm", [F, "3x2xf32"], ["3x2xf32"], "operand 2 has 3 rows; the triangular matrices have 4"),
    ("strsm", [F, F], ["4x4xi64"], "needs elements of type f32"),
    ("ssyevd", ["4x3xf32"], [F, V, NUMBER], "dimension -1 must be 4"),
    ("cheevd", [F], [F, V, NUMBER], "needs elements of type complex<f32>"),
    ("sgeqrf", [F], [F, "99xf32"], "dimension -1 must be 4"),
    ("ssytrd", ["3x5xf32"], ["3x5xf32", "5xf32", V, V, NUMBER], "dimension -1 must be 3"),
    ("sgtsv", [V, "3xf32", V, "4x1xf32"], [V, "3xf32", V, "4x1xf32", NUMBER], "dimension -1 must be 4"),
    ("sgesdd", [F], [F, V, "4x9xf32", F, NUMBER], "its mode is 'V'"),
    ("sgees", ["3x0xf32"], ["9x9xf32", "4x4xi64"], "it has 2 results; needs 6"),
    ("sgeqp3", [F, "5xi32"], [F, PLACES, V], "operand 2 is tensor<5xi32>; dimension -1 must be 4"),
    ("sgeev", ["2x4x4xf32"], ["3x4xf32", "2x4xf32", *["2x4x4xcomplex<f32>"] * 2, "2xi32"], "those of operand 1"),
]


@pytest.mark.parametrize(("routine", "operands", "results", "message"), WRONG)
def test_calls_of_lapack(routine: str, operands: list[str], results: list[str], message: str) -> None:
    said = refusal(f"lapack_{routine}_ffi", operands, results)
    assert f"to lapack_{routine}_ffi is wrong: " in said
    assert message in said
    assert "<input>:2:" in said


@pytest.mark.parametrize(
    ("setting", "message"),
    [("mode=7:ui8, uplo=76:ui8", "its mode is '\\x07'"), ("mode=86:ui8, uplo=3:ui8", "its uplo is '\\x03'")],
)
def test_settings(setting: str, message: str) -> None:
    assert message in refusal("lapack_ssyevd_ffi", [F], [F, V, NUMBER], setting)


def test_vectors_that_a_mode_has() -> None:
    wide = ["4x6xf32", V, "4x4xf32", "4x6xf32", NUMBER]
    assert "result 4 has 4 vectors in mode A; needs 6" in refusal("lapack_sgesdd_ffi", ["4x6xf32"], wide, "mode=65:ui8")
    tiree.compile(text("lapack_sgesdd_ffi", ["4x6xf32"], wide, "mode=83:ui8"))


@pytest.mark.parametrize(
    "target", [*FUNCTION_TARGETS, *sorted(IDENTITY_TARGETS), *(f"lapack_s{name}_ffi" for name in ROUTINES)]
)
def test_no_call_is_an_internal_error(target: str) -> None:
    """Whatever operands and results: compiled, if the target takes them, or refused."""
    operands: list[list[str]] = [
        [],
        [V],
        ["f32"],
        ["3x0xf32"],
        ["4x4xi32"],
        [F, "3xf32"],
        [F] * 4,
        ["?x4xf32"],
        [F],
        ["i1"],
    ]
    results: list[list[str]] = [[], [V], ["9x9xf32"], [F, NUMBER], [F, PLACES, NUMBER], [F] * 5, ["4x4xi64"]]
    for given, made in product(operands, results):
        assert "internal error" not in said_of(text(target, given, made)), (given, made)


def test_a_token_is_no_matrix() -> None:
    call = '"stablehlo.custom_call"(%t) <{call_target_name = "lapack_spotrf_ffi"}>'
    module = f"""func.func @main() -> tensor<4x4xf32> {{
  %t = stablehlo.create_token : !stablehlo.token
  %r:2 = {call} : (!stablehlo.token) -> (tensor<4x4xf32>, tensor<i32>)
  return %r#0 : tensor<4x4xf32>
}}"""
    with pytest.raises(CompileError, match="to lapack_spotrf_ffi is wrong: it has 0 operands; needs 1"):
        tiree.compile(module)


@pytest.mark.parametrize(
    ("routine", "operands", "result"),
    [
        ("sorgqr", ["?x4x4xf32", "?x4xf32"], "?x4x4xf32"),
        ("sormqr", ["?x4x4xf32", "?x4xf32", "?x4x2xf32"], "?x4x2xf32"),
        ("strsm", ["?x4x4xf32", "?x4x2xf32"], "?x4x2xf32"),
    ],
)
def test_batches_that_differ_when_it_runs(routine: str, operands: list[str], result: str) -> None:
    main = tiree.load(tiree.compile(text(f"lapack_{routine}_ffi", operands, [result]))).main

    def arguments(*batches: int) -> list[np.ndarray]:
        shapes = [[int(size) for size in operand.split("x")[1:-1]] for operand in operands]
        return [np.ones((batch, *shape), np.float32) for batch, shape in zip(batches, shapes, strict=True)]

    equal = [3] * len(operands)
    assert np.asarray(main(*arguments(*equal))).shape[0] == 3
    for place in range(len(operands)):
        with pytest.raises((RuntimeError, ValueError), match="dimension 0"):
            main(*arguments(*(2 if n == place else 3 for n in range(len(operands)))))
    assert np.asarray(main(*arguments(*equal))).shape[0] == 3


def test_every_routine_has_its_sizes() -> None:
    for name in ROUTINES:
        assert call_of(f"lapack_s{name}_ffi") or call_of(f"lapack_c{name}_ffi"), name
