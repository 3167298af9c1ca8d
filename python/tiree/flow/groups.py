"""Dispatch groups: which structured ops of a block run as one kernel.

A group has *group dims*, the loops that workgroups divide among themselves; each value made in the group carries,
for every dim of its shape, the group dim it runs along (or None: private to a workgroup). An op may join when
reading the group's values never crosses from one point of the group dims to another, and when no value would have
to leave the group and come back (the groups of a block stay acyclic).

Kinds:

* `matrix`: a contraction, convolution or windowed reduction; only elementwise ops over all of its parallel loops
  join;
* `elementwise`: ops over one common space; becomes `row` when a reduction over trailing loops of it joins;
* `row`: a reduction over rows that lie together in memory; anything that treats each row on its own joins (softmax,
  layer norm). A row must fit in the stack memory a workgroup may use;
* `store`: nothing but an insertion into a tensor, in place.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from tiree.dialects.dense import element_byte_size
from tiree.flow.affine import dim_positions, is_projected_permutation
from tiree.flow.fuse_elementwise import reads_repeatedly
from tiree.flow.structured import (
    captured_values,
    element_type_of,
    input_count,
    is_elementwise,
    iterators_of,
    loop_extents,
    maps_of,
    shape_of,
)
from tiree.flow.unit_dims import is_windowed

MAX_ROW_BYTES = 32 * 1024
"""The most bytes that one value of a row group may take for a row: it may live on a workgroup's stack."""

SMALL_DOMAIN = 4096
"""Elementwise groups of at most this many points merge even without sharing inputs: a dispatch costs more."""

MIN_ROWS = 4
"""A row group with fewer rows than this leaves cores idle, unless all of its work is small."""


@dataclass(eq=False)
class Group:
    """Ops that run in one dispatch, in program order."""

    index: int
    kind: str
    extents: list[int]
    """Trip counts of the group dims."""
    members: list[Operation] = field(default_factory=list[Operation])
    stores: list[Operation] = field(default_factory=list[Operation])
    """Insertions done in place at the end: their source is made here or read, their destination is an operand."""
    values: dict[SSAValue, tuple[int | None, ...]] = field(default_factory=dict[SSAValue, tuple[int | None, ...]])
    """Values made in the group and the group dim of each of their dims."""
    weight: int = 0
    """About how many instructions its kernel has (see `body_size.py`)."""
    reductions: int = 0
    """Members with reduction loops."""
    reads: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])
    """Tensors of outside that the kernel binds."""
    unfinished: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """Values made in the group with the number of their uses outside it."""
    inputs: set[SSAValue] = field(default_factory=set[SSAValue])
    """Tensors that members read as inputs."""
    is_projected: bool = True
    """Whether every map of every member selects loops."""


@dataclass(frozen=True)
class Fit:
    """How an op fits a group: the group dim of each of its loops, and the group dims once it has joined."""

    loops: tuple[int | None, ...]
    rows: tuple[int, ...] | None = None
    """For an elementwise group that becomes a row group: the group dims that stay."""


def kind_of(op: Operation) -> str:
    """The kind of group that `op` starts."""
    if is_elementwise(op):
        return "elementwise"
    if reads_repeatedly(op) or is_windowed(op):
        return "matrix"
    return "row" if reduces_trailing(op) else "matrix"


def reduces_trailing(op: Operation) -> bool:
    """Whether the reduction loops are the innermost dims of every input that spans the space, and a row fits."""
    parallel = iterators_of(op)
    extents = loop_extents(op)
    for map, value in zip(maps_of(op), op.operands[: input_count(op)], strict=False):
        positions = dim_positions(map)
        if positions is None or not is_projected_permutation(map):
            return False
        reduced = [not parallel[dim] for dim in positions]
        if reduced != sorted(reduced):
            return False
        row = element_byte_size(element_type_of(value))
        for dim in positions:
            row *= 1 if parallel[dim] else extents[dim]
        if row > MAX_ROW_BYTES:
            return False
    return True


def start_group(index: int, op: Operation) -> Group:
    """A group of one op; the group dims are its parallel loops."""
    extents = loop_extents(op)
    parallel = iterators_of(op)
    dims = [dim for dim, flag in enumerate(parallel) if flag]
    group = Group(index, kind_of(op), [extents[dim] for dim in dims])
    loops: list[int | None] = [None] * len(extents)
    for number, dim in enumerate(dims):
        loops[dim] = number
    add_member(group, op, Fit(tuple(loops)))
    return group


