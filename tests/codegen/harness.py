"""Runs kernel-form text on numpy arrays: parse, lower to LLVM, compile, link, load, call.

```python
kernel = compile_kernel('''
  func.func @twice() {
    %c0 = arith.constant 0 : index
    %in = hal.interface.binding.subspan ... binding(0) ... : memref<8xf32>
    ...
    func.return
  }''')
kernel.run(x, out, workgroups=(4, 1, 1))
```

`bindings(...)` writes the subspan lines. `generic` compiles for plain x86-64, which must work on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tests.codegen.elf_loader import Image
from xdsl.dialects.builtin import ModuleOp

from tiree.codegen.llvm.executable import Executable, ExportCounts, build_executable, emit_ir
from tiree.support.cpu_target import TargetDescription, describe_target, resolve_cpu_target

MLIR_DTYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}


def mlir_element(dtype: np.dtype) -> str:
    """The MLIR element type of a numpy dtype (`uint8` and `int8` are both `i8`; bool is stored as `i8`)."""
    if dtype.kind == "f":
        return f"f{8 * dtype.itemsize}"
    if dtype.name == "bfloat16":
        return "bf16"
    return f"i{8 * dtype.itemsize}"


def layout(count: int, constants: int = 0) -> str:
    """A pipeline layout of `count` storage buffers."""
    one = "#hal.pipeline.binding<storage_buffer>"
    head = f"constants = {constants}, " if constants else ""
    return f"#hal.pipeline.layout<{head}bindings = [{', '.join([one] * count)}]>"


def bindings(*types: str, readonly: Sequence[int] = (), constants: int = 0) -> str:
    """Lines that define `%b0`, `%b1`, ... as memrefs of the given types (`8x4xf32`), and `%c0`."""
    lines = ['%c0 = "arith.constant"() <{value = 0 : index}> : () -> index']
    for i, type in enumerate(types):
        flags = "descriptor_flags = 1 : i32, " if i in readonly else ""
        lines.append(
            f'%b{i} = "hal.interface.binding.subspan"(%c0) <{{alignment = 64 : index, binding = {i} : index, {flags}'
            f"layout = {layout(len(types), constants)}, operandSegmentSizes = array<i32: 1, 0>}}> : (index) -> "
            f"memref<{type}>"
        )
    return "\n".join(lines)


def target(cpu: str = "host", features: str = "", triple: str = "") -> TargetDescription:
    return describe_target(resolve_cpu_target(triple, cpu, features))


def parse(text: str) -> ModuleOp:
    """A module from text; a bare list of functions is wrapped."""
    from tiree.dialects import read_module

    return read_module(text if "builtin.module" in text or text.lstrip().startswith("module") else f"module {{\n{text}\n}}")


class Kernel:
    """A compiled and loaded executable."""

    def __init__(self, executable: Executable, default: str) -> None:
        self.executable = executable
        self.default = default
        self.image = Image(executable.image)

    @property
    def ir(self) -> str:
        return self.executable.compiled.ir

    @property
    def assembly(self) -> str:
        return self.executable.compiled.assembly

    def run(
        self,
        *arrays: np.ndarray,
        workgroups: tuple[int, int, int] = (1, 1, 1),
        constants: Sequence[int] = (),
        name: str | None = None,
    ) -> None:
        """Runs the dispatch; the arrays of the bindings are updated in place."""
        self.image.run(name or self.default, arrays, workgroups, constants)


def build(
    module: ModuleOp,
    cpu: str = "host",
    features: str = "",
    triple: str = "",
    name: str = "test",
    exports: dict[str, ExportCounts] | None = None,
    optimise: bool | None = None,
    debug_symbols: bool = False,
) -> Executable:
    """Compiles and links a module in kernel form."""
    description = target(cpu, features, triple)
    ir, wants = emit_ir(name, module, description, exports)
    return build_executable(name, ir, description, wants if optimise is None else optimise, debug_symbols, keep=True)


def compile_module(module: ModuleOp, **options) -> Kernel:
    """Compiles and loads a module in kernel form; options as for `build`."""
    first = next(op for op in module.body.block.ops if op.name == "func.func")
    return Kernel(build(module, **options), first.properties["sym_name"].data)  # pyright: ignore


def compile_kernel(text: str, **options) -> Kernel:
    """Compiles and loads kernel-form text; options as for `build`."""
    return compile_module(parse(text), **options)
