"""Writes docs/life_of_a_program.md: one small model at every phase, with the IR that the compiler makes today.

Usage:  python docs/life_of_a_program.py [--check]

With --check nothing is written and the exit code is 1 when the page is not what the compiler makes. The target is a
generic x86-64 CPU, so the page is the same on every machine.
"""

from __future__ import annotations

import difflib
import re
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).with_name("life_of_a_program.md")

MODEL = """\
func.func @predict(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %w = stablehlo.constant dense<[[1.0, 0.0, 2.0, 0.5], [0.0, 1.0, -1.0, 0.5], [3.0, 0.0, 1.0, 0.5]]> : tensor<3x4xf32>
  %b = stablehlo.constant dense<[0.25, -0.25, 0.5, -0.5]> : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2x4xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<2x4xf32>
  %3 = stablehlo.maximum %2, %zero : tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}
"""  # noqa: E501

FLAGS = {
    "llvmcpu_target_triple": "x86_64-unknown-linux-gnu",
    "llvmcpu_target_cpu": "x86-64-v3",
    "llvmcpu_debug_symbols": False,
}

TEXT = {
    "input": "StableHLO is gone: a matrix product, a broadcast with an addition and a maximum are `linalg.generic`s, "
    "loops described by their index maps. Functions are `util.func`.",
    "abi": "Callers know nothing of tensors: the entry point takes and returns `!hal.buffer_view`, and a declaration "
    "that tools and Python read is attached.",
    "preprocessing": "The device is chosen and described; everything later asks this description, never the machine "
    "that compiles.",
    "global-optimization": "The whole program is simplified while it is still in tensors: constants fold, shapes and "
    "layouts are cleaned up.",
    "dispatch-creation": "What runs together is decided. Product, bias and relu are one region: the result of the "
    "product never reaches memory.",
    "flow": "Regions become functions of their own (executables), equal ones are merged. What is left in the host "
    "program is a call.",
    "stream": "Tensors become byte ranges and the program a schedule: results are allocated, one `stream.cmd.execute` "
    "holds the work, timepoints say what waits for what.",
    "executable-sources": "Executables are specialised for the target and know their bindings.",
    "executable-configurations": "Each kernel gets a strategy, picked from the shapes and the target description.",
    "executable-targets": "Kernels are machine code in a small ELF image; how many workgroups each has is known now.",
    "hal": "The schedule becomes calls on a device. The command buffer is recorded once, when the module is loaded, "
    "and executed with the buffers of each call.",
    "vm": "Host code in VM instructions. References are moved or discarded at their last use.",
}

HEAD = """\
# The life of a program

One model, a dense layer with relu, at every phase of the compiler. This page is made by `python
docs/life_of_a_program.py`, and a test fails when it is not what the compiler makes; print any phase of your own
program with `tiree-compile model.mlir --compile-to=PHASE`.

## start

What a user brings, here StableHLO as JAX would print it:

```mlir
{model}```
"""


def shortened(text: str) -> str:
    """IR without what only takes room: target descriptions, long data, doubled blank lines."""
    text = re.sub(r'cpu_features = "[^"]*"', 'cpu_features = "..."', text)
    text = re.sub(r'data_layout = "[^"]*"', 'data_layout = "..."', text)
    text = re.sub(r'dense<"0x[0-9A-F]{64,}">', 'dense<"0x...">', text)
    lines = [line.rstrip() for line in text.strip().splitlines() if line.strip()]
    return "\n".join(line if len(line) <= 240 else f"{line[:237]}..." for line in lines)


def page() -> str:
    """The whole page."""
    from tiree.dialects import get_context, print_module, read_module
    from tiree.pipeline import PHASES, emit, run_pipeline
    from tiree.support.options import CompileOptions

    options = CompileOptions(**FLAGS)
    context = get_context()
    module = read_module(MODEL, context)
    parts = [HEAD.format(model=MODEL)]
    previous = "start"
    for phase in PHASES[1:-1]:
        run_pipeline(module, options, previous, phase.name, ctx=context)
        previous = phase.name
        text = shortened(print_module(module, generic=False, elide_larger_than=16))
        parts.append(f"## {phase.name}\n\n{TEXT[phase.name]}\n\n```mlir\n{text}\n```\n")
    data = emit(module, options)
    parts.append(
        "## end\n\nThe `.vmfb` holds the bytecode of the host program, the ELF image and the weights. "
        f"This one is {len(data):,} bytes. Its disassembly, by `tiree-dump-module --output=disassembly`:\n\n"
        f"```\n{disassembly(data)}\n```\n\nAnd it runs:\n\n```python\n"
        '>>> tiree.load("predict.vmfb").predict(np.ones((2, 3), np.float32))\n```\n'
    )
    return "\n".join(parts)


def disassembly(data: bytes) -> str:
    """The functions of a module, without the rodata."""
    from tiree import _native

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "predict.vmfb"
        path.write_bytes(data)
        text = _native.dump_module(str(path), "disassembly", "", False, False)
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("vm.rodata")]
    return "\n".join(line if len(line) <= 160 else f"{line[:157]}..." for line in lines)


def main() -> int:
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
        return 0
    old = PAGE.read_text() if PAGE.exists() else ""
    if old == text:
        return 0
    sys.stdout.writelines(list(difflib.unified_diff(old.splitlines(True), text.splitlines(True), "page", "now"))[:60])
    print("docs/life_of_a_program.md is stale: run python docs/life_of_a_program.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
