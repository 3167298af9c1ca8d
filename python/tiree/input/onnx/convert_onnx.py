"""`tiree-onnx-to-stablehlo`: functions of ONNX operators, as `iree-import-onnx` writes them, become StableHLO."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, IntegerAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of

if TYPE_CHECKING:
    from tiree.input.onnx.graph import Reports

_META = "torch.onnx_meta."


class ConvertOnnxPass(ModulePass):
    """In: any module. Out: the same without the torch dialect: functions take and give builtin tensors.

    Raises one `CompileError` that lists every operator that has no conversion.
    """

    name = "tiree-onnx-to-stablehlo"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        functions = [function for function in op.body.block.ops if _is_onnx(function)]
        if functions:
            _convert_all(functions)


def _is_onnx(function: Operation) -> bool:
    if function.name != "func.func":
        return False
    type = function.properties["function_type"]
    assert isinstance(type, FunctionType)
    values = (*type.inputs, *type.outputs)
    if any(one.name.startswith("torch.") for one in values) or any(
        key.startswith(_META) for key in function.attributes
    ):
        return True
    return not values and any(op.name.startswith("torch.") for block in function.regions[0].blocks for op in block.ops)


def _convert_all(functions: list[Operation]) -> None:
    from tiree.input.onnx.graph import Reports

    reports = Reports()
    for function in functions:
        _convert(function, reports)
    if reports.found:
        raise CompileError(_diagnostics(reports))


def _convert(function: Operation, reports: Reports) -> None:
    from xdsl.dialects.func import ReturnOp
    from xdsl.ir import Block

    from tiree.input.lowering.context import Unsupported
    from tiree.input.onnx.build import OnnxBuild
    from tiree.input.onnx.fold import FOLDS
    from tiree.input.onnx.graph import GraphConversion, cast, plain_type, unranked
    from tiree.input.onnx.table import TABLE

    version = function.attributes.get(f"{_META}opset_version")
    graph = GraphConversion(TABLE, FOLDS, reports, version.value.data if isinstance(version, IntegerAttr) else 17)
    region = function.regions[0]
    old_type = function.properties["function_type"]
    assert isinstance(old_type, FunctionType)
    try:
        inputs, outputs = ([plain_type(one) for one in types] for types in (old_type.inputs, old_type.outputs))
    except Unsupported as reason:
        reports.add(function, str(reason))
        return
    function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
    function.attributes = {key: value for key, value in function.attributes.items() if not key.startswith(_META)}
    old = region.blocks.first
    if old is None:
        return
    new = Block(arg_types=inputs)
    graph.values.update(zip(old.args, new.args, strict=True))
    for before, after in zip(old.args, new.args, strict=True):
        after.name_hint, after.location = before.name_hint, before.location
    region.add_block(new)
    returned = graph.convert_block(old, new)
    last = old.last_op
    results = graph.converted(returned)
    if results is not None and last is not None:
        build = OnnxBuild(last)
        with build.inside(new):
            try:
                # The importer writes rank 0 where it knows no rank.
                outputs = [
                    value.type if unranked(type, value) else type for value, type in zip(results, outputs, strict=True)
                ]
                build.add(ReturnOp(*(cast(build, value, type) for value, type in zip(results, outputs, strict=True))))
                function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
            except Unsupported as reason:
                reports.add(last, str(reason))
    elif not reports.found:
        reports.add(function, "whose results are not tensors")
    for op in reversed(list(old.ops)):
        op.detach()
        op.drop_all_references()
    region.detach_block(old)


def _diagnostics(reports: Reports) -> list[Diagnostic]:
    """What is refused: an entry for each operator and reason, with its places."""
    found: list[Diagnostic] = []
    for text, ops in reports.found.items():
        places = list(dict.fromkeys(location_of(op) for op in ops))
        also = f"; also at {', '.join(places[1:6])}{', ...' if len(places) > 6 else ''}" if len(places) > 1 else ""
        count = f" ({len(ops)} uses)" if len(ops) > 1 else ""
        found.append(Diagnostic(f"{text} is not supported{count}{also}", places[0]))
    found[-1] = found[-1]._replace(hint="docs/reference/onnx.md lists the operators that are")
    return found
