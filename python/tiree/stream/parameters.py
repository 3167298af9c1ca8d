"""Globals that start as parameters: one initializer loads them, scope by scope, before anything reads them."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tiree.dialects import stream, util
from tiree.dialects.arith import ConstantOp
from tiree.dialects.dense import element_byte_size, element_count
from tiree.dialects.flow_parameters import NamedParameterAttr
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.symbols import SymbolNames
from tiree.support.typed import is_tensor_type


def _byte_length(op: util.GlobalOp) -> int:
    type = op.type
    assert is_tensor_type(type)
    try:
        if all(size >= 0 for size in type.get_shape()):
            return element_count(type) * element_byte_size(type.element_type)
    except TypeError:
        pass
    message = f"parameter @{op.sym_name.data} has type {type}, whose bytes are not known"
    raise CompileError(Diagnostic(message, location_of(op), "give it a static shape and a type with a layout"))


def take_parameter_globals(
    module: ModuleOp, lifetime: str, affinity: Attribute | None
) -> tuple[util.GlobalOp, util.InitializerOp] | None:
    """Tensor globals whose initial value is a parameter become resources.

    Returns the last and the initializer, already a schedule, that belongs behind it; None without parameters.
    """
    _outline_constants(module)
    scopes: dict[str | None, list[tuple[util.GlobalOp, NamedParameterAttr, int]]] = {}
    last: util.GlobalOp | None = None
    for op in module.ops:
        if isinstance(op, util.GlobalOp) and isinstance(op.initial_value, NamedParameterAttr):
            if op.initial_value.type != op.type or not is_tensor_type(op.type):
                message = f"global @{op.sym_name.data} has type {op.type}, its parameter {op.initial_value.type}"
                raise CompileError(Diagnostic(message, location_of(op), "give both the same tensor type"))
            scopes.setdefault(op.initial_value.scope_name, []).append((op, op.initial_value, _byte_length(op)))
            last = op
    if last is None:
        return None
    body = Block()
    for scope, loads in scopes.items():
        _load(body, scope, loads, lifetime, affinity)
    body.add_op(util.ReturnOp())
    for loads in scopes.values():
        for op, _, _ in loads:
            del op.properties["initial_value"]
            op.properties["type"] = stream.ResourceType(lifetime)
    return last, util.InitializerOp(Region(body))


def _outline_constants(module: ModuleOp) -> None:
    """Parameters in the middle of functions, as another compiler leaves them, become globals that are loaded there."""
    names: SymbolNames | None = None
    made: dict[NamedParameterAttr, util.GlobalOp] = {}
    for function in list(module.ops):
        if not isinstance(function, (util.FuncOp, util.InitializerOp)):
            continue
        for op in list(function.body.walk()):
            value = op.properties.get("value") if op.name == "flow.tensor.constant" else None
            if not isinstance(value, NamedParameterAttr):
                continue
            if value not in made:
                names = names or SymbolNames(module)
                name = names.unique(f"__parameter_{value.scope_name or ''}_{value.key.data}")
                made[value] = util.GlobalOp(name, value.type, value)
            load = util.GlobalLoadOp(made[value].sym_name.data, value.type, immutable=True)
            load.location = op.location
            block = op.parent
            assert block is not None
            block.insert_op_before(load, op)
            op.results[0].replace_all_uses_with(load.results[0])
            block.erase_op(op)
    first = next((op for op in module.ops if isinstance(op, (util.FuncOp, util.InitializerOp))), None)
    if made and first is not None:
        module.body.block.insert_ops_before(list(made.values()), first)


def _load(
    body: Block,
    scope: str | None,
    loads: list[tuple[util.GlobalOp, NamedParameterAttr, int]],
    lifetime: str,
    affinity: Attribute | None,
) -> None:
    def add(op: Operation) -> SSAValue:
        body.add_op(op)
        return op.results[0]

    zero = add(ConstantOp.integer(0, i64))
    sizes = [add(ConstantOp.index(size)) for _, _, size in loads]
    keys = [add(util.BufferConstantOp(StringAttr(parameter.key.data))) for _, parameter, _ in loads]
    source = None if scope is None else add(util.BufferConstantOp(StringAttr(scope)))
    load = stream.CmdParameterLoadOp(source, keys, [zero] * len(keys), sizes, lifetime, affinity)
    body.add_op(load)
    awaited = stream.TimepointAwaitOp(list(load.results_), sizes, load.result_timepoint, sync=True)
    body.add_op(awaited)
    for (op, _, _), resource in zip(loads, awaited.results_, strict=True):
        body.add_op(util.GlobalStoreOp(resource, op.sym_name.data))
