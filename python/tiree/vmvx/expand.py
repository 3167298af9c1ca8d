"""What bytecode has no instruction for, in terms of what it has.

f16 and bf16 are f32 in registers, rounded after each operation whose result is not exact, and 16 bits in memory;
`math.ctpop` and `math.cbrt` are calls.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import BFloat16Type, Float16Type, FloatAttr, f32, f64, i16, i32, i64
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from tiree.dialects import util
from tiree.dialects.arith import ConstantOp
from tiree.support.typed import is_float_attr, is_integer_type

_EXACT = frozenset(
    [
        "arith.constant", "arith.select", "arith.negf", "arith.maximumf", "arith.minimumf", "arith.maxnumf",
        "arith.minnumf", "math.absf", "math.ceil", "math.floor", "math.round", "math.roundeven", "math.trunc",
        "math.copysign", "scf.for", "scf.if", "scf.while", "memref.load",
    ]
)  # fmt: skip
"""Operations whose results need no rounding when their operands are numbers of the small type."""

_SIGNS = frozenset(["arith.negf", "math.absf"])
"""Operations that change bits of the sign only."""


class Expansion:
    """Rewrites the body of one kernel."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self._small: dict[SSAValue, str] = {}
        """The values of small types, by the name of the type."""
        self._operands: dict[Operation, list[str | None]] = {}
        """The small types of operands, as they were before anything changed."""

    def run(self) -> None:
        ops = list(self.region.walk())
        types = {value: name for op in ops for value in _values(op) if (name := _small_name(value.type))}
        self._small = types
        self._operands = {op: [types.get(value) for value in op.operands] for op in ops}
        for op in ops:
            self._expand(op)
        for value in list(types):
            if _small_name(value.type):
                Rewriter.replace_value_with_new_type(value, f32)

    def _expand(self, op: Operation) -> None:
        special = _SPECIAL.get(op.name)
        if special is not None:
            special(self, op)
            return
        if op.name == "arith.constant" and op.results[0] in self._small:
            value = op.properties["value"]
            assert is_float_attr(value)
            self._replace(op, ConstantOp(FloatAttr(value.value.data, f32)).result)
            return
        if op.name in _EXACT:
            return
        for result in op.results:
            name = self._small.get(result)
            if name is not None:
                self._round_after(op, result, name)

    # Values.

    def before(self, op: Operation, new: Operation) -> SSAValue:
        """Inserts `new` before `op`; its result."""
        assert op.parent is not None
        op.parent.insert_op_before(new, op)
        return new.results[0]

    def _replace(self, op: Operation, value: SSAValue) -> None:
        owner = value.owner
        if isinstance(owner, Operation) and owner.parent is None:
            self.before(op, owner)
        op.results[0].replace_all_uses_with(value)
        self._small.pop(op.results[0], None)
        op.detach()
        op.erase()

    def _round_after(self, op: Operation, result: SSAValue, name: str) -> None:
        narrow = util.CallOp(f"narrow_{name}", [result], [i32])
        widen = util.CallOp(f"widen_{name}", [narrow.results[0]], [f32])
        result.replace_all_uses_with(widen.results[0])
        narrow.operands = [result]
        assert op.parent is not None
        op.parent.insert_op_after(narrow, op)
        op.parent.insert_op_after(widen, narrow)

    # Operations.

    def load(self, op: Operation) -> None:
        name = self._small.get(op.results[0])
        if name is None:
            return
        word = self.before(op, type(op).create(operands=op.operands, result_types=[i16], properties=op.properties))
        bits = self.before(op, arith.ExtUIOp(word, i32))
        self._replace(op, util.CallOp(f"widen_{name}", [bits], [f32]).results[0])

    def store(self, op: Operation) -> None:
        name = self._operands[op][0]
        if name is None:
            return
        bits = self.before(op, util.CallOp(f"bits_{name}", [op.operands[0]], [i32]))
        op.operands[0] = self.before(op, arith.TruncIOp(bits, i16))

    def widen(self, op: Operation) -> None:
        """`arith.extf` of a number that is an f32 already."""
        if self._operands[op][0] is not None:
            value = op.operands[0]
            self._replace(op, value if op.results[0].type == f32 else arith.ExtFOp(value, f64).result)

    def narrow(self, op: Operation) -> None:
        """`arith.truncf`."""
        name = self._small.get(op.results[0])
        if name is not None:
            value = op.operands[0]
            self._replace(op, value if self._keeps_bits(value, name) else self._narrowed(op, value, name))

    def _keeps_bits(self, value: SSAValue, name: str) -> bool:
        """Whether `value` is a number of the small type with another sign: rounding would make signalling NaN quiet."""
        owner = value.owner
        while isinstance(owner, Operation) and owner.name in _SIGNS:
            value = owner.operands[0]
            owner = value.owner
        if self._small.get(value) == name:
            return True
        return isinstance(owner, util.CallOp) and owner.callee.string_value() == f"widen_{name}"

    def _narrowed(self, op: Operation, value: SSAValue, name: str) -> SSAValue:
        if value.type == f64:
            value = self.before(op, util.CallOp("to_odd", [value], [f32]))
        bits = self.before(op, util.CallOp(f"narrow_{name}", [value], [i32]))
        return self.before(op, util.CallOp(f"widen_{name}", [bits], [f32]))

    def from_integer(self, op: Operation) -> None:
        """Through f64, which holds every i32."""
        name = self._small.get(op.results[0])
        if name is not None:
            new = type(op).create(operands=op.operands, result_types=[f64], properties=op.properties)
            self._replace(op, self._narrowed(op, self.before(op, new), name))

    def bitcast(self, op: Operation) -> None:
        source, target = self._operands[op][0], self._small.get(op.results[0])
        if source is not None and target is None:
            bits = self.before(op, util.CallOp(f"bits_{source}", [op.operands[0]], [i32]))
            self._replace(op, arith.TruncIOp(bits, i16).result)
        elif target is not None and source is None:
            bits = self.before(op, arith.ExtUIOp(op.operands[0], i32))
            self._replace(op, util.CallOp(f"widen_{target}", [bits], [f32]).results[0])

    def population(self, op: Operation) -> None:
        """The number of ones."""
        value, type = op.operands[0], op.results[0].type
        if is_integer_type(type) and type.width.data < 64:
            count = self.before(op, util.CallOp("population", [self.before(op, arith.ExtUIOp(value, i64))], [i64]))
            self._replace(op, arith.TruncIOp(count, type).result)
        else:
            self._replace(op, util.CallOp("population", [value], [i64]).results[0])

    def tangent(self, op: Operation) -> None:
        value, name = op.operands[0], self._small.get(op.results[0])
        wide = value if value.type == f64 else self.before(op, arith.ExtFOp(value, f64))
        sine, cosine = self.before(op, math.SinOp(wide)), self.before(op, math.CosOp(wide))
        result = self.before(op, arith.DivfOp(sine, cosine))
        if value.type != f64:
            result = self._narrowed(op, result, name) if name else self.before(op, arith.TruncFOp(result, f32))
        self._replace(op, result)

    def cube_root(self, op: Operation) -> None:
        value, name = op.operands[0], self._small.get(op.results[0])
        if value.type == f64:
            self._replace(op, util.CallOp("cube_root", [value], [f64]).results[0])
            return
        root = self.before(op, util.CallOp("cube_root", [self.before(op, arith.ExtFOp(value, f64))], [f64]))
        self._replace(op, arith.TruncFOp(root, f32).result if name is None else self._narrowed(op, root, name))


def _values(op: Operation) -> list[SSAValue]:
    return [*op.results, *(argument for region in op.regions for block in region.blocks for argument in block.args)]


def _small_name(type: Attribute) -> str | None:
    return "f16" if isinstance(type, Float16Type) else "bf16" if isinstance(type, BFloat16Type) else None


_SPECIAL: dict[str, Callable[[Expansion, Operation], None]] = {
    "memref.load": Expansion.load,
    "memref.store": Expansion.store,
    "arith.extf": Expansion.widen,
    "arith.truncf": Expansion.narrow,
    "arith.sitofp": Expansion.from_integer,
    "arith.uitofp": Expansion.from_integer,
    "arith.bitcast": Expansion.bitcast,
    "math.ctpop": Expansion.population,
    "math.tan": Expansion.tangent,
    "math.cbrt": Expansion.cube_root,
}
