"""Expressions of constants, computed while compiling: as a program without devices, in this process.

The program is bytecode (`inline-static`): its numbers are those of the reference kernels, and do not depend on the CPU
of the machine that compiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region, SSAValue

from tiree.dialects import util
from tiree.dialects.dense import DenseAttr
from tiree.support.errors import CompileError, InternalError
from tiree.support.extensions import NONE
from tiree.support.options import CompileOptions
from tiree.support.typed import is_tensor_type

_NAME = "evaluate"


def evaluate(options: CompileOptions, roots: Sequence[SSAValue]) -> list[DenseAttr] | None:
    """The values of `roots`, which depend on constants only; None where bytecode cannot compute them."""
    from tiree.flow.hoist_constants import cloned

    block = Block()
    block.add_op(util.ReturnOp(*cloned(roots, block)))
    types = [root.type for root in roots]
    module = ModuleOp([util.FuncOp(_NAME, ([], types), Region(block), "public")])
    try:
        data = _run(_compiled(module, options))
    except (CompileError, InternalError, RuntimeError, ValueError):
        return None  # the program says so when it runs
    results = zip(types, data, strict=True)
    return [DenseAttr.from_buffer(type, data) for type, data in results if is_tensor_type(type)]


def _compiled(module: ModuleOp, options: CompileOptions) -> bytes:
    from tiree.pipeline import run_pipeline
    from tiree.vm import emit_archive

    settings = replace(
        CompileOptions(),
        execution_model="inline-static",
        hal_target_backends=("vmvx-inline",),
        opt_const_eval=False,
        opt_const_expr_hoisting=False,
        vm_emit_polyglot_zip=False,
        threads=options.threads,
        extensions=NONE,
    )
    return emit_archive(run_pipeline(module, settings), settings)


def _run(image: bytes) -> list[bytes]:
    from tiree import _native

    instance = _native.VmInstance()
    module = _native.VmModule.from_buffer(instance, image, warn_if_copy=False)
    inline = _native.create_native_module(instance, "hal_inline", _native.HalDevice.open("local-sync"))
    assert inline is not None
    context = _native.VmContext(instance, [inline, module])
    function = module.lookup_function(_NAME)
    assert function is not None
    results = _native.VmVariantList(1)
    context.invoke(function, _native.VmVariantList(0), results)
    views = [results.get_as_object(number, _native.HalBufferView) for number in range(len(results))]
    return [bytes(view.map()) for view in views]
