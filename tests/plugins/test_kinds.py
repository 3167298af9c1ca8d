"""What plugins bring besides passes: lowerings, kernels, backends, input formats; and how their faults are told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tiree
from tools.runtime_tool import Done, ours

GENERIC = "--iree-llvmcpu-target-cpu=generic"
GELU = """
func.func @f(%x: tensor<37xf32>, %y: tensor<37xf32>) -> tensor<37xf32> {
  %0 = stablehlo.tanh %x : tensor<37xf32>
  %1 = stablehlo.multiply %0, %y : tensor<37xf32>
  return %1 : tensor<37xf32>
}
"""
TILES = """
from tiree.plugins import TileKernel


def accepts(dispatch):
    return dispatch.ops == ("math.tanh", "arith.mulf")


def quick(x, y):
    x = x.maximum(-3.0).minimum(3.0)
    square = x * x
    return (x * (27 + square) / (27 + 9 * square)) * y


def register(registry):
    registry.add_kernel(TileKernel("quick-tanh", accepts, quick))
"""
TOY = """
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from tiree.plugins import Unsupported


@irdl_op_definition
class TwiceOp(IRDLOperation):
    name = "toy.twice"
    value = operand_def()
    result = result_def()


def lower(builder, op):
    x = builder.get(op.value)
    BODY


def register(registry):
    registry.add_dialect(Dialect("toy", [TwiceOp], []))
    registry.add_lowering(TwiceOp, lower)
"""
TWICE = """
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "toy.twice"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(plugin: str, program: str, *flags: str, name: str = "m.mlir") -> Done:
    Path("p.py").write_text(plugin)
    Path(name).write_text(program)
    done = ours("compile", name, GENERIC, "--tiree-plugin=p.py", *flags)
    assert "Traceback" not in done.err
    assert not list(Path.cwd().glob("tiree-crash-*"))
    return done


def error(plugin: str, program: str, *flags: str) -> str:
    done = run(plugin, program, "-o", "m.vmfb", *flags)
    assert done.code == 1
    assert not Path("m.vmfb").exists()
    return done.err


def test_a_function_over_tiles_is_a_kernel() -> None:
    done = run(TILES, GELU, "-o", "m.vmfb", "--tiree-report=r.json")
    assert done.code == 0, done.err
    assert [row["strategy"] for row in json.loads(Path("r.json").read_text())["dispatches"]] == ["quick-tanh"]
    x = np.linspace(-5, 5, 37, dtype=np.float32)
    y = np.linspace(1, 2, 37, dtype=np.float32)
    inner = np.clip(x, -3, 3)
    result = tiree.load("m.vmfb").f(x, y)
    np.testing.assert_allclose(result, inner * (27 + inner**2) / (27 + 9 * inner**2) * y, rtol=1e-5)
    assert 0.001 < np.abs(np.asarray(result) - np.tanh(x) * y).max() < 0.1, "it is the approximation that ran"


def test_tiles_know_every_operator() -> None:
    text = """
def quick(x, y):
    small = (x < y) & (x <= 3) | x.equals(0.25) & ~(y > x) & (y >= x) & x.differs(y)
    terms = [x + 1, 1 + x, x - 1, 1 - x, x * 2, 2 * x, x / 2, 2 / (abs(x) + 1), -x, x.fma(2.0, y), x.exp(), y.log(),
             y.sqrt(), x.tanh(), x.sin(), x.cos(), x.erf(), x.floor(), x.constant(0.5)]
    total = small.where(x, y)
    for term in terms:
        total = total + term
    return total
"""
    start, end = TILES.index("def quick"), TILES.index("def register")
    assert run(TILES[:start] + text + "\n\n" + TILES[end:], GELU, "-o", "m.vmfb").code == 0
    from math import erf

    x = np.linspace(-2, 2, 37)
    y = np.linspace(1, 2, 37)
    want = np.where((x < y) & (x <= 3), x, y) + (x + 1) + (1 + x) + (x - 1) + (1 - x) + 4 * x + x / 2
    want += 2 / (abs(x) + 1) - x + (2 * x + y) + np.exp(x) + np.log(y) + np.sqrt(y) + np.tanh(x) + np.sin(x) + np.cos(x)
    want += np.array([erf(v) for v in x]) + np.floor(x) + 0.5
    got = tiree.load("m.vmfb").f(x.astype(np.float32), y.astype(np.float32))
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("return x if x < y else y", "a tile has many elements; choose between them with condition.where(then, other)"),
        ("return x < y", "the function returns tiles of i1, the dispatch needs f32"),
        ("return x & y", "operators of bits need integers, not f32"),
        ("return [x, y]", "returns tiles of f32, f32, the dispatch needs f32"),
        ("return x.nothing()", "'Tile' object has no attribute 'nothing'"),
    ],
)
def test_wrong_functions_over_tiles(line: str, message: str) -> None:
    start, end = TILES.index("    x = x.max"), TILES.index("def register")
    text = error(f"{TILES[:start]}    {line}\n\n\n{TILES[end:]}", GELU)
    assert "kernel quick-tanh of plugin p.py, for dispatch f_dispatch_0_elementwise_37_f32, failed" in text
    assert message in text
    assert text.startswith("m.mlir:")


