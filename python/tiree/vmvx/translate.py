"""`tiree-vmvx-translate`: kernels in loops become a VM module.

In: variants of backend `vmvx` whose functions are in kernel form, in scalars. Out: beside each a
`hal.executable.binary` with the `.vmfb`. A function takes the memory of the worker, the constants of the dispatch as a
buffer, its bindings as a list, and nine numbers: the workgroup, the size of one and their count, in x, y and z.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr, VectorType, i8, i32
from xdsl.ir import Operation, Region
from xdsl.passes import ModulePass

from tiree.codegen.cpu.select_strategies import kernels
from tiree.dialects import util
from tiree.dialects.dense import DenseAttr
from tiree.dialects.hal_attrs import PipelineLayoutAttr
from tiree.dialects.hal_executable import ExecutableBinaryOp, ExecutableOp, ExecutableVariantOp
from tiree.stream.lower_control_flow import lower_region
from tiree.support.options import CompileOptions
from tiree.support.typed import symbol_of
from tiree.vm import emit_archive, vm_passes
from tiree.vmvx.expand import Expansion
from tiree.vmvx.helpers import add_helpers

MIME = "application/x-flatbuffers"
_NUMBERS = 9


@dataclass(frozen=True)
class TranslateToVMVX(ModulePass):
    """Makes the module of every variant of the backend that has none."""

    name = "tiree-vmvx-translate"

    options: CompileOptions = field(default_factory=CompileOptions)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for executable in op.body.block.ops:
            if not isinstance(executable, ExecutableOp):
                continue
            made = {binary.sym_name.data for binary in executable.binaries}
            for variant in executable.variants:
                name = f"{variant.sym_name.data}_binary"
                if variant.target.backend.data != "vmvx" or variant.inner_module is None or name in made:
                    continue
                data = self._translate(ctx, variant, variant.inner_module)
                attr = DenseAttr.from_buffer(VectorType(i8, [len(data)]), data)
                binary = ExecutableBinaryOp(name, variant.target.format.data, attr, MIME)
                last = executable.body.block.last_op
                assert last is not None
                executable.body.block.insert_op_before(binary, last)

    def _translate(self, ctx: Context, variant: ExecutableVariantOp, code: ModuleOp) -> bytes:
        tables = {symbol_of(op.properties["sym_name"]): op for op in code.ops if op.name == "memref.global"}
        functions = [_function(function, export.layout, tables) for export, function in kernels(variant, code)]
        module = ModuleOp(functions, sym_name=StringAttr("module"))
        add_helpers(module)
        options = replace(self.options, recorded_flags=(), vm_emit_polyglot_zip=False)
        for one in vm_passes(options):
            one.apply(ctx, module)
        return emit_archive(module, options)


def _function(kernel: Operation, layout: PipelineLayoutAttr, tables: dict[str, Operation]) -> util.FuncOp:
    """A kernel as a function of the host language."""
    region = Region()
    kernel.regions[0].clone_into(region)
    block = region.block
    Expansion(region).run()
    inputs = [util.BufferType(), util.BufferType(), util.ListType(util.BufferType()), *[i32] * _NUMBERS]
    for number, type in enumerate(inputs):
        block.insert_arg(type, number)
    for op in list(region.walk()):
        if op.name == "memref.get_global":
            table = tables[symbol_of(op.properties["name"])]
            constant = util.BufferConstantOp(table.properties["initial_value"], 64)
            assert op.parent is not None
            op.parent.insert_op_before(constant, op)
            op.results[0].replace_all_uses_with(constant.result)
            op.detach()
            op.erase()
    last = block.last_op
    assert last is not None
    last.detach()
    block.add_op(util.ReturnOp())
    lower_region(region)
    name = kernel.properties["sym_name"]
    assert isinstance(name, StringAttr)
    function = util.FuncOp(name.data, (inputs, []), region, "public")
    counts = {"binding_count": layout.binding_count, "constant_count": layout.constant_count}
    reflection = {name: StringAttr(str(count)) for name, count in counts.items() if count or name == "binding_count"}
    function.attributes["iree.reflection"] = DictionaryAttr(reflection)
    function.location = kernel.location
    return function
