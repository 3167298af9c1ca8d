"""Ops that stand for something outside of the program or for one of its functions: custom_call and composite."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects.dense import DenseAttr
from tiree.input.checks.custom_calls import check_target
from tiree.input.checks.values import need, need_same_type
from tiree.scalars.builder import inherent
from tiree.support.symbols import defined_symbol
from tiree.support.typed import is_array_attr, is_tensor_type

_NAMESPACED = re.compile(r"[a-zA-Z][\w$]*(?:\.[\w$]+)+", re.ASCII)
"""Names of operations behind that of a dialect."""


def _function(op: Operation, name: str) -> Operation | None:
    """The function of this name in the module that `op` is in."""
    module: Operation = op
    while (outer := module.parent_op()) is not None:
        module = outer
    ops = module.regions[0].block.ops if module.regions else ()
    return next((each for each in ops if defined_symbol(each) == name), None)


def _composite(op: Operation) -> None:
    """What it is given and gives goes with the function that it stands for. One that is missing is refused later."""
    called = inherent(op, "name")
    text = called.data if isinstance(called, StringAttr) else ""
    need(_NAMESPACED.fullmatch(text) is not None, f"its name is {text!r}, not one such as 'my_namespace.my_op'")
    name = inherent(op, "decomposition")
    need(isinstance(name, SymbolRefAttr), "it names no function as its decomposition")
    function = _function(op, name.root_reference.data) if isinstance(name, SymbolRefAttr) else None
    need(function is None or any(region.blocks for region in function.regions), f"its decomposition {name} has no body")
    type = function.properties.get("function_type") if function is not None else None
    if not isinstance(type, FunctionType):
        return
    for have, wanted, what in (
        (op.operands, type.inputs.data, "operand"),
        (op.results, type.outputs.data, "result"),
    ):
        need(len(have) == len(wanted), f"it has {len(have)} {what}s; its decomposition has {len(wanted)}")
        for value, of_function in zip(have, wanted, strict=True):
            if value.type != of_function:
                need_same_type(value, of_function, f"{what} and that of the decomposition")


def _layouts(op: Operation, name: str, values: Sequence[SSAValue]) -> None:
    """The layouts of `values`, where the op has any: for each the order of its dimensions, the closest ones first."""
    layouts = inherent(op, name)
    if not is_array_attr(layouts) or not all(is_tensor_type(value.type) for value in values):
        return
    need(len(layouts.data) == len(values), f"{name} has {len(layouts.data)} entries for {len(values)} values")
    for layout, value in zip(layouts.data, values, strict=True):
        order, rank = _order(layout), len(value.type.get_shape()) if is_tensor_type(value.type) else 0
        if order is not None:
            need(sorted(order) == list(range(rank)), f"{name} has {order}, which is no order of {rank} dimensions")


def _order(layout: Attribute) -> list[int] | None:
    if not isinstance(layout, DenseAttr):
        return None
    return [int(dim) for dim in layout.to_numpy().reshape(-1).tolist()]


def _custom_call(op: Operation) -> None:
    _layouts(op, "operand_layouts", op.operands)
    _layouts(op, "result_layouts", op.results)
    check_target(op)


CHECKS = {"stablehlo.composite": _composite, "stablehlo.custom_call": _custom_call}
