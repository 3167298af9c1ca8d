"""IREE's code generator in place of ours: the hal stage is tested without depending on Tiree's kernels."""

from __future__ import annotations

import re
from pathlib import Path

from tiree.dialects import get_context, hal, read_module
from tiree.dialects.dense import DenseAttr
from xdsl.dialects.builtin import ModuleOp, VectorType, i8

from tests.stream.stream_harness import iree_compile, print_module


def compile_executables(module: ModuleOp, folder: Path) -> None:
    """Takes `module` from executable-sources to executable-targets: counts and images are IREE's."""
    text = print_module(module, generic=True)
    flags = ("--compile-from=executable-sources", "--iree-llvmcpu-debug-symbols=false")
    iree_compile(text, *flags, f"--iree-hal-dump-executable-binaries-to={folder}")
    lowered = iree_compile(text, *flags, "--compile-to=executable-targets", "--mlir-print-op-generic")
    counts = {}
    for executable in read_module(lowered, get_context(allow_unregistered=True)).ops:
        if isinstance(executable, hal.ExecutableOp):
            counts.update({e.sym_name.data: e for v in executable.variants for e in v.exports})
    executables = [op for op in module.ops if isinstance(op, hal.ExecutableOp)]
    images = sorted(folder.glob("*.so"))
    for executable in executables:
        (variant,) = executable.variants
        for export in variant.exports:
            compiled = counts[export.sym_name.data].clone()
            compiled.properties.update(layout=export.layout, ordinal=export.properties["ordinal"])
            variant.body.block.insert_op_before(compiled, export)
            variant.body.block.erase_op(export)
        if variant.inner_module is not None:
            variant.body.block.erase_op(variant.inner_module)
        name = re.escape(executable.sym_name.data)
        (image,) = images if len(executables) == 1 else [p for p in images if re.search(rf"_{name}_", p.name)]
        data = image.read_bytes()
        binary = hal.ExecutableBinaryOp(
            f"{variant.sym_name.data}_image",
            variant.target.format.data,
            DenseAttr.from_buffer(VectorType(i8, [len(data)]), data),
            "application/x-elf",
        )
        end = executable.body.block.last_op
        assert end is not None
        executable.body.block.insert_op_before(binary, end)
