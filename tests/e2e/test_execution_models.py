"""Every execution model computes the same: programs of all kinds in Tiree's runtime, and in iree-run-module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from e2e.model_programs import DYNAMIC_ROWS, ELEMENTWISE, IN_PLACE, PROGRAMS, SCALARS, Program
from programs import Bundle, bundles
from programs.bundle import check
from proofs import iree_reference as iree
from tiree.compiler.api import compile_str
from tiree.support.errors import CompileError

Flags = tuple[str, ...]
MODEL = "--iree-execution-model="
CPU = "--iree-llvmcpu-target-cpu=host"
VMVX = "--iree-hal-local-target-device-backends=vmvx"
DYNAMIC = (f"{MODEL}inline-dynamic", CPU)
DYNAMIC_VMVX = (f"{MODEL}inline-dynamic", VMVX)
STATIC = (f"{MODEL}inline-static",)
ASYNC: dict[Flags, Flags] = {DYNAMIC: (CPU,), DYNAMIC_VMVX: (VMVX,), STATIC: (VMVX,)}
"""What has the same kernels with a device."""
NAMES = ("floats_float16", "functions_float64", "integers_int8", "conversions", "dots")


def arrays(results: Any) -> list[np.ndarray]:
    return [np.asarray(one) for one in (results if isinstance(results, tuple) else (results,))]


def calls_of(module: bytes, program: Program) -> list[list[np.ndarray]]:
    loaded = rt.load(module, device="local-sync")
    return [arrays(getattr(loaded, function)(*arguments)) for function, arguments in program.calls]


def by_tool(module: bytes, program: Program, folder: Path) -> list[list[np.ndarray]]:
    """The same calls by iree-run-module, each in a process of its own."""
    path = folder / "m.vmfb"
    path.write_bytes(module)
    found: list[list[np.ndarray]] = []
    for number, (function, arguments) in enumerate(program.calls):
        flags: list[str] = []
        for place, value in enumerate(arguments):
            if isinstance(value, np.ndarray):
                np.save(folder / f"{number}.{place}.npy", value)
                flags.append(f"--input=@{folder}/{number}.{place}.npy")
            else:
                flags.append(f"--input={value}")
        count = RESULTS[program.name, function]
        outputs = [folder / f"{number}.out.{place}.npy" for place in range(count)]
        flags += [f"--output=@{one}" for one in outputs]
        iree.run_tool("iree-run-module", f"--module={path}", f"--function={function}", *flags)
        found.append([np.load(one) for one in outputs])
    return found


RESULTS: dict[tuple[str, str], int] = {}


@pytest.mark.parametrize("flags", [DYNAMIC, DYNAMIC_VMVX, STATIC], ids=["dynamic", "dynamic-vmvx", "static"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
@iree.needs_iree
def test_programs(program: Program, flags: Flags, tmp_path: Path) -> None:
    """The same numbers as with a device, bit by bit: kernels are the same, what calls them is not."""
    want = calls_of(bytes(tiree.compile(program.text, flags=list(ASYNC[flags]))), program)
    RESULTS.update({(program.name, call[0]): len(got) for call, got in zip(program.calls, want, strict=True)})
    module = bytes(tiree.compile(program.text, flags=list(flags)))
    places = [calls_of(module, program)]
    if program is not SCALARS:  # a scalar result cannot be written to a file
        places.append(by_tool(module, program, tmp_path))
    for got in places:
        for one, other in zip(got, want, strict=True):
            check(one, other, 0.0, 0.0)


@pytest.mark.parametrize("bundle", [b for b in bundles() if b.name in NAMES], ids=lambda bundle: bundle.name)
def test_values(bundle: Bundle) -> None:
    """What kernels compute that are part of the host program."""
    pytest.importorskip("jax", reason="values come from JAX")
    results = rt.load(tiree.compile(bundle.text, flags=list(STATIC)), device="local-sync").main(*bundle.inputs)
    parts = bundle.split(arrays(results))
    for case, got, want in zip(bundle.cases, parts, bundle.expected, strict=True):
        check(got, want, case.rtol, case.atol)


@pytest.mark.parametrize("flags", [DYNAMIC, DYNAMIC_VMVX, STATIC], ids=["dynamic", "dynamic-vmvx", "static"])
@iree.needs_iree
def test_a_program_without_devices_imports_none(flags: Flags) -> None:
    text = compile_str(IN_PLACE.text, extra_args=[*flags, "--compile-to=vm"])
    assert text is not None
    assert b"@hal." not in text
    assert b"@hal_inline.buffer.allocate" in text
    assert (b"@hal_loader.executable.dispatch" in text) == (flags is not STATIC)


@pytest.mark.parametrize("phase", ["executable-targets", "hal", "vm"])
@pytest.mark.parametrize("flags", [DYNAMIC, STATIC], ids=["dynamic", "static"])
@iree.needs_iree
def test_phases_are_read_again(phase: str, flags: Flags) -> None:
    """Tiree goes on from what it printed; iree-opt accepts it, but for machine code of a phase where IREE has none."""
    text = compile_str(DYNAMIC_ROWS.text, extra_args=[*flags, f"--compile-to={phase}"], output_generic_mlir=True)
    assert text is not None
    if phase != "executable-targets":
        iree.accept([text.decode()])
    module = compile_str(text, extra_args=[*flags, f"--compile-from={phase}"])
    assert module is not None
    for got, want in zip(
        calls_of(module, DYNAMIC_ROWS),
        calls_of(bytes(tiree.compile(DYNAMIC_ROWS.text, flags=list(ASYNC[flags]))), DYNAMIC_ROWS),
        strict=True,
    ):
        check(got, want, 0.0, 0.0)


@pytest.mark.parametrize("flags", [DYNAMIC, STATIC], ids=["dynamic", "static"])
@iree.needs_iree
def test_iree_goes_on_from_hal(flags: Flags) -> None:
    text = compile_str(ELEMENTWISE.text, extra_args=[*flags, "--compile-to=hal"], output_generic_mlir=True)
    assert text is not None
    module = iree.compile_text(text.decode(), flags[0], compile_from="hal")
    (want,) = calls_of(bytes(tiree.compile(ELEMENTWISE.text, flags=list(ASYNC[flags]))), ELEMENTWISE)
    check(calls_of(module, ELEMENTWISE)[0], want, 0.0, 0.0)


@iree.needs_iree
def test_tiree_goes_on_from_hal_of_iree() -> None:
    flags = (f"{MODEL}inline-dynamic", "--compile-to=hal")
    text = iree.run_tool("iree-compile", "-", *iree.TARGET, *flags, stdin=IN_PLACE.text)
    module = compile_str(text.encode(), extra_args=["--compile-from=hal"])
    assert module is not None
    want = calls_of(bytes(tiree.compile(IN_PLACE.text, flags=[CPU])), IN_PLACE)
    for one, other in zip(calls_of(module, IN_PLACE), want, strict=True):
        check(one, other, 1e-6, 1e-6)


@iree.needs_iree
def test_several_cpus() -> None:
    """One of the images is loaded; where nothing answers, the program ends before it begins."""
    cpus = "--iree-llvmcpu-target-cpu=generic,x86-64-v2,x86-64-v3"
    module = bytes(tiree.compile(DYNAMIC_ROWS.text, flags=[DYNAMIC[0], cpus, "--iree-llvmcpu-target-triple=x86_64"]))
    want = calls_of(bytes(tiree.compile(DYNAMIC_ROWS.text, flags=[CPU])), DYNAMIC_ROWS)
    for one, other in zip(calls_of(module, DYNAMIC_ROWS), want, strict=True):
        check(one, other, 1e-4, 1e-3)
    both = [DYNAMIC[0], "--iree-hal-local-target-device-backends=llvm-cpu,vmvx"]
    far = "--iree-llvmcpu-target-triple=riscv64-unknown-linux-gnu"
    check(
        calls_of(bytes(tiree.compile(ELEMENTWISE.text, flags=[*both, far])), ELEMENTWISE)[0],
        calls_of(bytes(tiree.compile(ELEMENTWISE.text, flags=[VMVX])), ELEMENTWISE)[0], 0.0, 0.0,
    )  # fmt: skip
    with pytest.raises(RuntimeError, match="runs none of the variants of executable"):
        rt.load(tiree.compile(ELEMENTWISE.text, flags=[DYNAMIC[0], far]), device="local-sync")


def test_a_host_program_has_scalars_only() -> None:
    module = tiree.compile(SCALARS.text, flags=[f"{MODEL}host-only"])
    assert arrays(rt.load(module).main(7, 1.25)) == [49, 2.5]
    with pytest.raises(CompileError, match=r"function @main works on tensors .*host-only makes programs of scalars"):
        tiree.compile(ELEMENTWISE.text, flags=[f"{MODEL}host-only", CPU])


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ((*STATIC, VMVX), "inline-static makes kernels part of the host program, and vmvx makes files"),
        (("--iree-hal-target-backends=vmvx-inline",), "vmvx-inline makes kernels part of the host program"),
        ((*DYNAMIC, "--iree-hal-target-device=a=local[0]", "--iree-hal-target-device=b=local[1]"), "without devices"),
    ],
)
def test_flags_that_contradict_each_other(flags: Flags, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        tiree.compile(ELEMENTWISE.text, flags=list(flags))


def test_parameters_need_a_device() -> None:
    text = """
util.global private @p = #flow.parameter.named<"s"::"k"> : tensor<4xf32>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = util.global.load @p : tensor<4xf32>
  %1 = arith.addf %a, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}"""
    with pytest.raises(CompileError, match=r"stream\.cmd\.parameter\.load needs a device"):
        tiree.compile(text, flags=list(DYNAMIC))
