"""Operations whose line was read before under other names are those that reading them gives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

import pytest
from tiree.dialects import get_context, print_module, read_module
from tiree.dialects.syntax.repeated_lines import RepeatedLines
from tiree.support.errors import CompileError
from tiree.support.typed import operands_of
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Dialect, Operation
from xdsl.parser import Parser

TESTS = Path(__file__).parents[2]
TEXTS = sorted([*TESTS.glob("dialects/**/*.mlir"), *TESTS.glob("hal/samples/*.mlir"), *TESTS.glob("input/**/*.mlir")])


def _everything(text: bytes) -> str:
    """The module with all locations and the names of values, or what is wrong with it."""
    try:
        module = read_module(text, get_context(), "text.mlir")
    except CompileError as error:
        return str(error)
    for op in module.walk():
        assert all(operands_of(use.operation)[use.index] is result for result in op.results for use in result.uses)
        assert op is module or op.parent is not None
    return print_module(module, debuginfo=True, generic=True)


def _agree(monkeypatch: pytest.MonkeyPatch, text: str | bytes) -> str:
    """What is read with and without lines that are known."""
    data = text.encode() if isinstance(text, str) else text
    found = _everything(data)
    with monkeypatch.context() as patch:
        patch.setattr(RepeatedLines, "read", _none)
        assert found.splitlines() == _everything(data).splitlines()
    return found


def _none(*given: object) -> None:
    del given


def _function(*lines: str) -> str:
    head = "func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {"
    return "\n".join([head, *lines, "  return %a : tensor<4xf32>", "}"])


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_texts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_bytes()
    _agree(monkeypatch, b"module {\n" + text + b"\nmodule {\n" + text + b"\n}\n}\n")


def test_operands_names_and_places(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _agree(
        monkeypatch,
        _function(
            "  %0 = stablehlo.multiply %a, %a : tensor<4xf32>",
            "  %1 = stablehlo.multiply %a, %b : tensor<4xf32>",
            "  %longer_2 = stablehlo.multiply %b, %0 : tensor<4xf32>",
            "\t %longer_3 = stablehlo.multiply %1, %longer_2 : tensor<4xf32>  ",
            "  %2 = stablehlo.multiply %b, %b : tensor<4xf32> // %comment",
            "  stablehlo.multiply %b, %2 : tensor<4xf32>",
            "  stablehlo.multiply %2, %b : tensor<4xf32>",
            "  %3:2 = util.optimization_barrier %a, %b : tensor<4xf32>, tensor<4xf32>",
            "  %4 = stablehlo.multiply %3, %3#1 : tensor<4xf32>",
            '  %5 = stablehlo.multiply %3#1, %3#0 : tensor<4xf32> loc("here")',
            "  %6 = stablehlo.multiply %5, %3#1 {mark} : tensor<4xf32>",
            "  %7 = stablehlo.multiply %6, %3#0 {mark} : tensor<4xf32>",
            '  %8 = "stablehlo.multiply"(%7, %3#0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>',
            '  %9 = "stablehlo.multiply"(%3#0, %8) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>',
        ),
    )
    assert '"text.mlir":5:15' in found


def test_attributes_are_the_operations_own(monkeypatch: pytest.MonkeyPatch) -> None:
    del monkeypatch
    lines = [f"  %{n} = stablehlo.add %a, %b {{mark = 1 : i32}} : tensor<4xf32>" for n in range(3)]
    module = read_module(_function(*lines).encode(), get_context(), "text.mlir")
    ops = [op for op in module.walk() if op.name == "stablehlo.add"]
    assert [len(op.attributes) for op in ops] == [1, 1, 1]
    ops[1].attributes.clear()
    ops[0].properties["more"] = ops[2].attributes["mark"]
    assert [len(op.attributes) for op in ops] == [1, 0, 1]
    assert [len(op.properties) for op in ops] == [1, 0, 0]


@pytest.mark.parametrize(
    "line",
    [
        "  %2 = stablehlo.add %i, %b : tensor<4xf32>",
        "  %2 = stablehlo.add %a, %missing : tensor<4xf32>",
        "  %1 = stablehlo.add %a, %b : tensor<4xf32>",
        "  %2 = stablehlo.add %a, %1#1 : tensor<4xf32>",
        "  %2, %3 = stablehlo.add %a, %b : tensor<4xf32>",
        "  %2:2 = stablehlo.add %a, %b : tensor<4xf32>",
        "  %2 = stablehlo.add %a, % : tensor<4xf32>",
    ],
)
def test_what_is_wrong_is_said_as_ever(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"  %{n} = stablehlo.add %a, %b : tensor<4xf32>" for n in range(2)]
    assert "error" in _agree(monkeypatch, _function(*lines, line))


def test_constants_that_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the text they are all the same."""
    lines = [
        f'  %{n} = stablehlo.constant dense<"0x{f"0000{digit}03F00000000" * (size // 2)}"> : tensor<{size}xf32>'
        for n, (digit, size) in enumerate([(1, 10000), (2, 10000), (3, 10), (3, 10), (4, 10), (5, 10000)])
    ]
    found = _agree(monkeypatch, _function(*lines, "  %x = stablehlo.add %a, %b : tensor<4xf32>"))
    assert re.findall(r'constant"\(\) <\{value = dense<["\[](?:0x0000(\d)|6.(\d)|7.(\d))', found) == [
        ("1", "", ""), ("2", "", ""), ("", "8", ""), ("", "8", ""), ("", "", "5"), ("5", "", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("more", ['loc("here")', "loc(unknown)", "// %a\n  loc(callsite(unknown at unknown))"])
def test_lines_that_go_on(more: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"  %{n} = stablehlo.add %a, %b : tensor<4xf32>" for n in range(3)]
    assert "error" not in _agree(monkeypatch, _function(*lines[:2], f"  {more}", lines[2], f"  {more}"))


class _Counted(Operation):
    """Reads as a number of its own."""

    name = "counting.next"
    read: ClassVar[int] = 0

    @classmethod
    def parse(cls, parser: Parser) -> _Counted:
        del parser
        cls.read += 1
        return cls.create(attributes={"number": IntegerAttr(cls.read, 64)})


def test_operations_of_others_are_read_each() -> None:
    context = get_context()
    context.load_dialect(Dialect("counting", [_Counted]))
    module = read_module(
        _function("  counting.next", "  counting.next", "  counting.next").encode(), context, "text.mlir"
    )
    numbers = [op.attributes["number"] for op in module.walk() if isinstance(op, _Counted)]
    assert numbers == [IntegerAttr(number, 64) for number in (1, 2, 3)]
