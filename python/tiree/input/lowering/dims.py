"""Sizes that are known only when the program runs: where they come from, and the checks that they agree.

A size is a number or an `index` value. What an operation assumes of the sizes of its operands is checked when the
program runs, before anything else does: `require_equal` emits a `cf.assert` that says which argument and which
dimension must be what, and from there on one value stands for both sizes.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, cf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, StringAttr, UnitAttr
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from tiree.input.lowering.context import Lowering, Size, Splat, Unsupported, ranked_type
from tiree.input.lowering.size_names import describe, name_of, place_of
from tiree.support.marks import SIZE_CHECK
from tiree.support.typed import is_tensor_type


def is_dynamic(type: Attribute) -> bool:
    return is_tensor_type(type) and DYNAMIC_INDEX in type.get_shape()


def concerns_dynamic(op: Operation) -> bool:
    """Whether an operand or a result of `op` has a `?` dimension."""
    return any(is_dynamic(value.type) for value in (*op.operands, *op.results))


def note_sizes(lowering: Lowering, value: SSAValue, argument: BlockArgument | None = None) -> None:
    """Emits the sizes of a new value that comes from elsewhere; `argument` is the old one of an entry point."""
    if not is_tensor_type(value.type) or DYNAMIC_INDEX not in value.type.get_shape():
        return
    sizes: list[Size] = []
    for dim, extent in enumerate(value.type.get_shape()):
        if extent != DYNAMIC_INDEX:
            sizes.append(extent)
            continue
        position = lowering.constant_index(dim)
        size = lowering.emit(tensor.DimOp.create(operands=[value, position], result_types=[IndexType()]))
        sizes.append(size)
        if argument is not None:
            lowering.shapes.arguments[size] = (argument.index + 1, name_of(argument), dim)
    lowering.shapes.note(value, sizes)


def sizes_of(lowering: Lowering, old: SSAValue) -> tuple[Size, ...]:
    """All sizes of what stands for an old tensor value."""
    value = lowering.values[old]
    if isinstance(value, Splat):
        sizes = value.type.get_shape() if value.sizes is None else value.sizes
        return tuple([lowering.shapes.representative(size) for size in sizes])
    return sizes_of_new(lowering, value)


def sizes_of_new(lowering: Lowering, value: SSAValue) -> tuple[Size, ...]:
    """All sizes of a new tensor value."""
    known = lowering.shapes.known(value)
    if known is not None:
        return known
    if not is_tensor_type(value.type):
        return ()
    if DYNAMIC_INDEX not in value.type.get_shape():
        return tuple(value.type.get_shape())
    note_sizes(lowering, value)
    known = lowering.shapes.known(value)
    assert known is not None
    return known


def check(lowering: Lowering, equal: SSAValue, message: str) -> None:
    check = cf.AssertOp.create(operands=[equal], properties={"msg": StringAttr(message)})
    check.attributes[SIZE_CHECK] = UnitAttr()
    lowering.emit_op(check)


def require_equal(
    lowering: Lowering, op: Operation, first: Size, second: Size, called: tuple[str, str] = ("", "")
) -> Size:
    """Both sizes must be equal where `op` stands; returns what stands for both.

    `called` says what they are where neither an argument nor an operand has them. Raises `Unsupported` for two numbers
    that differ.
    """
    shapes = lowering.shapes
    first, second = shapes.representative(first), shapes.representative(second)
    if first is second or first == second:
        return first
    words = list(called)
    if isinstance(second, int):
        first, second = second, first
        words.reverse()
    if isinstance(second, int):
        raise Unsupported(f"with sizes {first} and {second}, which must be equal,")
    if same_size(first, second):
        return first
    if (lowering.block, first, second) not in shapes.required:
        shapes.required.add((lowering.block, first, second))
        checked, other = second, first
        if not isinstance(first, int) and first in shapes.arguments and second not in shapes.arguments:
            checked, other = first, second
            words.reverse()
        equal = lowering.scalars().cmpi("eq", checked, lowering.index_of(other))
        check(lowering, equal, _message(lowering, op, (other, words[0]), (checked, words[1])))
    if lowering.block is shapes.entry:
        shapes.unite(second, first)
    return first


def same_size(a: Size, b: Size, depth: int = 8) -> bool:
    """Whether two sizes are computed in the same way from the same values."""
    if a is b or (isinstance(a, int) and a == b):
        return True
    if not isinstance(a, OpResult) or not isinstance(b, OpResult) or depth == 0:
        return False
    one, two = a.op, b.op
    return (
        one.name == two.name
        and one.name.startswith("arith.")
        and one.properties == two.properties
        and a.type == b.type
        and len(one.operands) == len(two.operands)
        and all(same_size(x, y, depth - 1) for x, y in zip(one.operands, two.operands, strict=True))
    )


def _message(lowering: Lowering, op: Operation, first: tuple[Size, str], second: tuple[SSAValue, str]) -> str:
    """That the second size must equal the first; each comes with what the operation takes it for."""
    known = lowering.shapes.arguments.get(second[0])
    other = describe(lowering, first[0], op, first[1])
    if known is None:
        return f"{head(lowering)}{describe(lowering, second[0], op, second[1])} must equal {other} for {place_of(op)}"
    number, name, dim = known
    who = f"argument {number}{f' (%{name})' if name else ''}"
    return f"{head(lowering)}{who}: dimension {dim} must equal {other} for {place_of(op)}"


def head(lowering: Lowering) -> str:
    """How messages of the function begin."""
    return f"@{getattr(lowering, 'stack', [''])[0]}: "


def require_at_least(lowering: Lowering, op: Operation, size: Size, least: int, what: str, called: str = "") -> None:
    """`size` must be at least `least`."""
    require_order(lowering, op, least, size, f"{what} is out of range", ("", called))


def require_order(
    lowering: Lowering, op: Operation, least: Size, size: Size, complaint: str, called: tuple[str, str] = ("", "")
) -> None:
    """`size` must be at least `least`; `called` says what these are, as in `require_equal`.

    Raises `Unsupported` for two numbers that are not.
    """
    shapes = lowering.shapes
    least, size = shapes.representative(least), shapes.representative(size)
    if least is size or (isinstance(least, int) and isinstance(size, int)):
        if isinstance(least, int) and isinstance(size, int) and size < least:
            raise Unsupported(f"where {complaint} ({least} and {size})")
        return
    s = lowering.scalars()
    enough = s.cmpi("sge", lowering.index_of(size), lowering.index_of(least))
    words = [describe(lowering, one, op, name) for one, name in zip((least, size), called, strict=True)]
    check(lowering, enough, f"{head(lowering)}{complaint}: {words[1]} must be at least {words[0]} for {place_of(op)}")


def common_sizes(lowering: Lowering, op: Operation, values: Sequence[SSAValue], result: Attribute) -> list[Size]:
    """The sizes that all `values` (old, of one rank) and the result type share, checked where they are not known."""
    sizes = list[Size](ranked_type(result).get_shape())
    for value in values:
        for dim, size in enumerate(sizes_of(lowering, value)):
            known = sizes[dim]
            unknown = isinstance(known, int) and known == DYNAMIC_INDEX
            sizes[dim] = size if unknown else require_equal(lowering, op, known, size)
    return sizes


def refine(lowering: Lowering, op: Operation, sizes: Sequence[Size], result: Attribute) -> list[Size]:
    """`sizes`, with those that the result type says required."""
    return [
        size
        if extent == DYNAMIC_INDEX
        else require_equal(lowering, op, extent, size, ("", f"dimension {dim} of the result"))
        for dim, (size, extent) in enumerate(zip(sizes, ranked_type(result).get_shape(), strict=True))
    ]


def arithmetic(lowering: Lowering, kind: str, a: Size, b: Size) -> Size:
    """`a + b`, `a - b` or `a * b` of sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b if kind == "add" else a - b if kind == "sub" else a * b
    if kind in ("add", "sub") and b == 0:
        return a
    if kind == "add" and a == 0:
        return b
    if kind == "mul" and 1 in (a, b):
        return b if a == 1 else a
    ops: dict[str, type[Operation]] = {"add": arith.AddiOp, "sub": arith.SubiOp, "mul": arith.MuliOp}
    return lowering.scalars().binary(ops[kind], lowering.index_of(a), lowering.index_of(b))


def product(lowering: Lowering, sizes: Sequence[Size]) -> Size:
    """How many elements a tensor of these sizes has."""
    total: Size = 1
    for size in sizes:
        total = arithmetic(lowering, "mul", total, size)
    return total
