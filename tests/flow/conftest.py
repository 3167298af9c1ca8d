"""Runs programs through the input and flow stages and hands the result to the real IREE tools: the oracle here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--iree-input-demote-f64-to-f32=false",
)


@dataclass
class FlowResult:
    """What the flow stage made of a program."""

    text: str
    """The module at phase `flow`, generic form."""
    dispatch_creation: str
    """The module at phase `dispatch-creation`, generic form."""

    def count(self, op: str) -> int:
        return self.text.count(f'"{op}"(')


def run_flow(text: str, verify: bool = True) -> FlowResult:
    """`text` (StableHLO or linalg) through input, abi, preprocessing, global-optimization, dispatch-creation, flow."""
    from tiree.dialects import get_context, print_module, read_module
    from tiree.flow import (
        dispatch_creation_passes,
        flow_passes,
        global_optimization_passes,
        preprocessing_passes,
    )
    from tiree.hal import assign_target_passes
    from tiree.input import abi_passes, input_passes
    from tiree.support.options import CompileOptions

    context = get_context()
    module = read_module(text, context)
    options = CompileOptions()
    phases = (
        [*input_passes(options), *abi_passes(options), *assign_target_passes(options)],
        [*preprocessing_passes(options), *global_optimization_passes(options), *dispatch_creation_passes(options)],
        flow_passes(options),
    )
    printed = []
    for passes in phases:
        for one in passes:
            one.apply(context, module)
            if verify:
                module.verify()
        printed.append(print_module(module))
    return FlowResult(printed[2], printed[1])


class Iree:
    """The real tools."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _tool(self, name: str, *arguments: str) -> None:
        command = [str(Path(sys.executable).with_name(name)), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{name} refuses the module:\n{done.stderr[:2000]}")

    def accept(self, text: str) -> None:
        """Raises `RuntimeError` unless iree-opt reads and verifies `text`."""
        source = self.folder / "accept.mlir"
        source.write_text(text)
        self._tool("iree-opt", str(source), "-o", str(self.folder / "accepted.mlir"))

    def compile(self, text: str, phase: str = "flow") -> bytes:
        source, output = self.folder / "in.mlir", self.folder / "out.vmfb"
        source.write_text(text)
        self._tool("iree-compile", *FLAGS, f"--compile-from={phase}", str(source), "-o", str(output))
        return output.read_bytes()

    def call(self, module: bytes, function: str, inputs: Sequence[Any]) -> list[np.ndarray]:
        import iree.runtime as rt

        config = rt.Config("local-sync")
        loaded = rt.VmModule.copy_buffer(config.vm_instance, module)
        context = rt.SystemContext(config=config)
        context.add_vm_module(loaded)
        result = getattr(context.modules, loaded.name)[function](*inputs)
        results = result if isinstance(result, (tuple, list)) else [result]
        return [np.asarray(value) for value in results]


@pytest.fixture
def iree(tmp_path: Path) -> Iree:
    pytest.importorskip("iree.runtime", reason="the oracle is IREE's own compiler and runtime")
    pytest.importorskip("iree.compiler", reason="the oracle is IREE's own compiler and runtime")
    return Iree(tmp_path)


@pytest.fixture
def flow() -> Callable[..., FlowResult]:
    """`run_flow(text, verify=True)`."""
    return run_flow
