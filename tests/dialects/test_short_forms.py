"""What iree-opt prints in short form is read as its generic form is: the same operations, on samples that hold all."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from dialects.iree_opt import find_tool
from tiree.dialects import get_context, print_module, read_module
from tiree.dialects.syntax.reader import custom_readers
from tiree.support.errors import CompileError
from xdsl.dialects.builtin import ModuleOp

HERE = Path(__file__).parent
SAMPLES = sorted([*(HERE / "samples").glob("*.mlir"), *(HERE.parent / "hal" / "samples").glob("*.mlir")])
IMPLIED = {"util.func": "tied_operands", "linalg.matmul": "indexing_maps", "vm.import": "res_attrs"}
"""Properties that one of the forms spells out and the other does not."""
TABLES = ("flow", "hal", "iree_codegen", "iree_linalg_ext", "iree_tensor_ext", "stream", "vm")


def printed_by_iree(path: Path, *flags: str) -> str:
    done = subprocess.run([find_tool("iree-opt"), str(path), *flags], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return done.stdout


def normal(text: str) -> str:
    """The generic form of `text` without names, with properties in alphabetical order."""
    module: ModuleOp = read_module(text.encode(), get_context(), "printed.mlir")
    module.verify()
    for op in module.walk():
        for result in op.results:
            result.name_hint = None
        properties = {name: value for name, value in op.properties.items() if IMPLIED.get(op.name) != name}
        if op.name.endswith("export") and str(properties.get("sym_visibility")) == '"public"':
            del properties["sym_visibility"]
        op.properties = dict(sorted(properties.items()))
        if op.name == "linalg.unpack":
            # MLIR's reader of the short form adds segment sizes, which the op does not need.
            op.attributes.pop("operandSegmentSizes", None)
        op.attributes = dict(sorted(op.attributes.items()))
    return print_module(module, generic=True)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_the_short_form_is_the_generic_form(path: Path) -> None:
    short, generic = printed_by_iree(path), printed_by_iree(path, "--mlir-print-op-generic")
    assert normal(short).splitlines() == normal(generic).splitlines()


def test_samples_hold_every_form() -> None:
    text = "".join(printed_by_iree(path, "--mlir-print-op-generic") for path in SAMPLES)
    missing = [
        name for table in TABLES for name in custom_readers(table) if f'"{name}"(' not in text and name not in NOT_IREES
    ]
    assert missing == []


NOT_IREES = (
    "iree_linalg_ext.index",
    "vm.cast.si32.f64",
    "vm.cast.ui32.f64",
    "vm.cast.f64.si32",
    "vm.cast.f64.ui32",
)
"""Instructions of the VM that iree-opt has no operation for, and an op that only stands in bodies of custom ops."""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hal.fence.signal<%f : !hal.fence", "expected '>' in hal.fence.signal"),
        ("hal.command_buffer.finalize %c", "expected '<' in hal.command_buffer.finalize"),
        ('%0 = hal.memory_type<"DeviceLocal|Somewhere"> : i32', "unknown flag 'Somewhere'"),
        ("stream.cmd.dispatch @a::@b { ra %x[%o for %l] : !stream.resource<*>{%s} }", "expected 'ro' or 'wo' or 'rw'"),
        ("%0 = flow.dispatch @a::@b(%t) : (tensor<4xf32>) -> %u", "a tied result must name an operand"),
        ("%0 = vm.const.i32 1.5", "vm.const.i32 needs a value of type i32"),
        ("vm.call.variadic @f(%a, [%b]) : (i32)", "2 operands and spans but 1 types"),
    ],
)
def test_errors_name_the_place(text: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        read_module(f"builtin.module {{\n  {text}\n}}".encode(), get_context(), "bad.mlir")
    assert message in str(caught.value)
    assert "bad.mlir:" in str(caught.value)
