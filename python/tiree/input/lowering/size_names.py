"""How the message of a failing check calls a size: by argument, by operand, or by how it is computed."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, NameLoc
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from tiree.dialects.arith import constant_int
from tiree.input.lowering.context import Lowering, Size, Splat
from tiree.support.locations import place_in_file
from tiree.support.typed import is_tensor_type

UNKNOWN = "a computed size"


def name_of(argument: BlockArgument) -> str:
    location = argument.location
    return argument.name_hint or (location.desc.data if isinstance(location, NameLoc) else "")


def place_of(op: Operation) -> str:
    """The operation and where it stands, for a message of the running program."""
    return f"{op.name} at {place_in_file(op)}"


def describe(lowering: Lowering, size: Size, op: Operation | None = None, called: str = "") -> str:
    """`size` in words: as a dimension of an argument or an expression of such, or as a dimension of an operand of `op`,
    or as `called`, what the operation takes it for."""
    if isinstance(size, int):
        return str(size)
    known = lowering.shapes.arguments.get(size)
    if known is not None:
        number, name, dim = known
        return f"dimension {dim} of argument {number}{_percent(name)}"
    text = _expression(lowering, size)
    if UNKNOWN not in text:
        return text
    return (op is not None and _as_operand(lowering, op, size)) or called or text


def _percent(name: str) -> str:
    return f" (%{name})" if name else ""


_SIGNS = {"arith.addi": " + ", "arith.subi": " - ", "arith.muli": " * "}


def _expression(lowering: Lowering, size: SSAValue) -> str:
    """A computed size in words, where that is short."""
    if isinstance(size, BlockArgument):
        return f"argument {size.index + 1}" if size.block is lowering.shapes.entry else UNKNOWN
    op = size.op if isinstance(size, OpResult) else None
    if op is not None and op.name == "arith.constant":
        return str(constant_int(size))
    if op is not None and op.name in _SIGNS:
        parts = [describe(lowering, operand) for operand in op.operands]
        if op.name == "arith.muli":
            parts = [f"({part})" if " + " in part or " - " in part else part for part in parts]
        return _SIGNS[op.name].join(parts)
    if op is not None and op.name.startswith("arith.index_cast"):
        return describe(lowering, op.operands[0])
    return UNKNOWN


def _as_operand(lowering: Lowering, op: Operation, size: SSAValue) -> str:
    """The dimension of an operand of `op` that has this size; empty if none has."""
    for number, operand in enumerate(op.operands, 1):
        name = _percent(operand.name_hint or "")
        if lowering.values.get(operand) is size:
            return f"operand {number}{name}"
        for dim, one in enumerate(_known_sizes(lowering, operand)):
            if one is size:
                return f"dimension {dim} of operand {number}{name}"
    return ""


def _known_sizes(lowering: Lowering, old: SSAValue) -> tuple[Size, ...]:
    if not is_tensor_type(old.type) or DYNAMIC_INDEX not in old.type.get_shape():
        return ()
    value = lowering.values.get(old)
    if isinstance(value, Splat):
        return tuple(lowering.shapes.representative(size) for size in value.sizes or ())
    return () if value is None else lowering.shapes.known(value) or ()
