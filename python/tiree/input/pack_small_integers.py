"""`tiree-input-pack-small-integers`: public functions take and return the bytes that elements of 2 and 4 bits share.

Inside, an element has a byte of its own. At the border the first element is in the lowest bits of its byte, rows follow
each other without gaps, and what is left over in the last byte is zero, as buffers have them everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, TensorType, i8
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects import util
from tiree.input.lowering.context import Lowering, identity, map_attr
from tiree.input.lowering.scalar import ScalarBuilder, scalar_attribute
from tiree.input.widen_small_integers import small
from tiree.input.wrap_entry_points import split_off
from tiree.support.symbols import SymbolNames
from tiree.support.typed import is_array_attr, is_tensor_type

_ENCODING = "iree.abi.encoding"


class PackSmallIntegersPass(ModulePass):
    """In: `util.func`s on tensors of known sizes wherever a public one takes or returns i2 or i4.

    Out: public functions take and return `tensor<Nxi8>` instead, N bytes, with the type that callers see as
    `iree.abi.encoding`. A public function that the module calls keeps its form under another name.
    """

    name = "tiree-input-pack-small-integers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        names: SymbolNames | None = None
        for function in list(op.body.block.ops):
            if not isinstance(function, util.FuncOp) or not function.is_public or function.is_external:
                continue
            type = function.function_type
            if not any(small(one) for one in (*type.inputs.data, *type.outputs.data)):
                continue
            name = function.sym_name.data
            calls = [c for c in op.walk() if isinstance(c, util.CallOp) and c.callee.root_reference.data == name]
            if calls:
                names = names or SymbolNames(op)
                function = split_off(op.body.block, function, calls, names.unique(f"_{name}"))
            _pack_function(function)


def _pack_function(function: util.FuncOp) -> None:
    type = function.function_type
    for key, types in (("arg_attrs", type.inputs.data), ("res_attrs", type.outputs.data)):
        function.properties[key] = _encodings(function.properties.get(key), types)
    entry = function.body.blocks.first
    assert entry is not None
    for index, one in enumerate(type.inputs.data):
        if small(one) is not None:
            _unpack_argument(entry, index)
    for block in function.body.blocks:
        last = block.last_op
        if isinstance(last, util.ReturnOp):
            for index, value in enumerate(last.operands):
                if small(value.type) is not None:
                    emit = Lowering(location=last.location)
                    last.operands[index] = _packed(emit, value)
                    _place(emit, block, last)
    function.properties["function_type"] = FunctionType.from_lists(
        [_bytes_of(one) for one in type.inputs.data], [_bytes_of(one) for one in type.outputs.data]
    )


def _encodings(attrs: Attribute | None, types: Sequence[Attribute]) -> ArrayAttr:
    """The attributes of arguments or results, with the types that callers see."""
    given = list(attrs.data) if is_array_attr(attrs) else [DictionaryAttr({})] * len(types)
    found: list[Attribute] = []
    for entry, type in zip(given, types, strict=True):
        assert isinstance(entry, DictionaryAttr)
        seen = {_ENCODING: type, **entry.data} if small(type) is not None else entry.data
        found.append(DictionaryAttr(seen))
    return ArrayAttr(found)


@dataclass(frozen=True)
class _Layout:
    """How many elements a tensor has, how many share a byte, and how many bytes there are."""

    count: int
    each: int

    @property
    def bytes(self) -> int:
        return -(-self.count // self.each)


def _layout(type: Attribute) -> _Layout:
    element = small(type)
    assert element is not None
    assert is_tensor_type(type)
    return _Layout(prod(type.get_shape()), 8 // element.width.data)


def _bytes_of(type: Attribute) -> Attribute:
    return type if small(type) is None else TensorType(i8, [_layout(type).bytes])


def _place(emit: Lowering, block: Block, before: Operation | None) -> None:
    """Moves what was emitted to its place, or to the start of the block."""
    new = [*emit.constants, *list(emit.block.ops)]
    for op in list(emit.block.ops):
        op.detach()
    before = before or block.first_op
    assert before is not None
    block.insert_ops_before(new, before)


def _unpack_argument(entry: Block, index: int) -> None:
    old = entry.args[index]
    argument = entry.insert_arg(_bytes_of(old.type), index)
    argument.name_hint = old.name_hint
    argument.location = old.location
    emit = Lowering(location=old.location)
    value = _unpacked(emit, argument, old.type)
    _place(emit, entry, None)
    old.replace_all_uses_with(value)
    entry.erase_arg(old)


def _unpacked(emit: Lowering, value: SSAValue, type: Attribute) -> SSAValue:
    """The elements in `value`, a tensor of bytes."""
    assert is_tensor_type(type)
    element, layout, shape = type.element_type, _layout(type), type.get_shape()
    if layout.count == 0:
        return emit.empty(type)

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        place = s.cast(arith.IndexCastOp, s.index(1), i8)
        shift = s.binary(arith.MuliOp, place, s.constant(i8, 8 // layout.each))
        return s.cast(arith.TruncIOp, s.binary(arith.ShRUIOp, args[0], shift), element)

    split = emit.parallel([(value, map_attr(2, (0,)))], TensorType(element, [layout.bytes, layout.each]), body)
    total = layout.bytes * layout.each
    flat = emit.collapse(split, [[0, 1]], [total])
    if total != layout.count:
        flat = emit.slice(flat, [0], [layout.count])
    if not shape:
        return emit.collapse(flat, [], [])
    return flat if len(shape) == 1 else emit.expand(flat, [list(range(len(shape)))], shape)


def _packed(emit: Lowering, value: SSAValue) -> SSAValue:
    """The bytes of a tensor of small elements."""
    type = value.type
    assert is_tensor_type(type)
    layout, shape = _layout(type), type.get_shape()
    result = TensorType(i8, [layout.bytes])
    if layout.count == 0:
        return emit.empty(result)
    if not shape:
        return emit.parallel([(value, map_attr(1, ()))], result, lambda s, args: s.cast(arith.ExtUIOp, args[0], i8))
    total = layout.bytes * layout.each
    if len(shape) > 1:
        value = emit.collapse(value, [list(range(len(shape)))], [layout.count])
    if total != layout.count:
        zero = scalar_attribute(type.element_type, 0)
        value = emit.insert(value, emit.fill(zero, TensorType(type.element_type, [total])), [0], [layout.count])
    parts = [emit.slice(value, [at], [layout.bytes], [layout.each]) for at in range(layout.each)]

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        found = s.cast(arith.ExtUIOp, args[0], i8)
        for at, part in enumerate(args[1:], 1):
            wide = s.cast(arith.ExtUIOp, part, i8)
            found = s.or_(found, s.binary(arith.ShLIOp, wide, s.constant(i8, at * (8 // layout.each))))
        return found

    return emit.parallel([(part, identity(1)) for part in parts], result, body)
