"""How each operation on tensors in host code becomes commands on storages.

One method per operation; `Scheduler` (schedule.py) calls them in program order. A method looks its operands up, adds
commands to the current run and names the storage of its results. It never emits device work itself, except where the
host needs a value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, FloatAttr, IndexType, IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects.arith import ConstantOp, constant_int, constant_of
from tiree.dialects.dense import DenseAttr, decode_scalar, element_byte_size, encode_scalar
from tiree.dialects.stream import ResourceAccess
from tiree.stream.liveness import VIEWS, tied_operand
from tiree.stream.patterns import (
    complex_bytes,
    doubling_steps,
    is_splat,
    pattern_constant,
    scalar_patterns,
    smallest_pattern,
)
from tiree.stream.run import Run
from tiree.stream.slice_views import SliceView
from tiree.stream.storage import Command, HostBuilder, Range, Storage, byte_length, unsupported
from tiree.stream.words import pack_words, word_types
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.typed import ints_of, is_float_attr, is_integer_attr, is_integer_type, is_tensor_type, tensor_type

_READ, _WRITE = int(ResourceAccess.READ), int(ResourceAccess.WRITE)
_MAX_ROWS = 4096


class TensorOps(ABC):
    """Base of the scheduler: commands for the operations that stay on the device."""

    def __init__(self, builder: HostBuilder, view_slices: set[Operation]) -> None:
        self.builder = builder
        self.view_slices = view_slices
        self.run = Run()
        self.storages: dict[SSAValue, Storage] = {}
        self.handled: set[Operation] = set()
        self._splats: dict[tuple[DenseAttr, Attribute | None], Storage] = {}
        """By device, too: they fill at the same time."""
        self.unsized: dict[Storage, None] = {}
        """Storages of block arguments whose sizes have not been seen in this block yet."""
        self._sized: list[Storage] = []
        """Those whose sizes have, by values that other blocks may not see."""
        self.device_ops: dict[str, Callable[[Operation], None]] = {
            "flow.dispatch": self._dispatch,
            "flow.tensor.splat": self._splat,
            "flow.tensor.empty": self._empty,
            "flow.tensor.alloca": self._empty,
            "flow.tensor.clone": self._clone,
            "flow.tensor.reshape": self._view,
            "flow.tensor.bitcast": self._view,
            "flow.tensor.tie_shape": self._view,
            "flow.tensor.transfer": self._view,
            "flow.tensor.slice": self._slice,
            "flow.tensor.update": self._update,
            "flow.tensor.store": self._store,
            "util.optimization_barrier": self._barrier_views,
        }

    # Values and storages.

    def name(self, value: SSAValue, storage: Storage) -> None:
        """Says that `storage` holds `value`."""
        self.storages[value] = storage
        storage.values.append(value)

    def new_storage(self, value: SSAValue, op: Operation) -> Storage:
        storage = Storage(self.builder.byte_length(value, op))
        self.name(value, storage)
        return storage

    @abstractmethod
    def constant_storage(self, value: DenseAttr) -> Storage:
        """The place of a non-splat constant in the packed constants."""

    def storage_of(self, value: SSAValue, op: Operation) -> Storage:
        """The storage of an operand. Splat constants are filled once a run."""
        storage = self.storages.get(value)
        if storage is not None:
            if storage in self.unsized and not op.successors:
                self._give_size(storage, value, op)
            return storage
        constant = constant_of(value)
        if not isinstance(constant, DenseAttr):
            raise unsupported(op, f"operand {value.type} of {op.name} comes from an operation that is not scheduled")
        if not is_splat(constant):
            return self.constant_storage(constant)
        key = constant, self.builder.affinity
        if key not in self._splats:
            self._splats[key] = self.fill_constant(constant, byte_length(constant.type, op))
        return self._splats[key]

    def forget_splats(self) -> None:
        """A run has ended: what was filled for it is gone."""
        self._splats = {}

    def owned_storage_of(self, value: SSAValue, op: Operation) -> Storage:
        """A whole resource with the contents of `value`, for a branch, call or result; copies where it must."""
        constant = constant_of(value)
        if isinstance(constant, DenseAttr) and is_splat(constant):
            storage = self.fill_constant(constant, byte_length(value.type, op))
        else:
            storage = self.storage_of(value, op)
            if storage.is_whole or storage in self.run.views:
                storage.escapes = True
                self.run.required.append(storage)
                return storage
            source, storage = storage, Storage(storage.length)
            self.copy(Range(source, source.length), Range(storage, storage.length))
        storage.escapes = True
        self.run.required.append(storage)
        return storage

    # Commands.

    def command(self, command: Command) -> None:
        """Adds a command, which runs where the current operation does."""
        command.affinity = self.builder.affinity
        self.run.add(command)

    def copy(self, source: Range, target: Range) -> None:
        if source.length != 0:
            self.command(Command("copy", [source, target], [_READ, _WRITE]))

    def fill(self, target: Range, pattern: SSAValue) -> None:
        if target.length != 0:
            self.command(Command("fill", [target], [_WRITE], pattern=pattern))

    def fill_parts(self, target: Range, parts: Sequence[SSAValue], part_size: int) -> None:
        """Fills a range with an element given in parts of `part_size` bytes."""
        if target.length == 0:
            return
        if len(parts) == 1:
            self.fill(target, parts[0])
            return
        if not isinstance(target.length, int):
            message = "a tensor of dynamic shape cannot be filled with elements of more than four bytes by a command"
            raise CompileError(Diagnostic(message, hint="fill it in a dispatch"))
        for step in doubling_steps(len(parts), part_size, target.length):
            piece = Range(target.storage, step.length, target.offset + step.offset, target.dynamic_offset)
            if step.part is None:
                self.copy(Range(target.storage, step.length, target.offset, target.dynamic_offset), piece)
            else:
                self.fill(piece, parts[step.part])

    def fill_range(self, target: Range, constant: DenseAttr) -> None:
        """Fills a range with a splat."""
        element = bytes(constant.buffer)
        pattern = smallest_pattern(element)
        pieces = [pattern] if pattern is not None else [element[i : i + 4] for i in range(0, len(element), 4)]
        self.fill_parts(target, [self.builder.constant(pattern_constant(piece)) for piece in pieces], len(pieces[0]))

    def fill_constant(self, constant: DenseAttr, length: int) -> Storage:
        storage = Storage(length)
        self.fill_range(Range(storage, length), constant)
        return storage

    # Operations.

    def _dispatch(self, op: Operation) -> None:
        segments = ints_of(op.properties["operandSegmentSizes"])
        first = int(segments[0])
        arguments = op.operands[first : first + int(segments[1])]
        tied = {tied_operand(result): result for result in op.results if tied_operand(result) is not None}
        ranges: list[Range] = []
        access: list[int] = []
        words: list[SSAValue] = []
        for number, argument in enumerate(arguments):
            if not is_tensor_type(argument.type):
                word_types(argument.type, f"operand {number} of {op.name}")
                ops, packed = pack_words(argument)
                for packing in ops:
                    self.builder.add(packing)
                words.extend(packed)
                continue
            storage = self.storage_of(argument, op)
            ranges.append(Range(storage, storage.length))
            result = tied.get(first + number)
            access.append(_READ if result is None else _READ | _WRITE)
            if result is not None:
                self.name(result, storage)
        for result in op.results:
            if tied_operand(result) is None:
                storage = self.new_storage(result, op)
                ranges.append(Range(storage, storage.length))
                access.append(_WRITE)
        self.command(Command("dispatch", ranges, access, op=op, words=words))

    def _splat(self, op: Operation) -> None:
        storage = self.new_storage(op.results[0], op)
        scalar, raw = constant_of(op.operands[0]), complex_bytes(op.operands[0])
        type = tensor_type(op.results[0])
        if is_integer_attr(scalar) or is_float_attr(scalar):
            raw = encode_scalar(type.element_type, scalar.value.data)
        if raw is not None:
            # The pattern is known here; hosts have no f16 and bf16.
            self.fill_range(Range(storage, storage.length), DenseAttr.from_buffer(type, raw, splat=True))
            return
        try:
            ops, parts = scalar_patterns(op.operands[0])
        except TypeError as error:
            raise unsupported(op, str(error)) from None
        for packing in ops:
            self.builder.add(packing)
        self.fill_parts(Range(storage, storage.length), parts, 4)

    def _empty(self, op: Operation) -> None:
        self.new_storage(op.results[0], op)

    def _clone(self, op: Operation) -> None:
        result = self.new_storage(op.results[0], op)
        constant = constant_of(op.operands[0])
        whole = Range(result, result.length)
        if isinstance(constant, DenseAttr) and is_splat(constant):
            self.fill_range(whole, constant)
        else:
            self.copy(Range(self.storage_of(op.operands[0], op), result.length), whole)

    def _view(self, op: Operation) -> None:
        constant = constant_of(op.operands[0])
        if isinstance(constant, DenseAttr):
            # A view may outlive the run; a splat that was filled for the run may not.
            self.name(op.results[0], self.fill_or_constant(constant, op))
        else:
            self.name(op.results[0], self.storage_of(op.operands[0], op))

    def _give_size(self, storage: Storage, value: SSAValue, op: Operation) -> None:
        """`op` is the first that reads a tensor that arrived in the block, and says how long it is."""
        if op.name in ("util.return", "util.call"):
            return
        storage.length = self.builder.byte_length(value, op)
        storage.resource_size = self.builder.length(storage.length)
        del self.unsized[storage]
        self._sized.append(storage)

    def forget_sizes(self) -> None:
        """A block has ended: in the next one, who reads first says again how long a tensor is."""
        for storage in self._sized:
            storage.length, storage.resource_size = 0, None
            self.unsized[storage] = None
        self._sized = []

    def _barrier_views(self, op: Operation) -> None:
        for operand, result in zip(op.operands, op.results, strict=True):
            if is_tensor_type(result.type):
                constant = constant_of(operand)
                known = isinstance(constant, DenseAttr)
                self.name(result, self.fill_or_constant(constant, op) if known else self.storage_of(operand, op))
            else:
                result.replace_all_uses_with(operand)

    def fill_or_constant(self, constant: DenseAttr, op: Operation) -> Storage:
        if is_splat(constant):
            return self.fill_constant(constant, byte_length(constant.type, op))
        return self.constant_storage(constant)

    def _strides(self, type: TensorType) -> list[int]:
        strides: list[int] = []
        step = element_byte_size(type.element_type)
        for size in reversed(type.get_shape()):
            strides.append(step)
            step *= size
        return strides[::-1]

    def _byte_offset(self, indices: Sequence[SSAValue], type: TensorType) -> tuple[int, SSAValue | None]:
        """Static and dynamic part of the offset of an element. Raises `CompileError` for a type with `?`."""
        if DYNAMIC_INDEX in type.get_shape():
            hint = "give it static sizes"
            raise CompileError(Diagnostic(f"the host accesses a part of {type}, which has no schedule", hint=hint))
        static, dynamic = 0, None
        for index, stride in zip(indices, self._strides(type), strict=True):
            known = constant_int(index)
            if known is not None:
                static += known * stride
                continue
            term = self.builder.add(arith.MuliOp(index, self.builder.index(stride))).results[0]
            dynamic = term if dynamic is None else self.builder.add(arith.AddiOp(dynamic, term)).results[0]
        return static, dynamic

    def _rows(self, box: Sequence[int], whole: TensorType, op: Operation) -> tuple[list[int], int]:
        """Offsets, relative to its first byte, of the contiguous pieces of a box in a tensor; bytes of a piece."""
        strides, shape = self._strides(whole), whole.get_shape()
        inner = max(len(box) - 1, 0)
        while inner > 0 and box[inner] == shape[inner]:
            inner -= 1
        # Dimensions after `inner` are taken whole: one piece covers them and a stretch of dimension `inner`.
        offsets = [0]
        for dimension in range(inner):
            offsets = [o + i * strides[dimension] for o in offsets for i in range(box[dimension])]
        length = element_byte_size(whole.element_type)
        for size in box[inner:]:
            length *= size
        if len(offsets) > _MAX_ROWS:
            raise unsupported(
                op, f"{op.name} of {len(offsets)} separate pieces", "move it into a dispatch (flow.dispatch.workgroups)"
            )
        return offsets, length

    def _box_starts(self, op: Operation, segment: int) -> list[SSAValue]:
        segments = ints_of(op.properties["operandSegmentSizes"])
        start = sum(segments[:segment])
        return list(op.operands[start : start + segments[segment]])

    def _slice(self, op: Operation) -> None:
        source_type, type = op.operands[0].type, op.results[0].type
        assert is_tensor_type(source_type)
        assert is_tensor_type(type)
        source = self.storage_of(op.operands[0], op)
        static, dynamic = self._byte_offset(self._box_starts(op, 2), source_type)
        offsets, piece = self._rows(type.get_shape(), source_type, op)
        result = self.new_storage(op.results[0], op)
        if op in self.view_slices:
            result.inside = source, static
            source.views.append(result)
            view = SliceView(result, source, static, len(self.run.commands), self.builder.affinity)
            self.run.views[result] = view
            return
        for number, offset in enumerate(offsets):
            self.copy(Range(source, piece, static + offset, dynamic), Range(result, piece, number * piece))

    def _update(self, op: Operation) -> None:
        segments = ints_of(op.properties["operandSegmentSizes"])
        update_value = op.operands[sum(segments[:3])]
        target_type, update_type = op.operands[0].type, update_value.type
        assert is_tensor_type(target_type)
        assert is_tensor_type(update_type)
        target = self.storage_of(op.operands[0], op)
        static, dynamic = self._byte_offset(self._box_starts(op, 2), target_type)
        offsets, piece = self._rows(update_type.get_shape(), target_type, op)
        self.name(op.results[0], target)
        constant = constant_of(update_value)
        if isinstance(constant, DenseAttr) and is_splat(constant):
            for offset in offsets:
                self.fill_range(Range(target, piece, static + offset, dynamic), constant)
            return
        update = self.storage_of(update_value, op)
        if len(offsets) == 1 and dynamic is None and self._can_write_directly(update, op, target, static):
            update.inside = (target, static)
            return
        for number, offset in enumerate(offsets):
            self.copy(Range(update, piece, number * piece), Range(target, piece, static + offset, dynamic))

    def _can_write_directly(self, update: Storage, op: Operation, target: Storage, offset: int) -> bool:
        """Whether the producer of `update` may write into `target`: nobody else reads either meanwhile."""
        if update.is_placed or update.inside is not None or update.escapes or offset % 64 or target.length == 0:
            return False
        length = update.length
        if not isinstance(length, int):
            return False
        users = [use.operation for value in update.values for use in value.uses]
        if not update.values or any(user is not op and user.name not in VIEWS for user in users):
            return False
        place, base = target.outermost()
        start = base + offset
        touched = [[range.storage.outermost() for range in command.ranges] for command in self.run.commands]
        producer = next((n for n, pairs in enumerate(touched) if any(storage is update for storage, _ in pairs)), None)
        if producer is None:
            return False
        for command, pairs in zip(self.run.commands[producer:], touched[producer:], strict=True):
            for range, (storage, inner) in zip(command.ranges, pairs, strict=True):
                if storage is place and not range.is_apart_from(start - inner, length):
                    return False
        return True

    def _store(self, op: Operation) -> None:
        segments = ints_of(op.properties["operandSegmentSizes"])
        type = tensor_type(op.operands[1])
        indices = list(op.operands[sum(segments[:3]) :])
        static, dynamic = self._byte_offset(indices, type)
        target = self.storage_of(op.operands[1], op)
        self.name(op.results[0], target)
        ops, parts = scalar_patterns(op.operands[0])
        for packing in ops:
            self.builder.add(packing)
        size = element_byte_size(type.element_type)
        self.fill_parts(Range(target, size, static, dynamic), parts, 4)


def scalar_of(constant: DenseAttr, index: int) -> ConstantOp | None:
    """Element number `index` of an integer or float constant as a scalar constant."""
    element = constant.element_type
    size = element_byte_size(element)
    start = 0 if is_splat(constant) else index * size
    raw = bytes(constant.buffer[start : start + size])
    try:
        number = decode_scalar(element, raw)
    except (TypeError, ValueError):
        return None
    if isinstance(number, int) and (is_integer_type(element) or isinstance(element, IndexType)):
        return ConstantOp(IntegerAttr(number, element))
    return ConstantOp(FloatAttr(number, element)) if isinstance(element, AnyFloat) else None
