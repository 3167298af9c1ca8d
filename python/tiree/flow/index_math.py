"""Building index arithmetic in the body of a structured op: loop indices, windows, clamps. Constants fold."""

from __future__ import annotations

from xdsl.dialects.arith import (
    AddiOp,
    AndIOp,
    CmpiOp,
    DivUIOp,
    IntegerOverflowAttr,
    MaxSIOp,
    MinSIOp,
    MuliOp,
    RemUIOp,
    SelectOp,
    SubiOp,
)
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i64
from xdsl.ir import Block, Operation, SSAValue

from tiree.dialects.arith import ConstantOp, constant_int
from tiree.flow.structured import make_index

_OVERFLOW = {"overflowFlags": IntegerOverflowAttr("none")}
_SLT, _SGE, _EQ = 2, 5, 0


class IndexBuilder:
    """Appends index operations to `block`."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self._constants: dict[int, SSAValue] = {}
        self._loops: dict[int, SSAValue] = {}

    def _append(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def constant(self, value: int) -> SSAValue:
        if value not in self._constants:
            self._constants[value] = self._append(ConstantOp.index(value))
        return self._constants[value]

    def value(self, value: int | SSAValue) -> SSAValue:
        return self.constant(value) if isinstance(value, int) else value

    def loop(self, dim: int) -> SSAValue:
        if dim not in self._loops:
            self._loops[dim] = self._append(make_index(dim))
        return self._loops[dim]

    def _binary(self, kind: type[Operation], left: SSAValue, right: SSAValue, flags: bool = True) -> SSAValue:
        properties = _OVERFLOW if flags else {}
        return self._append(kind.create(operands=[left, right], result_types=[left.type], properties=properties))

    def add(self, left: SSAValue, right: SSAValue) -> SSAValue:
        if constant_int(right) == 0:
            return left
        return right if constant_int(left) == 0 else self._binary(AddiOp, left, right)

    def sub(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return left if constant_int(right) == 0 else self._binary(SubiOp, left, right)

    def mul(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return left if constant_int(right) == 1 else self._binary(MuliOp, left, right)

    def clamp(self, value: SSAValue, high: int) -> SSAValue:
        """`value` forced into `[0, high]`."""
        low = self._binary(MaxSIOp, value, self.constant(0), flags=False)
        return self._binary(MinSIOp, low, self.constant(high), flags=False)

    def compare(self, predicate: int, left: SSAValue, right: SSAValue) -> SSAValue:
        return self._append(
            CmpiOp.create(
                operands=[left, right],
                result_types=[IntegerType(1)],
                properties={"predicate": IntegerAttr(predicate, i64)},
            )
        )

    def below(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """Whether `left` is less than `right`."""
        return self.compare(_SLT, left, right)

    def both(self, left: SSAValue | None, right: SSAValue | None) -> SSAValue | None:
        """The conjunction of two tests; None stands for true."""
        if left is None or right is None:
            return left if right is None else right
        return self._binary(AndIOp, left, right, flags=False)

    def select(self, test: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        return self._append(SelectOp.create(operands=[test, yes, no], result_types=[yes.type]))

    def window(
        self, dim: int, extent: int, offset: int | SSAValue, size: int, stride: int | SSAValue
    ) -> tuple[SSAValue, SSAValue | None]:
        """For loop `dim` of `extent` points and a window of `size` points at `offset`: the point's place in the window
        (clamped into it), and whether it is inside (None: always)."""
        if offset == 0 and size == extent and stride == 1:
            return self.loop(dim), None
        relative = self.sub(self.loop(dim), self.value(offset))
        tests: list[SSAValue | None] = []
        reach: SSAValue | int = size
        if offset != 0:
            tests.append(self.compare(_SGE, relative, self.constant(0)))
        if stride != 1:
            step = self.value(stride)
            tests.append(self.compare(_EQ, self._binary(RemUIOp, relative, step, flags=False), self.constant(0)))
            relative = self._binary(DivUIOp, self.clamp(relative, extent - 1), step, flags=False)
        tests.append(self.compare(_SLT, relative, self.value(reach)))
        inside: SSAValue | None = None
        for test in tests:
            inside = self.both(inside, test)
        return self.clamp(relative, size - 1), inside
