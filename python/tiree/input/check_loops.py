"""Checks that the operands of structured ops that users wrote have sizes that fit one another.

A loop of a `linalg.generic` takes its trip count from the operands; where two of them give it as different values, or
an operand is read at a sum of loops, the program assumes something that only the run can tell.
"""

from __future__ import annotations

from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import AffineMapAttr, StringAttr, UnitAttr
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from tiree.dialects import util
from tiree.dialects.arith import ConstantOp, constant_int
from tiree.dialects.hal_ops import BufferViewDimOp
from tiree.dialects.tensor_dims import dim_size, is_dynamic
from tiree.input.lowering.size_names import UNKNOWN, place_of
from tiree.support.argument_names import argument_in_words, argument_names
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.marks import SIZE_CHECK
from tiree.support.typed import array_of, int_of, is_tensor_type

Size = int | SSAValue

_LOOPS = ("linalg.generic", "iree_linalg_ext.attention")
"""Ops whose operands are indexed by loops of theirs."""


def check_loops(function: util.FuncOp) -> None:
    """Adds the checks of all structured ops of `function` on `?`."""
    checker = _Checker(function)
    for op in list(function.body.walk()):
        checker.note(op)
        if op.name in _LOOPS and any(is_dynamic(value) for value in op.operands):
            checker.check(op)


def _linear(expr: AffineExpr) -> tuple[int, dict[int, int]] | None:
    """Constant and coefficients of a sum of loops; None for anything else."""
    match expr:
        case AffineConstantExpr():
            return expr.value, {}
        case AffineDimExpr():
            return 0, {expr.position: 1}
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
            a, b = _linear(expr.lhs), _linear(expr.rhs)
            if a is None or b is None:
                return None
            terms = dict(a[1])
            for dim, factor in b[1].items():
                terms[dim] = terms.get(dim, 0) + factor
            return a[0] + b[0], terms
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul):
            a, b = _linear(expr.lhs), _linear(expr.rhs)
            if a is None or b is None or (a[1] and b[1]):
                return None
            factor, (constant, terms) = (b[0], a) if a[1] else (a[0], b)
            return constant * factor, {dim: c * factor for dim, c in terms.items()}
        case _:
            return None


def _compared(op: Operation) -> Operation | None:
    """The comparison for equality that a check of sizes asks for."""
    condition = op.operands[0] if op.name == "cf.assert" and SIZE_CHECK in op.attributes else None
    compare = condition.op if isinstance(condition, OpResult) else None
    if compare is None or compare.name != "arith.cmpi" or int_of(compare.properties["predicate"]):
        return None
    return compare


