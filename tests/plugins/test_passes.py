"""Passes of plugins: where they run, how they are named, and what is said when they are wrong."""

from __future__ import annotations

import sys
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import tiree
from tiree.pipeline import EXTENSION_POINTS, PHASES
from tiree.support.options import CompileOptions
from tools.runtime_tool import Done, ours

PROGRAM = """
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""
HEAD = """
from dataclasses import dataclass
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass


def note(op, text):
    before = op.attributes.get("notes")
    op.attributes["notes"] = StringAttr((before.data + " " if before else "") + text)


"""
DROP = (
    HEAD
    + """
class Drop(ModulePass):
    name = "drop-double-negation"

    def apply(self, ctx, op):
        for inner in list(op.walk()):
            first = inner.operands[0].owner if inner.operands else None
            if inner.name == "stablehlo.negate" and getattr(first, "name", "") == "stablehlo.negate":
                inner.results[0].replace_all_uses_with(first.operands[0])
                inner.detach()
                inner.erase()


def register(registry):
    registry.add_pass(Drop, at="before-input")
"""
)
GENERIC = "--iree-llvmcpu-target-cpu=generic"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a program in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.mlir").write_text(PROGRAM)
    return tmp_path


def compiled(*flags: str) -> Done:
    return ours("compile", "m.mlir", GENERIC, *flags)


def error(text: str, *flags: str) -> str:
    """What the compiler says about a plugin that is wrong: one report and nothing else."""
    Path("p.py").write_text(text)
    done = compiled("--tiree-plugin=p.py", "-o", "m.vmfb", *flags)
    assert done.code == 1
    assert "Traceback" not in done.err
    assert not Path("m.vmfb").exists()
    assert not list(Path.cwd().glob("tiree-crash-*"))
    return done.err


def test_a_pass_runs_where_it_is_put(folder: Path) -> None:
    (folder / "p.py").write_text(DROP)
    done = compiled("--tiree-plugin=p.py", "--compile-to=flow")
    assert done.code == 0, done.err
    assert "flow.dispatch" not in done.out
    assert "flow.dispatch" in compiled("--compile-to=flow").out
    value = np.arange(4, dtype=np.float32)
    for plugins in (["p.py"], [folder / "p.py"]):
        module = tiree.load(tiree.compile(PROGRAM, plugins=plugins))
        np.testing.assert_array_equal(np.asarray(module.f(value)), value)


def test_every_extension_point_is_passed_once_in_order(folder: Path) -> None:
    marks = "".join(
        f'    registry.add_pass(Note("{name}"), at="{name}")\n' for name in reversed(list(EXTENSION_POINTS))
    )
    (folder / "p.py").write_text(
        HEAD
        + """
@dataclass(frozen=True)
class Note(ModulePass):
    name = "note"
    text: str = ""

    def apply(self, ctx, op):
        print(self.text)


def register(registry):
"""
        + marks
    )
    done = compiled("--tiree-plugin=p.py", "-o", "m.vmfb")
    assert done.code == 0, done.err
    assert done.out.split() == list(EXTENSION_POINTS)


def test_groups_name_passes_that_the_pipeline_has() -> None:
    for phase in PHASES:
        names = [one.name for one in phase.passes(CompileOptions())]
        for group in phase.groups:
            assert group.pass_name in names


def test_pipelines_name_passes_of_plugins_and_of_xdsl(folder: Path) -> None:
    (folder / "p.py").write_text(DROP.replace(', at="before-input"', ""))
    plugin = "--tiree-plugin=p.py"
    for flags in (
        ["--pass-pipeline=builtin.module(drop-double-negation,dce)"],
        ["--drop-double-negation", "-p", "dce"],
    ):
        done = ours("opt", "m.mlir", plugin, *flags)
        assert done.code == 0, done.err
        assert done.out.count("stablehlo.negate") < 2, done.out
    flag = "--iree-preprocessing-pass-pipeline=note-it,cse"
    (folder / "q.py").write_text(
        HEAD
        + """
