"""What a device is asked before it runs a variant: which features its CPU has.

Only where a device can run several variants of one format is there something to ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects.arith import AndIOp
from xdsl.dialects.builtin import BoolAttr, StringAttr, i1
from xdsl.ir import Block, Operation, Region, SSAValue

from tiree.dialects import hal
from tiree.hal.targets import DeviceTargets
from tiree.support.cpu_variants import architecture, checked_features


def conditions(
    targets: DeviceTargets, known: Iterable[hal.ExecutableTargetAttr]
) -> Mapping[hal.ExecutableTargetAttr, hal.ExecutableConditionOp]:
    """The condition of each target's variants that has one."""
    found: dict[hal.ExecutableTargetAttr, hal.ExecutableConditionOp] = {}
    shared = targets.sharing_a_format()
    for target in known:
        if target in shared and target.backend.data == "llvm-cpu":
            features = _features(target)
            if features:
                found[target] = _condition(features)
    return found


def _features(target: hal.ExecutableTargetAttr) -> list[str]:
    facts = {name: value.data for name, value in target.configuration.data.items() if isinstance(value, StringAttr)}
    return checked_features(architecture(facts.get("target_triple", "")), facts.get("cpu_features", ""))


def _condition(features: Iterable[str]) -> hal.ExecutableConditionOp:
    block = Block(arg_types=[hal.DeviceType()])
    answer: SSAValue | None = None
    for feature in features:
        query = hal.DeviceQueryOp(block.args[0], "hal.cpu", feature, i1, BoolAttr.from_bool(False))
        block.add_op(query)
        if answer is None:
            answer = query.value
        else:
            both: Operation = AndIOp(answer, query.value)
            block.add_op(both)
            answer = both.results[0]
    assert answer is not None
    block.add_op(hal.ReturnOp(answer))
    return hal.ExecutableConditionOp(Region(block))
