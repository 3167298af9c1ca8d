"""The constant data of a module: one packed resource, uploaded once.

Every distinct non-splat tensor constant of host code gets a 64-byte aligned place in one `#util.composite`; an
initializer maps it (or, where the device cannot, reads it as a file) and stores it in a global. The bytes stay the
buffers they came in.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import cf
from xdsl.dialects.builtin import IntegerType, TensorType, VectorType, i8, i64
from xdsl.ir import Attribute, Block, Operation, Region

from tiree.dialects import stream, util
from tiree.dialects.arith import ConstantOp
from tiree.dialects.dense import DenseAttr
from tiree.stream.packing import aligned

GLOBAL_NAME = "__constants"


class ConstantPool:
    """Collects constants; the layout is the order in which they were first asked for."""

    def __init__(self, name: str = GLOBAL_NAME) -> None:
        self.name = name
        """The symbol of the global that holds the resource."""
        self._offsets: dict[DenseAttr, int] = {}
        self._used = 0

    def place(self, value: DenseAttr) -> int:
        """The byte offset of `value`, which must not be a splat."""
        offset = self._offsets.get(value)
        if offset is None:
            offset = self._offsets[value] = self._used
            self._used += aligned(value.buffer.nbytes)
        return offset

    @property
    def size(self) -> int:
        """Bytes of the whole resource; valid once everything is placed."""
        return self._used

    @property
    def is_empty(self) -> bool:
        return not self._offsets

    def _composite(self) -> util.CompositeAttr:
        """All constants in order, zeros between them."""
        parts: list[Attribute] = []
        for value in self._offsets:
            parts.append(_as_bytes_if_boolean(value))
            padding = aligned(value.buffer.nbytes) - value.buffer.nbytes
            if padding:
                parts.append(DenseAttr.from_buffer(VectorType(i8, [padding]), b"\0", splat=True))
        return util.CompositeAttr.of(parts, self._used)

    def global_and_initializer(self, affinity: Attribute | None) -> Sequence[Operation]:
        """`util.global` and the initializer that fills it."""
        entry, upload = Block(), Block()
        done = Block(arg_types=[stream.TimepointType(), stream.ResourceType("constant")])
        zero, size = ConstantOp.index(0), ConstantOp.index(self._used)
        file_offset = ConstantOp.integer(0, i64)
        ready = stream.TimepointImmediateOp()
        data = util.BufferConstantOp(self._composite(), alignment=64)
        mapped = stream.ResourceTryMapOp(data.result, zero.result, size.result, affinity)
        branch = cf.ConditionalBranchOp(mapped.did_map, done, [ready.result_timepoint, mapped.result], upload, [])
        entry.add_ops([zero, file_offset, ready, data, size, mapped, branch])
        target = stream.ResourceAllocOp("constant", size.result, affinity)
        file = stream.FileConstantOp(data.result, size.result, zero.result, size.result, affinity)
        read = stream.FileReadOp(
            [file.result, file_offset.result, target.result, size.result, zero.result, size.result],
            ready.result_timepoint,
            affinity,
        )
        upload.add_ops([target, file, read, cf.BranchOp(done, read.result_timepoint, target.result)])
        awaited = stream.TimepointAwaitOp([done.args[1]], [size.result], done.args[0], sync=True)
        done.add_ops([awaited, util.GlobalStoreOp(awaited.results_[0], self.name), util.ReturnOp()])
        global_op = util.GlobalOp(self.name, stream.ResourceType("constant"))
        return [global_op, util.InitializerOp(Region([entry, upload, done]))]


def _as_bytes_if_boolean(value: DenseAttr) -> DenseAttr:
    """`i1` constants take one byte an element in memory: the same bytes as `i8`."""
    if value.element_type != IntegerType(1):
        return value
    assert isinstance(value.type, TensorType)
    return DenseAttr.from_buffer(TensorType(i8, value.shape), value.buffer)
