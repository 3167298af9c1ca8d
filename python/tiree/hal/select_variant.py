"""Which of several variants of an executable a device runs: asked once, when the program starts.

The answer is a number, the place among the variants in question; executables with the same variants share it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, SymbolRefAttr, i1, i32
from xdsl.ir import Block, Operation, Region, SSAValue

from tiree.dialects import hal, util
from tiree.dialects.arith import ConstantOp
from tiree.hal.values import Emitter

_UNAVAILABLE = 14
"""The status code that IREE gives for it."""


_HINT = "Recompile for this device, or with `generic` among the CPUs."


def choose(emitter: Emitter, variants: Sequence[hal.ExecutableVariantOp], what: str) -> SSAValue:
    """The number of the first of `variants` that the emitter's device can run; ends the program when it is none.

    `what` names the device and the executable.
    """
    formats = [variant.target.format.data for variant in variants]
    ask_format = len(set(formats)) > 1
    answers = [_answer(emitter, variant, ask_format) for variant in variants]
    number = emitter.i32(-1) if answers[-1] is not None else emitter.i32(len(answers) - 1)
    for place, answer in reversed(list(enumerate(answers))):
        if answer is not None:
            number = emitter.value(arith.SelectOp(answer, emitter.i32(place), number))
    if answers[-1] is not None:
        none = emitter.value(arith.CmpiOp(number, emitter.i32(-1), "eq"))
        status = emitter.value(arith.SelectOp(none, emitter.i32(_UNAVAILABLE), emitter.i32(0)))
        available = "; ".join(described(variant) for variant in variants)
        emitter.add(util.StatusCheckOkOp(status, f"{what}; available: {available}. {_HINT}"))
    return number


def _answer(emitter: Emitter, variant: hal.ExecutableVariantOp, ask_format: bool) -> SSAValue | None:
    """Whether the device can run the variant; None: nothing need be asked."""
    answer: SSAValue | None = None
    if ask_format:
        format = variant.target.format.data
        query = hal.DeviceQueryOp(emitter.device(), "hal.executable.format", format, i1, BoolAttr.from_bool(False))
        emitter.add(query)
        answer = query.value
    if variant.condition is None:
        return answer
    block = variant.condition.body.block
    mapping: dict[SSAValue, SSAValue] = {block.args[0]: emitter.device()}
    for op in block.ops:
        if isinstance(op, hal.ReturnOp):
            condition = mapping[op.arguments[0]]
            return condition if answer is None else emitter.value(arith.AndIOp(answer, condition))
        emitter.add(op.clone(value_mapper=mapping))
    raise AssertionError("a condition ends with hal.return")


def described(variant: hal.ExecutableVariantOp) -> str:
    """A variant for messages: its format, its CPU, and what it asks of one."""
    cpu = variant.target.configuration.data.get("cpu")
    text = f"{variant.target.format.data}" + (f" for {getattr(cpu, 'data', cpu)}" if cpu is not None else "")
    if variant.condition is None:
        return text
    asked = [op.key.data for op in variant.condition.body.block.ops if isinstance(op, hal.DeviceQueryOp)]
    return f"{text}, which needs {', '.join(asked)}"


def load_function(name: str, images: Sequence[SymbolRefAttr], queue: int) -> util.FuncOp:
    """`name(device, number)`: the executable from the image with that number."""
    entry = Block(arg_types=[hal.DeviceType(), i32])
    device, number = entry.args
    after = Block(arg_types=[hal.ExecutableType()])
    after.add_op(util.ReturnOp(after.args[0]))
    blocks = [entry]
    block = entry
    for place, image in enumerate(images):
        affinity = ConstantOp(IntegerAttr(queue, 64))
        create = hal.ExecutableCreateOp(device, affinity.result, image)
        ending: list[Operation] = [affinity, create, cf.BranchOp(after, create.result)]
        if place == len(images) - 1:
            block.add_ops(ending)
            break
        this, other = Block(ending), Block()
        wanted = ConstantOp(IntegerAttr(place, i32))
        is_wanted = arith.CmpiOp(number, wanted.result, "eq")
        block.add_ops([wanted, is_wanted, cf.ConditionalBranchOp(is_wanted.result, this, [], other, [])])
        blocks += [this, other]
        block = other
    type = ([hal.DeviceType(), i32], [hal.ExecutableType()])
    return util.FuncOp(name, type, Region([*blocks, after]), "private")


def select_counts(emitter: Emitter, number: SSAValue, counts: Sequence[Sequence[SSAValue]]) -> list[SSAValue]:
    """Workgroup counts in x, y and z for the variant with that number."""
    selected = list(counts[-1])
    for place in reversed(range(len(counts) - 1)):
        for dimension, count in enumerate(counts[place]):
            if count is not selected[dimension]:
                same = emitter.value(arith.CmpiOp(number, emitter.i32(place), "eq"))
                selected[dimension] = emitter.value(arith.SelectOp(same, count, selected[dimension]))
    return selected


Number = Callable[[str], "SSAValue | None"]
"""The number of the variant of an executable that runs; None: there is one."""
