"""The kernel of an attention: a tile of rows goes over blocks of keys with the running maximum and sum of each row.

Lanes are rows, so that maxima, sums and corrections of rows need no operation across lanes: queries are turned once a
tile, scores and results lie turned in scratch, and keys and values are read as scalars where they are, once for each
tile. For every block of keys

    S = K Q^T;  S = scale S + mask;  m' = max(m, max S);  P = exp(S - m');  a = exp(m - m')
    l = a l + sum P;  O = a O + V^T P

and at the end the result is O / l. Rows of which all scores are minus infinity, or one is infinite or no number, come
out as no numbers, as softmax makes them. The order of sums depends on the sizes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith as xarith
from xdsl.dialects import math
from xdsl.dialects.builtin import IndexType, IntegerAttr, UnitAttr, i1
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.codegen.common.builder import BF16, I64, INDEX, NO_FASTMATH, Buffer, OpenLoop, element_of, lanes_of
from tiree.codegen.common.graph import bits_of
from tiree.codegen.common.linear import ZERO, Lin
from tiree.codegen.common.writing import Write, write_all
from tiree.codegen.cpu.attention_mask import AttentionMask
from tiree.codegen.cpu.attention_plan import AttentionPlan, is_staged
from tiree.codegen.cpu.dynamic_evaluator import MOST, DynamicEvaluator, maps_of
from tiree.dialects.arith import constant_of
from tiree.dialects.hal_executable import InterfaceWorkgroupCountOp, InterfaceWorkgroupIDOp
from tiree.dialects.iree_linalg_ext_attention import AttentionForm
from tiree.support.typed import is_float_attr, tensor_type

Row = list[SSAValue]
"""A value for each vector of a tile of rows."""
_OGT, _OEQ = 2, 1
_EQ, _SLT = 0, 2
_INFINITY = float("inf")


class AttentionKernel:
    """Emits the kernel. `path` leads from the attention to the `store`."""

    def __init__(
        self,
        ev: DynamicEvaluator,
        op: Operation,
        form: AttentionForm,
        plan: AttentionPlan,
        path: Sequence[Operation],
        store: Operation,
        fma: bool,
    ) -> None:
        self.ev, self.b = ev, ev.b
        self.op, self.form, self.plan = op, form, plan
        self.path, self.store, self.fma = path, store, fma
        self.lanes = plan.width if plan.width > 1 else 0
        self.sizes = {d: self._size(d) for d in {*form.query, *form.key, *form.output}}
        self.depth, self.columns = self._known(form.depth), self._known(form.columns)
        self.queries = self._scratch(self.depth * plan.rows)
        self.sums = self._scratch(self.columns * plan.rows)
        self.scores = self._scratch(plan.keys * plan.rows)
        self.tops = self._scratch(plan.rows)
        self.totals = self._scratch(plan.rows)
        self.staged: dict[int, Buffer] = {}
        for number, size in ((1, self.depth), (2, self.columns)):
            if is_staged(op, number, plan.element):
                self.staged[number] = self._scratch(plan.keys * size)
        self.mask = AttentionMask(ev, op, form, plan) if form.mask is not None else None
        self.at: dict[int, Lin] = {}
        """Where the loops are."""

    def _size(self, loop: int) -> int | SSAValue:
        form = self.form
        for number, dims in ((0, form.query), (1, form.key), (2, form.value)):
            if loop in dims:
                return self.ev.dim(self.op.operands[number], dims.index(loop))
        raise AssertionError("a loop of an attention without an operand")

    def _known(self, loop: int) -> int:
        size = self.sizes[loop]
        assert isinstance(size, int)
        return size

    def _scratch(self, size: int) -> Buffer:
        return self.b.alloca(self.plan.element, size, {"tiree.workgroup_memory": UnitAttr()})

    # Vectors -----------------------------------------------------------------------------------------------------

    def load(self, buffer: Buffer, at: Lin) -> SSAValue:
        return self.b.load_vector(buffer, at, self.lanes) if self.lanes else self.b.load(buffer, at)

    def put(self, buffer: Buffer, at: Lin, value: SSAValue) -> None:
        if self.lanes:
            self.b.store_vector(buffer, at, value)
        else:
            self.b.store(buffer, at, value)

    def splat(self, value: float) -> SSAValue:
        return self.b.splat(value, self.plan.element, self.lanes)

    def row_at(self, buffer: Buffer, first: Lin) -> Row:
        return [self.load(buffer, first + n * self.plan.width) for n in range(self.plan.vectors)]

    def put_row(self, buffer: Buffer, first: Lin, row: Sequence[SSAValue]) -> None:
        for n, value in enumerate(row):
            self.put(buffer, first + n * self.plan.width, value)

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.b.binary(xarith.AddfOp, a, b)

    def multiply(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.b.binary(xarith.MulfOp, a, b)

    def product_sum(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        if not self.fma:
            return self.add(self.multiply(a, b), c)
        a, b, c = self.b.match(a, b, c)
        return self.b.emit(math.FmaOp, [a, b, c], c.type, NO_FASTMATH)

    def compare(self, predicate: int, a: SSAValue, b: SSAValue) -> SSAValue:
        a, b = self.b.match(a, b)
        type = self.b.vector_type(i1, lanes_of(a)) if lanes_of(a) else i1
        properties = {"predicate": IntegerAttr(predicate, I64), **NO_FASTMATH}
        return self.b.emit(xarith.CmpfOp, [a, b], type, properties, predicate)

    def larger(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The larger of two; b where a is no number (its row comes out as none anyway)."""
        return self.b.select(self.compare(_OGT, a, b), a, b)

    def exp(self, value: SSAValue) -> SSAValue:
        return self.b.emit(math.ExpOp, [value], value.type, NO_FASTMATH)

    def widened(self, value: SSAValue) -> SSAValue:
        """A float in the type of sums."""
        element = element_of(value)
        if bits_of(element) < bits_of(self.plan.element):
            return self.b.cast(xarith.ExtFOp, value, self.plan.element)
        if element != self.plan.element:
            return self.b.cast(xarith.TruncFOp, value, self.plan.element)
        return value

    # Loops -------------------------------------------------------------------------------------------------------

    def loop(self, low: int | SSAValue, high: int | SSAValue, step: int, carried: Sequence[SSAValue] = ()) -> OpenLoop:
        return self.ev.open_loop(low, high, step, carried)

    def counted(self, size: int | SSAValue, step: int, body: Callable[[Lin, int], None]) -> None:
        """`body(first, count)` over whole steps, and over what remains: at once if that is known, else one by one."""
        if isinstance(size, int):
            whole = size // step * step
            if whole == step:
                body(ZERO, step)
            elif whole:
                loop = self.b.begin_for(0, whole, step)
                body(Lin.of(loop.sym), step)
                self.b.end_for(loop)
            if size > whole:
                body(Lin(whole), size - whole)
            return
        middle = self.ev.whole_steps(0, size, step)
        for low, high, count in ((0, middle, step), (middle, size, 1)):
            loop = self.loop(low, high, count)
            body(Lin.of(loop.sym), count)
            self.b.end_for(loop)

    def at_most(self, size: int | SSAValue, first: Lin, most: int) -> int | SSAValue:
        """How many of `most` from `first` on there are."""
        if isinstance(size, int) and (size % most == 0 or first.is_const):
            return min(most, size - first.const) if first.is_const else most
        left = self.b.binary(xarith.SubiOp, self.ev.index_of(size), self.b.index(first))
        return self.b.binary(xarith.MinSIOp, left, self.b.constant(most, INDEX))

    def run(self, workgroups: int | None) -> None:
        """All tiles of this workgroup; None: the number of workgroups is known when the kernel runs."""
        b, ev, plan = self.b, self.ev, self.plan
        rows = self.sizes[self.form.row]
        tiles = ev.index_of(-(-rows // plan.rows)) if isinstance(rows, int) else self._ceil(rows, plan.rows)
        total: int | SSAValue = -(-rows // plan.rows) if isinstance(rows, int) else tiles
        for loop in self.form.outer:
            total = ev.product(total, self.sizes[loop])
        low, high = self._share(total, workgroups)
        if low == 0 and high == 1:
            self._tile(ZERO, tiles)
            return
        loop = self.loop(low, high, 1)
        self._tile(Lin.of(loop.sym), tiles)
        b.end_for(loop)

    def _ceil(self, value: SSAValue, divisor: int) -> SSAValue:
        more = self.b.binary(xarith.AddiOp, value, self.b.constant(divisor - 1, INDEX))
        return self.b.binary(xarith.DivUIOp, more, self.b.constant(divisor, INDEX))

    def _share(self, total: int | SSAValue, workgroups: int | None) -> tuple[int | SSAValue, int | SSAValue]:
        """The tiles of this workgroup."""
        b = self.b
        if workgroups == 1:
            return 0, total
        dimension = {"dimension": IntegerAttr(0, IndexType())}
        number = b.emit(InterfaceWorkgroupIDOp, [], INDEX, dimension, "id 0")
        all_tiles = self.ev.index_of(total)
        if workgroups is None:
            count = b.emit(InterfaceWorkgroupCountOp, [], INDEX, dimension, "count 0")
            less = b.binary(xarith.SubiOp, count, b.constant(1, INDEX))
            chunk = b.binary(xarith.DivUIOp, b.binary(xarith.AddiOp, all_tiles, less), count)
        else:
            assert isinstance(total, int)
            chunk = b.constant(-(-total // workgroups), INDEX)
        low = b.binary(xarith.MinSIOp, b.binary(xarith.MuliOp, number, chunk), all_tiles)
        return low, b.binary(xarith.MinSIOp, b.binary(xarith.AddiOp, low, chunk), all_tiles)

    def _tile(self, number: Lin, tiles: SSAValue) -> None:
        """One tile of rows, from the first key to the last."""
        b, plan, form = self.b, self.plan, self.form
        rest = b.index(number)
        loops = [*((d, self.ev.index_of(self.sizes[d])) for d in form.outer), (-1, tiles)]
        for d, size in reversed(loops):
            self.at[d] = b.opaque(b.binary(xarith.RemUIOp, rest, size), 0, MOST)
            rest = b.binary(xarith.DivUIOp, rest, size)
        first = self.at[form.row] = self.at[-1] * plan.rows
        self.rows = self.at_most(self.sizes[form.row], first, plan.rows)
        if self.mask is not None:
            self.mask.at = self.at
            self.mask.last = None if self.rows == plan.rows else self.mask.last_row(self.sizes[form.row])
        self._turn_queries(first)
        self._begin()
        keys = self.sizes[form.keys]
        if isinstance(keys, int) and keys <= plan.keys:
            self._block(ZERO, keys)
        else:
            loop = self.loop(0, keys, plan.keys)
            for buffer in (self.sums, self.tops, self.totals, self.scores, *self.staged.values()):
                b.wrote(buffer)
            self._block(Lin.of(loop.sym), self.at_most(keys, Lin.of(loop.sym), plan.keys))
            b.end_for(loop)
        for buffer in (self.sums, self.tops, self.totals):
            b.wrote(buffer)
        self._finish(first)

    # Operands ----------------------------------------------------------------------------------------------------

    def _element(self, number: int, dims: Sequence[int], at: dict[int, Lin]) -> SSAValue:
        """An element of an operand: a scalar, or a vector where `at` has lanes."""
        idx = tuple({**self.at, **at}[d] for d in dims)
        return self.widened(self.ev.ssa(self.ev.value_at(self.op.operands[number], idx)))

    def _vectors(self, size: int, body: Callable[[Lin, bool], None]) -> None:
        """`body(first, whole)` over whole vectors with lanes open, then over single elements."""
        ev, width = self.ev, self.plan.width
        whole = size // width * width if self.lanes else 0
        if whole:
            loop = self.b.begin_for(0, whole, width)
            ev.width, ev.lane = width, self.b.lane_sym(width)
            body(Lin.of(loop.sym), True)
            ev.width, ev.lane = 0, None
            self.b.end_for(loop)
        if size > whole:
            loop = self.b.begin_for(whole, size, 1)
            body(Lin.of(loop.sym), False)
            self.b.end_for(loop)

    def _lane(self) -> Lin:
        return Lin.of(self.ev.lane) if self.ev.lane is not None else ZERO

    def _turn_queries(self, first: Lin) -> None:
        """The queries of the tile, turned; rows that do not exist are zero."""
        b, plan, form = self.b, self.plan, self.form
        if self.rows != plan.rows:
            loop = b.begin_for(0, self.depth * plan.rows, plan.width)
            self.put(self.queries, Lin.of(loop.sym), self.splat(0.0))
            b.end_for(loop)
        loop = self.loop(0, self.rows, 1)
        row = Lin.of(loop.sym)

        def copy(at: Lin, whole: bool) -> None:
            del whole
            value = self._element(0, form.query, {form.row: first + row, form.depth: at + self._lane()})
            place = (at + self._lane()) * plan.rows + row
            if self.ev.width:
                b.scatter(self.queries, place, b.broadcast(value, self.ev.width))
            else:
                b.store(self.queries, place, value)

        self._vectors(self.depth, copy)
        b.end_for(loop)
        b.wrote(self.queries)

    def _begin(self) -> None:
        b, plan = self.b, self.plan
        for buffer, value in ((self.tops, -_INFINITY), (self.totals, 0.0)):
            self.put_row(buffer, ZERO, [self.splat(value)] * plan.vectors)
        loop = b.begin_for(0, self.columns * plan.rows, plan.width)
        self.put(self.sums, Lin.of(loop.sym), self.splat(0.0))
        b.end_for(loop)
        for buffer in (self.tops, self.totals, self.sums):
            b.wrote(buffer)

    def _stage(self, number: int, first: Lin, count: int | SSAValue) -> None:
        """Keys or values of a block, widened."""
        form, buffer = self.form, self.staged[number]
        dims, loop, size = ((form.key, form.depth, self.depth), (form.value, form.columns, self.columns))[number - 1]
        rows = self.loop(0, count, 1)
        row = Lin.of(rows.sym)

        def copy(at: Lin, whole: bool) -> None:
            del whole
            value = self._element(number, dims, {form.keys: first + row, loop: at + self._lane()})
            if self.ev.width:
                self.b.store_vector(buffer, row * size + at, self.b.broadcast(value, self.ev.width))
            else:
                self.b.store(buffer, row * size + at, value)

        self._vectors(size, copy)
        self.b.end_for(rows)
        self.b.wrote(buffer)

    def _scalar(self, number: int, key: Lin, first: Lin, inner: Lin) -> SSAValue:
        """An element of key or value `first + key`."""
        form = self.form
        dims, loop, size = ((form.key, form.depth, self.depth), (form.value, form.columns, self.columns))[number - 1]
        if number in self.staged:
            return self.b.load(self.staged[number], key * size + inner)
        return self._element(number, dims, {form.keys: first + key, loop: inner})

    # A block of keys ---------------------------------------------------------------------------------------------

    def _block(self, first: Lin, count: int | SSAValue) -> None:
        for number in self.staged:
            self._stage(number, first, count)
        self.counted(count, self.plan.key_tile, lambda at, keys: self._products(first, at, keys))
        self.b.wrote(self.scores)
        if self.mask is not None:
            self.mask.begin_block(first, count)
        top = self._finish_scores(first, count)
        self._correct(top, count)
        self.counted(self.columns, self.plan.column_tile, lambda at, size: self._weigh(first, at, size, count))
        self.b.wrote(self.sums)

    def _products(self, first: Lin, at: Lin, keys: int) -> None:
        """Products of `keys` keys with all rows of the tile."""
        plan = self.plan
        loop = self.b.begin_for(0, self.depth, 1, [self.splat(0.0)] * (keys * plan.vectors))
        inner = Lin.of(loop.sym)
        queries = self.row_at(self.queries, inner * plan.rows)
        sums: list[SSAValue] = []
        for n in range(keys):
            key = self.b.broadcast(self._scalar(1, at + n, first, inner), self.lanes)
            for v, query in enumerate(queries):
                sums.append(self.product_sum(key, query, loop.args[n * plan.vectors + v]))
        found = self.b.end_for(loop, sums)
        for n in range(keys):
            self.put_row(self.scores, (at + n) * plan.rows, found[n * plan.vectors : (n + 1) * plan.vectors])

    def _finish_scores(self, first: Lin, count: int | SSAValue) -> Row:
        """Scales and masks the scores of a block; gives the largest of each row."""
        plan = self.plan
        loop = self.loop(0, count, 1, [self.splat(-_INFINITY)] * plan.vectors)
        key = Lin.of(loop.sym)
        row = self.row_at(self.scores, key * plan.rows)
        factor = self._scale()
        if factor is not None:
            row = [self.multiply(score, factor) for score in row]
        if self.mask is not None:
            row = [self.mask.apply(score, n, first, key) for n, score in enumerate(row)]
        if factor is not None or self.mask is not None:
            self.put_row(self.scores, key * plan.rows, row)
        found = self.b.end_for(loop, [self.larger(a, b) for a, b in zip(row, loop.args, strict=True)])
        self.b.wrote(self.scores)
        return list(found)

    def _scale(self) -> SSAValue | None:
        scale = self.op.operands[3]
        attr = constant_of(scale)
        if is_float_attr(attr):
            return None if attr.value.data == 1.0 else self.b.constant(attr.value.data, self.plan.element)
        return self.widened(self.ev.ssa(self.ev.value_at(scale, ())))

    def _correct(self, top: Row, count: int | SSAValue) -> None:
        """Probabilities of a block, and what the new maxima make of the sums before it."""
        b, plan = self.b, self.plan
        tops = [self.larger(a, c) for a, c in zip(top, self.row_at(self.tops, ZERO), strict=True)]
        # Scores of minus infinity alone leave no maximum to go by.
        none = self.splat(-_INFINITY)
        bases = [b.select(self.compare(_OEQ, one, none), self.splat(0.0), one) for one in tops]
        old = self.row_at(self.tops, ZERO)
        self.shrink = [self.exp(b.binary(xarith.SubfOp, a, c)) for a, c in zip(old, bases, strict=True)]
        self.put_row(self.tops, ZERO, tops)
        loop = self.loop(0, count, 1, [self.splat(0.0)] * plan.vectors)
        at = Lin.of(loop.sym) * plan.rows
        shift = self.splat(2.0**-plan.shift)
        row: Row = []
        for score, base in zip(self.row_at(self.scores, at), bases, strict=True):
            power = self.exp(b.binary(xarith.SubfOp, score, base))
            row.append(self.multiply(power, shift) if plan.shift else power)
        self.put_row(self.scores, at, row)
        sums = b.end_for(loop, [self.add(a, c) for a, c in zip(row, loop.args, strict=True)])
        totals = self.row_at(self.totals, ZERO)
        parts = zip(self.shrink, totals, sums, strict=True)
        self.put_row(self.totals, ZERO, [self.product_sum(a, c, d) for a, c, d in parts])
        for buffer in (self.tops, self.totals, self.scores):
            b.wrote(buffer)

    def _weigh(self, first: Lin, at: Lin, columns: int, count: int | SSAValue) -> None:
        """Adds the values of a block by their probabilities to `columns` columns of the result."""
        plan = self.plan
        before: Row = []
        for n in range(columns):
            row = self.row_at(self.sums, (at + n) * plan.rows)
            before += [self.multiply(a, c) for a, c in zip(row, self.shrink, strict=True)]
        loop = self.loop(0, count, 1, before)
        key = Lin.of(loop.sym)
        row = self.row_at(self.scores, key * plan.rows)
        sums: list[SSAValue] = []
        for n in range(columns):
            value = self.b.broadcast(self._scalar(2, key, first, at + n), self.lanes)
            for v, power in enumerate(row):
                sums.append(self.product_sum(value, power, loop.args[n * plan.vectors + v]))
        found = self.b.end_for(loop, sums)
        for n in range(columns):
            self.put_row(self.sums, (at + n) * plan.rows, found[n * plan.vectors : (n + 1) * plan.vectors])

    # The result --------------------------------------------------------------------------------------------------

    def _finish(self, first: Lin) -> None:
        b, plan, form = self.b, self.plan, self.form
        one = self.splat(1.0)
        factors = [b.binary(xarith.DivfOp, one, total) for total in self.row_at(self.totals, ZERO)]
        keys = self.sizes[form.keys]
        if not isinstance(keys, int):
            none = b.compare(_EQ, keys, b.constant(0, INDEX))
            factors = [b.select(none, self.splat(0.0), factor) for factor in factors]
        self.put_row(self.totals, ZERO, factors)
        b.wrote(self.totals)
        loop = self.loop(0, self.rows, 1)
        row = Lin.of(loop.sym)
        factor = b.load(self.totals, row)

        def write(at: Lin, whole: bool) -> None:
            del whole
            place = (at + self._lane()) * plan.rows + row
            width = self.ev.width
            value = b.gather(self.sums, place, width) if width else b.load(self.sums, place)
            value = self.multiply(value, b.broadcast(factor, width))
            self._write({**self.at, form.row: first + row, form.columns: at + self._lane()}, value)

        self._vectors(self.columns, write)
        b.end_for(loop)

    def _write(self, at: dict[int, Lin], value: SSAValue) -> None:
        """Stores an element (or a vector) of the result, through what stands before the store."""
        ev = self.ev
        result = self.op.results[0]
        element = tensor_type(result).element_type
        idx = tuple(at[d] for d in self.form.output)
        ev.remember(result, idx, self._narrowed(value, element))
        for op in self.path:
            maps = maps_of(op)
            read = maps[[operand.owner for operand in op.operands].index(result.owner)].bare_dims
            places = dict(zip(read, idx, strict=True))
            idx = tuple(places[d] for d in maps[-1].bare_dims)
            result = op.results[0]
        final = ev.value_at(result, idx)
        access = ev.access(self.store)
        write_all(ev, [Write(access.buffer, access.address(ev, idx), final, access.element, None)])

    def _narrowed(self, value: SSAValue, element: Attribute) -> SSAValue:
        """The value as bodies take it: bf16 stays f32 until it is stored."""
        if element_of(value) == element:
            return value
        if element == BF16 and bits_of(element_of(value)) == 32:
            return value
        narrow = bits_of(element) < bits_of(element_of(value))
        return self.b.cast(xarith.TruncFOp if narrow else xarith.ExtFOp, value, element)
