"""`tiree-global-opt-raise-boxes`: gathers and selects that are boxes at computed offsets become slices and
insertions.

In: elementwise generics whose body reads `source[i + a, j + b, ...]` (a dynamic slice), or selects between
`update[i - a, ...]` inside a window and a destination outside it (a dynamic update), with offsets that are the same
for all points. Out: `tensor.extract_slice` and `tensor.insert_slice` with dynamic offsets, which dispatches load
and store directly, in place and without computing positions per element. An update is raised only when its offsets
are clamped into the destination, since an insertion may not leave it.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, ModuleOp, i64
from xdsl.dialects.tensor import ExtractOp, ExtractSliceOp, InsertSliceOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects.arith import constant_int
from tiree.flow.affine import is_identity
from tiree.flow.structured import (
    body_of,
    defining_op,
    function_blocks,
    input_count,
    insert_before,
    is_elementwise,
    is_tensor,
    loop_extents,
    maps_of,
    replace_op,
    set_segments,
    shape_of,
    yielded,
)
from tiree.support.typed import int_of, is_tensor_type, op_of

_SLT, _SGE = 2, 5


class _Offsets:
    """Recognises index expressions of one generic and rebuilds their invariant parts on the host."""

    def __init__(self, op: Operation) -> None:
        self.op = op
        self.block = body_of(op)
        self.maps = maps_of(op)
        self._host: dict[SSAValue, SSAValue] = {}
        self._invariant: dict[SSAValue, bool] = {}

    def inner(self, value: SSAValue) -> Operation | None:
        """The op of the body that makes `value`."""
        op = defining_op(value)
        return op if op is not None and op.parent is self.block else None

    def is_invariant(self, value: SSAValue) -> bool:
        """Whether `value` is the same at all points and can be computed on the host."""
        if isinstance(value, BlockArgument) and value.block is self.block:
            return value.index < input_count(self.op) and not self.maps[value.index].results
        op = self.inner(value)
        if op is None:
            return True
        if value not in self._invariant:
            known = op.name.startswith("arith.") and all(self.is_invariant(operand) for operand in op.operands)
            self._invariant[value] = known
        return self._invariant[value]

    def on_host(self, value: SSAValue) -> SSAValue:
        """An invariant value, computed before the generic."""
        if value in self._host:
            return self._host[value]
        made = value
        if isinstance(value, BlockArgument) and value.block is self.block:
            source = self.op.operands[value.index]
            made = source
            if is_tensor(source):
                read = ExtractOp.create(operands=[source], result_types=[value.type])
                insert_before(self.op, read)
                made = read.results[0]
        elif (op := self.inner(value)) is not None:
            copy = op.clone({operand: self.on_host(operand) for operand in op.operands})
            insert_before(self.op, copy)
            made = copy.results[0]
        self._host[value] = made
        return made

    def loop(self, value: SSAValue) -> int | None:
        op = self.inner(value)
        return int_of(op.properties["dim"]) if op is not None and op.name == "linalg.index" else None

    def shifted(self, value: SSAValue) -> tuple[int | None, SSAValue | None] | None:
        """`value` as loop plus invariant: `(loop, offset)`, either of them None; None when it is neither."""
        if (dim := self.loop(value)) is not None:
            return dim, None
        if self.is_invariant(value):
            return None, value
        op = self.inner(value)
        if op is None or op.name != "arith.addi":
            return None
        for index, offset in (tuple(op.operands), tuple(reversed(op.operands))):
            if (dim := self.loop(index)) is not None and self.is_invariant(offset):
                return dim, offset
        return None

    def window(self, value: SSAValue, size: int) -> tuple[SSAValue, SSAValue] | None:
        """For `min(max(loop - offset, 0), size - 1)`: `(loop - offset, offset)`."""
        position = self.clamped(value, size - 1)
        op = None if position is None else self.inner(position)
        if op is None or op.name != "arith.subi" or not self.is_invariant(op.operands[1]):
            return None
        return op.results[0], op.operands[1]

    def clamped(self, value: SSAValue, high: int) -> SSAValue | None:
        """x where `value` is `min(max(x, 0), high)` or `max(min(x, high), 0)`."""
        outer = defining_op(value)
        inner = None if outer is None or not outer.operands else defining_op(outer.operands[0])
        if outer is None or inner is None:
            return None
        bounds = {"arith.maxsi": 0, "arith.minsi": high}
        if {outer.name, inner.name} != set(bounds):
            return None
        if any(constant_int(op.operands[1]) != bounds[op.name] for op in (outer, inner)):
            return None
        return inner.operands[0]


def _box_properties(offsets: list[SSAValue | None], sizes: list[int]) -> dict[str, Attribute]:
    """Offsets that are given are dynamic unless constant."""
    static: list[int] = []
    for offset in offsets:
        constant = 0 if offset is None else constant_int(offset)
        static.append(DYNAMIC_INDEX if constant is None else constant)
    return {
        "static_offsets": DenseArrayBase.from_list(i64, static),
        "static_sizes": DenseArrayBase.from_list(i64, sizes),
        "static_strides": DenseArrayBase.from_list(i64, [1] * len(sizes)),
    }


def _dynamic(offsets: list[SSAValue | None]) -> list[SSAValue]:
    return [offset for offset in offsets if offset is not None and constant_int(offset) is None]


def raise_slice(op: Operation) -> bool:
    """Rewrites `out[i, ...] = source[i + a, ...]`."""
    view = _Offsets(op)
    read = view.inner(yielded(op)[0])
    if read is None or read.name != "tensor.extract" or view.inner(read.operands[0]) is not None:
        return False
    forms = [view.shifted(index) for index in read.operands[1:]]
    loops = [form[0] for form in forms if form is not None and form[0] is not None]
    extents = loop_extents(op)
    if None in forms or loops != sorted(set(loops)):
        return False
    if any(extent != 1 for loop, extent in enumerate(extents) if loop not in loops):
        return False
    if any(offset is not None and not isinstance(offset.type, IndexType) for _, offset in filter(None, forms)):
        return False
    sizes = [1 if form[0] is None else extents[form[0]] for form in forms if form is not None]
    shape = shape_of(op.results[0])
    if len(shape) > len(sizes) or [n for n in shape if n != 1] != [n for n in sizes if n != 1]:
        return False
    offsets = [None if form[1] is None else view.on_host(form[1]) for form in forms if form is not None]
    dynamic = _dynamic(offsets)
    slice = ExtractSliceOp.create(
        operands=[read.operands[0], *dynamic],
        result_types=[op.results[0].type],
        properties=_box_properties(offsets, sizes),
        location=op.location,
    )
    set_segments(slice, 1, len(dynamic), 0, 0)
    insert_before(op, slice)
    replace_op(op, [slice.results[0]])
    return True


def _conjuncts(view: _Offsets, value: SSAValue) -> list[SSAValue]:
    op = view.inner(value)
    if op is not None and op.name == "arith.andi":
        return [*_conjuncts(view, op.operands[0]), *_conjuncts(view, op.operands[1])]
    return [value]


def _tests(view: _Offsets, value: SSAValue) -> set[tuple[SSAValue, int, int]] | None:
    """The comparisons with constants that `value` is the conjunction of: `(position, predicate, constant)`."""
    found: set[tuple[SSAValue, int, int]] = set()
    for test in _conjuncts(view, value):
        op = view.inner(test)
        bound = None if op is None or op.name != "arith.cmpi" else constant_int(op.operands[1])
        if op is None or bound is None:
            return None
        found.add((op.operands[0], int_of(op.properties["predicate"]), bound))
    return found


def raise_update(op: Operation) -> bool:
    """Rewrites `out[i, ...] = inside the window ? update[i - a, ...] : dest[i, ...]`."""
    view = _Offsets(op)
    choice = view.inner(yielded(op)[0])
    if choice is None or choice.name != "arith.select":
        return False
    test, taken, kept = choice.operands
    read = view.inner(taken)
    if read is None or read.name != "tensor.extract" or not isinstance(kept, BlockArgument):
        return False
    if kept.block is not view.block or kept.index >= input_count(op) or not is_identity(view.maps[kept.index]):
        return False
    dest, update = op.operands[kept.index], read.operands[0]
    tests = _tests(view, test)
    if tests is None or dest.type != op.results[0].type or view.inner(update) is not None:
        return False
    if len(shape_of(update)) != len(shape_of(dest)):
        return False
    offsets: list[SSAValue | None] = []
    needed: set[tuple[SSAValue, int, int]] = set()
    for dim, (index, size, full) in enumerate(zip(read.operands[1:], shape_of(update), shape_of(dest), strict=True)):
        if view.loop(index) == dim and size == full:
            offsets.append(None)
            continue
        window = view.window(index, size)
        if window is None or view.loop(op_of(window[0]).operands[0]) != dim:
            return False
        position, offset = window
        constant = constant_int(offset)
        inside = view.clamped(offset, full - size) is not None if constant is None else 0 <= constant <= full - size
        if not inside:
            return False
        needed |= {(position, _SGE, 0), (position, _SLT, size)}
        offsets.append(offset)
    if needed != tests:
        return False
    _insert(op, view, update, dest, offsets)
    return True


def _insert(op: Operation, view: _Offsets, update: SSAValue, dest: SSAValue, offsets: list[SSAValue | None]) -> None:
    host = [None if offset is None else view.on_host(offset) for offset in offsets]
    dynamic = _dynamic(host)
    insert = InsertSliceOp.create(
        operands=[update, dest, *dynamic],
        result_types=[dest.type],
        properties=_box_properties(host, list(shape_of(update))),
        location=op.location,
    )
    set_segments(insert, 1, 1, len(dynamic), 0, 0)
    insert_before(op, insert)
    replace_op(op, [insert.results[0]])


def raise_in_block(block: Block) -> None:
    for op in list(block.ops):
        if op.name != "linalg.generic" or len(op.results) != 1 or not is_elementwise(op):
            continue
        if not is_tensor_type(op.results[0].type) or not is_identity(maps_of(op)[-1]):
            continue
        if not raise_slice(op):
            raise_update(op)


class RaiseBoxes(ModulePass):
    """Dynamic slices and updates as boxes."""

    name = "tiree-global-opt-raise-boxes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for block in function_blocks(op):
            raise_in_block(block)
