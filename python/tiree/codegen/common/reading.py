"""Reads from flat memory at many points: scalar, contiguous, strided, reversed, gathered or as a transposed tile.

Each point's address is a linear form; how its lane symbol occurs in it decides the instruction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import vector
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute, SSAValue

from tiree.codegen.common.builder import Buffer
from tiree.codegen.common.linear import LANE, Lin, Sym
from tiree.support.typed import is_vector_type

if TYPE_CHECKING:
    from tiree.codegen.common.body import Value
    from tiree.codegen.common.evaluate import Evaluator

MAX_SHUFFLED_STRIDE = 4


def read_points(
    ev: Evaluator,
    buffer: Buffer,
    element: Attribute,
    addresses: Sequence[Lin],
    masks: Sequence[SSAValue | None],
) -> list[Value]:
    """The element (uniform address) or vector at each address, as values of the program's `element` type."""
    found: list[SSAValue | None] = [None] * len(addresses)
    if ev.width > 1 and len(addresses) >= ev.width:
        _read_tiles(ev, buffer, addresses, masks, found)
    for n, address in enumerate(addresses):
        if found[n] is None:
            found[n] = read(ev, buffer, address, masks[n])
    return [ev.from_storage(value, element) for value in found if value is not None]


def read(ev: Evaluator, buffer: Buffer, address: Lin, mask: SSAValue | None) -> SSAValue:
    """One scalar or vector, in the type of the memory."""
    b = ev.b
    if address.is_uniform:
        return b.load(buffer, address)
    stride = _lane_stride(address)
    if stride is None:
        return b.gather(buffer, address, ev.width, mask)
    uniform, _ = b.uniform_part(address)
    if stride == 1:
        return b.load_vector(buffer, uniform, ev.width, mask)
    if mask is None and stride == -1:
        loaded = b.load_vector(buffer, uniform - (ev.width - 1), ev.width)
        return shuffle(ev, loaded, loaded, range(ev.width - 1, -1, -1))
    if mask is None and 2 <= stride <= MAX_SHUFFLED_STRIDE:
        return _strided(ev, buffer, uniform, stride)
    return b.gather(buffer, address, ev.width, mask)


def shuffle(ev: Evaluator, a: SSAValue, b: SSAValue, lanes: Sequence[int]) -> SSAValue:
    """`lanes` index the concatenation of `a` and `b`; the result has `len(lanes)` lanes."""
    mask = tuple(lanes)
    assert is_vector_type(a.type)
    return ev.b.emit(
        vector.ShuffleOp,
        [a, b],
        ev.b.vector_type(a.type.element_type, len(mask)),
        {"mask": DenseArrayBase.from_list(i64, mask)},
        mask,
    )


def _lane_stride(address: Lin) -> int | None:
    """The distance of neighbouring lanes when it is one constant."""
    stride = 0
    for sym, coefficient in address.terms:
        if sym.kind is LANE:
            stride = coefficient
        elif sym.kind == "vector":
            return None
    return stride


def _strided(ev: Evaluator, buffer: Buffer, base: Lin, stride: int) -> SSAValue:
    """Every `stride`-th element by contiguous loads and shuffles; reads nothing beyond the memory."""
    width = ev.width
    if stride == 2 and buffer.size % 2 == 0 and all(coefficient % 2 == 0 for _, coefficient in base.terms):
        # Elements come in pairs: the real and imaginary parts of complex numbers share two loads.
        odd = base.const % 2
        pair = [ev.b.load_vector(buffer, base - odd + start, width) for start in (0, width)]
        return shuffle(ev, pair[0], pair[1], [2 * lane + odd for lane in range(width)])
    needed = (width - 1) * stride + 1
    starts = [n * width for n in range(needed // width)]
    if needed % width:
        starts.append(needed - width)
    result: SSAValue | None = None
    done = 0
    for start in starts:
        loaded = ev.b.load_vector(buffer, base + start, width)
        lanes = list(range(width))
        upto = done
        while upto < width and start <= upto * stride < start + width:
            lanes[upto] = width + upto * stride - start
            upto += 1
        if result is None:
            lanes = [lane - width if lane >= width else 0 for lane in lanes]
            result = shuffle(ev, loaded, loaded, lanes)
        elif upto > done:
            result = shuffle(ev, result, loaded, lanes)
        done = upto
    assert result is not None
    assert done == width
    return result


def _read_tiles(
    ev: Evaluator,
    buffer: Buffer,
    addresses: Sequence[Lin],
    masks: Sequence[SSAValue | None],
    found: list[SSAValue | None],
) -> None:
    """Fills `found` for groups of `width` points whose addresses are neighbours while their lanes are strided.

    Such a group is a square tile seen sideways: it is read by contiguous loads and transposed in registers.
    """
    groups: dict[tuple[tuple[Sym, int], ...], dict[int, list[int]]] = {}
    for n, address in enumerate(addresses):
        stride = None if masks[n] is not None else _lane_stride(address)
        if stride is not None and stride not in (-1, 0, 1):
            groups.setdefault(address.terms, {}).setdefault(address.const, []).append(n)
    width = ev.width
    for terms, by_const in groups.items():
        starts = sorted(by_const)
        at = 0
        while at + width <= len(starts):
            first = starts[at]
            if starts[at + width - 1] != first + width - 1:
                at += 1
                continue
            lane = next(c for s, c in terms if s.kind is LANE)
            base = Lin(first, tuple(t for t in terms if t[0].kind is not LANE))
            rows = [ev.b.load_vector(buffer, base + lane * r, width) for r in range(width)]
            for column, value in enumerate(transpose(ev, rows)):
                for n in by_const[first + column]:
                    found[n] = value
            at += width


def transpose(ev: Evaluator, rows: Sequence[SSAValue]) -> list[SSAValue]:
    """The columns of a square tile of vectors, a power of two on a side, by log2(n) rounds of pairwise shuffles."""
    n = len(rows)
    current = list(rows)
    half = n // 2
    while half:
        # Exchange blocks of `half` lanes between rows that are `half` apart.
        low: list[int] = []
        high: list[int] = []
        for lane in range(n):
            block, inside = divmod(lane, 2 * half)
            start = block * 2 * half
            if inside < half:
                low.append(lane)
                high.append(start + half + inside)
            else:
                low.append(n + start + inside - half)
                high.append(n + lane)
        following = list(current)
        for r in range(n):
            if not r & half:
                following[r] = shuffle(ev, current[r], current[r + half], low)
                following[r + half] = shuffle(ev, current[r], current[r + half], high)
        current = following
        half //= 2
    return current
