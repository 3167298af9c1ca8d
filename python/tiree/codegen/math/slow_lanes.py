"""Lanes that the quick way of a function does not serve: a branch that is hardly ever taken leads to a scalar helper.

The lanes travel through stack memory that all calls of a kernel share. A lane whose number is known at run time only
cannot be taken from a register: LLVM does it through stack memory of its own for every such step, and a long kernel
then has a frame of many kilobytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from tiree.codegen.llvm.emitter import Emitter
from tiree.codegen.llvm.types import ltype
from tiree.codegen.math.builder import Value

_LANES = """\
define internal void {symbol}_lanes({pointers}, ptr %mask, i64 %lanes) noinline nounwind "no-builtins" {features} {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %following ]
  %at = getelementptr inbounds i8, ptr %mask, i64 %i
  %byte = load i8, ptr %at, align 1
  %wanted = icmp ne i8 %byte, 0
  br i1 %wanted, label %compute, label %following
compute:
  {body}
  br label %following
following:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %lanes
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""
"""Calls the helper for the lanes whose byte in the mask is set; writes over their results."""


def slow_lanes(helper: str, operands: Sequence[Value], results: Sequence[Value], mask: Value) -> list[Value]:
    """`results`, with those of the lanes in `mask` replaced by what the function `helper` makes of `operands`.

    `helper` is the symbol of a scalar function of the operands' elements; it returns the result or a struct of them.
    """
    e = mask.e
    slow, join = e.label("slow"), e.label("done")
    any_lane = mask.any().text
    before = e.block
    e.branch_if_rarely(any_lane, slow, join)
    e.start_block(slow)
    with e.scope():
        new = _through_memory(helper, operands, results, mask) if mask.type.lanes else _call(helper, operands, results)
        e.branch(join)
    e.start_block(join)
    merged: list[Value] = []
    for old, text in zip(results, new, strict=True):
        merged.append(Value(e, old.type, e.emit(f"phi {old.type.text} [ {old.text}, %{before} ], [ {text}, %{slow} ]")))
    return merged


def _returned(types: Sequence[str]) -> str:
    return types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}"


def _call(helper: str, operands: Sequence[Value], results: Sequence[Value]) -> list[str]:
    e = operands[0].e
    arguments = ", ".join(f"{value.type.text} {value.text}" for value in operands)
    types = [value.type.text for value in results]
    returned = e.emit(f"call {_returned(types)} {helper}({arguments})")
    if len(types) == 1:
        return [returned]
    return [e.emit(f"extractvalue {_returned(types)} {returned}, {i}") for i in range(len(types))]


def _through_memory(helper: str, operands: Sequence[Value], results: Sequence[Value], mask: Value) -> list[str]:
    e, lanes = mask.e, mask.type.lanes
    bytes = ltype("i", 8, lanes)
    flags = Value(e, bytes, e.pure(f"zext {mask.type.text} {mask.text} to {bytes.text}"))
    values = [*operands, *results, flags]
    slots = [e.shared_slot(f"lanes.{number}", value.type) for number, value in enumerate(values)]
    for slot, value in zip(slots, values, strict=True):
        e.do(f"store {value.type.text} {value.text}, ptr {slot}, align 64")
    pointers = ", ".join(f"ptr {slot}" for slot in slots)
    e.do(f"call void {_lanes_helper(e, helper, operands, results)}({pointers}, i64 {lanes})")
    written = zip(results, slots[len(operands) :], strict=False)
    return [e.emit(f"load {value.type.text}, ptr {slot}, align 64") for value, slot in written]


def _lanes_helper(e: Emitter, helper: str, operands: Sequence[Value], results: Sequence[Value]) -> str:
    """The symbol of the function that applies `helper` to lanes in memory."""
    names = [f"%o{i}" for i in range(len(operands))] + [f"%r{i}" for i in range(len(results))]
    types = [value.type.elem for value in results]
    body: list[str] = []
    arguments: list[str] = []
    for i, value in enumerate(operands):
        elem = value.type.elem
        body += [
            f"%p{i} = getelementptr inbounds {elem}, ptr %o{i}, i64 %i",
            f"%v{i} = load {elem}, ptr %p{i}, align 4",
        ]
        arguments.append(f"{elem} %v{i}")
    body.append(f"%all = call {_returned(types)} {helper}({', '.join(arguments)})")
    for i, elem in enumerate(types):
        single = len(types) == 1
        if not single:
            body.append(f"%w{i} = extractvalue {_returned(types)} %all, {i}")
        body.append(f"%q{i} = getelementptr inbounds {elem}, ptr %r{i}, i64 %i")
        body.append(f"store {elem} {'%all' if single else f'%w{i}'}, ptr %q{i}, align 4")
    text = _LANES.format(
        symbol=helper,
        pointers=", ".join(f"ptr {name}" for name in names),
        features=e.module.function_attributes,
        body="\n  ".join(body),
    )
    return e.module.use_helper(f"{helper[1:]}_lanes", text)