def add_member(group: Group, op: Operation, fit: Fit) -> None:
    """Adds `op`; a `fit` with `rows` first narrows the group dims to those."""
    if fit.rows is not None:
        place = {old: new for new, old in enumerate(fit.rows)}
        group.kind = "row"
        group.extents = [group.extents[dim] for dim in fit.rows]
        for value, dims in group.values.items():
            group.values[value] = tuple(None if dim is None else place.get(dim) for dim in dims)
        fit = Fit(tuple(None if dim is None else place.get(dim) for dim in fit.loops))
    group.members.append(op)
    count = input_count(op)
    group.reductions += not is_elementwise(op)
    group.inputs.update(value for value in op.operands[:count] if shape_of(value))
    group.is_projected = group.is_projected and all(is_projected_permutation(map) for map in maps_of(op))
    for result, map in zip(op.results, maps_of(op)[count:], strict=True):
        group.values[result] = tuple(
            fit.loops[expr.position] if isinstance(expr, AffineDimExpr) else None for expr in map.results
        )


def _loop_dims(group: Group, op: Operation) -> list[int | None] | None:
    """The group dim of each loop of `op` through what it reads of the group; None when a read crosses."""
    loops: list[int | None] = [None] * len(iterators_of(op))
    extents = loop_extents(op)
    for value, map in zip(op.operands, maps_of(op), strict=True):
        dims = group.values.get(value)
        if dims is None:
            continue
        for expr, dim in zip(map.results, dims, strict=True):
            if dim is None:
                continue
            if not isinstance(expr, AffineDimExpr) or extents[expr.position] != group.extents[dim]:
                return None
            if loops[expr.position] not in (None, dim):
                return None
            loops[expr.position] = dim
    return loops


def fit_into(group: Group, op: Operation) -> Fit | None:
    """How `op`, which reads values of `group`, may join it; None when it may not."""
    if any(value in group.values for value in captured_values(op)):
        return None
    if any(value in group.values for value in op.operands[input_count(op) :]):
        return None
    loops = _loop_dims(group, op)
    if loops is None:
        return None
    parallel = iterators_of(op)
    used = [dim for dim in loops if dim is not None]
    if len(set(used)) != len(used):
        return None
    if is_elementwise(op) and len(used) == len(loops) == len(group.extents):
        return Fit(tuple(loops))
    if group.kind == "matrix" or reads_repeatedly(op) or is_windowed(op):
        return None
    if group.kind == "elementwise":
        return _fit_reduction(group, op, loops)
    if any(dim is not None and not parallel[loop] for loop, dim in enumerate(loops)):
        return None
    if len(used) != len(group.extents) or not _row_fits(group, op, loops):
        return None
    return Fit(tuple(loops))


def _row_fits(group: Group, op: Operation, loops: list[int | None]) -> bool:
    """Whether the results keep the row dims in order in front, rows stay small and enough of them are there."""
    extents = loop_extents(op)
    count = input_count(op)
    private = 1
    for loop, dim in enumerate(loops):
        private *= extents[loop] if dim is None else 1
    size = max(element_byte_size(element_type_of(value)) for value in op.results)
    if private * size > MAX_ROW_BYTES:
        return False
    for map in maps_of(op)[count:]:
        positions = dim_positions(map)
        if positions is None:
            return False
        rows = [loops[position] for position in positions]
        leading = rows[: len(group.extents)]
        if None in leading or leading != sorted(leading, key=_number):
            return False
    return enough_rows(group.extents, private)


def _number(dim: int | None) -> int:
    return -1 if dim is None else dim


def enough_rows(rows: list[int], private: int) -> bool:
    count = 1
    for extent in rows:
        count *= extent
    return count >= MIN_ROWS or count * private <= SMALL_DOMAIN


def _fit_reduction(group: Group, op: Operation, loops: list[int | None]) -> Fit | None:
    """A reduction over trailing dims of an elementwise group: the group becomes a row group."""
    parallel = iterators_of(op)
    if all(parallel) or not reduces_trailing(op) or None in loops:
        return None
    rows = tuple(sorted(_number(dim) for loop, dim in enumerate(loops) if parallel[loop]))
    if rows != tuple(range(len(rows))):
        return None
    private = 1
    for loop, extent in enumerate(loop_extents(op)):
        private *= 1 if parallel[loop] else extent
    if not enough_rows([group.extents[dim] for dim in rows], private):
        return None
    # Every member must have the rows in front of its results.
    for dims in group.values.values():
        if list(dims[: len(rows)]) != list(rows):
            return None
    return Fit(tuple(loops), rows)


def fit_beside(group: Group, op: Operation) -> Fit | None:
    """How an elementwise `op` that reads nothing of an elementwise `group` over the same space may join it: they share
    an input, or are small."""
    if group.kind != "elementwise" or not is_elementwise(op):
        return None
    if not group.is_projected or not all(is_projected_permutation(map) for map in maps_of(op)):
        return None  # Strided reads do not vectorise together with others.
    extents = loop_extents(op)
    if extents != group.extents:
        return None
    points = 1
    for extent in extents:
        points *= extent
    shared = any(value in group.inputs for value in op.operands[: input_count(op)])
    return Fit(tuple(range(len(extents)))) if shared or points <= SMALL_DOMAIN else None
