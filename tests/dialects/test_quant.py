"""Quantized types: however they are written, they are what MLIR makes of them, or are refused where it refuses them."""

from __future__ import annotations

import re
import subprocess
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import tiree
from dialects.iree_opt import find_tool, generic_by_iree
from input.running import run
from tiree.dialects import print_module, read_module
from tiree.support.errors import CompileError
from tiree.support.typed import is_tensor_type
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

SPELLINGS = [
    ["i8:f32, 0.5:3", "i8:f32, 0.50:3", "i8:f32, 5.0e-1:3", "i8:f32,0.5 : 3", "i8 : f32 , 0.5:3", "i8:f32, 0.5:0x3",
     "i8:f32, 0x3FE0000000000000:3", "i8<-128:127>:f32, 0.5:3", "i8< -128 : 127 >:f32, 05.E-01:3", "i08:f32, 0.5:3",
     "i8:f32, // half\n 0.5:3"],
    ["i8:f32, 0.5", "i8:f32, 0.5:0", "i8:f32, 0.500:-0"],
    ["i8:f32, 0.5:4"],
    ["i8<-127:127>:f32, 0.5", "i8<-0x7F:127>:f32, 0.5:0"],
    ["u8:f32, 0.5", "u8<0:255>:f32, 0.50"],
    ["u8<1:255>:f32, 0.1:3", "u8<0x1:0xFF>:f32, 0.10:3"],
    ["i8:f16, 0.5", "i8 : f16,0.5"],
    ["i8:f32, 0.1", "i8:f32, 1.0e-1", "i8:f32, 0x3FB999999999999A"],
    ["i8:f32, 0.333333333333333333333", "i8:f32, 0.33333333333333331"],
    ["i8:f32, 123456.789e3", "i8:f32, 0x419D6F3454000000"],
    ["i16:f16, 6.0e-8", "i16:f16, 0.6e-7"],
    ["u32<0:4294967295>:f64, 1.0e-310:4294967295", "u32:f64, 10.0e-311:4294967295"],
    ["i8:f32:1, {0.1:2, 0.20:3}", "i8:f32:1,{0.1:2,0.2:3}", "i8<-128:127>:f32:0x1, { 1.0e-1:2 , 0.2 : 3 }"],
    ["i8:f32:0, {0.1:2, 0.20:3}"],
    ["i8:f32:1, {0.1, 0.20:3}", "i8:f32:1, {0.1:0,0.2:3}"],
]  # fmt: skip
TYPES = [f"!quant.uniform<{text}>" for group in SPELLINGS for text in group]


def module(types: list[str]) -> str:
    arguments = ", ".join(f"%{i}: tensor<2x2x{type}>" for i, type in enumerate(types))
    return f"func.func @f({arguments}) {{\n  return\n}}\n"


def elements(source: str | bytes) -> list[Attribute]:
    function = next(op for op in read_module(source).walk() if isinstance(op, FuncOp))
    return [type.element_type for type in function.function_type.inputs.data if is_tensor_type(type)]


def printed(source: str | bytes) -> list[str]:
    return [str(element) for element in elements(source)]


def test_types_are_one_where_mlirs_are() -> None:
    groups = [elements(module([f"!quant.uniform<{text}>" for text in group])) for group in SPELLINGS]
    assert [len(set(group)) for group in groups] == [1] * len(groups)
    assert all(a[0] != b[0] for a, b in combinations(groups, 2))


def test_the_text_is_that_of_mlir() -> None:
    text = generic_by_iree(module(TYPES))
    assert printed(module(TYPES)) == re.findall(r"tensor<2x2x(!quant[^!]*>)>", text.partition("->")[0])
    assert printed(text) == printed(module(TYPES))


def by_iree(text: str, folder: Path) -> tuple[str, bytes]:
    """The module as text and as bytecode."""
    tool, written = find_tool("iree-opt"), folder / "m.mlirbc"
    subprocess.run([tool, "--emit-bytecode", "-", "-o", written], input=text.encode(), capture_output=True, check=True)
    shown = subprocess.run([tool, written], capture_output=True, text=True, check=True).stdout
    return shown, written.read_bytes()


