"""tiree-as-module beside iree-as-module: the same bytes of the same text; modules of both compilers there and back."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest
from runtime.modules import ADD, ASYNC_FLAGS, MIXED, REFERENCES, WAITS, iree_module, tiree_module
from tiree import runtime as rt
from tiree.testing.choices import RandomChoices
from tiree.testing.generate_program import generate
from tools.runtime_tool import needs_iree, theirs

DATA = Path(__file__).resolve().parents[2] / "rust" / "vm" / "tests" / "data"

# What iree-as-module 3.13 does not read back as iree-dump-module prints it. It takes the exponent of `fpowi.f32` for an
# i32; the dump, as the vm dialect, for an i64. The bytes of the instruction are the same.
UNREADABLE = re.compile(r"vm\.(global\.(load|store)\.indirect|switch\.ref|trace|print|fpowi\.f32)|\".*\".*\"")


def reference_bytes(text: str, folder: Path) -> bytes:
    """What iree-as-module makes of `text`."""
    source, target = folder / "reference.vmasm", folder / "reference.vmfb"
    source.write_text(text)
    done = theirs("as-module", f"--output={target}", source)
    assert done.code == 0, done.err
    return target.read_bytes()


def without_unreadable(text: str) -> str:
    """The disassembly without functions that iree-as-module does not read."""
    head, *functions = re.split(r"\n\n(?=vm\.)", text)
    return "\n\n".join([head, *(f for f in functions if not UNREADABLE.search(f))])


@needs_iree
def test_every_instruction_gives_the_same_bytes(tmp_path):
    text = without_unreadable(rt.disassemble(DATA / "every_instruction.vmfb", output="disassembly"))
    assert text.count("vm.func") > 450
    assert rt.assemble(text) == reference_bytes(text, tmp_path)


@needs_iree
def test_the_thirteen_that_it_does_not_print_readably_give_the_same_bytes_in_its_own_spelling(tmp_path):
    lines = [
        f"%{r} = vm.global.load.indirect.{t} %i1"
        for t, r in (("i32", "i0"), ("f32", "i0"), ("i64", "i2:3"), ("f64", "i2:3"))
    ]
    lines += [
        f"vm.global.store.indirect.{t} %i1, %{r}"
        for t, r in (("i32", "i0"), ("f32", "i0"), ("i64", "i2:3"), ("f64", "i2:3"))
    ]
    lines += [
        "%r0 = vm.global.load.indirect.ref %i1 : !vm.buffer",
        "vm.global.store.indirect.ref %i1 : !vm.buffer, %R0",
    ]
    lines += ['vm.trace "a, b // c", %i0, %R1', 'vm.print "d"']
    body = "\n  ".join(lines)
    head = "vm.module @m version 0\nvm.type !vm.buffer\nvm.export @f\n"
    text = f"{head}vm.func @f() -> () {{\n^bb0:\n  {body}\n  vm.return\n}}\n"
    module = reference_bytes(text, tmp_path)
    assert rt.assemble(text) == module
    for output in ("disassembly", "assembly"):
        assert rt.assemble(rt.disassemble(module, output=output)) == module


def _refusal(module: bytes) -> str:
    """What IREE's runtime says when it loads a module; nothing when it does."""
    theirs_runtime = pytest.importorskip("iree.runtime")
    try:
        theirs_runtime.VmModule.copy_buffer(theirs_runtime.VmInstance(), module)
    except Exception as error:  # It has classes of its own.
        return str(error)
    return ""


@needs_iree
@pytest.mark.parametrize("kinds", ["i32", "i64", "!vm.buffer", "i32 i64", "i64 !vm.buffer i32"])
def test_arguments_that_are_not_used(kinds, tmp_path):
    """iree-as-module counts the registers of the body alone. Where that is too little, nobody loads what it makes."""
    outcomes = set()
    for count, used in itertools.product((1, 2, 5, 9), (0, 3, 7)):
        types = (kinds.split() * count)[:count]
        at = {"i": 0, "r": 0}
        registers: list[str] = []
        for name in types:
            bank, width = ("r" if name[0] == "!" else "i"), (2 if name == "i64" else 1)
            first = at[bank]
            registers.append(f"%{bank}{first}" + (f":{first + 1}" if width == 2 else ""))
            at[bank] = first + width
        arguments = ", ".join(f"{register}: {name}" for register, name in zip(registers, types, strict=True))
        declared = "".join(f"vm.type {name}\n" for name in dict.fromkeys(types))
        text = (
            f"vm.module @m version 0\n{declared}vm.export @f\nvm.func @f({arguments}) -> () {{\n^bb0:\n"
            f"  %i{used} = vm.const.i32 1\n  vm.return\n}}\n"
        )
        ours, reference = rt.assemble(text), reference_bytes(text, tmp_path)
        refusal = _refusal(reference)
        outcomes.add(bool(refusal))
        if refusal:
            assert "insufficient register storage" in refusal
            assert len(ours) == len(reference)
            assert _refusal(ours) == ""
        else:
            assert ours == reference, text
    assert outcomes == {False, True}


