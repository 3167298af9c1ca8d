"""One program, two compilers: what one prints at a phase, the other carries on to the same values.

`TIREE_PHASE_PROGRAMS` programs (6 unless it is set, `make phases` takes all 100): a third are those of
`text_programs.py`, the others functions of JAX of `tests/programs`, over all families. iree-compile writes its text of
every phase in one run, in the short form; Tiree's is the generic form.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from phases.phase_program import PhaseProgram
from phases.text_programs import text_programs
from programs.bundle import Case
from proofs import iree_reference as iree

pytestmark = iree.needs_iree

COUNT = int(os.environ.get("TIREE_PHASE_PROGRAMS", "6"))
TEXTS = {program.name: program for program in text_programs()[: (COUNT + 2) // 3]}
THEIRS = (
    "input",
    "abi",
    "preprocessing",
    "global-optimization",
    "dispatch-creation",
    "flow",
    "stream",
    "executable-sources",
    "executable-configurations",
    "hal",
    "vm",
)
"""All but executable-targets: executables are of the llvm dialect there."""
OURS = ("input", "abi", "flow", "stream", "hal")
LEFT_OUT = {"embedding_u8", "clip_wild", "clip_u64", "fill_wild"}
"""Indices out of range: iree-compile reads what is there."""
FAMILIES = (
    "functions_float32",
    "chlo_float32",
    "iota",
    "shapes",
    "pads",
    "reduce",
    "reduce_window",
    "dots",
    "convolutions",
    "gathers",
    "slices",
    "control",
    "scatters",
    "sorts",
)


@cache
def programs() -> dict[str, Case]:
    """Cases of each family in turn, as many as are wanted; those where iree-compile has other values are left out."""
    from programs import bundles

    families = {
        bundle.name: [
            case for case in bundle.cases if not case.differs and case.expected is None and case.name not in LEFT_OUT
        ]
        for bundle in bundles()
        if bundle.name in FAMILIES
    }
    found: dict[str, Case] = {}
    for number in range(max(map(len, families.values()))):
        for name, cases in families.items():
            if number < len(cases) and len(found) < COUNT - len(TEXTS):
                found[f"{name}.{cases[number].name}"] = cases[number]
    return found


def names() -> list[str]:
    try:
        return list(programs())
    except ImportError:
        return []


@cache
def lowered(name: str) -> tuple[str, list[np.ndarray], list[np.ndarray]]:
    """The text, the inputs, and JAX's values."""
    import jax

    case = programs()[name]
    with jax.enable_x64(True):
        inputs = [np.asarray(value) for value in case.inputs]
        jitted = jax.jit(case.function, keep_unused=True)
        text = jitted.lower(*inputs).as_text()
        return text, inputs, [np.asarray(leaf) for leaf in jax.tree.leaves(jitted(*inputs))]


def check(got: Any, name: str) -> None:
    case, wanted = programs()[name], lowered(name)[2]
    results = list(got) if isinstance(got, list | tuple) else [got]
    assert len(results) == len(wanted)
    for one, want in zip(results, wanted, strict=True):
        one = np.asarray(one)
        assert one.shape == want.shape
        if want.dtype.kind in "fV":
            wide, tolerance = np.float64, max(case.rtol, 1e-5)
            np.testing.assert_allclose(one.astype(wide), want.astype(wide), tolerance, max(case.atol, 1e-5))
        else:
            np.testing.assert_array_equal(one, want)


@pytest.mark.parametrize("name", names())
def test_tiree_carries_on_what_iree_prints(name: str, tmp_path: Path) -> None:
    text, inputs, _ = lowered(name)
    source = tmp_path / "program.mlir"
    source.write_text(text)
    folder = tmp_path / "phases"
    iree.run_tool("iree-compile", source, *iree.TARGET, f"--dump-compilation-phases-to={folder}", "-o", os.devnull)
    for phase in THEIRS:
        (path,) = folder.glob(f"*.{phase}.mlir")
        module = tiree.compile(path, flags=[f"--compile-from={phase}"])
        loaded: Any = rt.load(module)
        check(loaded.main(*inputs), name)


@pytest.mark.parametrize("name", names())
def test_iree_carries_on_what_tiree_prints(name: str) -> None:
    text, inputs, _ = lowered(name)
    at = {
        phase: bytes(tiree.compile(text, flags=[f"--compile-to={phase}", "--mlir-print-op-generic"])).decode()
        for phase in OURS
    }
    iree.accept(list(at.values()))
    for phase, printed in at.items():
        check(iree.call(iree.compile_text(printed, compile_from=phase), "main", inputs, "local-sync"), name)


def calls_agree(runtime: Any, data: bytes, program: PhaseProgram) -> None:
    """Makes the calls of a program, in order and in one context, by `tiree.runtime` or `iree.runtime`."""
    config = runtime.Config("local-sync")
    indices: dict[str, Any] = {}
    for (scope, key), array in program.parameters.items():
        indices.setdefault(scope, runtime.ParameterIndex()).add_buffer(key, array.tobytes())
    modules = [runtime.create_hal_module(config.vm_instance, config.device)]
    if indices:
        providers = [index.create_provider(scope=scope) for scope, index in indices.items()]
        modules.append(runtime.create_io_parameters_module(config.vm_instance, *providers))
    module = runtime.VmModule.copy_buffer(config.vm_instance, data)
    context = runtime.SystemContext(vm_modules=[*modules, module], config=config)
    for function, inputs, wanted in program.calls:
        got = context.modules[module.name][function](*inputs)
        results = list(got) if isinstance(got, list | tuple) else [got]
        assert len(results) == len(wanted)
        for one, want in zip(results, wanted, strict=True):
            np.testing.assert_allclose(np.asarray(one), want, 1e-6, 1e-6)
            assert np.asarray(one).shape == np.shape(want)


@pytest.mark.parametrize("name", TEXTS)
def test_tiree_carries_on_the_text_program_that_iree_prints(name: str, tmp_path: Path) -> None:
    program = TEXTS[name]
    source = tmp_path / "program.mlir"
    source.write_text(program.text)
    folder = tmp_path / "phases"
    iree.run_tool("iree-compile", source, *iree.TARGET, f"--dump-compilation-phases-to={folder}", "-o", os.devnull)
    for phase in THEIRS:
        (path,) = folder.glob(f"*.{phase}.mlir")
        calls_agree(rt, bytes(tiree.compile(path, flags=[f"--compile-from={phase}"])), program)


@pytest.mark.parametrize("name", TEXTS)
def test_iree_carries_on_the_text_program_that_tiree_prints(name: str) -> None:
    import iree.runtime as theirs

    program = TEXTS[name]
    at = {
        phase: bytes(tiree.compile(program.text, flags=[f"--compile-to={phase}", "--mlir-print-op-generic"])).decode()
        for phase in OURS
    }
    iree.accept(list(at.values()))
    for phase, printed in at.items():
        calls_agree(theirs, iree.compile_text(printed, compile_from=phase), program)


def test_executables_in_the_llvm_dialect_are_refused_by_name(tmp_path: Path) -> None:
    source = tmp_path / "program.mlir"
    source.write_text("""
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}""")
    printed = tmp_path / "targets.mlir"
    iree.run_tool("iree-compile", source, *iree.TARGET, "--compile-to=executable-targets", "-o", printed)
    with pytest.raises(tiree.CompileError, match="start from executable-configurations, or from hal"):
        tiree.compile(printed, flags=["--compile-from=executable-targets"])
