"""`tiree-input-drop-bounds`: `#stablehlo.bounds` on tensors is left out: a size with a bound is one that is unknown.

What is beyond the size that `set_dimension_size` gives takes part in nothing: the tensor is as large as it says.
"""

from __future__ import annotations

import re

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, NoneAttr, TensorType
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiree.support.errors import CompileError
from tiree.support.typed import is_tensor_type

_BOUNDS = ("#stablehlo.bounds<", "#stablehlo.type_extensions<", "#mhlo.type_extensions<")
_LIST = re.compile(r"<(?:bounds\s*=\s*\[)?(?P<bounds>[^\]>]*)\]?>")


def _without(type: Attribute) -> Attribute:
    """`type` itself where it has no bounds. Raises `CompileError` for others than one for each dimension."""
    if is_tensor_type(type):
        if isinstance(type.encoding, NoneAttr) or not str(type.encoding).startswith(_BOUNDS):
            return type
        match = _LIST.search(str(type.encoding))
        count = len(match["bounds"].split(",")) if match is not None and match["bounds"].strip() else 0
        if count != len(type.get_shape()):
            raise CompileError(f"{type} has {count} bounds for {len(type.get_shape())} dimensions")
        return TensorType(type.element_type, type.shape)
    if isinstance(type, FunctionType):
        inputs, outputs = ([_without(one) for one in types.data] for types in (type.inputs, type.outputs))
        return FunctionType.from_lists(inputs, outputs)
    return type


class DropBoundsPass(ModulePass):
    """In: any module. Out: the same without bounds of sizes. Raises `CompileError` for bounds that do not fit."""

    name = "tiree-input-drop-bounds"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        known: dict[Attribute, Attribute] = {}
        for inner in op.walk():
            values = [*inner.results, *(arg for region in inner.regions for b in region.blocks for arg in b.args)]
            for value in values:
                type = known.get(value.type)
                if type is None:
                    type = known[value.type] = _without(value.type)
                if type is not value.type:
                    Rewriter.replace_value_with_new_type(value, type)
            function = inner.properties.get("function_type")
            if function is not None:
                inner.properties["function_type"] = _without(function)
