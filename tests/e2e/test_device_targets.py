"""Devices of one program that need different executables, and devices that are chosen when the program runs."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree
from tiree.compiler.api import compile_str
from tiree.dialects import get_context, read_module
from tiree.support.errors import CompileError

PROGRAM = """
func.func @main(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
  %0 = arith.addf %a, %b : tensor<64xf32>
  %1 = flow.tensor.transfer %0 : tensor<64xf32> to #hal.device.promise<@b>
  %2 = arith.mulf %1, %1 : tensor<64xf32>
  %3 = flow.tensor.transfer %2 : tensor<64xf32> to #hal.device.promise<@a>
  %4 = arith.addf %3, %b : tensor<64xf32>
  return %4 : tensor<64xf32>
}
"""
GENERIC = "--iree-llvmcpu-target-cpu=generic"
A = "--iree-hal-target-device=a="
B = "--iree-hal-target-device=b="
OTHER_CPU = (
    '#hal.device.target<"local", {ordinal = 1 : index}, '
    '[#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {cpu = "x86-64-v2"}>]>'
)
PAIR = ["local-sync", "local-task"]
X, Y = (np.random.default_rng(n).standard_normal(64).astype(np.float32) for n in (1, 2))

WAYS = {
    "two CPUs": (f"{A}local[0]", B + OTHER_CPU),
    "a choice": (f"{A}local[0]", f"{B}local[7],local[1]"),
    "a choice as an attribute": (f"{A}local[0]", f"{B}#hal.device.select<[#hal.device.ordinal<7>, {OTHER_CPU}]>"),
    "the same device": (f"{A}local[0]", f"{B}#hal.device.fallback<@a>"),
    "numbers": (f"{A}#hal.device.ordinal<1>", f"{B}#hal.device.ordinal<0>"),
    "a choice that ends with another": (
        f"{A}local[1]",
        f'{B}#hal.device.select<[#hal.device.alias<"local"[4]>, #hal.device.fallback<@a>]>',
    ),
    "several CPUs and one": (f"{A}local", B + OTHER_CPU, "--iree-llvmcpu-target-cpu=generic,x86-64-v3"),
}  # fmt: skip


def check(got: object) -> None:
    np.testing.assert_allclose(np.asarray(got), (X + Y) * (X + Y) + Y, rtol=1e-6)


@pytest.mark.parametrize("flags", WAYS.values(), ids=WAYS)
def test_ways_to_say_what_a_device_is(flags: tuple[str, ...]) -> None:
    module = tiree.compile(PROGRAM, flags=[*([] if len(flags) > 2 else [GENERIC]), *flags])
    check(rt.load(module, device=PAIR).main(X, Y))


@pytest.mark.parametrize("way", ["two CPUs", "a choice"])
@iree.needs_iree
def test_iree_runs_it_and_carries_it_on(way: str, tmp_path) -> None:
    flags = [GENERIC, *WAYS[way]]
    texts: dict[str, str] = {}
    for phase in ("flow", "stream", "executable-sources", "hal"):
        text = compile_str(PROGRAM, extra_args=[*flags, f"--compile-to={phase}"], output_generic_mlir=True)
        assert text is not None
        texts[phase] = text.decode()
    iree.accept(list(texts.values()))
    path = tmp_path / "module.vmfb"
    for array, name in ((X, "x"), (Y, "y"), ((X + Y) * (X + Y) + Y, "z")):
        np.save(tmp_path / f"{name}.npy", array)
    devices = [f"--device={device}" for device in PAIR]
    inputs = [f"--input=@{tmp_path}/x.npy", f"--input=@{tmp_path}/y.npy", f"--expected_output=@{tmp_path}/z.npy"]
    modules = [bytes(tiree.compile(PROGRAM, flags=flags))]
    # What iree-compile links of several CPUs, also of its own making, loses functions.
    link = "--iree-hal-link-executables=false"
    for phase in ("flow", "executable-sources"):
        iree.run_tool("iree-compile", "-", f"--compile-from={phase}", link, "-o", path, stdin=texts[phase])
        modules.append(path.read_bytes())
    for module in modules:
        path.write_bytes(module)
        said = iree.run_tool("iree-run-module", f"--module={path}", "--function=main", *devices, *inputs)
        assert "[SUCCESS]" in said


def test_each_device_has_its_own_image() -> None:
    text = compile_str(PROGRAM, extra_args=[GENERIC, *WAYS["two CPUs"], "--compile-to=hal"], output_generic_mlir=True)
    assert text is not None
    names = re.findall(r'"hal.executable.binary"\(\) <{sym_name = "(\w+)"', text.decode())
    assert names == ["embedded_elf_x86_64", "embedded_elf_x86_64_0"]
    assert b"hal.device.query" in text
    assert b"hal.cpu" not in text


def test_a_choice_that_there_is_not_is_named() -> None:
    module = tiree.compile(PROGRAM, flags=[GENERIC, f"{A}local[0]", f"{B}local[7],local[8]"])
    with pytest.raises(RuntimeError, match=r"device `b` not found .*ordinal = 7.* or .*ordinal = 8"):
        rt.load(module, device=PAIR)


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("#hal.device.foo<1>", "#hal.device.foo<1> is no device"),
        ('#hal.device.alias<"vulkan">', "no device kind 'vulkan'"),
        ('#hal.device.target<"vulkan">', "no device kind 'vulkan'"),
        ("#hal.device.select<[]>", "needs a list of devices"),
        ("#hal.device.fallback<@b>", "falls back to itself"),
        ("#hal.device.fallback<@c>", "device @c is not in the module; it has a, b"),
        ("local,vulkan", "no such value"),
        (
            '#hal.device.target<"local", [#hal.executable.target<"rocm", "rocm-hsaco-fb">]>',
            "executables cannot be compiled for 'rocm'\n  backends are llvm-cpu, vmvx",
        ),
    ],
)
def test_refused(device: str, message: str) -> None:
    with pytest.raises(CompileError, match=re.escape(message)):
        tiree.compile(PROGRAM, flags=[GENERIC, f"{A}local", B + device])


def test_devices_of_the_module_itself() -> None:
    program = PROGRAM.replace("#hal.device.promise", "#hal.device.affinity")
    both = '{a = #hal.device.alias<"local"[0]> : !hal.device, b = #hal.device.ordinal<1> : !hal.device}'
    for text in (
        f"module attributes {{hal.device.targets = {both}}} {{\n{program}\n}}",
        '#x = #hal.device.alias<"local"> : !hal.device\nmodule {\n util.global private @a = #x : !hal.device\n'
        f" util.global private @b = #hal.device.fallback<@a> : !hal.device\n{program}\n}}",
    ):
        check(rt.load(tiree.compile(text, flags=[GENERIC]), device=PAIR).main(X, Y))


@iree.needs_iree
def test_attributes_are_printed_as_iree_prints_them() -> None:
    attributes = (
        '#hal.device.alias<"local"[1], {x = 1 : i64}> : !hal.device',
        "#hal.device.ordinal<3> : !hal.device",
        "#hal.device.fallback<@a> : !hal.device",
        "#hal.device.select<[#hal.device.ordinal<3> : !hal.device]> : !hal.device",
    )
    lines = "\n".join(f"util.global private @d{n} = {one}" for n, one in enumerate(attributes))
    text = f"builtin.module {{\nutil.global private @a : !hal.device\n{lines}\n}}"
    ours = str(read_module(text, get_context()))
    theirs = iree.run_tool("iree-opt", "-", stdin=text)
    for attribute in attributes:
        assert attribute in ours
        assert attribute in theirs
