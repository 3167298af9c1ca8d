"""Read-only data: its bytes, and constants that were written where they are used."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, TensorType, i8
from xdsl.ir import Attribute, Operation

from tiree.dialects import vm
from tiree.dialects.dense import DenseAttr, element_byte_size
from tiree.dialects.util_types import CompositeAttr
from tiree.dialects.vm_composed import InlineRodataOp, InlineRodataTableOp
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.typed import int_of, string_of
from tiree.vm.archive import Buffer


def value_pieces(value: Attribute, op: Operation) -> Iterator[Buffer]:
    """The bytes of a rodata value; a composite lays its parts out one after the other."""
    if isinstance(value, StringAttr):
        yield value.data.encode()
    elif isinstance(value, DenseAttr):
        yield from _dense_pieces(value)
    elif isinstance(value, CompositeAttr):
        for part in value.values:
            yield from value_pieces(part, op)
    elif isinstance(value, IntegerAttr | FloatAttr):
        from tiree.dialects.dense import encode_scalar

        yield encode_scalar(value.get_type(), value.value.data)
    else:
        raise CompileError(Diagnostic(f"rodata cannot hold {value.name}", location_of(op)))


def _dense_pieces(value: DenseAttr) -> Iterator[Buffer]:
    from tiree.dialects.dense import element_count
    from tiree.vm.packing import pack, packed_bits

    width = packed_bits(value.element_type)
    if width is not None:
        yield pack(value, width)
    elif value.is_splat:
        yield bytes(value.buffer) * element_count(value.type)
    else:
        yield value.buffer


def expand_rodata(module: vm.ModuleOp) -> None:
    """Inline data becomes `vm.rodata` of the module."""
    taken = {string_of(op.properties["sym_name"]) for op in module.body.block.ops if "sym_name" in op.properties}
    for op in list(module.walk()):
        if isinstance(op, InlineRodataOp):
            value = _constant(module, taken, op, op.rodata_name, op.value, op.alignment)
            _replace(op, [value])
        elif isinstance(op, InlineRodataTableOp):
            _replace(op, _table(module, taken, op))


def _replace(op: Operation, made: list[Operation]) -> None:
    block = op.parent_block()
    assert block is not None
    for result, one in zip(op.results, made, strict=True):
        one.location = op.location
        block.insert_op_before(one, op)
        result.replace_all_uses_with(one.results[0])
    op.detach()
    op.erase()


def _constant(
    module: vm.ModuleOp,
    taken: set[str],
    op: InlineRodataOp | InlineRodataTableOp,
    name: StringAttr | None,
    value: Attribute,
    alignment: Attribute | None,
) -> Operation:
    base = name.data if name is not None else "_const"
    symbol = next(s for i in range(len(taken) + 1) if (s := f"{base}_{i}" if i else base) not in taken)
    taken.add(symbol)
    properties: dict[str, Attribute] = {
        "sym_name": StringAttr(symbol),
        "sym_visibility": StringAttr("private"),
        "value": value,
    }
    for key, attr in (("alignment", alignment), ("mime_type", op.mime_type)):
        if attr is not None:
            properties[key] = attr
    body = module.body.block
    assert body.first_op is not None
    body.insert_op_before(vm.RodataOp.create(properties=properties), body.first_op)
    return vm.value_op("const.ref.rodata").create(
        result_types=[vm.BufferType()], properties={"rodata": vm.symbol(symbol)}
    )


def _table(module: vm.ModuleOp, taken: set[str], op: InlineRodataTableOp) -> list[Operation]:
    """(offset, length) of every piece as integers of the table's type, and the pieces at their alignment."""
    alignment = int_of(op.data_alignment) if op.data_alignment is not None else 1
    width = element_byte_size(op.table_type)
    data, table = bytearray(), bytearray()
    for value in op.data_array.data:
        data += bytes(-len(data) % alignment)
        start = len(data)
        for piece in value_pieces(value, op):
            data += piece
        for number in (start, len(data) - start):
            table += number.to_bytes(width, "little")

    def dense(content: bytearray) -> Attribute:
        return DenseAttr.from_buffer(TensorType(i8, [len(content)]), bytes(content))

    return [
        _constant(module, taken, op, op.table_name, dense(table), op.alignment),
        _constant(module, taken, op, op.data_name, dense(data), op.alignment),
    ]
