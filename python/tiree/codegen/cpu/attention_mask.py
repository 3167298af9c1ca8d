"""The mask of an attention at the vectors of a tile of rows.

Lanes are rows, but most masks lie in memory key by key. Such a mask is read along the keys, row by row, into a square
tile, which is turned in registers and kept for the block of keys. Masks that are computed from positions, or vary along
the keys alone, are evaluated where they are needed.
"""

from __future__ import annotations

from xdsl.dialects import arith as xarith
from xdsl.dialects.builtin import UnitAttr, i1
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.codegen.common.builder import I8, I64, INDEX, Buffer, element_of
from tiree.codegen.common.graph import bits_of
from tiree.codegen.common.linear import ZERO, Lin, Sym
from tiree.codegen.common.reading import transpose
from tiree.codegen.cpu.attention_plan import AttentionPlan
from tiree.codegen.cpu.dynamic_evaluator import MOST, DynamicEvaluator, maps_of
from tiree.dialects.iree_linalg_ext_attention import AttentionForm, masked_score

_NE = 1


class AttentionMask:
    """Masks scores. `at` holds where the loops outside the tile are, `last` the last row there is."""

    def __init__(self, ev: DynamicEvaluator, op: Operation, form: AttentionForm, plan: AttentionPlan) -> None:
        assert form.mask is not None
        self.ev, self.b = ev, ev.b
        self.op, self.form, self.plan, self.dims = op, form, plan, form.mask
        self.lanes = plan.width if plan.width > 1 else 0
        self.value = op.operands[4]
        self.lane: Sym | None = self.b.lane_sym(plan.width) if self.lanes else None
        self.masks: Buffer | None = None
        if self.lanes and self._lies_along_keys():
            element = self._stored_type()
            self.masks = self._scratch(element, plan.keys * plan.rows)
            self.tile = self._scratch(element, plan.width * plan.width)
        self.at: dict[int, Lin] = {}
        self.last: SSAValue | None = None
        """The last row, where a tile may reach beyond it."""

    def _scratch(self, element: Attribute, size: int) -> Buffer:
        return self.b.alloca(element, size, {"tiree.workgroup_memory": UnitAttr()})

    def _stored_type(self) -> Attribute:
        from tiree.dialects.iree_linalg_ext_attention import element_of as element_of_tensor

        return I8 if element_of_tensor(self.value) == i1 else self.plan.element

    def _lies_along_keys(self) -> bool:
        """Whether a tensor that varies along rows and keys is read, with neighbouring keys side by side."""
        labels = list(self.dims)
        made = self.value.owner
        if isinstance(made, Operation) and made.name == "linalg.generic":
            maps = maps_of(made)
            places = dict(zip(maps[-1].bare_dims, labels, strict=False))
            reads = [[places.get(d) if d is not None else None for d in map.plain_dims] for map in maps[:-1]]
        else:
            reads = [labels]
        return any(read[-1:] == [self.form.keys] and self.form.row in read for read in reads)

    def begin_block(self, first: Lin, count: int | SSAValue) -> None:
        """Turns the mask of `count` keys from `first` on."""
        if self.masks is None:
            return
        ev, b, width = self.ev, self.b, self.plan.width
        whole = ev.whole_steps(0, count, width)
        if whole != 0:
            loop = ev.open_loop(0, whole, width)
            vectors = b.begin_for(0, self.plan.vectors, 1)
            self._turn(first, Lin.of(loop.sym), Lin.of(vectors.sym) * width)
            b.end_for(vectors)
            b.end_for(loop)
        if whole != count:
            loop = ev.open_loop(whole, count, 1)
            key = Lin.of(loop.sym)
            for n in range(self.plan.vectors):
                value = self._stored(self._evaluate(n, first + key))
                b.store_vector(self.masks, key * self.plan.rows + n * width, b.broadcast(value, width))
            b.end_for(loop)
        b.wrote(self.masks)

    def _turn(self, first: Lin, key: Lin, row: Lin) -> None:
        """A square of the mask."""
        ev, b, width = self.ev, self.b, self.plan.width
        assert self.masks is not None
        loop = b.begin_for(0, width, 1)
        number = Lin.of(loop.sym)
        lane = b.lane_sym(width)
        ev.width, ev.lane = width, lane
        value = self._stored(self._at(first + key + Lin.of(lane), self._row(self.at[self.form.row] + row + number)))
        ev.width, ev.lane = 0, None
        b.store_vector(self.tile, number * width, b.broadcast(value, width))
        b.end_for(loop)
        b.wrote(self.tile)
        for n, column in enumerate(
            transpose(ev, [b.load_vector(self.tile, Lin(n * width), width) for n in range(width)])
        ):
            b.store_vector(self.masks, (key + n) * self.plan.rows + row, column)

    def _at(self, key: Lin, row: Lin) -> SSAValue:
        places = {**self.at, self.form.keys: key, self.form.row: row}
        return self.ev.ssa(self.ev.value_at(self.value, tuple(places[d] for d in self.dims)))

    def _stored(self, value: SSAValue) -> SSAValue:
        return self.b.cast(xarith.ExtUIOp, value, I8) if element_of(value) == i1 else self._widened(value)

    def _widened(self, value: SSAValue) -> SSAValue:
        element = self.plan.element
        if element_of(value) == element:
            return value
        wider = bits_of(element_of(value)) < bits_of(element)
        return self.b.cast(xarith.ExtFOp if wider else xarith.TruncFOp, value, element)

    def _row(self, row: Lin) -> Lin:
        """A row, or the last one where it does not exist."""
        if self.last is None:
            return row
        return self.b.opaque(self.b.binary(xarith.MinSIOp, self.b.index(row), self.last), 0, MOST)

    def _evaluate(self, vector: int, key: Lin) -> SSAValue:
        """The mask of a key at the rows of a vector."""
        ev = self.ev
        ev.width, ev.lane = self.lanes, self.lane
        value = self._at(key, self._rows(vector))
        ev.width, ev.lane = 0, None
        return value

    def _rows(self, vector: int) -> Lin:
        b = self.b
        lin = self.at[self.form.row] + vector * self.plan.width + (Lin.of(self.lane) if self.lane is not None else ZERO)
        if self.last is None or self.lane is None:
            return self._row(lin)
        rows = b.integers(lin, I64, self.lanes)
        return b.opaque(b.binary(xarith.MinSIOp, rows, b.convert(self.last, I64)), 0, MOST)

    def apply(self, score: SSAValue, vector: int, first: Lin, key: Lin) -> SSAValue:
        """A vector of scores of key `first + key`, masked."""
        b = self.b
        if self.masks is None:
            mask = self._evaluate(vector, first + key)
        else:
            mask = b.load_vector(self.masks, key * self.plan.rows + vector * self.plan.width, self.lanes)
            if element_of(mask) == I8:
                mask = b.compare(_NE, mask, b.constant(0, I8))
        if element_of(mask) == i1:
            return b.select(mask, score, b.splat(masked_score(self.op), self.plan.element, self.lanes))
        return b.binary(xarith.AddfOp, score, self._widened(mask))

    def last_row(self, rows: int | SSAValue) -> SSAValue:
        """The last of so many rows."""
        return self.b.binary(xarith.SubiOp, self.ev.index_of(rows), self.b.constant(1, INDEX))
