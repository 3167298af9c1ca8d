"""The `vm` dialect, whole: every operation of IREE 3.13 is there, is read and printed, and becomes bytecode."""

from __future__ import annotations

import itertools
import re
import subprocess
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tiree.runtime as rt
from tiree.dialects import get_context, read_module, vm
from tiree.dialects.syntax.printer import print_module
from tiree.pipeline import compile_module, run_pipeline
from tiree.support.options import CompileOptions
from vm.dialect_programs import CODES, MODULE, Case, cases, module_text

BIN = Path(sysconfig.get_path("scripts"))
needs_iree = pytest.mark.skipif(
    not (BIN / "iree-opt").exists(), reason="iree-base-compiler is a development dependency"
)
HERE = Path(__file__).parent
# What iree-opt 3.13 registers, in the order of the alphabet.
NAMES = (HERE / "iree_vm_ops.txt").read_text().split()
# Instructions whose conversions IREE's dialect has not.
OURS = {"vm.cast.si32.f64", "vm.cast.ui32.f64", "vm.cast.f64.si32", "vm.cast.f64.ui32"}


def test_every_operation_of_iree_is_there():
    ours = {op.name for op in vm.get_dialect().operations}
    assert set(NAMES) - ours == set()
    assert ours - set(NAMES) == OURS


@needs_iree
def test_the_list_is_what_iree_registers(tmp_path: Path):
    """No name of the list is unknown to iree-opt."""
    text = "".join(f'"{name}"() : () -> ()\n' for name in NAMES)
    path = tmp_path / "names.mlir"
    path.write_text(text)
    done = subprocess.run([BIN / "iree-opt", "--split-input-file", path], capture_output=True, text=True, check=False)
    assert "unregistered" not in done.stderr, done.stderr[:2000]


@cache
def tiree_bytes() -> bytes:
    context = get_context()
    return compile_module(read_module(MODULE, context), CompileOptions(), "vm", ctx=context)


@cache
def iree_bytes() -> bytes:
    """Without `vm.cond_break`: IREE 3.13 leaves the list of copies out of its bytecode, which nobody can read then."""
    text = module_text(case for case in cases() if case.name != "cond_break")
    command = [BIN / "iree-compile", "--compile-mode=vm", "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[:3000]
    return done.stdout


class Tiree:
    """Calls functions of a module in Tiree's VM."""

    def __init__(self, data: bytes) -> None:
        self.module = rt.VmModule.copy_buffer(rt.VmInstance(), data)
        self.context = rt.VmContext(rt.VmInstance(), modules=[self.module])
        self.runtime: Any = rt

    def call(self, case: Case, arguments: tuple[Any, ...]) -> Any:
        """The result, or the code and message of the failure."""
        inputs, outputs = self.runtime.VmVariantList(2), self.runtime.VmVariantList(1)
        for argument in arguments:
            (inputs.push_int if isinstance(argument, int) else inputs.push_float)(argument)
        try:
            self.context.invoke(self.module.lookup_function(case.symbol), inputs, outputs)
        except Exception as error:
            return failure_of(str(error))
        return repr(outputs.get_variant(0)) if case.result else "nothing"


class Iree(Tiree):
    """The same in IREE's."""

    def __init__(self, data: bytes) -> None:
        self.runtime = pytest.importorskip("iree.runtime")
        instance = self.runtime.VmInstance()
        self.module = self.runtime.VmModule.copy_buffer(instance, data)
        self.context = self.runtime.VmContext(instance, modules=[self.module])


def failure_of(text: str) -> str:
    code = next(word for word in text.replace(";", " ").split() if word.isupper() and len(word) > 4)
    message = next((m for m in ("eq fails", "ne fails", "is zero", "too far", "bad") if m in text), "")
    return f"{code}: {message}"


def arguments_of(case: Case) -> list[tuple[Any, ...]]:
    return list(itertools.product(*(CODES[type] for type in case.arguments)))


@needs_iree
def test_results_are_those_of_iree():
    """Both compilers' bytecode in both VMs; a bare yield is only run by Tiree's, IREE's never comes back from it."""
    ours, theirs = Tiree(tiree_bytes()), Tiree(iree_bytes())
    cross, reference = Iree(tiree_bytes()), Iree(iree_bytes())
    for case in cases():
        if case.name == "cond_break":
            assert [ours.call(case, arguments) for arguments in ((0,), (7,))] == ["0", "7"]
            continue
        yields = "vm.yield" in case.body
        for arguments in arguments_of(case):
            expected = theirs.call(case, arguments)
            assert ours.call(case, arguments) == expected, (case.name, arguments)
            if not yields:
                assert reference.call(case, arguments) == expected, (case.name, arguments)
                assert cross.call(case, arguments) == expected, (case.name, arguments)


def test_comparisons_of_nan():
    """IREE's `gte` of floats says 1 when an operand is NaN; here ordered ones say 0."""
    module, nan = Tiree(tiree_bytes()), float("nan")
    for case in cases():
        if case.name.startswith(("cmp.gt.f", "cmp.gte.f")):
            expected = "1" if case.name.endswith(".u") else "0"
            assert module.call(case, (nan, 1.0)) == module.call(case, (1.0, nan)) == expected, case.name


@needs_iree
def test_what_is_printed_is_read_by_iree():
    """As it was read, and expanded to instructions."""
    context = get_context()
    module = read_module(MODULE, context)
    for _ in range(2):
        done = subprocess.run(
            [BIN / "iree-opt", "-"], input=print_module(module), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[:2000]
        from tiree.vm import arrival_passes

        for step in arrival_passes(CompileOptions()):
            step.apply(context, module)


@needs_iree
def test_the_text_is_read_in_both_of_iree_forms():
    done = subprocess.run([BIN / "iree-opt", "-"], input=MODULE, capture_output=True, text=True, check=True)
    generic = subprocess.run([BIN / "iree-opt", "--mlir-print-op-generic", "-"], input=MODULE, capture_output=True,
                             text=True, check=True)  # fmt: skip
    archives = []
    for text in (MODULE, done.stdout, generic.stdout):
        context = get_context()
        data = compile_module(read_module(text, context), CompileOptions(), "vm", ctx=context)
        # Names of places in the text are all that may differ.
        archives.append(re.sub('"tiree.digest" = .*', "", rt.disassemble(data)))
    assert archives[1] == archives[2]


def test_initial_values_of_globals():
    text = """
util.global private mutable @count = 5 : i32
func.func @next() -> i32 {
  %0 = util.global.load @count : i32
  %1 = arith.constant 1 : i32
  %2 = arith.addi %0, %1 : i32
  util.global.store %2, @count : i32
  return %2 : i32
}
"""
    import tiree

    module = tiree.compile(text).load("local-sync")
    assert [module.next(), module.next()] == [6, 7]


def test_errors_have_places():
    text = 'vm.module @m {\n  vm.func @f(%a: i32) {\n    vm.check.nearly_eq %a, %a, "x" : i32\n    vm.return\n  }\n}\n'
    from tiree.support.errors import CompileError

    context = get_context()
    with pytest.raises(CompileError, match=r":3:.*vm\.check\.nearly_eq compares floats, not i32"):
        run_pipeline(read_module(text, context), CompileOptions(), "vm", "end", ctx=context)
