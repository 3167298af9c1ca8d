"""Where host code of the `hal` phase is added, and the constants and globals it needs, each once a function."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue, TypedAttribute

from tiree.dialects import hal, util
from tiree.dialects.arith import ConstantOp, constant_of
from tiree.dialects.hal_affinity import DeviceAffinityAttr, DeviceOptimalAttr
from tiree.support.locations import take_location


@cache
def _integer(value: int, type: IntegerType) -> IntegerAttr[IntegerType]:
    return IntegerAttr(value, type)


class Emitter:
    """Adds operations before `anchor` (at the end of `block` when None); caches what is defined at `top`.

    `top` is the block that dominates everything that is added; cached values go in front of its first operation.
    """

    def __init__(self, top: Block, default: DeviceAffinityAttr) -> None:
        self.top = top
        self.block = top
        self.anchor: Operation | None = None
        self.source: Operation | None = None
        """What is being converted, where that is not `anchor`; it gives new operations their location."""
        self._default = default
        self._place = default
        self._cache: dict[object, SSAValue] = {}
        self._indices: dict[int, SSAValue] = {}
        self._constants: dict[int, tuple[TypedAttribute, SSAValue]] = {}
        """By identity, which is found sooner than an equal attribute."""
        self._remember_top()

    def _remember_top(self) -> None:
        """Values that the function defines first thing are used instead of new ones."""
        for op in self.top.ops:
            constant = constant_of(op.results[0]) if op.results else None
            if constant is not None:
                self._cache.setdefault(constant, op.results[0])
            elif isinstance(op, hal.ElementTypeOp):
                self._cache.setdefault(("element", op.type), op.result)
            elif isinstance(op, hal.EncodingTypeOp):
                self._cache.setdefault("encoding", op.result)
            elif not isinstance(op, util.GlobalLoadOp):
                return

    def add(self, op: Operation) -> Operation:
        take_location(op, self.source or self.anchor)
        if self.anchor is not None:
            block = self.anchor.parent
            assert block is not None
            block.insert_op_before(op, self.anchor)
        else:
            self.block.add_op(op)
        return op

    def value(self, op: Operation) -> SSAValue:
        return self.add(op).results[0]

    def cached(self, key: object, make: Callable[[], Operation]) -> SSAValue:
        """The value of `key`, made at the top when it is first asked for."""
        found = self._cache.get(key)
        if found is None:
            op = make()
            first = self.top.first_op
            if first is None:
                self.top.add_op(op)
            else:
                self.top.insert_op_before(op, first)
            found = self._cache[key] = op.results[0]
        return found

    def remember(self, key: object, value: SSAValue) -> None:
        """Says that `value`, defined at the top, is that of `key`."""
        self._cache[key] = value

    def constant(self, attr: TypedAttribute) -> SSAValue:
        known = self._constants.get(id(attr))
        if known is None:
            known = self._constants[id(attr)] = attr, self.cached(attr, lambda: ConstantOp(attr))
        return known[1]

    def index(self, value: int) -> SSAValue:
        found = self._indices.get(value)
        if found is None:
            found = self._indices[value] = self.constant(ConstantOp.index(value).value)
        return found

    def i32(self, value: int) -> SSAValue:
        return self.constant(_integer(value, i32))

    def i64(self, value: int) -> SSAValue:
        return self.constant(_integer(value, i64))

    def go_to(self, affinity: Attribute | None) -> None:
        """Says where what is added from now on runs; memory for several devices is asked of the first."""
        if isinstance(affinity, DeviceOptimalAttr):
            affinity = affinity.affinities.data[0]
        self._place = affinity if isinstance(affinity, DeviceAffinityAttr) else self._default

    def queue(self) -> SSAValue:
        return self.i64(self._place.queue_mask.data)

    def null_fence(self) -> SSAValue:
        return self.cached("null fence", lambda: util.NullOp(hal.FenceType()))

    def load_global(self, name: str, type: Attribute) -> SSAValue:
        return self.cached(("global", name), lambda: util.GlobalLoadOp(name, type, immutable=True))

    @property
    def device_name(self) -> str:
        return self._place.device_name

    def device(self) -> SSAValue:
        return self.load_global(self.device_name, hal.DeviceType())

    def memory_type(self, type: hal.MemoryType) -> SSAValue:
        return self.cached(("memory type", int(type)), lambda: hal.MemoryTypeOp(type))

    def buffer_usage(self, usage: hal.BufferUsage) -> SSAValue:
        return self.cached(("usage", int(usage)), lambda: hal.BufferUsageOp(usage))

    def element_type(self, type: Attribute) -> SSAValue:
        return self.cached(("element", type), lambda: hal.ElementTypeOp(type))

    def encoding_type(self) -> SSAValue:
        return self.cached("encoding", hal.EncodingTypeOp)