class Note(ModulePass):
    name = "note-it"

    def apply(self, ctx, op):
        note(op, " ".join(sorted({inner.name for inner in op.walk() if "linalg" in inner.name})))
"""
    )
    done = compiled("--tiree-plugin=q.py", flag, "--compile-to=preprocessing")
    assert done.code == 0, done.err
    assert 'notes = "linalg.generic linalg.yield"' in done.out
    assert "no pass 'note-it'" in compiled(flag, "--compile-to=preprocessing").err
    tiree.compile(PROGRAM, plugins=["q.py"], flags=[flag])
    with pytest.raises(tiree.CompileError, match="no pass 'note-it'"):
        tiree.compile(PROGRAM, flags=[flag])


def test_files_written_for_xdsl_opt_work_unchanged(folder: Path) -> None:
    (folder / "u.py").write_text(
        HEAD
        + """
from xdsl.dialects.arith import AddfOp
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriter, PatternRewriteWalker, RewritePattern
from xdsl.pattern_rewriter import op_type_rewrite_pattern
from xdsl.universe import Universe


@irdl_op_definition
class TwiceOp(IRDLOperation):
    name = "toy.twice"
    value = operand_def()
    result = result_def()


class Twice(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TwiceOp, rewriter: PatternRewriter):
        rewriter.replace(op, AddfOp(op.value, op.value))


@dataclass(frozen=True)
class LowerToy(ModulePass):
    name = "lower-toy"

    def apply(self, ctx, op):
        PatternRewriteWalker(GreedyRewritePatternApplier([Twice()])).rewrite_module(op)


UNIVERSE = Universe(
    all_dialects={"toy": lambda: Dialect("toy", [TwiceOp], [])}, all_passes={"lower-toy": lambda: LowerToy}
)
"""
    )
    (folder / "m.mlir").write_text(
        """
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "toy.twice"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
    )
    done = ours("opt", "m.mlir", "--tiree-plugin=u.py", "--lower-toy", "-p", "canonicalize")
    assert done.code == 0, done.err
    assert "arith.addf" in done.out


def test_modules_and_entry_points(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "drop_plugin.py").write_text(DROP)
    info = folder / "drop_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: drop-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tiree.plugins]\nfewer-negations = drop_plugin:register\n")
    monkeypatch.syspath_prepend(folder)
    for name in ("drop_plugin", "fewer-negations"):
        done = compiled(f"--tiree-plugin={name}", "--compile-to=flow")
        assert done.code == 0, done.err
        assert "flow.dispatch" not in done.out
    assert "flow.dispatch" in compiled("--compile-to=flow").out, "what is installed does nothing until it is named"
    assert "installed plugin: fewer-negations" in compiled("--tiree-plugin=nothing").err
    module = sys.modules["drop_plugin"]
    assert tiree.compile(PROGRAM, plugins=[module]) != tiree.compile(PROGRAM)
    assert tiree.compile(PROGRAM, plugins=[module.register]) != tiree.compile(PROGRAM)


def test_artifacts_say_which_plugins_made_them(folder: Path) -> None:
    (folder / "sub").mkdir()
    for path in ("p.py", "sub/p.py"):
        (folder / path).write_text(DROP)
    flags = ["--iree-vm-bytecode-module-strip-source-map", "--iree-llvmcpu-debug-symbols=false"]
    results = [compiled(f"--tiree-plugin={path}", *flags).raw for path in ("p.py", "p.py", "sub/p.py")]
    assert len(set(results)) == 1
    assert zipfile.ZipFile(BytesIO(results[0]))
    import hashlib

    digest = hashlib.sha256(DROP.encode()).hexdigest()[:16]
    assert f"tiree-plugin=p@{digest}".encode() in results[0]
    (folder / "p.py").write_text(DROP + "# changed\n")
    assert compiled("--tiree-plugin=p.py", *flags).raw != results[0]


