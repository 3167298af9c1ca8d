"""Handlers of `scf.for`, `scf.if`, `scf.while`: blocks and phis, no memory.

Loops are written rotated (test at the bottom, guarded once when the bounds are not known), the form that LLVM's code
generator strength-reduces. A loop that is known to run once is its body.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tiree.codegen.llvm.emitter import Emitter, Handler, is_literal
from tiree.codegen.llvm.types import lower_type


def for_op(e: Emitter, op: Operation) -> None:
    type = lower_type(op.operands[0].type)
    lower, upper, step = (e.values[o] for o in op.operands[:3])
    inits = [e.values[o] for o in op.operands[3:]]
    known = is_literal(lower) and is_literal(upper) and is_literal(step) and "unsignedCmp" not in op.properties
    if known and int(step) <= 0:
        raise e.error(f"step {step} is not positive", "scf.for counts upwards")
    trips = max(0, -(-(int(upper) - int(lower)) // int(step))) if known else -1
    if trips == 0:
        e.values.update(zip(op.results, inits, strict=True))
        return
    block = op.regions[0].block
    if trips == 1:
        e.values.update(zip(block.args, [lower, *inits], strict=True))
        terminator = e.run_block(block)
        e.values.update(zip(op.results, [e.values[o] for o in terminator.operands], strict=True))
        return
    _loop(e, op, type.text, (lower, upper, step), inits, guarded=trips < 0)


def _loop(e: Emitter, op: Operation, index: str, bounds: tuple[str, str, str], inits: list[str], guarded: bool) -> None:
    lower, upper, step = bounds
    block = op.regions[0].block
    less = "ult" if "unsignedCmp" in op.properties else "slt"
    body, after = e.label("for"), e.label("done")
    if guarded:
        e.branch_if(e.pure(f"icmp {less} {index} {lower}, {upper}"), body, after)
    else:
        e.branch(body)
    before = e.block
    e.start_block(body)
    induction = e.fresh()
    induction_line = e.placeholder()
    e.values[block.args[0]] = induction
    carried: list[tuple[int, str, str]] = []
    for argument in block.args[1:]:
        name = e.fresh()
        e.values[argument] = name
        carried.append((e.placeholder(), name, lower_type(argument.type).text))
    with e.scope():
        terminator = e.run_block(block)
    yielded = [e.values[o] for o in terminator.operands]
    latch = e.block
    following = e.emit(f"add {'nuw' if less == 'ult' else 'nsw'} {index} {induction}, {step}")
    e.branch_if(e.emit(f"icmp {less} {index} {following}, {upper}"), body, after)
    e.lines[induction_line] = f"  {induction} = phi {index} [ {lower}, %{before} ], [ {following}, %{latch} ]"
    for (line, name, type), init, value in zip(carried, inits, yielded, strict=True):
        e.lines[line] = f"  {name} = phi {type} [ {init}, %{before} ], [ {value}, %{latch} ]"
    e.start_block(after)
    for result, (_, _, type), init, value in zip(op.results, carried, inits, yielded, strict=True):
        if guarded:
            e.values[result] = e.emit(f"phi {type} [ {init}, %{before} ], [ {value}, %{latch} ]")
        else:
            e.values[result] = value


def if_op(e: Emitter, op: Operation) -> None:
    condition = e.values[op.operands[0]]
    if condition in ("true", "false"):
        _inline_branch(e, op, 0 if condition == "true" else 1)
        return
    has_else = bool(op.regions[1].blocks)
    then, after = e.label("then"), e.label("endif")
    other = e.label("else") if has_else else after
    e.branch_if(condition, then, other)
    arms: list[tuple[str, list[str]]] = []
    for label, region in zip((then, other), op.regions, strict=True):
        if not region.blocks:
            continue
        e.start_block(label)
        with e.scope():
            terminator = e.run_block(region.block)
        arms.append((e.block, [e.values[o] for o in terminator.operands]))
        e.branch(after)
    e.start_block(after)
    for i, result in enumerate(op.results):
        incoming = ", ".join(f"[ {values[i]}, %{label} ]" for label, values in arms)
        e.values[result] = e.emit(f"phi {lower_type(result.type).text} {incoming}")


def _inline_branch(e: Emitter, op: Operation, arm: int) -> None:
    region = op.regions[arm]
    if not region.blocks:
        return
    terminator = e.run_block(region.block)
    e.values.update(zip(op.results, [e.values[o] for o in terminator.operands], strict=True))


def while_op(e: Emitter, op: Operation) -> None:
    before, after = op.regions[0].block, op.regions[1].block
    header, body, done = e.label("while"), e.label("do"), e.label("done")
    entry = e.block
    inits = [e.values[o] for o in op.operands]
    e.branch(header)
    e.start_block(header)
    lines: list[tuple[int, str, SSAValue]] = []
    for argument in before.args:
        name = e.fresh()
        e.values[argument] = name
        lines.append((e.placeholder(), name, argument))
    # The condition's block dominates the body and what follows, so its subexpressions stay in scope.
    condition = e.run_block(before)
    flag = e.values[condition.operands[0]]
    passed = [e.values[o] for o in condition.operands[1:]]
    e.branch_if(flag, body, done)
    e.start_block(body)
    e.values.update(zip(after.args, passed, strict=True))
    with e.scope():
        terminator = e.run_block(after)
    back = [e.values[o] for o in terminator.operands]
    latch = e.block
    e.branch(header)
    for (line, name, argument), init, value in zip(lines, inits, back, strict=True):
        type = lower_type(argument.type).text
        e.lines[line] = f"  {name} = phi {type} [ {init}, %{entry} ], [ {value}, %{latch} ]"
    e.start_block(done)
    e.values.update(zip(op.results, passed, strict=True))


HANDLERS: dict[str, Handler] = {"scf.for": for_op, "scf.if": if_op, "scf.while": while_op}