LLVM = """
from tiree.plugins import LLVMKernel


def write(dispatch, name):
    CODE


def register(registry):
    registry.add_kernel(LLVMKernel("mine", lambda dispatch: True, write))
"""


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("return 'nonsense'", "expected top-level entity"),
        ("return ''", "the LLVM module does not define @f_dispatch_0_elementwise_37_f32_mine"),
        ("return f'define void @{name}() {{ ret void }}'", "is called with 3 pointers and an i64"),
        (
            "return f'declare void @other() define void @{name}(ptr %a, ptr %b, ptr %c, i64 %n) {{ ret void }}'",
            "it calls @other, which it does not define, and there is no library to link",
        ),
    ],
)
def test_wrong_llvm_kernels(code: str, message: str) -> None:
    assert message in error(LLVM.replace("CODE", code), GELU)


def test_two_kernels_do_not_meet_each_others_names() -> None:
    code = """return f'''
define float @helper(float %x) noinline {{ %y = fadd float %x, {dispatch.inputs[0].shape[0]}.0 ret float %y }}
define void @{name}(ptr %a, ptr %b, i64 %n) {{
  %x = load float, ptr %a
  %y = call float @helper(float %x)
  store float %y, ptr %b
  ret void }}'''"""
    program = """
func.func @f(%x: tensor<3xf32>, %y: tensor<2xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  %0 = stablehlo.cosine %x : tensor<3xf32>
  %1 = stablehlo.cosine %y : tensor<2xf32>
  return %0, %1 : tensor<3xf32>, tensor<2xf32>
}
"""
    assert run(LLVM.replace("CODE", code), program, "-o", "m.vmfb").code == 0
    one, two = tiree.load("m.vmfb").f(np.float32([10, 0, 0]), np.float32([20, 0]))
    assert (np.asarray(one)[0], np.asarray(two)[0]) == (13, 22)


def test_lowerings_and_their_faults() -> None:
    sum = "builder.parallel([(x, builder.identity(1))], op.result.type, lambda s, a: s.add_(a[0], a[0]))"
    good = f"builder.set(op.result, {sum})"
    assert run(TOY.replace("BODY", good), TWICE, "-o", "m.vmfb").code == 0
    np.testing.assert_array_equal(tiree.load("m.vmfb").f(np.float32([1, 2, 3, 4])), [2, 4, 6, 8])
    Path("m.vmfb").unlink()
    for body, message in (
        ("pass", "does not say what stands for the result: call builder.set"),
        ("builder.set(op.result, builder.extract(x))", "lowering of toy.twice, of plugin p.py, "),
        (
            "builder.set(op.result, builder.constant_index(1))",
            "the result is a value of index, it must be tensor<4xf32>",
        ),
        ("1 / 0", "failed at toy.twice: ZeroDivisionError: division by zero (p.py:"),
        ("raise Unsupported('on Mondays')", "m.mlir:3:8: error: toy.twice on Mondays is not supported"),
    ):
        text = error(TOY.replace("BODY", body), TWICE)
        assert message in text
        assert text.startswith("m.mlir:3:8: error: ")
    assert "toy.twice is not supported" in error(TOY.partition("    registry.add_lowering")[0], TWICE)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("add_dialect(Dialect('arith', [], []))", "dialect 'arith' exists already"),
        ("add_lowering('stablehlo.add', print)", "stablehlo.add is of Tiree's dialect stablehlo"),
        ("add_kernel(TileKernel('elementwise', None, None))", "a kernel or strategy 'elementwise' exists already"),
        ("add_kernel(3)", "kernel 3 has no name"),
        ("add_backend(Backend())", "has no name"),
        ("add_input_format(InputFormat('onnx', (), None))", "input type 'onnx' exists already"),
        ("add_input_format(InputFormat('x', ('x',), None))", "suffix 'x' is taken, or does not begin with a dot"),
    ],
)
def test_registrations_that_cannot_be(call: str, message: str) -> None:
    head = "from tiree.plugins import *\nfrom xdsl.ir import Dialect\n"
    text = error(f"{head}def register(registry):\n    registry.{call}\n", GELU)
    assert text.startswith("p.py: error: plugin p.py failed: ")
    assert message in text
    assert "(p.py:4)" in text