@pytest.mark.usefixtures("folder")
def test_plugins_that_cannot_be_loaded() -> None:
    assert "p.py:2: error: plugin cannot be read: expected ':'" in error("x = 1\ndef register(registry)\n")
    assert error("import no_such_module\n").startswith(
        "p.py: error: plugin cannot be imported: ModuleNotFoundError: No module named 'no_such_module' (p.py:1)"
    )
    assert "p.py: error: the plugin registers nothing\n  define register(registry)" in error("x = 1\n")
    assert "SystemExit" in error("import sys\nsys.exit(0)\n")
    assert "plugin p.py failed: ZeroDivisionError" in error("def register(registry):\n    1 / 0\n")
    assert "failed: ValueError: a fault; and more of it (p.py:" in error(
        "def register(registry):\n    raise ValueError('a fault\\nand more of it')\n"
    )
    assert "missing.py: error: plugin: No such file" in compiled("--tiree-plugin=missing.py").err
    assert "no.such: error: no plugin and no module" in compiled("--tiree-plugin=no.such").err
    assert "needs a file or a module" in compiled("--tiree-plugin=").err


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("registry.add_pass(Drop, at='before-imput')", "no extension point 'before-imput'; did you mean before-input"),
        ("registry.add_pass(int)", "int is not a pass"),
        ("registry.add_pass(type('P', (Drop,), {'name': 'tiree-flow-cse'}))", "pass 'tiree-flow-cse' is Tiree's own"),
        (
            "registry.add_pass(Drop); registry.add_pass(type('P', (Drop,), {}))",
            "pass 'drop-double-negation' exists: plugin p.py has one",
        ),
    ],
)
@pytest.mark.usefixtures("folder")
def test_registrations_that_cannot_be(call: str, message: str) -> None:
    text = error(DROP.partition("def register")[0] + f"def register(registry):\n    {call}\n")
    assert message in text
    assert text.startswith("p.py: error: ")
    assert "(p.py:" in text


def failing(body: str) -> str:
    return error(
        HEAD
        + f"""
class Fail(ModulePass):
    name = "fail"

    def apply(self, ctx, op):
        for inner in list(op.walk()):
            if inner.name == "stablehlo.negate":
                {body}


def register(registry):
    registry.add_pass(Fail, at="before-input")
"""
    )


@pytest.mark.usefixtures("folder")
def test_a_pass_that_raises_is_named_with_op_and_line() -> None:
    text = failing("inner.attributes['x']")
    assert "m.mlir:3:8: error: pass fail of plugin p.py failed at stablehlo.negate: KeyError: 'x' (p.py:" in text
    assert "TIREE_TRACEBACK=1" in text
    text = failing("raise __import__('xdsl.utils.exceptions').utils.exceptions.PassFailedException('too hard')")
    assert "failed at stablehlo.negate: too hard (p.py:" in text
    text = failing("from tiree.support.errors import CompileError; raise CompileError('not like this')")
    assert "m.mlir: error: not like this\n  reported by pass fail of plugin p.py" in text


@pytest.mark.usefixtures("folder")
def test_broken_modules_are_blamed_on_the_pass_that_left_them() -> None:
    text = failing("from xdsl.dialects.builtin import i32; inner.results[0]._type = i32")
    assert "m.mlir:5:3: error: pass fail of plugin p.py leaves a module that is not valid: func.return" in text
    for body in ("inner.detach()", "inner.parent.insert_op_before(inner.parent.last_op.prev_op.clone(), inner)"):
        assert "pass fail of plugin p.py leaves a module that is not valid" in failing(body)


@pytest.mark.usefixtures("folder")
def test_what_only_a_later_pass_finds_wrong_names_the_passes_before() -> None:
    text = error(
        HEAD
        + """
class Shorten(ModulePass):
    name = "shorten"

    def apply(self, ctx, op):
        from xdsl.dialects.builtin import TensorType, f32
        from xdsl.rewriter import Rewriter

        for inner in op.walk():
            if inner.name == "linalg.generic":
                Rewriter.replace_value_with_new_type(inner.results[0], TensorType(f32, [1]))


def register(registry):
    registry.add_pass(Shorten, at="after-flow")
"""
    )
    assert "pass shorten of plugin p.py" in text


