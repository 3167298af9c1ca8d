"""What a user reads when something is wrong: what is at fault, what came, what is needed, what to do.

Situations that users of such tools complained about most, and where each is held here. `COMMANDS` are typed, `CALLS`
come from Python, `NOTES` are said of compilations that succeed; `ACCEPTED` is what others refuse.

    .mlir given as module            MLIR as module, MLIR under the name of a module, assembly as module
    text or other file               other file
    cut download                     cut download
    changed byte                     changed byte
    other age of the runtime         newer bytecode, older bytecode, newer runtime needed
    wrong dtype                      wrong dtype (COMMANDS, CALLS)
    f64 demoted by default           f64 narrowed, f64 kept (NOTES)
    wrong shape                      wrong shape (COMMANDS, CALLS), null, raw buffer
    too few arguments                too few arguments, too many arguments (COMMANDS, CALLS)
    numpy scalar                     ACCEPTED, array for a number (CALLS)
    Python list for a tensor         ACCEPTED, uneven list (CALLS), text (CALLS)
    keyword argument                 ACCEPTED, unknown keyword (CALLS)
    unknown function                 unknown function (COMMANDS, CALLS)
    unknown device                   unknown device (COMMANDS, CALLS)
    too few values in --input        too few values
    1.5 for i32; 3000000000          fraction for an integer, too large (COMMANDS, CALLS)
    bool list                        test_booleans_are_read, no boolean (COMMANDS, CALLS)
    float32                          type of another system
    no target flag                   no target (NOTES)
    missing math symbol              math that does not exist
    unsupported op                   operations without lowering
    i4, odd count                    packed integers
    async failure                    out of memory, failure in a kernel (COMMANDS, CALLS, test_asynchronous_failures)
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs.commands import run

ADD = """func.func @add(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %a, %b : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @sub(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.subtract %a, %b : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @number(%n: i32, %p: i1) -> i32 {
  return %n : i32
}
func.func @large(%a: tensor<1xf32>) -> tensor<4000000000000xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<1xf32>) -> tensor<4000000000000xf32>
  return %0 : tensor<4000000000000xf32>
}
func.func @product(%a: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.dot %a, %a : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
"""
NOTHING = """
vm.export @f
vm.func @f() -> () {
^bb0:
  vm.return
}
"""
BOOLEANS = """func.func @not(%a: tensor<2xi1>) -> tensor<2xi1> {
  %0 = stablehlo.not %a : tensor<2xi1>
  return %0 : tensor<2xi1>
}
"""


def _version_field(data: bytes) -> int:
    """Where a plain module file keeps the version of its bytecode: field 13 of the root table."""
    root = 4 + struct.unpack_from("<I", data, 4)[0]
    table = root - struct.unpack_from("<i", data, root)[0]
    return root + struct.unpack_from("<H", data, table + 4 + 2 * 13)[0]


def _with_version(data: bytes, version: int) -> bytes:
    """A plain module of another version of bytecode, with the checksum that belongs to it."""
    changed = bytearray(data)
    struct.pack_into("<I", changed, _version_field(data), version << 16)
    start = data.index(b",fb:") + 4 if b",fb:" in data else data.index(b"fb:") + 3
    changed[start : start + 8] = b"00000000"
    length = struct.unpack_from("<I", data)[0]
    changed[start : start + 8] = b"%08x" % zlib.crc32(changed[4 : 4 + length])
    return bytes(changed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("messages")
    (folder / "add.mlir").write_text(ADD)
    flags = ["--iree-llvmcpu-target-cpu=generic"]
    data = tiree.compile(folder / "add.mlir", flags=flags, output=folder / "add.vmfb")
    plain = tiree.compile(ADD, flags=[*flags, "--iree-vm-emit-polyglot-zip=false"])
    changed = bytearray(data)
    changed[data.index(b"\x7fELF") + 400] ^= 1
    files: dict[str, bytes] = {
        "cut.vmfb": data[: len(data) // 2],
        "changed.vmfb": bytes(changed),
        "newer.vmfb": _with_version(plain, 18),
        "older.vmfb": _with_version(plain, 15),
        "text.vmfb": b"hello, this is no module\n",
        "copy.vmfb": ADD.encode(),
        "m.vmasm": b"vm.module @m version 0\n",
        "future.vmfb": rt.assemble("vm.module @future version 0\nvm.dependency @hal version 99\n" + NOTHING),
        "wide.mlir": ADD.replace("f32", "f64").encode(),
        "unknown.mlir": b"func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        b"  %0 = math.log11 %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n",
        "unsupported.mlir": b"func.func @f(%m: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
        b'  %0 = "stablehlo.recv"(%m) : (tensor<2x2xf32>) -> tensor<2x2xf32>\n'
        b"  %1 = stablehlo.custom_call @who(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>\n"
        b'  %2 = "stablehlo.recv"(%1) : (tensor<2x2xf32>) -> tensor<2x2xf32>\n  return %2 : tensor<2x2xf32>\n}\n',
        "packed.mlir": b"func.func @f(%x: tensor<?x3xi4>) -> tensor<?x3xi4> {\n  return %x : tensor<?x3xi4>\n}\n",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


RUN = "tiree-run-module"
COMPILE = "tiree-compile"
ONE = "--input=2x3xf32=1"
CALL = (RUN, "--module=add.vmfb", "--function=add")
NUMBER = (RUN, "--module=add.vmfb", "--function=number")
# Situation: the command, and patterns that its message has, in this order.
COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "MLIR as module": (
        (RUN, "--module=add.mlir"),
        (r"add\.mlir is MLIR text, not a compiled module\.", r"tiree-compile add\.mlir -o add\.vmfb"),
    ),
    "MLIR under the name of a module": (
        (RUN, "--module=copy.vmfb"),
        (r"copy\.vmfb is MLIR text", r"-o copy\.out\.vmfb"),
    ),
    "assembly as module": (
        (RUN, "--module=m.vmasm"),
        (r"m\.vmasm is assembly text", r"tiree-as-module --output=m\.vmfb"),
    ),
    "other file": (
        (RUN, "--module=text.vmfb"),
        (r'text\.vmfb is not a module \(starts with "hell"; expected a ZIP or',),
    ),
    "cut download": (
        (RUN, "--module=cut.vmfb"),
        (r"cut\.vmfb is cut short: \d+ of (at least )?\d+ bytes\. Copy it again",),
    ),
    "changed byte": (
        (RUN, "--module=changed.vmfb"),
        (r"changed\.vmfb is damaged: checksum of \S+ is [0-9a-f]{8}, the file says [0-9a-f]{8}\.", r"recompile"),
    ),
    "newer bytecode": (
        (RUN, "--module=newer.vmfb"),
        (r"runtime supports 17\.0, module has 18\.0", r"newer\.vmfb was compiled by tiree", r"Recompile"),
    ),
    "older bytecode": (
        (RUN, "--module=older.vmfb"),
        (r"runtime supports 17\.0, module has 15\.0", r"older\.vmfb", r"Recompile"),
    ),
    "newer runtime needed": (
        (RUN, "--module=future.vmfb"),
        (
            r"required module 'hal' version mismatch; have \d+ but require 99\. \S*future\.vmfb was compiled by",
            r"Install",
        ),
    ),
    "wrong dtype": ((*CALL, "--input=2x3xf64=1", ONE), (r'--input 1 is 2x3xf64; add\(\) needs 2x3xf32 \("a"\)',)),
    "wrong shape": ((*CALL, ONE, "--input=1x3xf32=1"), (r'--input 2 is 1x3xf32; add\(\) needs 2x3xf32 \("b"\)',)),
    "null": ((*CALL, ONE, "--input=(null)"), (r'--input 2 is \(null\); add\(\) needs 2x3xf32 \("b"\)',)),
    "raw buffer": (
        (*CALL, "--input=&2x3xf32=1", ONE),
        (r"--input 1 is a hal\.buffer; add\(\) needs 2x3xf32", r"Leave the & out"),
    ),
    "too few arguments": ((*CALL, ONE), (r"add\(a: f32\[2x3\], b: f32\[2x3\]\) takes 2 values, 1 given with --input",)),
    "too many arguments": ((*CALL, ONE, ONE, ONE), (r"add\(a: f32\[2x3\], b: f32\[2x3\]\) takes 2 values, 3 given",)),
    "unknown function": (
        (RUN, "--module=add.vmfb", "--function=ad"),
        (r'module has no function "ad"', r"it has: add, sub, number, large, product\.", r'Did you mean "add"\?'),
    ),
    "unknown device": (
        (*CALL, ONE, ONE, "--device=cpu"),
        (r'no device "cpu"; this build has local-sync, local-task, null\. For the CPU use local-task\.',),
    ),
    "too few values": (
        (*CALL, "--input=2x3xf32=1 2", ONE),
        (r"--input 1: 2 values given, 2x3xf32 needs 6 \(or 1, to fill\)\.",),
    ),
    "fraction for an integer": ((*NUMBER, "--input=1.5", "--input=1"), (r'--input 1: "1\.5" is not an i32\.',)),
    "too large": (
        (*NUMBER, "--input=3000000000", "--input=1"),
        (r"--input 1: 3000000000 is out of range for i32 \(max 2147483647\)\.",),
    ),
    "no boolean": (
        (*NUMBER, "--input=1", "--input=yes"),
        (r'--input 2: "yes" is not an i1; i1 values are 0/1 or false/true',),
    ),
    "type of another system": (
        (*CALL, "--input=2x3xfloat32=1", ONE),
        (r'--input 1: unknown element type "float32"; did you mean f32\?',),
    ),
    "missing file": ((*CALL, "--input=@none.npy", ONE), (r"--input 1: cannot read none\.npy: No such file",)),
    "out of memory": (
        (RUN, "--module=add.vmfb", "--function=large", "--input=1xf32=1"),
        (r"large\(\) failed: out of memory: 16000000000000 bytes asked, \d+ bytes in use",),
    ),
    "failure in a kernel": (
        (RUN, "--module=add.vmfb", "--function=product", "--input=512x512xf32=1", "--task_worker_local_memory=4096"),
        (
            r"product\(\) failed in 'product_dispatch_\d+\w*' \(\S*add\.mlir:17\).*: \d+ bytes of local memory needed",
            r"4096; raise --task_worker_local_memory",
        ),
    ),
    "unknown flag": ((*CALL, ONE, ONE, "--devise=local-sync"), (r"unknown flag --devise", r"did you mean --device\?")),
    "math that does not exist": (
        (COMPILE, "unknown.mlir"),
        (r"unknown\.mlir:2:8: error: unknown operation 'math\.log11'", r"did you mean 'math\.log1"),
    ),
    "operations without lowering": (
        (COMPILE, "unsupported.mlir"),
        (r"unsupported\.mlir:2:8: error: stablehlo\.recv", r"unsupported\.mlir:3:8: error: .*custom_call.*'who'"),
    ),
    "packed integers": (
        (COMPILE, "packed.mlir"),
        (r"packed\.mlir:1:\d+: error: argument 1 \(%x\) of @f has elements of type i4", "pass bytes"),
    ),
    "module as source": (
        (COMPILE, "add.vmfb"),
        (r"add\.vmfb: error: this is a compiled module", r"Run it with tiree-run-module"),
    ),
    "no file": ((COMPILE, "none.mlir"), (r"none\.mlir: error: no such file",)),
}


@pytest.mark.parametrize("situation", COMMANDS)
def test_command(situation: str, folder: Path) -> None:
    command, wanted = COMMANDS[situation]
    done = run(folder, *command)
    message = "\n".join(line for line in done.err.splitlines() if not line.startswith("note: "))
    assert done.code == 1, done.out
    assert re.search(".*".join(wanted), message, re.DOTALL), message
    assert "Traceback" not in message
    # The implementation's own names stay inside.
    assert not re.search(r"\.rs\b|\.cc?\b|src/|iree/|INVALID_ARGUMENT|while invoking", message), message


NOTES: dict[str, tuple[tuple[str, ...], str]] = {
    "no target": (
        ("add.mlir",),
        r"note: no target given: compiling for this machine's CPU; --iree-llvmcpu-target-cpu=generic .*\n",
    ),
    "f64 narrowed": (
        ("wide.mlir", "--iree-input-demote-f64-to-f32", "--iree-llvmcpu-target-cpu=generic"),
        r"note: f64 is narrowed to f32, as a flag asks; callers pass f32\n",
    ),
    "f64 kept": (("wide.mlir", "--iree-llvmcpu-target-cpu=generic"), ""),
}


@pytest.mark.parametrize("situation", NOTES)
def test_note(situation: str, folder: Path) -> None:
    arguments, wanted = NOTES[situation]
    done = run(folder, COMPILE, *arguments, "-o", "x.vmfb")
    assert done.code == 0
    assert re.fullmatch(wanted, done.err), done.err


F = np.ones((2, 3), np.float32)
CALLS: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "wrong dtype": (
        lambda m: m.add(F.astype(float), F),
        TypeError,
        r'add\(\): argument 1 \("a"\) is float64 \[2x3\]; needs float32 \[2x3\]\. Pass a\.astype\("float32"\)\.',
    ),
    "wrong shape": (
        lambda m: m.add(F, F[:1]),
        ValueError,
        r'add\(\): argument 2 \("b"\) has shape \[1x3\]; needs \[2x3\]\.',
    ),
    "too few arguments": (
        lambda m: m.add(F),
        TypeError,
        r"add\(a: f32\[2x3\], b: f32\[2x3\]\) takes 2 arguments, 1 given",
    ),
    "array for a number": (
        lambda m: m.number(F, True),
        TypeError,
        r'number\(\): argument 1 \("n"\) must be a number for i32, got',
    ),
    "uneven list": (
        lambda m: m.add([[1, 2, 3], [4]], F),
        ValueError,
        r'argument 1 \("a"\) is a list of uneven lengths; needs',
    ),
    "text": (lambda m: m.add("x", F), TypeError, r'argument 1 \("a"\) is a str; needs float32 \[2x3\]'),
    "too many arguments": (
        lambda m: m.add(F, F, F),
        TypeError,
        r"add\(a: f32\[2x3\], b: f32\[2x3\]\) takes 2 arguments, 3 given",
    ),
    "unknown device": (
        lambda _: rt.get_device("cpu"),
        ValueError,
        r'^no device "cpu"; this build has local-sync, local-task, null\. For the CPU use local-task\.',
    ),
    "unknown keyword": (lambda m: m.add(F, c=F), TypeError, r'add\(\) has no argument "c"; it has a, b\.'),
    "unknown function": (
        lambda m: m.ad,
        AttributeError,
        r'module has no function "ad"; it has: .*Did you mean "add"\?',
    ),
    "too large": (lambda m: m.number(2**40, True), ValueError, r"1099511627776 is out of range for i32"),
    "fraction": (
        lambda m: m.number(1.5, True),
        TypeError,
        r"is 1\.5; needs a whole number for i32\. Pass int\(\.\.\.\)",
    ),
    "no boolean": (lambda m: m.number(1, 2), ValueError, r'argument 2 \("p"\): 2 is out of range for i1 \(0 to 1\)'),
    "out of memory": (
        lambda m: m.large(np.ones(1, np.float32)),
        RuntimeError,
        r"^large\(\) failed: out of memory: 16000000000000 bytes asked, \d+ bytes in use by this device$",
    ),
    "failure in a kernel": (
        lambda m: m.product(np.ones((512, 512), np.float32)),
        RuntimeError,
        r"^product\(\) failed in 'product_dispatch_\d+\w*' \(\S*add\.mlir:17\).*: \d+ bytes of local memory needed",
    ),
}


@pytest.mark.parametrize("situation", CALLS)
def test_call(situation: str, folder: Path) -> None:
    call, kind, wanted = CALLS[situation]
    device = rt.HalDevice.open("local-task", worker_local_memory=4096)
    module = rt.load(folder / "add.vmfb", device)
    with pytest.raises(kind, match=wanted):
        call(module)


ACCEPTED: dict[str, Callable[[Any], Any]] = {
    "list": lambda m: m.add(F.tolist(), F.tolist()),
    "Fortran order": lambda m: m.add(F, np.asfortranarray(F)),
    "big endian": lambda m: m.add(F, F.astype(">f4")),
    "keywords": lambda m: m.add(b=F, a=F),
    "number": lambda m: m.number(2, True) * F,
    "numpy scalar": lambda m: m.number(np.int64(2), np.bool_(True)) * F,
    "array of rank 0": lambda m: m.number(np.array(2), True) * F,
}


@pytest.mark.parametrize("situation", ACCEPTED)
def test_what_others_refuse_is_taken(situation: str, folder: Path) -> None:
    module = rt.load(folder / "add.vmfb", "local-sync")
    np.testing.assert_array_equal(np.asarray(ACCEPTED[situation](module)), F + F)


def test_booleans_are_read(folder: Path) -> None:
    tiree.compile(BOOLEANS, flags=["--iree-llvmcpu-target-cpu=generic"], output=folder / "not.vmfb")
    for value in ("2xi1=0 1", "2xi1=false true", "2xi1=[0, 1]"):
        assert (
            run(folder, RUN, "--module=not.vmfb", f"--input={value}").out
            == "EXEC @not\nresult[0]: hal.buffer_view\n2xi1=01 00\n"
        )


@pytest.mark.parametrize("how", ["call", "begin", "command"])
@pytest.mark.parametrize(
    ("name", "shape", "wanted"),
    [
        ("large", "1", r"large\(\) failed: out of memory: 16000000000000 bytes asked"),
        (
            "product",
            "512x512",
            r"product\(\) failed in 'product_dispatch_\d+\w*' \(\S*:17\).*bytes of local memory needed",
        ),
    ],
)
def test_asynchronous_failures(name: str, shape: str, wanted: str, how: str, folder: Path) -> None:
    """The first cause, not that a semaphore was aborted."""
    file = folder / "async.vmfb"
    if not file.exists():
        flags = ["--iree-llvmcpu-target-cpu=generic", "--iree-execution-model=async-external"]
        tiree.compile(folder / "add.mlir", flags=flags, output=file)
    if how == "command":
        arguments = (f"--function={name}", f"--input={shape}xf32=1", "--task_worker_local_memory=4096")
        assert re.search(wanted, run(folder, RUN, f"--module={file.name}", *arguments).err)
        return
    function = rt.load(file, rt.HalDevice.open("local-task", worker_local_memory=4096))[name]
    argument = np.ones([int(size) for size in shape.split("x")], np.float32)
    with pytest.raises(rt.StatusError, match=wanted) as caught:
        function(argument) if how == "call" else function.begin(argument).wait()
    assert caught.value.code_name == "RESOURCE_EXHAUSTED"
    assert caught.value.status.startswith(f"RESOURCE_EXHAUSTED; {caught.value.message}")


@pytest.mark.parametrize(
    ("name", "wanted"), [("cut.vmfb", "cut short"), ("changed.vmfb", "is damaged"), ("add.mlir", "MLIR text")]
)
def test_files_in_python(name: str, wanted: str, folder: Path) -> None:
    with pytest.raises(ValueError, match=wanted):
        rt.load(folder / name)
