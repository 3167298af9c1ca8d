"""`io_parameters` operations to calls of the runtime's module of that name.

Keys, and the ranges of the parameters that are wanted, are tables in read-only data: their sizes are known here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import StringAttr, TensorType, i8
from xdsl.ir import Operation, SSAValue

from tiree.dialects import util, vm
from tiree.dialects.arith import constant_int
from tiree.dialects.dense import DenseAttr
from tiree.dialects.hal_attrs import BufferType
from tiree.dialects.io_parameters import LoadOp
from tiree.vm.builder import FunctionBuilder, convert_type, fail


def _text(value: SSAValue, op: Operation) -> bytes:
    constant = value.owner
    if isinstance(constant, util.BufferConstantOp) and isinstance(constant.value, StringAttr):
        return constant.value.data.encode()
    raise fail(op, "a scope or key that is not a constant string")


def _number(value: SSAValue, op: Operation) -> int:
    number = constant_int(value)
    if number is None:
        raise fail(op, "an offset or a length that is not a constant")
    return number


def _table(b: FunctionBuilder, raw: bytes, name: str) -> SSAValue:
    data = DenseAttr.from_buffer(TensorType(i8, [len(raw)]), raw)
    return b.rodata(b.state.rodata_op(data, name, 16))


def _load(b: FunctionBuilder, op: Operation) -> None:
    assert isinstance(op, LoadOp)
    keys = [_text(key, op) for key in op.source_keys]
    starts = [sum(map(len, keys[:number])) for number in range(len(keys))]
    table = b"".join(struct.pack("<II", start, len(key)) for start, key in zip(starts, keys, strict=True))
    spans = b"".join(
        struct.pack("<QQQ", _number(offset, op), 0, _number(length, op))
        for offset, length in zip(op.source_offsets, op.lengths, strict=True)
    )
    scope = b.null(vm.BufferType()) if op.source_scope is None else b.get(op.source_scope)
    where: Sequence[SSAValue] = [b.get(v) for v in (op.device, op.queue_affinity, op.wait_fence, op.signal_fence)]
    (found,) = b.call_import(
        "io_parameters.load",
        [
            *where,
            scope,
            where[1],
            b.get(op.memory_type),
            b.get(op.buffer_usage),
            _table(b, table, "_parameter_keys"),
            _table(b, b"".join(keys), "_parameter_names"),
            _table(b, spans, "_parameter_ranges"),
        ],
    )
    type = convert_type(BufferType(), op)
    for number, result in enumerate(op.results):
        b.values[result] = b.value("list.get.ref", [found, b.i32(number)], type)


Handler = Callable[[FunctionBuilder, Operation], None]

HANDLERS: dict[str, Handler] = {"io_parameters.load": _load}
