"""`iree`, a fixture: the real iree-opt, iree-compile and runtime, the oracle of the tests of single stages."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
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


class Iree:
    """The real tools; files of theirs go to `folder`."""

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
