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
from dataclasses import dataclass, replace

import numpy as np
from tiree.codegen.llvm.compile import CompiledObject
from tiree.codegen.llvm.executable import ExportCounts, emit_units, link_units
from tiree.support.cpu_target import TargetDescription, describe_target, resolve_cpu_target
from xdsl.dialects.builtin import ModuleOp

from tests.codegen.elf_loader import Image

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

    whole = text.lstrip().startswith(("module", "builtin.module", '"builtin.module"'))
    return read_module(text if whole else f"module {{\n{text}\n}}")


@dataclass
class Built:
    """A linked image and the objects it was made of."""

    image: bytes
    compiled: list[CompiledObject]

    @property
    def ir(self) -> str:
        return "\n".join(unit.ir for unit in self.compiled)

    @property
    def assembly(self) -> str:
        """The assembly of all kernels; empty unless built with `keep_assembly`."""
        return "\n".join(unit.assembly for unit in self.compiled)


class Kernel:
    """A compiled and loaded executable."""

    def __init__(self, built: Built, default: str) -> None:
        self.built = built
        self.default = default
        self.image = Image(built.image)

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
    keep_assembly: bool = False,
) -> Built:
    """Compiles and links a module in kernel form."""
    units = emit_units(name, module, target(cpu, features, triple), exports)
    if optimise is not None:
        units = [replace(unit, optimise=optimise) for unit in units]
    compiled = [unit.compile(keep_assembly) for unit in units]
    return Built(link_units(name, compiled, debug_symbols), compiled)


def compile_module(module: ModuleOp, **options) -> Kernel:
    """Compiles and loads a module in kernel form; options as for `build`."""
    first = next(op for op in module.body.block.ops if op.name == "func.func")
    return Kernel(build(module, **options), first.properties["sym_name"].data)  # pyright: ignore


def compile_kernel(text: str, **options) -> Kernel:
    """Compiles and loads kernel-form text; options as for `build`."""
    return compile_module(parse(text), **options)
