"""Tensors in globals: what never changes is a constant, everything else a resource that is replaced as a whole.

A load gives the resource that the last store left there, and nothing writes into it: whoever updates a tensor that came
from a global, or goes to one, copies first (`copy_on_write`).
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region

from tiree.dialects import stream, util
from tiree.dialects.arith import ConstantOp
from tiree.dialects.dense import DenseAttr, encode_scalar
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.typed import is_tensor_type

RESOURCE = "external"
"""The lifetime of what globals hold: like a function's arguments and results, it is a whole allocation."""


def take_constant_globals(module: ModuleOp) -> dict[str, DenseAttr]:
    """Values of the immutable tensor globals that start with one; their ops are erased."""
    found: dict[str, DenseAttr] = {}
    for op in list(module.ops):
        if (
            isinstance(op, util.GlobalOp)
            and is_tensor_type(op.type)
            and op.is_mutable is None
            and isinstance(op.initial_value, DenseAttr)
        ):
            found[op.sym_name.data] = op.initial_value
            module.body.block.erase_op(op)
    return found


def convert_variable_globals(module: ModuleOp) -> None:
    """The other tensor globals hold resources; one that starts with a value gets an initializer that stores it."""
    for op in list(module.ops):
        if not isinstance(op, util.GlobalOp) or not is_tensor_type(op.type):
            continue
        value = _start(op)
        initializer = None if value is None else _initializer(op.sym_name.data, value)
        op.properties.pop("initial_value", None)
        op.properties["type"] = stream.ResourceType(RESOURCE)
        if initializer is not None:
            initializer.location = op.location
            module.body.block.insert_op_after(initializer, op)


def _start(op: util.GlobalOp) -> DenseAttr | None:
    value = op.initial_value
    if value is None or isinstance(value, DenseAttr):
        return value
    type = op.type
    if isinstance(value, util.UninitializedAttr) and is_tensor_type(type):
        return DenseAttr.from_buffer(type, encode_scalar(type.element_type, 0), splat=True)
    raise CompileError(Diagnostic(f"global @{op.sym_name.data} cannot start as {value.name}", location_of(op)))


def _initializer(name: str, value: DenseAttr) -> Operation:
    constant = ConstantOp(value)
    ops: list[Operation] = [constant, util.GlobalStoreOp(constant.result, name), util.ReturnOp()]
    return util.InitializerOp(Region(Block(ops)))
