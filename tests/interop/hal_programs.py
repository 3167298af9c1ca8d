"""One small program or more for each function that the `hal` module exports, written as bytecode that calls it.

`PROGRAM` holds them all; `EXPORTS` says which exports each function is about. What they return is compared with IREE's
runtime, so nothing here says what is right.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from proofs import iree_reference as iree
from runtime.vm_program import Function, Value, VmProgram

HOST_TYPES = 0x76  # host-local and device-local
DEFAULT = 0x9000C03  # transfers, storage, mapping
INDIRECT = 0x100  # workgroup counts
FORMAT = "embedded-elf-x86_64"
DENSE = 1
F32, I32, I8 = 0x21000020, 0x10000020, 0x10000008

KERNELS = """
func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @triple(%a: tensor<100000xi32>) -> tensor<100000xi32> {
  %c = arith.constant dense<3> : tensor<100000xi32>
  %0 = arith.muli %a, %c : tensor<100000xi32>
  return %0 : tensor<100000xi32>
}
func.func @scaled(%a: tensor<?xi32>, %k: i32) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?xi32>
  %e = tensor.empty(%d) : tensor<?xi32>
  %f = linalg.fill ins(%k : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  %0 = arith.muli %a, %f : tensor<?xi32>
  return %0 : tensor<?xi32>
}
"""
ADD, TRIPLE, SCALED = (
    "add_dispatch_0_elementwise_4_f32",
    "triple_dispatch_0_elementwise_100000_i32",
    "scaled_dispatch_0",
)


@cache
def kernels() -> bytes:
    """The ELF file with all three, as iree-compile links it."""
    with tempfile.TemporaryDirectory() as folder:
        iree.compile_with_tool(
            KERNELS,
            f"--iree-hal-dump-executable-binaries-to={folder}",
            "--iree-hal-executable-debug-level=0",
            "--iree-llvmcpu-debug-symbols=false",
        )
        (path,) = Path(folder).glob("*.so")
        return path.read_bytes()


PROGRAM = VmProgram("hal_programs")
EXPORTS: dict[str, tuple[str, ...]] = {}
BUILDERS: dict[str, tuple[str, Callable[[Calls], None]]] = {}


class Calls:
    """The usual calls, for the body of a function."""

    def __init__(self, function: Function) -> None:
        self.f = function
        self.arguments = function.arguments
        self.device: Value = function.call("hal.devices.get", 0)
        self._allocator: Value | None = None

    def hal(self, name: str, *arguments: Any) -> Any:
        return self.f.call(f"hal.{name}", *arguments)

    @property
    def allocator(self) -> Value:
        if self._allocator is None:
            self._allocator = self.hal("device.allocator", self.device)
        return self._allocator

    def buffer(self, length: int = 16, *words: int) -> Value:
        """A buffer, zero but for the words at its beginning."""
        made = self.hal("allocator.allocate", self.allocator, -1, HOST_TYPES, DEFAULT, length)
        for offset in range(0, min(length, 64), 4):
            word = words[offset // 4] if offset // 4 < len(words) else 0
            self.hal("buffer.store", word, made, offset, 4)
        return made

    def counts(self, *words: int) -> Value:
        """A buffer for workgroup counts."""
        made = self.hal("allocator.allocate", self.allocator, -1, HOST_TYPES, DEFAULT | INDIRECT, 32)
        for index, word in enumerate(words):
            self.hal("buffer.store", word, made, 4 * index, 4)
        return made

    def fence(self) -> Value:
        return self.hal("fence.create", self.device, 0)

    def wait(self, *fences: Value | None) -> Value:
        return self.hal("fence.await", -1, 0, list(fences))

    def check(self, *fences: Value) -> None:
        self.f.line(f'vm.cond_fail {self.wait(*fences)}, "await"')

    def return_words(self, buffer: Value, count: int = 4, start: int = 0) -> None:
        self.f.result(*(self.hal("buffer.load", buffer, start + 4 * i, 4) for i in range(count)))

    def commands(self, mode: int = 0, categories: int = 3, capacity: int = 0) -> Value:
        return self.hal("command_buffer.create", self.device, mode, categories, -1, capacity)

    def execute(self, commands: Value, *table: tuple[Any, int, int]) -> None:
        self.hal("command_buffer.finalize", commands)
        fence = self.fence()
        if table:
            self.hal("device.queue.execute.indirect", self.device, -1, None, fence, commands, 0, list(table))
        else:
            self.hal("device.queue.execute", self.device, -1, None, fence, commands, 0)
        self.check(fence)

    def barrier(self, commands: Value) -> None:
        self.hal("command_buffer.execution_barrier", commands, 28, 13, 0)

    def executable(self) -> Value:
        return self.hal("executable.create", self.device, -1, FORMAT, kernels(), None)

    def entry(self, executable: Value, name: str) -> Value:
        return self.hal("executable.lookup.function", executable, name)


def program(*exports: str, arguments: str = "") -> Callable[[Callable[[Calls], None]], None]:
    """Adds a function that is about `exports`."""

    def add(build: Callable[[Calls], None]) -> None:
        name = build.__name__
        EXPORTS[name] = exports
        BUILDERS[name] = (arguments, build)

    return add


@cache
def compiled() -> bytes:
    """All programs in one module."""
    for name, (arguments, build) in BUILDERS.items():
        with PROGRAM.function(name, arguments) as function:
            build(Calls(function))
    return PROGRAM.compile()
