"""The host function that finds a device among those that a program is given: the n-th of a kind that runs its images.

Only programs that need another device than the first have it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import BoolAttr, IndexType, IntegerAttr, i1, i32
from xdsl.ir import Block, Operation, Region, SSAValue

from tiree.dialects import hal, util
from tiree.dialects.arith import ConstantOp

_INCOMPATIBLE = 18
"""The status code that IREE gives for it."""


def find_function(name: str, target: hal.DeviceTargetAttr) -> util.FuncOp:
    """`name(n)`: the device that is the n-th match for `target` (of its kind, and runs one of its formats), or null."""
    entry, index = Block(arg_types=[IndexType()]), IndexType()
    head, test, after = (
        Block(arg_types=[index, index]),
        Block(arg_types=[index, index]),
        Block(arg_types=[hal.DeviceType()]),
    )
    zero, one = ConstantOp.index(0), ConstantOp.index(1)
    count = hal.DevicesCountOp.create(result_types=[index])
    null = util.NullOp(hal.DeviceType())
    entry.add_ops([zero, one, count, null, cf.BranchOp(head, zero.result, zero.result)])
    number, found = head.args
    more = arith.CmpiOp(number, count.result, "slt")
    head.add_ops([more, cf.ConditionalBranchOp(more, test, [number, found], after, [null.results[0]])])
    number, found = test.args
    device = hal.DevicesGetOp(number)
    no = BoolAttr.from_bool(False)
    is_kind = hal.DeviceQueryOp(device.result, "hal.device.id", f"{target.device_id.data}*", i1, no)
    test.add_ops([device, is_kind])
    runs: SSAValue | None = None
    for format in formats(target):
        query = hal.DeviceQueryOp(device.result, "hal.executable.format", format, i1, no)
        test.add_op(query)
        if runs is None:
            runs = query.value
        else:
            either = arith.OrIOp(runs, query.value)
            test.add_op(either)
            runs = either.result
    matches = arith.AndIOp(is_kind.value, is_kind.value if runs is None else runs)
    is_wanted = arith.CmpiOp(found, entry.args[0], "eq")
    done = arith.AndIOp(matches, is_wanted)
    step = arith.SelectOp(matches, one.result, zero.result)
    next_found, next_number = arith.AddiOp(found, step), arith.AddiOp(number, one.result)
    branch = cf.ConditionalBranchOp(done, after, [device.result], head, [next_number.result, next_found.result])
    test.add_ops([matches, is_wanted, done, step, next_found, next_number, branch])
    after.add_op(util.ReturnOp(after.args[0]))
    type = ([IndexType()], [hal.DeviceType()])
    return util.FuncOp(name, type, Region([entry, head, test, after]), "private")


def formats(target: hal.DeviceTargetAttr) -> list[str]:
    """The formats of its images, each once."""
    return list(dict.fromkeys(one.format.data for one in target.targets.data))


def check_found(device: SSAValue, name: str, choices: Sequence[hal.DeviceTargetAttr]) -> list[Operation]:
    """Ends initialisation with a message when a device was not found."""
    null = util.NullOp(hal.DeviceType())
    missing = util.CmpEQOp(device, null.results[0])
    bad, good = ConstantOp(IntegerAttr(_INCOMPATIBLE, i32)), ConstantOp(IntegerAttr(0, i32))
    status = arith.SelectOp(missing.results[0], bad.result, good.result)
    described = " or ".join(_described(target) for target in choices)
    text = f"HAL device `{name}` not found or unavailable: {described}"
    return [null, missing, bad, good, status, util.StatusCheckOkOp(status.result, text)]


def _described(target: hal.DeviceTargetAttr) -> str:
    """A target without the configuration of its CPU."""
    number = f", {{ordinal = {target.ordinal} : index}}" if target.ordinal is not None else ""
    images = dict.fromkeys(
        f'#hal.executable.target<"{one.backend.data}", "{one.format.data}">' for one in target.targets.data
    )
    return f'#hal.device.target<"{target.device_id.data}"{number}, [{", ".join(images)}]>'