def test_text_and_bytecode_have_the_same_types(tmp_path: Path) -> None:
    want = printed(module(TYPES))
    assert [printed(source) for source in by_iree(module(TYPES), tmp_path)] == [want] * 2


VHLO_FUNCTION = 'arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">'
VHLO = [
    ("quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 5.0e-01:3, -128:127, 1>", SPELLINGS[0][0]),
    ("quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0.50:0, -128:127, 1>", SPELLINGS[1][0]),
    ("quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0x3FE0000000000000:0, -127:127, 1>", SPELLINGS[3][0]),
    ("quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0.5:0, 0:255, 0>", SPELLINGS[4][0]),
    ("quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0.10:3, 1:255, 0>", SPELLINGS[5][0]),
    ("quant_per_axis_v1<!vhlo.i8_v1:!vhlo.f32_v1, 1, [0.1, 0.20], [2, 3], -128:127, 1>", SPELLINGS[12][0]),
    ("quant_per_axis_v1<!vhlo.i8_v1:!vhlo.f32_v1, 1, [0.1, 0.20], [0, 3], -128:127, 1>", SPELLINGS[14][0]),
]


def test_vhlo_has_the_same_types(tmp_path: Path) -> None:
    arguments = ", ".join(f"%{i}: !vhlo.tensor_v1<2x2x!vhlo.{type}>" for i, (type, _) in enumerate(VHLO))
    text = f'vhlo.func_v1 @f({arguments}) -> () {{\n  "vhlo.return_v1"() : () -> ()\n}} {{{VHLO_FUNCTION}}}\n'
    want = elements(module([f"!quant.uniform<{type}>" for _, type in VHLO]))
    assert [elements(source) for source in (text, *by_iree(text, tmp_path))] == [want] * 3


def test_short_names_and_the_long_form() -> None:
    text = "!q = !quant.uniform<i8:f32, 0.50:3>\n" + module(["!q", "!quant<uniform<i8:f32, 5.0e-1:3>>"])
    assert printed(text) == ["!quant.uniform<i8:f32, 5.000000e-01:3>"] * 2


def test_blocks_are_carried() -> None:
    text = "!quant.uniform<i8:f32:{0:1, 1:2}, {{0.1, 0.2}, {0.3, 0.4}}>"
    assert text in print_module(read_module(module([text])))


REFUSED = [
    ("i8:f32, 1:3", "a scale needs a point, such as 1.0 or 1.0e-03, found 1"),
    ("i8:f32, 1e-3", "a scale needs a point"),
    ("i8:f32, .5", "expected a scale, found '.'"),
    ("i8:f32, nan", "expected a scale, found 'nan'"),
    ("i8:f32, -0x3FE0000000000000", "without a sign"),
    ("i8:f32, 0x13FE0000000000000", "the bits of an f64"),
    ("i8:f32, 0x7FF0000000000000", "the scale inf is not positive and finite"),
    ("i8:f32, 1.0e39", "the scale 1e+39 is beyond what f32 has"),
    ("i8:f16, 70000.0", "the scale 70000.0 is beyond what f16 has"),
    ("i8:f16, 4.960464e-08", "the scale 4.960464e-08 is beyond what f16 has"),
    ("i8<5:5>:f32, 0.5:5", "5 to 5 is no range of 8-bit storage"),
    ("u8<-1:255>:f32, 0.5", "-1 to 255 is no range of 8-bit storage, which has 0 to 255"),
    ("i8<0:99999999999999999999>:f32, 0.5", "does not fit into 64 bits"),
    ("i64:f32, 0.5", "the storage i64 must have 1 to 32 bits"),
    ("u0:f32, 0.5", "the storage u0 must have 1 to 32 bits"),
    ("f32:f32, 0.5", "expected an integer type that stores quantized values, such as i8 or u8, found 'f32'"),
    ("i8:i32, 0.5", "the expressed type must be a float; it is i32"),
    ("i8, 0.5", "expected ':' and the expressed type"),
    ("i8:f32", "expected ',' and a scale"),
    ("i8:f32:-1, {0.5}", "the scales must be for a dimension from 0 on; they are for -1"),
    ("i8:f32:99999999999, {0.5}", "they are for 99999999999"),
    ("i8:f32:1, {}", "expected a scale, found '}'"),
    ("i8:f32:1, {0.1, 0.2,}", "expected a scale, found '}'"),
    ("i8:f32:1, 0.1", "expected '{' and a scale for each place of the dimension"),
    ("i8:f32, {0.1}", "expected a scale, found '{'"),
    ("i8:f32, 0.5:3, 4", "expected '>' after the scales"),
]