def test_the_traceback_is_there_when_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "p.py").write_text("1 / 0\n")
    assert "Traceback" in compiled("--tiree-plugin=p.py", "--mlir-print-stacktrace-on-diagnostic").err
    monkeypatch.setenv("TIREE_TRACEBACK", "1")
    for tool in ("compile", "opt"):
        assert "Traceback" in ours(tool, "m.mlir", "--tiree-plugin=p.py").err


def test_pipelines_run_from_python(folder: Path) -> None:
    import tiree.compiler

    (folder / "p.py").write_text(DROP)
    run = tiree.compiler.run_pass_pipeline
    assert "stablehlo.negate" in run(PROGRAM, "dce")
    assert "return %a" in run(PROGRAM, "drop-double-negation,dce", plugins=["p.py"])
    assert run("m.mlir", "builtin.module(dce)", generic=True).startswith('"builtin.module"')
    with pytest.raises(tiree.CompileError, match="no pass 'drop-double-negation'"):
        run(PROGRAM, "drop-double-negation")
    (folder / "m.mlir").write_text("nonsense\n")
    with pytest.raises(tiree.CompileError, match=r"m\.mlir:1:1: error: expected an operation"):
        run("m.mlir", "dce")


def test_the_iree_shaped_functions_take_plugins_as_flags(folder: Path) -> None:
    import tiree.compiler

    (folder / "p.py").write_text(DROP)
    text = tiree.compiler.compile_str(PROGRAM, extra_args=["--tiree-plugin=p.py", "--compile-to=flow"])
    assert text is not None
    assert b"flow.dispatch" not in text
    with pytest.raises(tiree.compiler.CompilerToolError, match=r"q\.py: error: plugin: No such file"):
        tiree.compiler.compile_str(PROGRAM, extra_args=["--tiree-plugin=q.py"])


def test_a_fault_of_the_compiler_is_told_with_the_plugins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tiree.flow.cse import CSE

    def fail(*given: object) -> None:
        raise KeyError(len(given))

    monkeypatch.setattr(CSE, "apply", fail)
    (folder / "p.py").write_text(DROP)
    text = compiled("--tiree-plugin=p.py", "-o", "m.vmfb").err
    assert "or of plugin p.py: does it happen without?" in text
    assert "rerun: tiree-compile" in text
    assert "of the compiler, not of your program" in compiled("-o", "m.vmfb").err
    with pytest.raises(tiree.CompileError, match=r"rerun: tiree-compile --tiree-plugin=p\.py "):
        tiree.compile(PROGRAM, plugins=["p.py"])


def test_the_tools_start_without_plugins_code() -> None:
    import subprocess

    program = (
        "import sys, tiree.tools.opt, tiree.tools.compile, tiree.tools.new\n"
        "print([m for m in ('xdsl', 'tiree.plugins', 'tiree.codegen') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr


def test_a_plugin_that_is_named_twice_is_loaded_once(folder: Path) -> None:
    (folder / "p.py").write_text(DROP + "    registry.add_dialect(__import__('xdsl').ir.Dialect('toy', [], []))\n")
    assert compiled("--tiree-plugin=p.py", "--tiree-plugin=./p.py", "--compile-to=flow").code == 0


def test_plugins_passes_are_printed_and_timed_by_name(folder: Path) -> None:
    (folder / "p.py").write_text(DROP)
    after = "--mlir-print-ir-after=drop-double-negation"
    done = compiled("--tiree-plugin=p.py", after, "--mlir-timing", "--compile-to=input")
    assert "IR Dump After Drop (drop-double-negation)" in done.err
    assert "%)  drop-double-negation" in done.err
    assert "no pass 'drop-double-negation'" in compiled(after, "--compile-to=input").err
