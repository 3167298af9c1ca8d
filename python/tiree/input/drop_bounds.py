"""`tiree-input-drop-bounds`: `#stablehlo.bounds` on tensors is left out: a size with a bound is one that is unknown.

What is beyond the size that `set_dimension_size` gives takes part in nothing: the tensor is as large as it says.
"""

from __future__ import annotations

import re

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, ModuleOp, NoneAttr, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiree.dialects.stablehlo_base import BinaryOp, UnaryOp
from tiree.support.errors import CompileError, Diagnostic, linked
from tiree.support.locations import location_of
from tiree.support.typed import is_tensor_type

_BOUNDS = ("#stablehlo.bounds<", "#stablehlo.type_extensions<", "#mhlo.type_extensions<")
_OF_ONE_SHAPE = ("stablehlo.clamp", "stablehlo.select")
"""Beside functions of one and two operands: ops whose tensors of one rank have one shape."""
_LIST = re.compile(r"<(?:bounds\s*=\s*\[)?(?P<bounds>[^\]>]*)\]?>")


def _bounds(type: Attribute) -> list[int | None]:
    """For each dimension of a tensor how large it may be: its size, or its bound; None where nothing says it."""
    assert is_tensor_type(type)
    sizes = [None if size == DYNAMIC_INDEX else size for size in type.get_shape()]
    if _is_bounded(type):
        match = _LIST.search(str(type.encoding))
        given = match["bounds"].split(",") if match is not None else []
        for dim, bound in enumerate(given[: len(sizes)]):
            if sizes[dim] is None and bound.strip().isdecimal():
                sizes[dim] = int(bound)
    return sizes


def _is_bounded(type: Attribute) -> bool:
    return is_tensor_type(type) and not isinstance(type.encoding, NoneAttr) and str(type.encoding).startswith(_BOUNDS)


def _too_large(op: Operation) -> str:
    """What is wrong with an elementwise op one of whose tensors has more elements than the bound of another allows."""
    if op.name.startswith("chlo.broadcast"):
        return ""
    tensors = [value.type for value in (*op.operands, *op.results) if is_tensor_type(value.type)]
    for type in filter(_is_bounded, tensors):
        for other in tensors:
            if len(other.get_shape()) != len(type.get_shape()):
                continue
            for dim, (bound, size) in enumerate(zip(_bounds(type), other.get_shape(), strict=True)):
                if bound is not None and size > bound:
                    return f"dimension {dim} of {other} is {size}; {type} has at most {bound}"
    return ""


def _without(type: Attribute) -> Attribute:
    """`type` itself where it has no bounds. Raises `CompileError` for others than one for each dimension."""
    if is_tensor_type(type):
        if not _is_bounded(type):
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
    """In: any module. Out: the same without bounds of sizes. Raises one `CompileError` for bounds that do not
    fit their tensors, or one for all elementwise ops that others than these would have to fit."""

    name = "tiree-input-drop-bounds"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        known: dict[Attribute, Attribute] = {}
        wrong = [
            Diagnostic(f"{inner.name} is not valid: {reason}", location_of(inner))
            for inner in op.walk()
            if (isinstance(inner, UnaryOp | BinaryOp) or inner.name in _OF_ONE_SHAPE) and (reason := _too_large(inner))
        ]
        if wrong:
            raise CompileError(linked(wrong))
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
