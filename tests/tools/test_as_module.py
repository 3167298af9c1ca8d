"""tiree-as-module as a tool, and assembly through Python."""

from __future__ import annotations

import io
import sys

import pytest
from tiree import runtime as rt
from tools.runtime_tool import ours

TEXT = """vm.module @m version 0
vm.export @f
vm.func @f(%i0: i32) -> (i32) {
^bb0:
  %i1 = vm.const.i32 2
  %i0 = vm.mul.i32 %i0, %i1
  vm.return %i0
}
"""


def test_a_module_that_runs(tmp_path):
    source, target = tmp_path / "m.vmasm", tmp_path / "m.vmfb"
    source.write_text(TEXT)
    done = ours("as-module", f"--output={target}", source)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert target.read_bytes() == rt.assemble(TEXT)
    ran = ours("run-module", f"--module={target}", "--function=f", "--input=21")
    assert (ran.code, ran.out) == (0, "EXEC @f\nresult[0]: i32=42\n")
    printed = ours("dump-module", "--output=assembly", target)
    assert rt.assemble(printed.out) == target.read_bytes()
    assert rt.disassemble(target, output="disassembly") == ours("dump-module", "--output=disassembly", target).out


def test_standard_input_and_output(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    done = ours("as-module", "--output=-", "-")
    assert (done.code, done.raw) == (0, rt.assemble(TEXT))


def test_errors_in_the_text_are_named(tmp_path):
    source = tmp_path / "m.vmasm"
    source.write_text(TEXT.replace("vm.mul.i32 %i0, %i1", "vm.mul.i32 %i0"))
    done = ours("as-module", f"--output={tmp_path / 'm.vmfb'}", source)
    assert done.code == 1
    assert done.err == (
        f"error: {source}:6:23: expected ',', found the end of the line\n  %i0 = vm.mul.i32 %i0\n{' ' * 22}^\n"
    )
    assert not (tmp_path / "m.vmfb").exists()


def test_what_a_runtime_refuses_is_refused_at_its_line(tmp_path):
    text = TEXT.replace("vm.return %i0", "vm.return %r0")
    with pytest.raises(ValueError, match=r"<string>:7:3: value register where .*\n  vm.return %i0\n  \^$"):
        rt.assemble(text.replace("(i32) {", "(!vm.buffer) {").replace("%r0", "%i0"))
    with pytest.raises(ValueError, match="<string>:7:3: reference register where a value register is needed"):
        rt.assemble(text)
    source, target = tmp_path / "m.vmasm", tmp_path / "m.vmfb"
    source.write_text(text)
    assert ours("as-module", f"--output={target}", source).code == 1
    assert ours("as-module", f"--output={target}", "--verify=false", source).code == 0
    assert target.read_bytes() == rt.assemble(text, verify=False)


def test_arguments_that_are_not_used_have_registers():
    # iree-as-module 3.13 gives this function none, and its runtime then refuses the module.
    text = "vm.module @m\nvm.export @f\nvm.func @f(%i0: i32, %i1: i32, %i2: i32) -> () {\n  vm.return\n}\n"
    assert "  0 | 00000000 |        4 |      1 |     3 |" in rt.disassemble(rt.assemble(text), output="all")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "error: no --output   write tiree-as-module --output=module.vmfb module.vmasm"),
        (["--output=x"], "0 files given; needs one"),
        (["--output=x", "missing.vmasm"], "missing.vmasm: No such file or directory"),
        (["--outptu=x", "y"], "did you mean --output?"),
    ],
)
def test_bad_command_lines(arguments, text):
    done = ours("as-module", *arguments)
    assert done.code == 1
    assert text in " ".join(done.err.split("\n"))


def test_bytes_that_are_no_text(tmp_path):
    source = tmp_path / "m.vmasm"
    source.write_bytes(b"vm.module @m\n\xff")
    done = ours("as-module", "--output=x", source)
    assert (done.code, done.err.splitlines()[0]) == (1, f"error: {source}:2: not UTF-8 text (byte 0xff)")


def test_help():
    done = ours("as-module", "--help")
    assert done.code == 0
    assert "tiree-as-module --output=module.vmfb module.vmasm" in done.out
    assert "--verify" in done.out