class _Checker:
    """The checks of one function. `same` says which sizes have been found equal by the ops so far."""

    def __init__(self, function: util.FuncOp) -> None:
        self.function = function
        self.entry = function.body.blocks[0]
        self.names = argument_names(function, len(self.entry.args))
        self.same: dict[SSAValue, Size] = {}
        self.passed: set[tuple[Block | None, frozenset[Size]]] = set()
        """What has been compared before, and in which block."""

    def note(self, op: Operation) -> None:
        """Keeps in mind what a check of sizes compares."""
        compare = _compared(op)
        if compare is not None:
            self.passed.add((op.parent, frozenset(self._number(value) for value in compare.operands)))
            if op.parent is self.entry:
                self._unite(*compare.operands)

    def _number(self, value: SSAValue) -> Size:
        known = constant_int(value)
        return self._find(value) if known is None else known

    def _has_passed(self, op: Operation, first: Size, second: Size) -> bool:
        """Whether a check before `op`, in its block or around it, has compared the two."""
        pair = frozenset((first, second))
        block = op.parent
        while block is not None:
            if (block, pair) in self.passed:
                return True
            outer = block.parent_op()
            block = None if outer is None else outer.parent
        return False

    def _find(self, size: Size) -> Size:
        while not isinstance(size, int) and size in self.same:
            size = self.same[size]
        return size

    def _unite(self, a: Size, b: Size) -> None:
        a, b = self._find(a), self._find(b)
        if a is b:
            return
        if isinstance(a, int):
            a, b = b, a
        if not isinstance(a, int):
            self.same[a] = b

    def check(self, op: Operation) -> None:
        extents: dict[int, Size] = {}
        sums: list[tuple[Size, int, dict[int, int]]] = []
        for operand, attr in zip(op.operands, array_of(op.properties["indexing_maps"]), strict=True):
            if not is_tensor_type(operand.type):
                continue
            assert isinstance(attr, AffineMapAttr)
            for position, expr in enumerate(attr.data.results):
                size = dim_size(operand, position)
                if size is None:
                    continue
                if not isinstance(expr, AffineDimExpr):
                    self._note_sum(op, expr, size, sums)
                elif expr.position in extents:
                    self._require_equal(op, extents[expr.position], size)
                else:
                    extents[expr.position] = size
        for size, constant, terms in sums:
            self._require_room(op, size, constant, [(extents[dim], factor) for dim, factor in terms.items()])

    def _note_sum(
        self, op: Operation, expr: AffineExpr, size: Size, sums: list[tuple[Size, int, dict[int, int]]]
    ) -> None:
        linear = _linear(expr)
        if linear is None or linear[0] < 0 or any(factor < 0 for factor in linear[1].values()):
            what = f"{op.name} reads an operand with ? dimensions at {expr}"
            raise CompileError(Diagnostic(what, location_of(op), "give it static sizes"))
        sums.append((size, *linear))

    def _require_equal(self, op: Operation, first: Size, second: Size) -> None:
        first, second = self._find(first), self._find(second)
        if first is second or (isinstance(first, int) and first == second):
            return
        if isinstance(second, int):
            first, second = second, first
        if isinstance(second, int):
            what = f"{op.name} has operands of sizes {first} and {second}, which must be equal"
            raise CompileError(Diagnostic(what, location_of(op)))
        if self._has_passed(op, first, second):
            return
        if self._argument(second) is None and not isinstance(first, int) and self._argument(first) is not None:
            first, second = second, first
        ops: list[Operation] = []
        if isinstance(first, int):
            ops.append(ConstantOp.index(first))
        ops.append(arith.CmpiOp(second, first if not isinstance(first, int) else ops[0].results[0], "eq"))
        self._add(op, ops, self._text(op, first, second))
        if op.parent is self.entry:
            self._unite(second, first)

    def _require_room(self, op: Operation, size: Size, constant: int, terms: list[tuple[Size, int]]) -> None:
        """The last index that is read must lie in the operand."""
        if isinstance(size, int) and all(isinstance(extent, int) for extent, _ in terms):
            return
        ops: list[Operation] = []

        def value(number: Size) -> SSAValue:
            if not isinstance(number, int):
                return number
            ops.append(ConstantOp.index(number))
            return ops[-1].results[0]

        total = value(constant + 1 - sum(factor for _, factor in terms))
        for extent, factor in terms:
            ops.append(arith.MuliOp(value(extent), value(factor)))
            ops.append(arith.AddiOp(total, ops[-1].results[0]))
            total = ops[-1].results[0]
        fits = arith.CmpiOp(value(size), total, "sge")
        ops.append(fits)
        text = (
            f"@{self.function.sym_name.data}: {self._describe(op, size)} is less than what is read for {place_of(op)}"
        )
        self._add(op, ops, text)

    def _add(self, op: Operation, ops: list[Operation], text: str) -> None:
        check = cf.AssertOp.create(operands=[ops[-1].results[0]], properties={"msg": StringAttr(text)})
        check.attributes[SIZE_CHECK] = UnitAttr()
        assert op.parent is not None
        for one in (*ops, check):
            one.location = op.location
        op.parent.insert_ops_before([*ops, check], op)

    def _argument(self, size: Size) -> tuple[int, int] | None:
        """Number and dimension of the argument that a size is of."""
        op = size.op if isinstance(size, OpResult) else None
        view = op.operands[0] if isinstance(op, BufferViewDimOp) else None
        if op is None or not isinstance(view, BlockArgument):
            return None
        return view.index, int_of(op.properties["index"])

    def _describe(self, op: Operation, size: Size) -> str:
        if isinstance(size, int):
            return str(size)
        found = self._argument(size)
        return _as_operand(op, size) if found is None else f"dimension {found[1]} of {self._who(found[0])}"

    def _who(self, number: int) -> str:
        return argument_in_words(number, self.names)

    def _text(self, op: Operation, first: Size, second: SSAValue) -> str:
        found = self._argument(second)
        head = f"@{self.function.sym_name.data}: "
        if found is None:
            return f"{head}{self._describe(op, second)} must equal {self._describe(op, first)} for {place_of(op)}"
        who = f"{self._who(found[0])}: dimension {found[1]}"
        return f"{head}{who} must equal {self._describe(op, first)} for {place_of(op)}"


def _as_operand(op: Operation, size: SSAValue) -> str:
    """The dimension of an operand that has this size."""
    for number, operand in enumerate(op.operands, 1):
        for dim in range(len(operand.type.get_shape()) if is_tensor_type(operand.type) else 0):
            if dim_size(operand, dim) is size:
                return f"dimension {dim} of operand {number}"
    return UNKNOWN
