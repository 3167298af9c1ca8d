"""Helpers of the stream and hal tests: the reference tools as oracles.

`iree-opt` turns pretty text into the generic form and checks what Tiree prints; `iree-compile` carries Tiree's IR on;
`iree.runtime` runs the result.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tiree.dialects import get_context, print_module, read_module
from tiree.pipeline import run_passes
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

TARGET = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)


def tool(name: str, text: str | bytes, *flags: str) -> bytes:
    """What an IREE tool writes for `text` on its standard input; fails the test with its messages."""
    done = subprocess.run(
        [str(Path(sys.executable).parent / name), *flags, "-"],
        input=text.encode() if isinstance(text, str) else text,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[:2000]
    return done.stdout


def iree_opt(text: str | bytes) -> str:
    """`text` in generic form, normalised by iree-opt."""
    return tool("iree-opt", text, "--mlir-print-op-generic").decode()


def iree_compile(text: str | bytes, *flags: str) -> bytes:
    return tool("iree-compile", text, *TARGET, *flags)


def read(text: str) -> ModuleOp:
    """The module of pretty or generic text, through iree-opt."""
    return read_module(iree_opt(text).encode(), get_context(allow_unregistered=True))


def apply(module: ModuleOp, passes: Sequence[ModulePass]) -> ModuleOp:
    """Runs `passes`, verifying after each."""
    context = get_context(allow_unregistered=True)
    for one in passes:
        run_passes(module, [one], context)
        module.verify()
    return module


def run_vmfb(data: bytes, inputs: Sequence[np.ndarray | int], driver: str = "local-sync") -> list[np.ndarray]:
    """The results of `main` of a module, by iree.runtime."""
    import iree.runtime as rt

    context = rt.SystemContext(config=rt.Config(driver))
    module = rt.VmModule.copy_buffer(context.instance, data)
    context.add_vm_module(module)
    results = context.modules[module.name]["main"](*inputs)
    return [np.asarray(r) for r in (results if isinstance(results, list | tuple) else [results])]


def expect(results: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    assert len(results) == len(expected)
    for got, wanted in zip(results, expected, strict=True):
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got.astype(wanted.dtype), wanted, rtol=1e-6)


def count(module: ModuleOp, name: str) -> int:
    """How many operations of host functions have that name."""
    functions = [op for op in module.ops if op.name == "util.func"]
    return sum(op.name == name for function in functions for op in function.walk())


__all__ = ["apply", "count", "expect", "iree_compile", "iree_opt", "print_module", "read", "run_vmfb"]
