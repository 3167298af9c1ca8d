"""Emits a loop nest: tiles of points, vector lanes with their remainder, and the share of each workgroup.

A `Loop` may stand for several merged dims of the domain. Sizes are static, so remainders are known here: a remainder of
points is written out after the loop, a remainder of lanes is one masked vector or a few narrower ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.dialects import arith as xarith
from xdsl.dialects.builtin import IndexType, IntegerAttr, i1
from xdsl.ir import Attribute, SSAValue

from tiree.codegen.common.builder import INDEX
from tiree.codegen.common.evaluate import Evaluator
from tiree.codegen.common.linear import SCALAR, ZERO, Lin
from tiree.codegen.common.points import Point
from tiree.dialects.hal_executable import InterfaceWorkgroupIDOp

BLOCK_TILES = 16
"""Tiles on a side of a transposition's block: 256 floats of 64-byte vectors, a second-level cache's worth."""


@dataclass(frozen=True)
class Loop:
    """One loop over `dims` of the domain (merged: the index goes to the last, the others stay 0).

    `tile` is the number of points (elements, for the lane loop a multiple of `width`) per step; `width` lanes make this
    the lane loop, which must come last; `chunks` workgroups share it.
    """

    size: int
    dims: tuple[int, ...]
    tile: int = 1
    width: int = 0
    chunks: int = 1

    @property
    def tiles(self) -> int:
        return -(-self.size // self.tile)

    def shared(self, wanted: int) -> Loop:
        """The loop split over at most `wanted` workgroups, evenly and without idle ones."""
        per_chunk = -(-self.tiles // max(1, min(wanted, self.tiles)))
        return Loop(self.size, self.dims, self.tile, self.width, max(1, -(-self.tiles // per_chunk)))


def distribute(loops: Sequence[Loop], wanted: int) -> list[Loop]:
    """Splits the outermost loops until there are about `wanted` workgroups."""
    result: list[Loop] = []
    for loop in loops:
        shared = loop.shared(wanted) if wanted > 1 else loop
        result.append(shared)
        wanted = -(-wanted // shared.chunks)
    return result


def distribute_tiles(loops: Sequence[Loop], wanted: int) -> list[Loop]:
    """The split of a transposition: square blocks of its two tiled loops (the last two).

    A block reads and writes few enough pages and lines to stay in the caches; whole rows of a large matrix do not.
    """
    outer = distribute(loops[:-2], wanted)
    if wanted <= 1:
        return [*outer, *loops[-2:]]
    return [*outer, *[loop.shared(-(-loop.tiles // BLOCK_TILES)) for loop in loops[-2:]]]


def chunk_count(loops: Sequence[Loop]) -> int:
    count = 1
    for loop in loops:
        count *= loop.chunks
    return count


class Nest:
    """Calls `body(points)` once per distinct shape of tile; `ev.width` and `ev.lane` are set for it.

    Points index the domain's `rank` dims, after `prefix` (the points of enclosing nests are the body's affair).
    """

    def __init__(
        self,
        ev: Evaluator,
        loops: Sequence[Loop],
        rank: int,
        body: Callable[[list[Point]], None],
        masked_tail: bool = False,
        mask: SSAValue | None = None,
        one_tail: bool = False,
    ) -> None:
        self.one_tail = one_tail
        self.ev = ev
        self.b = ev.b
        self.loops = list(loops)
        self.rank = rank
        self.body = body
        self.masked_tail = masked_tail
        self.mask = mask
        self.coordinates: list[Lin] = []

    def run(self) -> None:
        if any(loop.size == 0 for loop in self.loops):
            return
        self.coordinates = workgroup_coordinates(self.ev, self.loops)
        self.level(0, [])

    def level(self, k: int, chosen: list[list[Lin]]) -> None:
        if k == len(self.loops):
            self.emit(chosen, [None] * len(chosen[-1]) if chosen else [None])
            return
        loop = self.loops[k]
        if loop.width:
            self.lanes(k, chosen)
        else:
            self.segments(
                k,
                lambda base: self.level(k + 1, [*chosen, [base + t for t in range(loop.tile)]]),
                lambda done, rest: self.level(k + 1, [*chosen, [Lin(done + t) for t in range(rest)]]),
            )

    def segments(self, k: int, whole: Callable[[Lin], None], remainder: Callable[[int, int], None]) -> None:
        """The full tiles of this workgroup, then (in the last workgroup) the incomplete one."""
        loop, b = self.loops[k], self.b
        step, full, rest = loop.tile, loop.size // loop.tile, loop.size % loop.tile
        if loop.chunks == 1:
            if full == 1:
                whole(ZERO)
            elif full > 1:
                opened = b.begin_for(0, full * step, step)
                whole(Lin.of(opened.sym))
                b.end_for(opened)
            if rest:
                remainder(full * step, rest)
            return
        per_chunk = -(-loop.tiles // loop.chunks)
        coordinate = self.coordinates[k]
        if per_chunk == 1 and not rest:
            whole(coordinate * step)
            return
        if full:
            low = b.index(coordinate * (per_chunk * step))
            high = b.index(coordinate * (per_chunk * step) + per_chunk * step)
            if loop.chunks * per_chunk > full:
                high = b.emit(xarith.MinSIOp, [high, b.constant(full * step, INDEX)], INDEX)
            opened = b.begin_for(low, high, step, bounds=(0, (full - 1) * step))
            whole(Lin.of(opened.sym))
            b.end_for(opened)
        if rest:
            last = b.compare(0, b.index(coordinate), b.constant(loop.chunks - 1, INDEX))
            b.begin_if()
            remainder(full * step, rest)
            b.finish_if(last, b.end_side(), None)

    def lanes(self, k: int, chosen: list[list[Lin]]) -> None:
        loop = self.loops[k]
        width = loop.width

        def whole(base: Lin) -> None:
            self.vectors(chosen, base, loop.tile // width, width)

        def remainder(done: int, rest: int) -> None:
            full, tail = divmod(rest, width)
            # A power of two is one narrower vector, and one lane a scalar: no mask (LLVM 22 writes too many bytes for a
            # truncating store under a constant mask of one lane).
            if (tail & (tail - 1) or (tail and full and self.one_tail)) and self.masked_tail and width > 1:
                self.vectors(chosen, Lin(done), full + 1, width, tail)
                return
            if full:
                self.vectors(chosen, Lin(done), full, width)
            done += full * width
            piece = width
            while tail:
                piece //= 2
                if tail >= piece:
                    self.vectors(chosen, Lin(done), 1, piece)
                    done += piece
                    tail -= piece

        self.segments(k, whole, remainder)

    def vectors(self, chosen: list[list[Lin]], base: Lin, count: int, width: int, tail: int = 0) -> None:
        """`count` vectors from `base` on; the last has only `tail` lanes when that is not 0."""
        ev = self.ev
        saved = ev.width, ev.lane
        if width == 1:
            ev.width, ev.lane = 0, None
            self.emit([*chosen, [base + n for n in range(count)]], [None] * count)
        else:
            ev.width, ev.lane = width, self.b.lane_sym(width)
            lane = Lin.of(ev.lane)
            masks: list[SSAValue | None] = [None] * count
            if tail:
                masks[-1] = self.b.vector_constant([int(n < tail) for n in range(width)], i1, width)
            self.emit([*chosen, [base + lane + n * width for n in range(count)]], masks)
        ev.width, ev.lane = saved

    def emit(self, chosen: list[list[Lin]], masks: Sequence[SSAValue | None]) -> None:
        """The body at the cross product of the chosen indices; `masks` go with the last loop's."""
        self.body(self.tile_points(chosen, masks))

    def tile_points(self, chosen: list[list[Lin]], masks: Sequence[SSAValue | None]) -> list[Point]:
        """The cross product of the chosen indices; `masks` go with the last loop's."""
        points: list[Point] = []
        for combination in product(*[range(len(c)) for c in chosen]):
            idx = [ZERO] * self.rank
            for loop, indices, n in zip(self.loops, chosen, combination, strict=True):
                idx[loop.dims[-1]] = indices[n]
            mask = masks[combination[-1]] if combination else None
            points.append(Point(tuple(idx), mask if mask is not None else self.mask))
        return points


def workgroup_coordinates(ev: Evaluator, loops: Sequence[Loop]) -> list[Lin]:
    """This workgroup's chunk of each loop, from the x id of the grid (the last loop varies fastest)."""
    total = chunk_count(loops)
    if total == 1:
        return [ZERO] * len(loops)
    properties: dict[str, Attribute] = {"dimension": IntegerAttr(0, IndexType())}
    id = ev.b.emit(InterfaceWorkgroupIDOp, [], INDEX, properties, 0)
    # A symbol of this nest's own: another nest of the kernel may have fewer chunks, and so other bounds.
    rest = Lin.of(ev.b.sym(SCALAR, id, 0, total - 1))
    coordinates = [ZERO] * len(loops)
    remaining = total
    for k in range(len(loops) - 1, -1, -1):
        chunks = loops[k].chunks
        remaining //= chunks
        if chunks == 1:
            continue
        if remaining == 1:
            coordinates[k] = rest
            break
        rest, coordinates[k] = ev.divide(rest, chunks)
    return coordinates
