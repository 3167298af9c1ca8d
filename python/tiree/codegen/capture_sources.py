"""`tiree-codegen-capture-sources`: keeps the text of every executable as its strategy was chosen.

In: executables after `executable-configurations`. Out: each CPU variant has the property `sources`, a dictionary from
stage to text, which `tiree-codegen-translate-executables` writes into the image for debuggers and profilers. Runs at
`--iree-hal-executable-debug-level=3` only.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, VectorType, i8
from xdsl.passes import ModulePass

from tiree.dialects import print_module
from tiree.dialects.dense import DenseAttr
from tiree.dialects.hal_executable import ExecutableOp

STAGE = "configured"


class CaptureSources(ModulePass):
    """See the module docstring."""

    name = "tiree-codegen-capture-sources"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for executable in op.body.block.ops:
            if not isinstance(executable, ExecutableOp):
                continue
            for variant in executable.variants:
                if variant.inner_module is not None and variant.sources is None:
                    text = print_module(variant.inner_module, generic=False).encode()
                    data = DenseAttr.from_buffer(VectorType(i8, [len(text)]), text)
                    variant.properties["sources"] = DictionaryAttr({STAGE: data})
