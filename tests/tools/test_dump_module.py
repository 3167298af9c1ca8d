"""tiree-dump-module prints what iree-dump-module prints, for modules of both compilers."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest
from runtime.modules import ADD, ASYNC_FLAGS, MIXED, REFERENCES, TRACED, WAITS, iree_module, movements, tiree_module
from tools.runtime_tool import needs_iree, ours, refused, same, theirs

pytestmark = needs_iree

SIZES = ("--iree-vm-bytecode-module-strip-source-map=true", "--iree-vm-emit-polyglot-zip=false")
F32 = "tensor<4xf32>"


def unary(operation: str) -> str:
    return f"func.func @f(%a: {F32}) -> {F32} {{ %0 = {operation} : {F32} return %0 : {F32} }}"


# One line each, so that a module of its own costs little.
SMALL = {
    "negate": unary("stablehlo.negate %a"),
    "exponential": unary("stablehlo.exponential %a"),
    "tanh": unary("stablehlo.tanh %a"),
    "maximum": unary("stablehlo.maximum %a, %a"),
    "divide": unary("stablehlo.divide %a, %a"),
    "iota": f"func.func @f() -> {F32} {{ %0 = stablehlo.iota dim = 0 : {F32} return %0 : {F32} }}",
    "constant": f"func.func @f() -> {F32} {{"
    f"  %0 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : {F32} return %0 : {F32} }}",
    "dot": "func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>) -> tensor<4x5xf32> {"
    "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
    "    : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>"
    "  return %0 : tensor<4x5xf32> }",
    "reshape": f"func.func @f(%a: {F32}) -> tensor<2x2xf32> {{"
    f"  %0 = stablehlo.reshape %a : ({F32}) -> tensor<2x2xf32> return %0 : tensor<2x2xf32> }}",
    "convert": f"func.func @f(%a: {F32}) -> tensor<4xi32> {{"
    f"  %0 = stablehlo.convert %a : ({F32}) -> tensor<4xi32> return %0 : tensor<4xi32> }}",
    "select": f"func.func @f(%a: {F32}, %b: {F32}) -> {F32} {{"
    f"  %0 = stablehlo.compare GT, %a, %b : ({F32}, {F32}) -> tensor<4xi1>"
    f"  %1 = stablehlo.select %0, %a, %b : tensor<4xi1>, {F32} return %1 : {F32} }}",
    "while": """func.func @f(%n: tensor<i32>) -> tensor<i32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0 = stablehlo.while(%i = %zero) : tensor<i32> cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next : tensor<i32>
      }
      return %0 : tensor<i32>
    }""",
    "if": f"""func.func @f(%p: tensor<i1>, %a: {F32}) -> {F32} {{
      %0 = "stablehlo.if"(%p) ({{
        %t = stablehlo.add %a, %a : {F32}
        stablehlo.return %t : {F32}
      }}, {{
        %e = stablehlo.negate %a : {F32}
        stablehlo.return %e : {F32}
      }}) : (tensor<i1>) -> {F32}
      return %0 : {F32}
    }}""",
    "two": f"module @pair {{ func.func @f(%a: {F32}) -> {F32} {{ %0 = stablehlo.add %a, %a : {F32} return %0 : {F32} }}"
    f"  func.func @g(%a: {F32}) -> {F32} {{ %0 = stablehlo.sine %a : {F32} return %0 : {F32} }} }}",
}
IREE: dict[str, tuple[str, tuple[str, ...]]] = {
    "add": (ADD, ()),
    "add async": (ADD, ASYNC_FLAGS),
    "add small": (ADD, SIZES),
    "mixed": (MIXED, ()),
    "mixed small": (MIXED, SIZES),
    "moved": (movements(), ()),
    "references": (REFERENCES, ()),
    "traced": (TRACED, ()),
    "waits": (WAITS, ()),
    "waits small": (WAITS, SIZES),
    **{name: (text, ()) for name, text in SMALL.items()},
}
TIREE = {"add": ADD, **SMALL}
ALL = [*(f"iree {name}" for name in IREE), *(f"tiree {name}" for name in TIREE)]


DATA = sorted((Path(__file__).resolve().parents[2] / "rust" / "vm" / "tests" / "data").glob("*.vmfb"))


def test_there_are_forty():
    assert len(ALL) + len(DATA) >= 40


@cache
def bytes_of(name: str) -> bytes:
    maker, _, program = name.partition(" ")
    if maker == "iree":
        text, flags = IREE[program]
        return iree_module(text, *flags)
    return tiree_module(TIREE[program] + "\n")


@pytest.fixture
def module(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "module.vmfb"
    path.write_bytes(bytes_of(request.param))
    return path


@pytest.mark.parametrize("module", ALL, indirect=True)
def test_text(module: Path):
    """Metadata and the whole disassembly."""
    assert "vm.func" in same("dump-module", module)


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.stem)
def test_text_of_assembled_modules(path: Path):
    wanted = theirs("dump-module", path)
    if "unhandled ext opcode" in wanted.err:
        # Their disassembler has not all instructions that their interpreter has.
        assert ours("dump-module", path).code == 0
        return
    same("dump-module", path)


@pytest.mark.parametrize("module", ["iree mixed", "iree waits small", "tiree add", "tiree while"], indirect=True)
@pytest.mark.parametrize(
    "flags",
    [
        ("--output=metadata",),
        ("--output=disassembly",),
        ("--output=disassembly", "--bytecode_offsets"),
        ("--bytecode_offsets=true",),
        ("--output=flatbuffer-binary",),
        ("--output=all",),
    ],
    ids=" ".join,
)
def test_outputs(module: Path, flags: tuple[str, ...]):
    same("dump-module", *flags, module)


@pytest.mark.parametrize(
    "module", ["iree add", "iree mixed", "iree references", "tiree add", "tiree if"], indirect=True
)
@pytest.mark.parametrize("pretty", [False, True])
def test_json(module: Path, pretty: bool):
    flags = ["--output=flatbuffer-json", f"--pretty={str(pretty).lower()}"]
    json.loads(same("dump-module", *flags, module))


@pytest.mark.parametrize("module", ["iree mixed", "tiree two"], indirect=True)
def test_one_function(module: Path):
    text = ours("dump-module", "--output=disassembly", module).out
    exports = re.findall(r"^vm\.export @(\S+)$", text, re.MULTILINE)
    count = len(re.findall(r"^vm\.func ", text, re.MULTILINE))
    assert len(exports) >= 2
    for function in [*exports, "0", "1", str(count - 1)]:
        for flags in (["--output=disassembly"], []):
            same("dump-module", f"--function={function}", *flags, module)


@pytest.mark.parametrize("module", ["iree add"], indirect=True)
def test_unknown_function(module: Path):
    """iree-dump-module prints a module without functions."""
    for function in ("nothing", "99"):
        assert function in refused("dump-module", "--output=disassembly", f"--function={function}", module)


@pytest.mark.parametrize("module", ["tiree add"], indirect=True)
def test_attributes_of_tiree(module: Path):
    """Version, target, flags and digest stand in the metadata."""
    text = ours("dump-module", "--output=metadata", module).out
    for key in ("tiree.version", "tiree.target", "tiree.flags", "tiree.digest"):
        assert key in text


@pytest.mark.parametrize("module", ["iree add"], indirect=True)
def test_refusals(module: Path, tmp_path: Path):
    assert "0 files given; needs one" in refused("dump-module")
    assert "2 files given; needs one" in refused("dump-module", module, module)
    assert "no such value" in refused("dump-module", "--output=everything", module)
    assert "none.vmfb" in refused("dump-module", tmp_path / "none.vmfb")
    cut = tmp_path / "cut.vmfb"
    cut.write_bytes(module.read_bytes()[:1000])
    assert "cut.vmfb" in refused("dump-module", cut)
