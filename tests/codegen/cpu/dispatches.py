"""Dispatch functions for tests: written as MLIR text, lowered by a strategy, run on numpy arrays.

```python
d = Dispatch(["4x8xf32"], ["4x8xf32"], '''
  %0 = tensor.empty() : tensor<4x8xf32>
  %r0 = linalg.generic {...} ins(%in0 : ...) outs(%0 : ...) {...} -> tensor<4x8xf32>
''')
(out,) = d.run(x)                      # the strategy that `choose` picks; d.strategy says which
(out,) = d.run(x, strategy="scalar-fallback")
```

The body defines `%r0`, `%r1`, ... from `%in0`, `%in1`, ...; everything around it is written here.
"""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np
from tiree.codegen.common.analyze import analyze
from tiree.codegen.cpu.lower_to_kernels import lower_dispatch, replace_body
from tiree.codegen.llvm.executable import ExportCounts
from tiree.dialects import print_module, read_module
from xdsl.dialects.builtin import ModuleOp

from tests.codegen.elf_loader import Image
from tests.codegen.harness import build, layout, target

DTYPES = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
}


def split_type(type: str) -> tuple[tuple[int, ...], str]:
    """`4x8xf32` -> ((4, 8), "f32")."""
    *sizes, element = type.split("x")
    return tuple(int(n) for n in sizes), element


def shaped(shape: Sequence[int], element: str) -> str:
    return "x".join([*map(str, shape), element])


class Dispatch:
    """One dispatch function of given input and output tensor types (`4x8xf32`)."""

    def __init__(self, inputs: Sequence[str], outputs: Sequence[str], body: str) -> None:
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        count = len(self.inputs) + len(self.outputs)
        lines = ["func.func @kernel() {", "%c0 = arith.constant 0 : index"]
        for n, type in enumerate([*self.inputs, *self.outputs]):
            access = "readonly" if n < len(self.inputs) else "writeonly"
            flags = "descriptor_flags = 1 : i32, " if n < len(self.inputs) else ""
            lines.append(
                f'%b{n} = "hal.interface.binding.subspan"(%c0) <{{alignment = 64 : index, binding = {n} : index, '
                f"{flags}layout = {layout(count)}, operandSegmentSizes = array<i32: 1, 0>}}> : (index) -> "
                f"!iree_tensor_ext.dispatch.tensor<{access}:tensor<{type}>>"
            )
        for n, type in enumerate(self.inputs):
            lines.append(self._transfer("load", f"%b{n}", f"%in{n}", "readonly", type))
        lines.append(body)
        for n, type in enumerate(self.outputs):
            lines.append(self._transfer("store", f"%r{n}", f"%b{len(self.inputs) + n}", "writeonly", type))
        self.text = "\n".join([*lines, "return", "}"])
        self.strategy = ""
        self.workgroups = (1, 1, 1)
        self.kernel_text = ""

    @staticmethod
    def _transfer(kind: str, source: str, target: str, access: str, type: str) -> str:
        shape, _ = split_type(type)
        zeros, ones = ", ".join(["0"] * len(shape)), ", ".join(["1"] * len(shape))
        zeros, ones = (f": {zeros}", f": {ones}") if shape else ("", "")
        sizes = ": " + ", ".join(map(str, shape)) if shape else ""
        bound = f"!iree_tensor_ext.dispatch.tensor<{access}:tensor<{type}>>"
        properties = (
            f"static_offsets = array<i64{zeros}>, static_sizes = array<i64{sizes}>, static_strides = array<i64{ones}>"
        )
        if kind == "load":
            return (
                f'{target} = "iree_tensor_ext.dispatch.tensor.load"({source}) <{{operandSegmentSizes = '
                f"array<i32: 1, 0, 0, 0, 0>, {properties}}}> : ({bound}) -> tensor<{type}>"
            )
        return (
            f'"iree_tensor_ext.dispatch.tensor.store"({source}, {target}) <{{operandSegmentSizes = '
            f"array<i32: 1, 1, 0, 0, 0, 0>, {properties}}}> : (tensor<{type}>, {bound}) -> ()"
        )

    def module(self) -> ModuleOp:
        return read_module(f"module {{\n{self.text}\n}}")

    def lower(self, strategy: str | None = None, cpu: str = "host", features: str = "") -> ModuleOp:
        """The module in kernel form; sets `strategy` and `workgroups`."""
        module = self.module()
        function = next(op for op in module.body.block.ops if op.name == "func.func")
        info = analyze(function)
        self.strategy, kernel = lower_dispatch(info, target(cpu, features), strategy)
        self.workgroups = kernel.workgroups
        replace_body(function, module, kernel, info.name)
        module.verify()
        self.kernel_text = print_module(module, generic=False)
        return module

    def run(
        self, *arrays: np.ndarray, strategy: str | None = None, cpu: str = "host", features: str = ""
    ) -> list[np.ndarray]:
        """Lowers, compiles, runs in this process; returns the outputs."""
        counts = ExportCounts(0, len(self.inputs) + len(self.outputs))
        executable = build(self.lower(strategy, cpu, features), cpu, features, exports={"kernel": counts})
        outputs = []
        for type in self.outputs:
            shape, element = split_type(type)
            outputs.append(np.full(shape, 77, np.int8 if element == "i1" else DTYPES[element]))
        stored = [np.ascontiguousarray(a) for a in arrays]
        Image(executable.image).run("kernel", [*stored, *outputs], self.workgroups, ())
        for array, original in zip(stored, arrays, strict=True):
            assert array.tobytes() == np.ascontiguousarray(original).tobytes(), "an input was written"
        return outputs


