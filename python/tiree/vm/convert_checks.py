"""Checks of the host program (`cf.assert`) to `vm`. One that compares sizes names both when it fails.

What `vm.fail` says is fixed when the program is compiled, so a check of sizes ends otherwise: with an assertion about
the shape of a buffer view that is made for it. Both runtimes print the number that is expected and the one that is
there behind the text of such an assertion. A function that all checks of a program share does it.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr, i32, i64
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from tiree.dialects import vm
from tiree.dialects.arith import constant_int
from tiree.support.marks import SIZE_CHECK
from tiree.support.typed import int_of
from tiree.vm.builder import FunctionBuilder, ModuleState, Span
from tiree.vm.convert_arith import extended
from tiree.vm.imports import vm_type

_INVALID_ARGUMENT, _FAILED_PRECONDITION = 3, 9
_EQ, _NE, _SLT, _SGT, _ULT, _UGT = 0, 1, 2, 4, 6, 8
_DEVICE_LOCAL, _TRANSFER_AND_DISPATCH = 0x30, 0xC03


def convert_assert(b: FunctionBuilder, op: Operation) -> None:
    message = op.properties["msg"]
    assert isinstance(message, StringAttr)
    if SIZE_CHECK in op.attributes:
        for condition in _conjuncts(op.operands[0]):
            _check_size(b, op, condition, message.data)
        return
    _fail_unless(b, b.get(op.operands[0]), _FAILED_PRECONDITION, message.data)


def fail_if(b: FunctionBuilder, status: SSAValue, message: str) -> None:
    """Ends the invocation when `status` is not OK; emission goes on where it is."""
    going_on = b.new_block()
    failing = Block()
    b.failures.append(failing)
    failing.add_op(vm.fail_op(status, message))
    b.block.add_op(vm.CondBranchOp(status, failing, [], going_on, []))
    b.block = going_on


def _fail_unless(b: FunctionBuilder, condition: SSAValue, wrong: int, message: str) -> None:
    failed = b.value("xor.i32", [condition, b.i32(1)], i32)
    fail_if(b, b.value("select.i32", [failed, b.i32(wrong), b.i32(0)], i32), message)


def _maker(value: SSAValue) -> Operation | None:
    return value.op if isinstance(value, OpResult) else None


def _conjuncts(condition: SSAValue) -> list[SSAValue]:
    """The conditions that must all hold."""
    op = _maker(condition)
    if op is not None and op.name == "arith.andi":
        return [part for operand in op.operands for part in _conjuncts(operand)]
    return [condition]


def _compared(condition: SSAValue) -> Operation | None:
    """The comparison whose numbers tell why `condition` does not hold; of alternatives, one of two values."""
    op = _maker(condition)
    if op is None:
        return None
    if op.name == "arith.ori":
        found = [one for operand in op.operands if (one := _compared(operand)) is not None]
        free = [one for one in found if all(constant_int(value) is None for value in one.operands)]
        return (free or found or [None])[-1]
    return op if op.name == "arith.cmpi" and int_of(op.properties["predicate"]) != _NE else None


@dataclass
class _Numbers:
    """What a comparison wants, and what there is, in 64 bits."""

    wanted: SSAValue
    given: SSAValue


def _numbers(b: FunctionBuilder, compare: Operation) -> _Numbers:
    predicate = int_of(compare.properties["predicate"])
    given, wanted = compare.operands
    rest = _maker(given)
    signed = predicate < _ULT
    if (
        predicate == _EQ
        and rest is not None
        and rest.name in ("arith.remui", "arith.remsi")
        and constant_int(wanted) == 0
    ):
        # A size that is no multiple: the next smaller one that is.
        size, left = (b.as_type(extended(b, value, True), i64) for value in (rest.operands[0], given))
        return _Numbers(b.value("sub.i64", [size, left], i64), size)
    have, want = (b.as_type(extended(b, value, signed), i64) for value in (given, wanted))
    if predicate in (_SLT, _ULT, _SGT, _UGT):
        step = -1 if predicate in (_SLT, _ULT) else 1
        want = b.value("add.i64", [want, b.i64(step)], i64)
    return _Numbers(want, have) if constant_int(given) is None else _Numbers(have, want)


def _check_size(b: FunctionBuilder, op: Operation, condition: SSAValue, message: str) -> None:
    compare = _compared(condition)
    function = None if compare is None else _size_check(b.state, op)
    if compare is None or function is None:
        _fail_unless(b, b.get(condition), _INVALID_ARGUMENT, message)
        return
    numbers = _numbers(b, compare)
    operands = [b.get(condition), b.string(f"{message};"), numbers.wanted, numbers.given]
    b.emit("call", operands, callee=SymbolRefAttr(function.sym_name.data))


def _size_check(state: ModuleState, op: Operation) -> vm.FuncOp | None:
    """The function that a failing check calls, made on first use; None in a program without buffers."""
    if state.size_check is None:
        module = op
        while (parent := module.parent_op()) is not None:
            module = parent
        names = {one.name.partition(".")[0] for one in module.walk()}
        if "hal_inline" in names:
            state.size_check = _make(state, "hal_inline")
        elif "hal" in names:
            state.size_check = _make(state, "hal")
    return state.size_check


def _make(state: ModuleState, module: str) -> vm.FuncOp:
    """`(holds, text, wanted, given)`: fails unless the first is 1."""
    types = [i32, vm.BufferType(), i64, i64]
    region = Region()
    b = FunctionBuilder(state, region)
    entry = Block(arg_types=types)
    b.start(entry)
    holds, text, wanted, given = entry.args
    passed, failed = Block(), Block()
    entry.add_op(vm.CondBranchOp(holds, passed, [], failed, []))
    b.start(passed)
    b.block.add_op(vm.return_op())
    b.start(failed)
    shapes: list[Span] = [[(given,)], [(wanted,)]]
    opaque = b.i32(0)
    arguments: list[SSAValue | Span] = [_buffer(b, module), b.i64(0), b.i64(1), opaque, opaque, shapes[0]]
    view = b.call_import(f"{module}.buffer_view.create", arguments)
    b.call_import(f"{module}.buffer_view.assert", [view[0], text, opaque, opaque, shapes[1]])
    b.block.add_op(vm.fail_op(b.i32(_INVALID_ARGUMENT), "a size does not fit"))
    b.finish()
    return vm.FuncOp(state.names.unique("tiree.size_check"), types, [], region)


def _buffer(b: FunctionBuilder, module: str) -> SSAValue:
    """Some buffer of one byte."""
    one = b.i64(1)
    if module == "hal_inline":
        return b.call_import("hal_inline.buffer.allocate", [b.i32(1), one])[0]
    device = b.call_import("hal.devices.get", [b.i32(0)])[0]
    none, zero = b.null(vm_type("hal.fence")), b.i64(0)
    types, usage = b.i32(_DEVICE_LOCAL), b.i32(_TRANSFER_AND_DISPATCH)
    return b.call_import("hal.device.queue.alloca", [device, b.i64(-1), none, none, zero, types, usage, one, zero])[0]