@needs_iree
def test_generated_programs_give_the_same_bytes(tmp_path):
    compared = 0
    for seed in range(16):
        for module in generate(RandomChoices(seed)).modules:
            text = rt.disassemble(module, output="disassembly")
            lines = [line for line in text.split("\n") if not UNREADABLE.search(line)]
            # Nor does it read NaNs with a payload, and calls whose variadic arguments are none.
            text = "\n".join(line for line in lines if "vm.const.f" not in line and "segments[]" not in line)
            assert rt.assemble(text) == reference_bytes(text, tmp_path), seed
            compared += 1
    assert compared >= 16


FLOATS = (
    "1 -0 1e-3 0x1p-3 0x1.8p1 .5 5. +1.5 123456789 3.40282347e+38 1.17549435e-38 inf -infinity nan -nan nan(0x12345)"
)


@needs_iree
def test_the_exponent_of_fpowi_has_the_same_bytes_in_its_own_spelling(tmp_path):
    body = "%i3 = vm.const.i32.zero\n  %i0 = vm.fpowi.f32 %i0, {}\n  vm.return"
    text = "vm.module @m version 0\nvm.func @f() -> () {{\n^bb0:\n  " + body + "\n}}\n"
    assert rt.assemble(text.format("%i2:3")) == reference_bytes(text.format("%i2"), tmp_path)


@needs_iree
@pytest.mark.parametrize("number", FLOATS.split())
def test_floats_have_the_same_bits(number, tmp_path):
    text = (
        f"vm.module @m version 0\nvm.func @f() -> () {{\n^bb0:\n  %i0 = vm.const.f32 {number}\n"
        f"  %i2:3 = vm.const.f64 {number}\n  vm.return\n}}\n"
    )
    assert rt.assemble(text) == reference_bytes(text, tmp_path)


PROGRAMS = {"add": (ADD, ()), "mixed": (MIXED, ()), "references": (REFERENCES, ()), "waits": (WAITS, ASYNC_FLAGS)}
STRIPPED = "--iree-vm-bytecode-module-strip-source-map=true"
BOUNDED = """
func.func @f(%n: tensor<i32>, %a: tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<4xf32> cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.multiply %x, %a : tensor<4xf32>
    stablehlo.return %next, %y : tensor<i32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<i32>, tensor<4xf32>
}
"""


def parts(module: bytes) -> tuple[dict, list[bytes]]:
    """Everything that the module says, without where its data is, its checksums and its debug database."""
    tree = json.loads(rt.disassemble(module, output="flatbuffer-json"))
    tree.pop("debug_database", None)
    tree.pop("rodata_segments", None)
    tree["bytecode_data"] = bytes(tree["bytecode_data"]).rstrip(b"\0")  # Whether the last function is padded differs.
    tree["attrs"] = [attr for attr in tree.get("attrs", []) if attr["key"] != "tiree.digest"]
    return tree, re.findall(r"^vm\.rodata\[\d+\] = .*$", rt.disassemble(module), re.MULTILINE)


def there_and_back(original: bytes) -> None:
    copy = rt.assemble(rt.disassemble(original), verify=False)
    assert parts(copy) == parts(original)
    assert rt.assemble(rt.disassemble(copy)) == copy


@needs_iree
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_modules_there_and_back(name):
    text, flags = PROGRAMS[name]
    there_and_back(iree_module(text, *flags))


@pytest.mark.parametrize("text", [ADD, BOUNDED], ids=["add", "while"])
def test_own_modules_there_and_back(text):
    there_and_back(tiree_module(text))


@needs_iree
@pytest.mark.parametrize("name", PROGRAMS)
def test_disassembly_of_compiled_modules_gives_the_same_bytes(name, tmp_path):
    text, flags = PROGRAMS[name]
    path = tmp_path / "compiled.vmfb"
    path.write_bytes(iree_module(text, STRIPPED, *flags))
    printed = without_unreadable(theirs("dump-module", "--output=disassembly", path).out)
    assert rt.assemble(printed, verify=False) == reference_bytes(printed, tmp_path)