BACKEND = """
from tiree.plugins import Backend
from tiree.dialects.hal_attrs import ExecutableTargetAttr


class Other(Backend):
    name = "other"

    def target(self, options):
        return ExecutableTargetAttr("other", "other-format", {})

    def compile(self, executable):
        BODY


def register(registry):
    registry.add_backend(Other())
"""


def test_a_backend_for_something_that_runs_elsewhere() -> None:
    plugin = BACKEND.replace("BODY", "return ' '.join(one.name for one in executable.functions).encode()")
    done = run(plugin, GELU, "--iree-hal-target-backends=other", "-o", "m.vmfb")
    assert (done.code, done.err) == (0, "")
    data = Path("m.vmfb").read_bytes()
    assert b"f_dispatch_0_elementwise_37_f32" in data
    assert b"other-format" in data
    with pytest.raises(RuntimeError, match=r"no executable loader registered.*'other-format'"):
        tiree.load("m.vmfb").f(np.zeros(37, np.float32), np.zeros(37, np.float32))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return None", "TypeError: compile() returns NoneType, not bytes"),
        ("1 / 0", "ZeroDivisionError: division by zero (p.py:13)"),
        (
            "return b''\n\n    def target(self, options):\n        return 3",
            "target() returns int, not ExecutableTargetAttr",
        ),
        (
            "return b''\n\n    def target(self, options):\n        return ExecutableTargetAttr('x', 'x', {})",
            "its target names backend 'x'",
        ),
    ],
)
def test_wrong_backends(body: str, message: str) -> None:
    text = error(BACKEND.replace("BODY", body), GELU, "--iree-hal-target-backends=other")
    assert "backend other of plugin p.py" in text
    assert message in text


FORMAT = """
from tiree.plugins import InputFormat


def read(data, filename):
    count = int(data.decode().strip())
    type = f"tensor<{count}xf32>"
    return f'''func.func @twice(%x: {type}) -> {type} {{
      %0 = stablehlo.add %x, %x : {type}
      return %0 : {type} }}'''


def register(registry):
    registry.add_input_format(InputFormat("count", (".count",), read))
"""


def test_what_plugins_bring_is_listed() -> None:
    for name, text in (("t", TILES), ("o", TOY.replace("BODY", "pass")), ("b", BACKEND), ("f", FORMAT)):
        Path(f"{name}.py").write_text(text.replace("BODY", "pass"))
    flags = [f"--tiree-plugin={name}.py" for name in "tobf"]
    lines = ours("compile", "--iree-print-plugin-info", *flags).out.splitlines()
    assert lines[0].startswith("Plugins: t.py (t@")
    assert lines[1:] == [
        "  dialects: toy",
        "  lowerings: toy.twice",
        "  kernels: quick-tanh",
        "  backends: other",
        "  input formats: count (.count)",
    ]
    assert ours("compile", "--iree-print-plugin-info").out.startswith("No plugins are loaded")


def test_input_formats_go_by_suffix_or_by_name() -> None:
    for name, flags in (("m.count", ()), ("m.txt", ("--iree-input-type=count",))):
        done = run(FORMAT, "3\n", *flags, "-o", "m.vmfb", name=name)
        assert done.code == 0, done.err
        np.testing.assert_array_equal(tiree.load("m.vmfb").twice(np.float32([1, 2, 3])), [2, 4, 6])
    module = tiree.compile("m.count", plugins=["p.py"], flags=[GENERIC])
    assert len(module)
    done = run(FORMAT, "three\n", "-o", "x.vmfb", name="m.count")
    assert done.code == 1
    assert "m.count: error: input format count of plugin p.py failed: ValueError: invalid literal" in done.err
    assert "no such value" in ours("compile", "m.txt", "--iree-input-type=count").err
    done = run(FORMAT.replace("return f'''", "return b'' or f'''").replace("''')", "''')"), GELU, "-o", "x.vmfb")
    assert done.code == 0, "MLIR is read as ever"


def test_what_a_pass_breaks_for_later_ones_is_told() -> None:
    plugin = """
from xdsl.passes import ModulePass


class Confuse(ModulePass):
    name = "confuse"

    def apply(self, ctx, op):
        for inner in op.walk():
            if inner.name == "hal.executable.export":
                inner.properties["sym_name"] = type(inner.properties["sym_name"])("gone")


def register(registry):
    registry.add_pass(Confuse, at="before-kernels")
"""
    Path("p.py").write_text(plugin)
    Path("m.mlir").write_text(GELU)
    done = ours("compile", "m.mlir", GENERIC, "--tiree-plugin=p.py", "-o", "m.vmfb")
    assert done.code == 1
    assert "export @gone" in done.err
