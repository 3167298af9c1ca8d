"""`tiree-hal-materialize-interfaces`: stream executables become executables for the targets of the device.

In: `stream.executable`s whose functions take 32-bit words and bindings. Out: `hal.executable`s with one variant for
each target of the devices that run them (with a condition where a device has several of one format); functions take
nothing and read `hal.interface.constant.load` and `hal.interface.binding.subspan`; exports say the layout; dispatches
name `@executable::@variant::@export` for each variant that their device may run.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass

from tiree.dialects import hal, stream
from tiree.dialects.iree_tensor_ext import DispatchTensorType, TensorAccess
from tiree.hal.conditions import conditions
from tiree.hal.targets import DeviceTargets, default_device, symbol_path
from tiree.support.errors import CompileError
from tiree.support.typed import int_of


def _layout(function: FuncOp) -> hal.PipelineLayoutAttr:
    """Words and bindings of a function; a binding is read-only if it is only read."""
    constants = 0
    bindings: list[hal.PipelineBindingAttr] = []
    for argument in function.body.block.args:
        if not isinstance(argument.type, stream.BindingType):
            constants += 1
            continue
        read_only = all(
            isinstance(result.type, DispatchTensorType) and result.type.access.data == TensorAccess.READ_ONLY
            for use in argument.uses
            for result in use.operation.results
        )
        flags = hal.DescriptorFlags.INDIRECT | (hal.DescriptorFlags.READ_ONLY if read_only else 0)
        bindings.append(hal.PipelineBindingAttr(int(flags)))
    return hal.PipelineLayoutAttr(bindings, constants)


def _convert_function(function: FuncOp, layout: hal.PipelineLayoutAttr) -> None:
    block = function.body.block
    words = bindings = 0
    first = block.first_op
    assert first is not None
    for argument in list(block.args):
        if isinstance(argument.type, stream.BindingType):
            for use in list(argument.uses):
                subspan = use.operation
                assert isinstance(subspan, stream.BindingSubspanOp)
                bound = hal.InterfaceBindingSubspanOp(
                    layout, bindings, subspan.byte_offset, subspan.result.type, list(subspan.dynamic_dims)
                )
                block.insert_op_before(bound, subspan)
                subspan.result.replace_all_uses_with(bound.result)
                block.erase_op(subspan)
            bindings += 1
        else:
            load = hal.InterfaceConstantLoadOp(layout, words, argument.type)
            block.insert_op_before(load, first)
            argument.replace_all_uses_with(load.result)
            words += 1
        block.erase_arg(argument)
    for op in list(function.body.walk()):
        query = _GRID_QUERIES.get(op.name)
        if query is not None:
            assert op.parent is not None
            new = query(int_of(op.properties["dimension"]))
            op.parent.insert_op_before(new, op)
            op.results[0].replace_all_uses_with(new.result)
            op.parent.erase_op(op)
    function.function_type = FunctionType.from_lists([], [])
    function.properties.pop("arg_attrs", None)


_GRID_QUERIES = {
    "stream.dispatch.workgroup.id": hal.InterfaceWorkgroupIDOp,
    "stream.dispatch.workgroup.count": hal.InterfaceWorkgroupCountOp,
}


def _export(export: stream.ExecutableExportOp, ordinal: int, layout: hal.PipelineLayoutAttr) -> hal.ExecutableExportOp:
    region = Region()
    export.workgroup_count.clone_into(region)
    region.blocks[0].insert_arg(hal.DeviceType(), 0)
    for block in region.blocks:
        last = block.last_op
        if isinstance(last, stream.ReturnOp):
            block.insert_op_before(hal.ReturnOp(*last.operands), last)
            block.erase_op(last)
    new = hal.ExecutableExportOp(export.sym_name.data, ordinal, layout, region)
    new.location = export.location
    return new


def _variant(executable: stream.ExecutableOp, variant: _Variant) -> hal.ExecutableVariantOp:
    module = executable.inner_module
    if module is None:
        raise CompileError(f"stream.executable @{executable.sym_name.data} has no module of device code")
    module = module.clone()
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    ops: list[Operation] = []
    if variant.condition is not None:
        ops.append(variant.condition.clone())
    for ordinal, export in enumerate(executable.exports):
        function = functions.get(symbol_path(export.function_ref)[-1])
        if function is None:
            raise CompileError(
                f"stream.executable @{executable.sym_name.data} exports {export.function_ref}, which it does not define"
            )
        layout = _layout(function)
        ops.append(_export(export, ordinal, layout))
        _convert_function(function, layout)
    body = Region(Block([*ops, module, hal.ExecutableVariantEndOp()]))
    return hal.ExecutableVariantOp(variant.target, body, variant.name)


@dataclass(frozen=True)
class _Variant:
    target: hal.ExecutableTargetAttr
    name: str
    condition: hal.ExecutableConditionOp | None


class MaterializeInterfacesPass(ModulePass):
    """See the module's docstring."""

    name = "tiree-hal-materialize-interfaces"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        sources = [o for o in op.ops if isinstance(o, stream.ExecutableOp)]
        if not sources:
            return
        targets = DeviceTargets(op)
        names = targets.names()
        asked = conditions(targets, names)
        devices: dict[str, dict[str, None]] = {}
        dispatches = list(targets.dispatches(op))
        for dispatch, device in dispatches:
            devices.setdefault(symbol_path(dispatch.entry_point)[0], {})[device] = None
        made: dict[str, list[_Variant]] = {}
        for source in sources:
            on = devices.get(source.sym_name.data) or [default_device(op)]
            wanted = dict.fromkeys(target for device in on for target in targets.of(device))
            variants = [_Variant(target, names[target], asked.get(target)) for target in wanted]
            made[source.sym_name.data] = variants
            ops = [_variant(source, variant) for variant in variants]
            executable = hal.ExecutableOp(source.sym_name.data, Region(Block([*ops, hal.ExecutableEndOp()])), "private")
            op.body.block.insert_op_before(executable, source)
            op.body.block.erase_op(source)
        for dispatch, device in dispatches:
            executable, export = symbol_path(dispatch.entry_point)
            on = targets.of(device)
            dispatch.properties["entry_points"] = ArrayAttr(
                [SymbolRefAttr(executable, [one.name, export]) for one in made[executable] if one.target in on]
            )
