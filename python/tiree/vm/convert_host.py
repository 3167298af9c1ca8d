"""Control flow, calls and globals of the host program: `cf` and `util` to `vm`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.dialects.builtin import ArrayAttr, StringAttr, SymbolRefAttr, i1, i8, i16, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiree.dialects import vm
from tiree.dialects.cf_ext import SwitchOp
from tiree.support.branches import branch_arguments
from tiree.support.typed import is_integer_attr
from tiree.vm.builder import FunctionBuilder, convert_type, fail, scalar_suffix
from tiree.vm.convert_arith import extended
from tiree.vm.convert_checks import convert_assert, fail_if
from tiree.vm.convert_hal import segments

Handler = Callable[[FunctionBuilder, Operation], None]


def _br(b: FunctionBuilder, op: Operation) -> None:
    b.block.add_op(vm.BranchOp(b.blocks[op.successors[0]], [b.get(v) for v in op.operands]))


def _cond_br(b: FunctionBuilder, op: Operation) -> None:
    condition, true_values, false_values = ([b.get(v) for v in g] for g in segments(op))
    true, false = (b.blocks[s] for s in op.successors)
    b.block.add_op(vm.CondBranchOp(condition[0], true, true_values, false, false_values))


def _switch(b: FunctionBuilder, op: Operation) -> None:
    """A chain of comparisons: switches of host code are short."""
    assert isinstance(op, SwitchOp)
    passed = [[b.get(value) for value in branch_arguments(op, edge)] for edge in range(len(op.successors))]
    selector = extended(b, op.flag, signed=True)
    suffix = scalar_suffix(selector.type)
    for number, successor, operands in zip(op.case_numbers, op.case_blocks, passed[1:], strict=True):
        value = -(number & 1) if op.flag.type == i1 else number
        equal = b.value(f"cmp.eq.{suffix}", [selector, b.constant(value, selector.type)], i32)
        following = b.new_block()
        b.block.add_op(vm.CondBranchOp(equal, b.blocks[successor], operands, following, []))
        b.block = following
    b.block.add_op(vm.BranchOp(b.blocks[op.default_block], passed[0]))


def _check_ok(b: FunctionBuilder, op: Operation) -> None:
    message = op.properties.get("message")
    fail_if(b, b.get(op.operands[0]), message.data if isinstance(message, StringAttr) else "")


def _unreachable(b: FunctionBuilder, op: Operation) -> None:
    message = op.properties.get("message")
    text = message.data if isinstance(message, StringAttr) else "unreachable code was reached"
    b.block.add_op(vm.fail_op(b.i32(2), text))


def _returned(b: FunctionBuilder, value: SSAValue) -> SSAValue:
    """The register of a result: i8 and i16 leave a function as the signed numbers that they are.

    An argument that is handed back keeps the bits that the caller chose.
    """
    owner = value.owner
    if isinstance(owner, Block) and owner.parent is not None and owner.parent.blocks.first is owner:
        return b.get(value)
    return extended(b, value, signed=True) if value.type in (i8, i16) else b.get(value)


def _return(b: FunctionBuilder, op: Operation) -> None:
    values = [_returned(b, v) for v in op.operands]
    if b.inlined:  # an initializer of one block: `__init` goes on behind it
        return
    if b.return_block is not None:  # an initializer of several blocks
        b.block.add_op(vm.BranchOp(b.return_block))
    else:
        b.block.add_op(vm.return_op(values))


def _call(b: FunctionBuilder, op: Operation) -> None:
    callee = op.properties["callee"]
    assert isinstance(callee, SymbolRefAttr)
    types = [convert_type(r.type, op) for r in op.results]
    operands = [b.get(v) for v in op.operands]
    target = SymbolRefAttr(b.state.function_name(callee.root_reference.data))
    if callee.root_reference.data in b.state.yielding_functions:
        after = b.new_block(types)
        properties = {"callee": target, "result_types": ArrayAttr(types)}
        b.block.add_op(vm.call_yieldable_op().create(operands=operands, properties=properties, successors=[after]))
        b.block = after
        results: list[SSAValue] = list(after.args)
    elif callee.root_reference.data in b.state.fallbacks:
        results = _call_or_fallback(b, callee.root_reference.data, operands, types)
    else:
        results = list(b.emit("call", operands, types, callee=target).results)
    b.values.update(zip(op.results, results, strict=True))


def _call_or_fallback(
    b: FunctionBuilder, name: str, operands: list[SSAValue], types: list[Attribute]
) -> list[SSAValue]:
    """A call of a function of another module where that is there, else of what stands in for it."""
    resolved = b.value("import.resolved", [], i32, import_=SymbolRefAttr(name))
    after = b.new_block(types)
    absent, present = b.new_block(), b.new_block()
    b.block.add_op(vm.CondBranchOp(resolved, present, [], absent, []))
    for block, callee in (present, name), (absent, b.state.function_name(b.state.fallbacks[name])):
        b.block = block
        results = b.emit("call", operands, types, callee=SymbolRefAttr(callee)).results
        b.block.add_op(vm.BranchOp(after, list(results)))
    b.block = after
    return list(after.args)


def _global_load(b: FunctionBuilder, op: Operation) -> None:
    type = convert_type(op.results[0].type, op)
    name = f"global.load.{scalar_suffix(type)}"
    b.values[op.results[0]] = b.value(name, [], type, global_=op.properties["global"])


def _global_store(b: FunctionBuilder, op: Operation) -> None:
    value = b.get(op.operands[0])
    b.emit(f"global.store.{scalar_suffix(value.type)}", [value], global_=op.properties["global"])


def _null(b: FunctionBuilder, op: Operation) -> None:
    b.values[op.results[0]] = b.null(convert_type(op.results[0].type, op))


def _compare_refs(name: str, b: FunctionBuilder, op: Operation) -> None:
    """A comparison with null has an instruction of its own."""
    lhs, rhs = op.operands
    for value, other in ((lhs, rhs), (rhs, lhs)):
        if isinstance(other.owner, Operation) and other.owner.name == "util.null":
            result = b.value("cmp.nz.ref", [b.get(value)], i32)
            if name == "eq":
                result = b.value("xor.i32", [result, b.i32(1)], i32)
            break
    else:
        result = b.value(f"cmp.{name}.ref", [b.get(lhs), b.get(rhs)], i32)
    b.values[op.results[0]] = result


def _identity(b: FunctionBuilder, op: Operation) -> None:
    for result, operand in zip(op.results, op.operands, strict=True):
        b.values[result] = b.get(operand)


def _buffer_constant(b: FunctionBuilder, op: Operation) -> None:
    name, alignment = op.properties.get("name"), op.properties.get("alignment")
    mime = op.properties.get("mime_type")
    data = b.state.rodata_op(
        op.properties["value"],
        name.data if isinstance(name, StringAttr) else "_const",
        alignment.value.data if is_integer_attr(alignment) else 16,
        mime.data if isinstance(mime, StringAttr) else "",
    )
    b.values[op.results[0]] = b.rodata(data)


def _list_get(b: FunctionBuilder, op: Operation) -> None:
    type = convert_type(op.results[0].type, op)
    index = b.as_type(b.get(op.operands[1]), i32)
    b.values[op.results[0]] = b.value(f"list.get.{scalar_suffix(type)}", [b.get(op.operands[0]), index], type)


def _align(b: FunctionBuilder, op: Operation) -> None:
    """The next multiple of a power of two."""
    value, alignment = (b.get(operand) for operand in op.operands)
    suffix, type = scalar_suffix(value.type), value.type
    rest = b.value(f"sub.{suffix}", [alignment, b.constant(1, type)], type)
    reached = b.value(f"add.{suffix}", [value, rest], type)
    mask = b.value(f"xor.{suffix}", [rest, b.constant(-1, type)], type)
    b.values[op.results[0]] = b.value(f"and.{suffix}", [reached, mask], type)


def _unsupported_scf(b: FunctionBuilder, op: Operation) -> None:
    del b
    raise fail(op, f"{op.name} is still structured control flow at the vm stage", "run the stream stage first")


HANDLERS: dict[str, Handler] = {
    "cf.br": _br,
    "cf.cond_br": _cond_br,
    "cf.switch": _switch,
    "cf.assert": convert_assert,
    "util.status.check_ok": _check_ok,
    "util.unreachable": _unreachable,
    "util.return": _return,
    "util.call": _call,
    "util.global.load": _global_load,
    "util.global.store": _global_store,
    "util.null": _null,
    "util.cmp.eq": partial(_compare_refs, "eq"),
    "util.cmp.ne": partial(_compare_refs, "ne"),
    "util.optimization_barrier": _identity,
    "util.assume.int": _identity,
    "util.align": _align,
    "util.buffer.constant": _buffer_constant,
    "util.list.get": _list_get,
    **dict.fromkeys(("scf.if", "scf.while", "scf.for", "scf.index_switch"), _unsupported_scf),
}
