"""Register allocation of one `vm.func`: linear scan over the blocks in order.

Two banks: 32-bit cells (an i64 or f64 takes an even cell and the next) and references. Arguments sit where the calling
convention puts them: each bank from 0 in order. A value occupies its register from its definition to its last use, over
whole blocks where it is live through; a scalar result may take the register of an operand that dies there.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from operator import itemgetter

from xdsl.dialects.builtin import f64, i64
from xdsl.ir import Region, SSAValue

from tiree.dialects import vm
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.typed import operands_of
from tiree.vm.liveness import Liveness

REF_BIT = 0x8000
MOVE_BIT = 0x4000
MAX_CELLS = 16384
"""Practical limit: the runtime rounds counts up to a power of two below 0x7FFF."""
MAX_REFS = 8192


def is_wide(value: SSAValue) -> bool:
    """Whether `value` takes two cells."""
    return value.type in (i64, f64)


@dataclass
class Registers:
    """`of[value]` is the encoded register (references with bit 15)."""

    of: dict[SSAValue, int]
    cell_count: int
    ref_count: int

    def scratch_cell(self) -> int:
        """A cell beyond all values, to break cycles of a parallel copy."""
        self.cell_count += 1
        return self.cell_count - 1

    def scratch_ref(self) -> int:
        self.ref_count += 1
        return REF_BIT | (self.ref_count - 1)


class _Bank:
    """Free registers of one bank, lowest first."""

    def __init__(self) -> None:
        self.free: list[int] = []
        self.is_free: set[int] = set()
        self.count = 0

    def take(self) -> int:
        while self.free:
            n = heapq.heappop(self.free)
            if n in self.is_free:
                self.is_free.discard(n)
                return n
        self.count += 1
        return self.count - 1

    def take_pair(self) -> int:
        pair = min((n for n in self.is_free if n % 2 == 0 and n + 1 in self.is_free), default=None)
        if pair is None:
            # The last cell may be free and even: grow by one then.
            if self.count % 2 and self.count - 1 in self.is_free:
                pair = self.count - 1
                self.count += 1
                self.is_free.discard(pair)
                return pair
            if self.count % 2:
                self.release(self.count)
                self.count += 1
            pair = self.count
            self.count += 2
            return pair
        self.is_free -= {pair, pair + 1}
        return pair

    def claim(self, n: int) -> None:
        """Takes register `n`, which nothing holds."""
        while self.count <= n:
            self.release(self.count)
            self.count += 1
        self.is_free.discard(n)

    def release(self, n: int) -> None:
        self.is_free.add(n)
        heapq.heappush(self.free, n)


def _intervals(region: Region, liveness: Liveness) -> list[tuple[int, int, SSAValue]]:
    """(first, last position, value) of every value, by first position. Reads are even, writes odd positions."""
    # By identity: calls have many operands.
    values: dict[int, SSAValue] = {}
    start: dict[int, int] = {}
    end: dict[int, int] = {}
    read: dict[int, int] = {}
    position = 0

    def begin(value: SSAValue, at: int) -> None:
        key = id(value)
        values[key] = value
        start.setdefault(key, at)
        end[key] = at

    for block in region.blocks:
        for value in (*liveness.live_in[block], *block.args):
            begin(value, position)
        for arg in block.args:
            # An argument is written by branches to here; a use further up (a loop) extends it below.
            start[id(arg)] = min(start[id(arg)], position)
        for op in block.ops:
            position += 2
            read.update(dict.fromkeys(map(id, operands_of(op)), position))
            for result in op.results:
                begin(result, position + 1)
                start[id(result)] = position + 1
        position += 2
        end.update(dict.fromkeys(map(id, liveness.live_out[block]), position))
        position += 2
    found: list[tuple[int, int, SSAValue]] = []
    for key, value in values.items():
        last = end[key]
        if key in read:
            # A dying reference keeps its register while the result is written.
            last = max(last, read[key] + (1 if vm.is_ref(value.type) else 0))
        found.append((start[key], last, value))
    return sorted(found, key=itemgetter(0))


def allocate(function: vm.FuncOp, liveness: Liveness) -> Registers:
    """Raises `CompileError` when a function needs more registers than the VM has."""
    cells, refs = _Bank(), _Bank()
    of: dict[SSAValue, int] = {}
    active: list[tuple[int, int, SSAValue]] = []
    arguments = set(function.body.blocks[0].args)
    _place_arguments(function, cells, refs, of)
    for n, (start, end, value) in enumerate(_intervals(function.body, liveness)):
        while active and active[0][0] < start:
            _release(heapq.heappop(active)[2], of, cells, refs)
        if value not in arguments:
            if vm.is_ref(value.type):
                of[value] = REF_BIT | refs.take()
            else:
                of[value] = cells.take_pair() if is_wide(value) else cells.take()
        heapq.heappush(active, (end, n, value))
    if cells.count > MAX_CELLS or refs.count > MAX_REFS:
        message = f"function @{function.sym_name.data} needs {cells.count} cells and {refs.count} references"
        hint = f"the VM has {MAX_CELLS} and {MAX_REFS}; split the function"
        raise CompileError(Diagnostic(message, location_of(function), hint))
    return Registers(of, cells.count, refs.count)


def _place_arguments(function: vm.FuncOp, cells: _Bank, refs: _Bank, of: dict[SSAValue, int]) -> None:
    cell = ref = 0
    for arg in function.body.blocks[0].args:
        if vm.is_ref(arg.type):
            refs.claim(ref)
            of[arg] = REF_BIT | ref
            ref += 1
        elif is_wide(arg):
            cell += cell % 2
            cells.claim(cell)
            cells.claim(cell + 1)
            of[arg] = cell
            cell += 2
        else:
            cells.claim(cell)
            of[arg] = cell
            cell += 1


def _release(value: SSAValue, of: dict[SSAValue, int], cells: _Bank, refs: _Bank) -> None:
    register = of[value]
    if register & REF_BIT:
        refs.release(register & ~REF_BIT)
        return
    cells.release(register)
    if is_wide(value):
        cells.release(register + 1)


def parallel_copy(pairs: list[tuple[int, int]], scratch: int | None) -> tuple[list[tuple[int, int]], bool]:
    """Orders copies that are meant to happen at once, for a VM that does them one by one.

    `pairs` are (source, target), targets distinct. Returns the copies and whether `scratch` (None: not yet known) was
    needed to break a cycle; a caller that gave None asks again with a register.
    """
    pending = {t: s for s, t in pairs if s != t}
    readers: dict[int, int] = {}
    for s in pending.values():
        readers[s] = readers.get(s, 0) + 1
    ready = [t for t in pending if t not in readers]
    ordered: list[tuple[int, int]] = []
    used_scratch = False
    while pending:
        if not ready:
            target = next(iter(pending))
            used_scratch = True
            if scratch is None:
                return [], True
            ordered.append((target, scratch))
            for t, s in pending.items():
                if s == target:
                    pending[t] = scratch
            readers[scratch] = readers.pop(target)
            ready.append(target)
        target = ready.pop()
        source = pending.pop(target)
        ordered.append((source, target))
        readers[source] -= 1
        if not readers[source]:
            del readers[source]
            if source in pending:
                ready.append(source)
    return ordered, used_scratch
