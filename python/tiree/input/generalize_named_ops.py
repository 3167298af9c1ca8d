"""`tiree-linalg-generalize-named-ops`: structured and elementwise ops on tensors become `linalg.generic`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, DenseArrayBase, ModuleOp
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects.iree_linalg_ext_attention import form_of, store_path
from tiree.dialects.linalg_ext import NAMED, ElementwiseKindAttr
from tiree.dialects.tensor_dims import dynamic_dims
from tiree.input.lowering.context import PARALLEL, REDUCTION, Lowering, Size, Unsupported, identity, map_attr
from tiree.input.lowering.linalg_ext import LINALG_EXT
from tiree.input.lowering.relayout import lower_pack, lower_unpack
from tiree.input.lowering.scalar import ScalarBuilder
from tiree.input.lowering.scalar_ops import DIVISIONS, total_division
from tiree.input.lowering.softmax import lower_softmax
from tiree.input.lowering.structural import int_property, ints_property
from tiree.input.named_ops import (
    CONTRACTIONS,
    CONVOLUTIONS,
    QUANTIZED,
    Body,
    elementwise_of,
    maps_of_letters,
    multiply_add,
    multiply_add_from,
    pooling_of,
)
from tiree.support.errors import CompileError
from tiree.support.typed import is_array_attr, is_tensor_type, tensor_type

_KEPT = frozenset({"generic", "fill", "yield", "index"})
RELAYOUTS = {"linalg.softmax": lower_softmax, "linalg.pack": lower_pack, "linalg.unpack": lower_unpack}


class GeneralizeNamedOpsPass(ModulePass):
    """In: `util.func`s on linalg, tensor, arith and math.

    Out: the only structured ops are `linalg.generic` and `linalg.fill`; arith and math work on scalars only.
    Raises `CompileError` for linalg ops without a meaning here.
    """

    name = "tiree-linalg-generalize-named-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        report = Lowering()
        for function in op.body.block.ops:
            for region in function.regions:
                _visit(region, report)
        if report.diagnostics:
            raise CompileError(report.report())


def _visit(region: Region, report: Lowering) -> None:
    for block in region.blocks:
        for op in list(block.ops):
            if op.name == "linalg.generic" or _is_kernel(op):
                continue
            try:
                generalize(op)
            except Unsupported as reason:
                report.unsupported(op, str(reason))
                continue
            for inner in op.regions:
                _visit(inner, report)


def _is_kernel(op: Operation) -> bool:
    """Whether `op` is an attention that stays one, because one kernel computes it."""
    if form_of(op) is None:
        return False
    function = op.parent_op()
    module = None if function is None else function.parent_op()
    in_executable = module is not None and module.parent_op() is not None
    return not in_executable or store_path(op) is not None


def generalize(op: Operation) -> None:
    """Replaces one op by its general form, where it is not one. Raises `Unsupported`."""
    dialect, _, suffix = op.name.partition(".")
    emit = Lowering(location=op.location)
    if op.name in RELAYOUTS or op.name in LINALG_EXT:
        results = (RELAYOUTS.get(op.name) or LINALG_EXT[op.name])(emit, op)
    elif dialect == "linalg" and suffix not in _KEPT:
        results = _structured(emit, op, suffix)
    elif dialect in ("arith", "math") and suffix != "constant" and is_tensor_type(op.results[0].type):
        results = _on_tensors(emit, op)
    elif op.name == "tensor.concat":
        results = [_concatenate(emit, op)]
    else:
        return
    block = op.parent
    assert block is not None
    new = [*emit.constants, *list(emit.block.ops)]
    for inner in list(emit.block.ops):
        inner.detach()
    block.insert_ops_before(new, op)
    for old, value in zip(op.results, results, strict=True):
        old.replace_all_uses_with(value)
    op.detach()
    op.erase()


def _operands(op: Operation) -> tuple[list[SSAValue], list[SSAValue]]:
    """Inputs and outputs."""
    sizes = op.properties.get("operandSegmentSizes")
    count = int(sizes.get_values()[0]) if isinstance(sizes, DenseArrayBase) else len(op.operands) - len(op.results)
    if op.name in ("linalg.broadcast", "linalg.transpose"):
        count = 1
    inputs, outputs = list(op.operands[:count]), list(op.operands[count:])
    tensors = (*inputs[:2], *outputs) if op.name.removeprefix("linalg.") in QUANTIZED else (*inputs, *outputs)
    if any(not is_tensor_type(value.type) for value in tensors):
        raise Unsupported("on operands that are not tensors")
    return inputs, outputs


def _structured(emit: Lowering, op: Operation, suffix: str) -> Sequence[SSAValue]:
    inputs, outputs = _operands(op)
    zero_points = inputs[2:] if suffix in QUANTIZED else []
    if suffix in QUANTIZED:
        inputs, suffix = inputs[:2], QUANTIZED[suffix]
    if suffix in ("reduce", "map"):
        return _with_region(emit, op, suffix, inputs, outputs)
    if suffix in ("broadcast", "transpose"):
        return _rearranged(emit, op, inputs[0], outputs[0])
    body: Body | None = multiply_add_from(zero_points) if zero_points else multiply_add(_is_unsigned(op))
    given = op.properties.get("indexing_maps")
    if suffix in CONTRACTIONS or suffix == "contract":
        if suffix == "contract" or is_array_attr(given):
            return _from_maps(emit, inputs, outputs, _checked_maps(given), body)
        maps, parallel, loops = maps_of_letters(CONTRACTIONS[suffix])
    elif suffix in CONVOLUTIONS or (suffix.startswith("pooling_") and suffix in NAMED):
        letters, body = (CONVOLUTIONS[suffix], body) if suffix in CONVOLUTIONS else pooling_of(suffix)
        ones = [1] * sum(letter.isupper() for letter in letters[0])
        strides, dilations = ints_property(op, "strides", ones), ints_property(op, "dilations", ones)
        maps, parallel, loops = maps_of_letters(letters, strides, dilations)
    else:
        kind = op.properties.get("kind")
        body = elementwise_of(kind.kind.data if isinstance(kind, ElementwiseKindAttr) else suffix)
        if body is None:
            raise Unsupported("")
        if suffix == "elementwise" and is_array_attr(given):
            return _from_maps(emit, inputs, outputs, _checked_maps(given), body)
        rank = len(tensor_type(outputs[0]).get_shape())
        maps, parallel, loops = [identity(rank)] * (len(inputs) + 1), rank, rank
    return _generic(emit, inputs, outputs, maps, [PARALLEL] * parallel + [REDUCTION] * (loops - parallel), body)


def _checked_maps(attr: object) -> list[AffineMapAttr]:
    given = attr.data if is_array_attr(attr) else ()
    maps = [map for map in given if isinstance(map, AffineMapAttr)]
    if not is_array_attr(attr) or len(maps) != len(given):
        raise Unsupported("without indexing_maps")
    return maps


def _from_maps(
    emit: Lowering, inputs: list[SSAValue], outputs: list[SSAValue], maps: list[AffineMapAttr], body: Body
) -> Sequence[SSAValue]:
    used = maps[-1].data.used_dims()
    iterators = [PARALLEL if d in used else REDUCTION for d in range(maps[-1].data.num_dims)]
    return _generic(emit, inputs, outputs, maps, iterators, body)


def _generic(
    emit: Lowering,
    inputs: list[SSAValue],
    outputs: list[SSAValue],
    maps: Sequence[AffineMapAttr],
    iterators: Sequence[IteratorTypeAttr],
    body: Body,
) -> Sequence[SSAValue]:
    return emit.generic(inputs, outputs, maps, iterators, lambda s, args: [body(s, args)])


def _is_unsigned(op: Operation) -> bool:
    attr = op.properties.get("cast") or op.attributes.get("cast")
    return attr is not None and "unsigned" in str(attr)


def _rearranged(emit: Lowering, op: Operation, source: SSAValue, target: SSAValue) -> Sequence[SSAValue]:
    rank = len(tensor_type(target).get_shape())
    if op.name == "linalg.broadcast":
        added = ints_property(op, "dimensions")
        map = map_attr(rank, tuple(d for d in range(rank) if d not in added))
    else:
        permutation = ints_property(op, "permutation")
        map = map_attr(rank, tuple(permutation.index(d) for d in range(rank)))
    return _generic(emit, [source], [target], [map, identity(rank)], [PARALLEL] * rank, lambda s, args: args[0])  # noqa: ARG005


def _with_region(
    emit: Lowering, op: Operation, suffix: str, inputs: list[SSAValue], outputs: list[SSAValue]
) -> Sequence[SSAValue]:
    """`linalg.reduce` and `linalg.map`, whose bodies the user wrote."""
    region = op.regions[0]
    block = region.blocks.first
    assert block is not None
    rank = len(tensor_type((inputs or outputs)[0]).get_shape())
    reduced: set[int] = set(ints_property(op, "dimensions")) if suffix == "reduce" else set()
    kept = tuple(d for d in range(rank) if d not in reduced)
    if suffix == "map" and len(block.args) == len(inputs):
        block.insert_arg(tensor_type(outputs[0]).get_element_type(), len(inputs))
    region.detach_block(block)
    new = GenericOp(
        inputs,
        outputs,
        Region(block),
        [identity(rank)] * len(inputs) + [map_attr(rank, kept)] * len(outputs),
        [REDUCTION if d in reduced else PARALLEL for d in range(rank)],
        [value.type for value in outputs],
    )
    emit.emit_op(new)
    return new.results


def _on_tensors(emit: Lowering, op: Operation) -> Sequence[SSAValue]:
    """An arith or math op on whole tensors: the op itself on the elements. Scalars among the operands are captured."""
    types = [tensor_type(result) for result in op.results]
    shape = types[0].get_shape()
    sizes: list[Size] | None = None
    if DYNAMIC_INDEX in shape:
        dims = dynamic_dims(next(value for value in op.operands if is_tensor_type(value.type)))
        if dims is None or len(types) != 1:
            raise Unsupported(f"with the dynamic shape {types[0]}")
        given = iter(dims)
        sizes = [next(given) if size == DYNAMIC_INDEX else size for size in shape]
    tensors = list(dict.fromkeys(value for value in op.operands if is_tensor_type(value.type)))
    rank = len(shape)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        operands = [args[tensors.index(value)] if value in tensors else value for value in op.operands]
        quotient = total_division(s, op, operands[0], operands[1]) if op.name in DIVISIONS else None
        if quotient is not None:
            return [quotient]
        new = type(op).create(
            operands=operands,
            result_types=[t.get_element_type() for t in types],
            properties=op.properties,
            attributes=op.attributes,
        )
        return s.add(new).results

    outputs = [emit.empty(t, sizes) for t in types]
    count = len(tensors) + len(outputs)
    return emit.generic(tensors, outputs, [identity(rank)] * count, [PARALLEL] * rank, body)


def _concatenate(emit: Lowering, op: Operation) -> SSAValue:
    type = op.results[0].type
    assert is_tensor_type(type)
    dim = int_property(op, "dim")
    result = emit.empty(type)
    offsets = [0] * len(type.get_shape())
    for part in op.operands:
        sizes = tensor_type(part).get_shape()
        result = emit.insert(part, result, offsets, sizes)
        offsets[dim] += sizes[dim]
    return result
