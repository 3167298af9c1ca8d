"""What the checks read of an op: shapes, element types, integer lists, bodies; and how they say what is wrong.

A dynamic extent fits every other one. A value that is no ranked tensor is not judged here: `Skip` ends the check.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DenseArrayBase,
    IndexType,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiree.dialects.dense import DenseAttr, element_count
from tiree.scalars.builder import inherent
from tiree.support.typed import is_integer_attr, is_integer_type, is_tensor_type

Shape = tuple[int, ...]


class Wrong(Exception):
    """The op breaks a rule of the specification; the text says which."""


class Skip(Exception):
    """The op has types that these checks do not know."""


def need(condition: bool, text: str) -> None:
    """Raises `Wrong` unless `condition` holds."""
    if not condition:
        raise Wrong(text)


def tensor(value: SSAValue | Attribute) -> TensorType:
    type = value.type if isinstance(value, SSAValue) else value
    if not is_tensor_type(type):
        raise Skip
    return type


def shape(value: SSAValue | Attribute) -> Shape:
    return tuple(tensor(value).get_shape())


def element(value: SSAValue | Attribute) -> Attribute:
    return tensor(value).element_type


def kind(value: SSAValue | Attribute) -> str:
    """`b` for i1, `i` for other integers, `f` for floats, "" for anything else."""
    type = element(value)
    if is_integer_type(type):
        return "b" if type.width.data == 1 else "i"
    return "f" if isinstance(type, AnyFloat) else "i" if isinstance(type, IndexType) else ""


def fits(a: int, b: int) -> bool:
    """Whether two extents can be the same."""
    return a == b or DYNAMIC_INDEX in (a, b)


def same_shape(a: Sequence[int], b: Sequence[int]) -> bool:
    return len(a) == len(b) and all(map(fits, a, b))


def need_shape(op: Operation, wanted: Sequence[int], result: int = 0) -> None:
    """Result `result` of `op` must have shape `wanted`."""
    type = tensor(op.results[result])
    if not same_shape(type.get_shape(), wanted):
        raise Wrong(f"its result is {type}; its operands give the shape {text(wanted)}")


def need_element(op: Operation, value: SSAValue, result: int = 0) -> None:
    """Result `result` of `op` must have the element type of `value`."""
    have, wanted = element(op.results[result]), element(value)
    need(have == wanted, f"its result has elements of type {have}; its operand has {wanted}")


def need_same_type(a: SSAValue | Attribute, b: SSAValue | Attribute, what: str) -> None:
    """Equal element types and shapes that fit."""
    if not same_shape(shape(a), shape(b)) or element(a) != element(b):
        raise Wrong(f"{what} must have one type; they are {tensor(a)} and {tensor(b)}")


def need_scalar(value: SSAValue, what: str, kinds: str = "") -> None:
    """`value` must be a rank-0 tensor, of one of `kinds` when given."""
    if shape(value) or (kinds and kind(value) not in kinds):
        of = {"b": " of i1", "i": " of integers"}.get(kinds, "")
        raise Wrong(f"{what} must be a rank-0 tensor{of}; it is {tensor(value)}")


def text(extents: Iterable[int]) -> str:
    return "[" + "x".join("?" if size == DYNAMIC_INDEX else str(size) for size in extents) + "]"


def integers(op: Operation, name: str, length: int | None = None, default: Sequence[int] | None = None) -> Shape:
    """A list of integers (flattened), of `length` when given."""
    attr = inherent(op, name)
    if isinstance(attr, DenseArrayBase):
        values = tuple(int(value) for value in attr.get_values())
    elif isinstance(attr, DenseAttr):
        values = tuple(int(value) for value in attr.to_numpy().reshape(-1).tolist())
    elif attr is None and default is not None:
        return tuple(default)
    else:
        raise Wrong(f"it needs a list of integers {name}")
    need(length is None or len(values) == length, f"{name} has {len(values)} entries; needs {length}")
    return values


def integer(op: Operation, name: str, default: int | None = None) -> int:
    attr = inherent(op, name)
    if is_integer_attr(attr):
        return attr.value.data
    if attr is None and default is not None:
        return default
    raise Wrong(f"it needs an integer {name}")


def need_dims(dims: Sequence[int], rank: int, name: str) -> None:
    """`dims` must be different dimensions of a tensor of rank `rank`."""
    for dim in dims:
        need(0 <= dim < rank, f"{name} names dimension {dim} of a tensor of rank {rank}")
    need(len(set(dims)) == len(dims), f"{name} names a dimension twice: {list(dims)}")


def need_sorted(dims: Sequence[int], name: str) -> None:
    """`dims` must be in ascending order."""
    need(list(dims) == sorted(dims), f"{name} are not in order: {list(dims)}")


def constant(value: SSAValue) -> Shape | None:
    """The integers of a constant (flattened); None for a value that is none."""
    if not isinstance(value.owner, Operation) or value.owner.name != "stablehlo.constant":
        return None
    attr = inherent(value.owner, "value")
    if not isinstance(attr, DenseAttr) or element_count(attr.type) > _MOST_ENTRIES or kind(attr.type) not in ("i", "b"):
        return None
    return tuple(int(number) for number in attr.to_numpy().reshape(-1).tolist())


_MOST_ENTRIES = 64
"""A constant of sizes has an entry for each dimension; larger ones are none, and may be parameters of gigabytes."""


def body(op: Operation, region: int = 0) -> Block:
    """The only block of a region. Regions of other forms are left to the lowering."""
    blocks = op.regions[region].blocks
    if len(blocks) != 1 or blocks.first is None:
        raise Skip
    return blocks.first


def returned(block: Block, count: int, what: str) -> Sequence[SSAValue]:
    """The values that a body returns."""
    last = block.last_op
    if last is None or last.name != "stablehlo.return":
        raise Wrong(f"{what} must end in stablehlo.return")
    need(len(last.operands) == count, f"{what} returns {len(last.operands)} values; needs {count}")
    return last.operands


def need_scalars(block: Block, count: int, what: str) -> None:
    """A body that works on elements: `count` rank-0 arguments."""
    need(len(block.args) == count, f"{what} has {len(block.args)} arguments; needs {count}")
    for argument in block.args:
        need_scalar(argument, f"an argument of {what}")
