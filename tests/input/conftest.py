"""Runs the input stage, and its output through the real iree-compile and IREE runtime: the oracle of this folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
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


def lower(text: str, phase: str = "input", **options: Any) -> str:
    """The module after the passes up to `phase`, in generic form; verified."""
    from tiree.dialects import get_context, print_module, read_module
    from tiree.input import abi_passes, input_passes
    from tiree.pipeline import verify_module
    from tiree.support.options import CompileOptions

    context = get_context()
    module = read_module(text, context)
    verify_module(module)
    settings = CompileOptions(**options)
    passes = [*input_passes(settings), *(abi_passes(settings) if phase == "abi" else [])]
    for one in passes:
        one.apply(context, module)
        module.verify()
    return print_module(module)


class IreeRunner:
    """Compiles text from a phase and calls a function of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def compile(self, text: str, phase: str) -> bytes:
        source, output = self.folder / "in.mlir", self.folder / "out.vmfb"
        source.write_text(text)
        tool = Path(sys.executable).with_name("iree-compile")
        command = [str(tool), *FLAGS, f"--compile-from={phase}", str(source), "-o", str(output)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"iree-compile refuses the {phase} module:\n{done.stderr[:2000]}")
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
def iree(tmp_path: Path) -> IreeRunner:
    pytest.importorskip("iree.runtime", reason="the oracle is IREE's own compiler and runtime")
    pytest.importorskip("iree.compiler", reason="the oracle is IREE's own compiler and runtime")
    return IreeRunner(tmp_path)


@pytest.fixture
def lowered() -> Callable[..., str]:
    """`lower(text, phase="input", **options)`."""
    return lower