@pytest.mark.parametrize(("type", "message"), REFUSED)
def test_what_mlir_refuses(type: str, message: str) -> None:
    with pytest.raises(CompileError, match=rf"m\.mlir:1:\d+: error: .*{re.escape(message)}"):
        read_module(module([f"!quant.uniform<{type}>"]), filename="m.mlir")
    with pytest.raises(AssertionError, match="iree-opt refuses the module"):
        generic_by_iree(module([f"!quant.uniform<{type}>"]))


@pytest.mark.parametrize(
    ("type", "message"),
    [
        ("quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, -5.0e-01:3, -128:127, 1>", "the scale -0.5 is not positive"),
        ("quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 5.0e-01:3, -129:127, 1>", "-129 to 127 is no range of 8-bit storage"),
        ("quant_v1<!vhlo.f32_v1:!vhlo.f32_v1, 5.0e-01:3, -128:127, 1>", "f32 cannot store quantized values"),
        ("quant_per_axis_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0, [5.0e-01], [3, 4], -128:127, 1>", "1 scales need as many"),
    ],
)
def test_what_is_refused_in_vhlo(type: str, message: str) -> None:
    text = f"vhlo.func_v1 @f(%a: !vhlo.tensor_v1<2x!vhlo.{type}>) -> () {{\n}} {{}}\n"
    with pytest.raises(CompileError, match=rf"m\.mlir:1:\d+: error: .*{re.escape(message)}"):
        read_module(text, filename="m.mlir")


def test_programs_that_write_one_type_in_several_ways() -> None:
    a, b, c = (f"tensor<3x!quant.uniform<{text}>>" for text in SPELLINGS[0][:3])
    text = f"""func.func private @g(%x: {a}) -> {b} {{
  %0 = stablehlo.negate %x : {c}
  return %0 : {c}
}}
func.func @f(%x: {c}) -> {a} {{
  %0 = func.call @g(%x) : ({b}) -> {a}
  %1 = "stablehlo.maximum"(%0, %x) : ({b}, {c}) -> {a}
  return %1 : {c}
}}"""
    # (x - 3) / 2 is what x stands for, so that its negative is 6 - x.
    np.testing.assert_array_equal(run(text, np.array([3, 10, -1], np.int8))[0], [3, 10, 7])


def test_a_scale_that_is_no_number_is_refused() -> None:
    """The specification wants it finite; MLIR takes it."""
    with pytest.raises(CompileError, match="the scale nan is not positive and finite"):
        read_module(module(["!quant.uniform<i8:f32, 0x7FF8000000000000>"]))


def test_storage_of_stated_sign_is_refused() -> None:
    type = "tensor<2x!quant.uniform<si8:f32, 0.5>>"
    text = f"func.func @f(%x: {type}) -> {type} {{\n  %0 = stablehlo.abs %x : {type}\n  return %0 : {type}\n}}"
    with pytest.raises(CompileError, match=r":2:8: error: stablehlo\.abs .*si8.*its storage must be i or u of 2, 4"):
        tiree.compile(text)
