"""`tiree-input-legalize-quantized`: quantized tensors become tensors of their storage type.

Ops that compute do so on the numbers that their operands stand for, and the result is quantized again; ops that only
move elements move the integers. Functions take and return the integers.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects.stablehlo_attrs import ComparisonTypeAttr
from tiree.input.checks.quantized import wrong_quantized
from tiree.input.convert_types import TypeConverter
from tiree.input.expansions.build import Build
from tiree.input.expansions.quantized import dequantize, quantize, quantized_type
from tiree.input.expansions.small_floats import computes
from tiree.input.lowering.context import Lowering, Unsupported
from tiree.support.errors import CompileError, linked
from tiree.support.typed import is_tensor_type

_COMPUTE = frozenset({"stablehlo.cholesky", "stablehlo.triangular_solve", "stablehlo.select"})


class LegalizeQuantizedPass(ModulePass):
    """In: any module. Out: the same without quantized elements. Raises one `CompileError` for all ops that break a rule
    of such elements, or else for all forms of them that are not supported."""

    name = "tiree-input-legalize-quantized"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        found = wrong_quantized(op)
        if found:
            raise CompileError(linked(found))
        reported: dict[str, list[Operation]] = {}
        table: dict[Attribute, Attribute] = {}
        for inner in list(op.walk()):
            try:
                if _note_types(inner, table):
                    _legalize(inner)
            except Unsupported as reason:
                reported.setdefault(f"{inner.name} {reason}", []).append(inner)
        if reported:
            raise CompileError(Lowering(diagnostics=reported).report())
        if table:
            converter = TypeConverter(table)
            for inner in list(op.walk()):
                converter.convert(inner)


def _note_types(op: Operation, table: dict[Attribute, Attribute]) -> bool:
    """Records the quantized types of values of `op` with their storage types; whether operands or results have any."""
    values = [value.type for value in (*op.operands, *op.results)]
    types = list(values)
    types += [argument.type for region in op.regions for block in region.blocks for argument in block.args]
    function = op.properties.get("function_type")
    if isinstance(function, FunctionType):
        types += [*function.inputs, *function.outputs]
    for type in types:
        found = quantized_type(type)
        if found is not None and is_tensor_type(type):
            table[type.element_type] = found.storage
    return any(quantized_type(type) is not None for type in values)


def _legalize(op: Operation) -> None:
    if op.name == "stablehlo.uniform_dequantize":
        type = quantized_type(op.operands[0].type)
        build = Build(op)
        if type is None:
            raise Unsupported(f"on {op.operands[0].type}")
        _replace(op, build.convert(dequantize(build, op.operands[0], type), _element(op.results[0].type)))
    elif op.name == "stablehlo.uniform_quantize":
        _quantize(op)
    elif op.name == "stablehlo.select" and len({value.type for value in (*op.operands[1:], *op.results)}) == 1:
        return
    elif computes(op) or op.name in _COMPUTE:
        _compute(op)


def _element(type: Attribute) -> Attribute:
    assert is_tensor_type(type)
    return type.element_type


def _replace(op: Operation, *values: SSAValue) -> None:
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.detach()
    op.erase()


def _quantize(op: Operation) -> None:
    build = Build(op)
    source, target = quantized_type(op.operands[0].type), quantized_type(op.results[0].type)
    if target is None:
        raise Unsupported(f"to {op.results[0].type}")
    value = op.operands[0] if source is None else dequantize(build, op.operands[0], source)
    _replace(op, quantize(build, value, target, _element(op.results[0].type)))


def _compute(op: Operation) -> None:
    """`op` on the numbers that its operands stand for, its results quantized."""
    build = Build(op)
    for index, operand in enumerate(op.operands):
        type = quantized_type(operand.type)
        if type is not None:
            op.operands[index] = dequantize(build, operand, type)
    if op.name == "stablehlo.compare":
        op.properties["compare_type"] = ComparisonTypeAttr("FLOAT")
    wanted = [quantized_type(result.type) for result in op.results]
    if not any(wanted):
        return
    types = [
        TensorType(type.expressed, result.type.shape)
        if type is not None and is_tensor_type(result.type)
        else result.type
        for result, type in zip(op.results, wanted, strict=True)
    ]
    regions = [op.detach_region(region) for region in list(op.regions)]
    plain = build.add(
        op.__class__.create(
            operands=op.operands,
            result_types=types,
            properties=op.properties,
            attributes=op.attributes,
            regions=regions,
        )
    )
    made = [
        value if type is None else quantize(build, value, type, _element(result.type))
        for value, result, type in zip(plain.results, op.results, wanted, strict=True)
    ]
    _replace(op, *made)
