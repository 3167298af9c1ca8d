"""`tiree-dispatch-creation-collapse-contractions`: loops that always run together become one.

In: contractions over any number of dims (`x[b, t, k] * w[k, n]`). Out: the fewest loops that say the same:
neighbours that every operand indexes side by side in the same order are merged, with reshapes around (`x[m, k] *
w[k, n]`). Equal matrix products then share one executable, whatever the rank of the tensors they come from.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tiree.flow.affine import dim_positions
from tiree.flow.fuse_elementwise import reads_repeatedly
from tiree.flow.reshapes import Group, rebuild, regroup
from tiree.flow.structured import body_of, function_blocks, iterators_of, loop_extents, maps_of


def successors(maps: list[list[int]], parallel: tuple[bool, ...]) -> dict[int, int]:
    """For each loop the one that stands right behind it in every map that has either."""
    following: dict[int, set[int | None]] = {dim: set() for dim in range(len(parallel))}
    preceding: dict[int, set[int | None]] = {dim: set() for dim in range(len(parallel))}
    for positions in maps:
        for at, dim in enumerate(positions):
            following[dim].add(positions[at + 1] if at + 1 < len(positions) else None)
            preceding[dim].add(positions[at - 1] if at else None)
    result: dict[int, int] = {}
    for dim, after in following.items():
        if len(after) != 1:
            continue
        (other,) = after
        if other is not None and preceding[other] == {dim} and parallel[dim] == parallel[other]:
            result[dim] = other
    return result


def collapse(op: Operation) -> bool:
    """Merges loops of a contraction; False when there is nothing to merge."""
    positions = [dim_positions(map) for map in maps_of(op)]
    selected = [dims for dims in positions if dims is not None]
    if len(selected) < len(positions) or any(inner.name == "linalg.index" for inner in body_of(op).ops):
        return False
    parallel = iterators_of(op)
    behind = successors(selected, parallel)
    if not behind:
        return False
    groups: list[Group] = []
    inner_loops = set(behind.values())
    for dim in range(len(parallel)):
        if dim in inner_loops:
            continue
        chain = [dim]
        while chain[-1] in behind:
            chain.append(behind[chain[-1]])
        groups.append((chain, [len(groups)]))
    new_maps = [regroup(map, groups) for map in maps_of(op)]
    if None in new_maps:
        return False
    old_extents = loop_extents(op)
    extents: list[int] = []
    for chain, _ in groups:
        extent = 1
        for dim in chain:
            extent *= old_extents[dim]
        extents.append(extent)
    rebuild(op, groups, len(groups), [dims for dims in new_maps if dims is not None], extents)
    return True


class CollapseContractions(ModulePass):
    """Fewest loops for matrix products."""

    name = "tiree-dispatch-creation-collapse-contractions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for block in function_blocks(op):
            for inner in list(block.ops):
                if inner.name == "linalg.generic" and reads_repeatedly(inner):
                    collapse(inner)
