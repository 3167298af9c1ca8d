"""`tiree-flow-inline-layers`: what was done once for equal layers is put back in the place of each.

In: functions marked as shared layers, of dispatches and what little stands between them, and their calls. Out: neither;
each operation has the location it would have had without sharing. Reshapes that met at a border are one.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import FusedLoc, LocationAttr, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects import util
from tiree.dialects.tensor_dims import is_dynamic, is_same_shape
from tiree.flow.cse import CSE
from tiree.flow.structured import erase_op, replace_op
from tiree.support.creation import copied
from tiree.support.shared_layers import SHARED_LAYER
from tiree.support.typed import array_of, operands_of, symbol_name


class InlineLayers(ModulePass):
    """Calls of shared layers become their operations."""

    name = "tiree-flow-inline-layers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        layers = {symbol_name(inner): inner for inner in op.body.block.ops if SHARED_LAYER in inner.attributes}
        if not layers:
            return
        for function in op.body.block.ops:
            if SHARED_LAYER in function.attributes:
                continue
            for inner in list(function.walk()):
                if isinstance(inner, util.CallOp) and (layer := layers.get(inner.callee.root_reference.data)):
                    inline(inner, layer)
        for layer in layers.values():
            erase_op(layer)
        _join_reshapes(op)
        CSE().apply(ctx, op)


def inline(call: util.CallOp, layer: Operation) -> None:
    """Replaces `call` by the operations of `layer`."""
    places = dict(zip(_parts(layer.location), _parts(call.location), strict=False))
    block = layer.regions[0].block
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, call.operands, strict=True))
    parent = call.parent
    assert parent is not None
    made: list[Operation] = []
    for op in block.ops:
        if op.name == "util.return":
            break
        copy = copied(op, values)
        for old, new in zip(op.walk(), copy.walk(), strict=True) if op.regions else ((op, copy),):
            new.location = places.get(old.location, old.location)
        made.append(copy)
    parent.insert_ops_before(made, call)
    last = block.last_op
    assert last is not None
    replace_op(call, [values.get(value, value) for value in last.operands])


def _parts(location: Attribute) -> list[LocationAttr]:
    if not isinstance(location, FusedLoc):
        return []
    return [part for part in array_of(location.locations) if isinstance(part, LocationAttr)]


def _join_reshapes(module: ModuleOp) -> None:
    """A reshape of a reshape reads what that reads; one that changes nothing goes."""
    for op in module.walk():
        if op.name != "flow.tensor.reshape":
            continue
        source = operands_of(op)[0].owner
        if isinstance(source, Operation) and source.name == op.name:
            if is_dynamic(source.operands[0]) or is_dynamic(op.operands[0]):
                continue  # The sizes that `op` names are those of what it reads now.
            op.operands[0] = source.operands[0]
        if is_same_shape(op):
            replace_op(op, [op.operands[0]])