def affine(rank: int, *results: int | str) -> str:
    """`affine_map<(d0, d1) -> (d1)>`: results are dim numbers or expressions."""
    dims = ", ".join(f"d{d}" for d in range(rank))
    exprs = ", ".join(f"d{r}" if isinstance(r, int) else r for r in results)
    return f"affine_map<({dims}) -> ({exprs})>"


def generic(
    name: str,
    maps: Sequence[str],
    iterators: str,
    ins: Sequence[tuple[str, str]],
    outs: Sequence[tuple[str, str]],
    body: str,
) -> str:
    """A `linalg.generic`; `iterators` is `p` or `r` per loop, the body sees `%a0..`, `%o0..`, defines `%y0..`."""
    kinds = ", ".join(f"#linalg.iterator_type<{'parallel' if i == 'p' else 'reduction'}>" for i in iterators)
    args = [f"%a{n}: {split_type(t)[1]}" for n, (_, t) in enumerate(ins)]
    args += [f"%o{n}: {split_type(t)[1]}" for n, (_, t) in enumerate(outs)]
    elements = ", ".join(split_type(t)[1] for _, t in outs)
    yields = ", ".join(f"%y{n}" for n in range(len(outs)))
    operands = ", ".join(v for v, _ in [*ins, *outs])
    types = ", ".join(f"tensor<{t}>" for _, t in [*ins, *outs])
    results = ", ".join(f"tensor<{t}>" for _, t in outs)
    lhs = f"{name}:{len(outs)}" if len(outs) > 1 else name
    return (
        f'{lhs} = "linalg.generic"({operands}) <{{indexing_maps = [{", ".join(maps)}], iterator_types = [{kinds}], '
        f"operandSegmentSizes = array<i32: {len(ins)}, {len(outs)}>}}> ({{\n"
        f"^bb0({', '.join(args)}):\n{body}\nlinalg.yield {yields} : {elements}\n}}) : ({types}) -> ({results})\n"
    )


def random_array(rng: np.random.Generator, type: str) -> np.ndarray:
    """Values that no op of the tests overflows on."""
    shape, element = split_type(type)
    if element == "i1":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if element.startswith("i"):
        return rng.integers(-9, 10, shape).astype(DTYPES[element])
    return rng.standard_normal(shape).astype(DTYPES[element])
