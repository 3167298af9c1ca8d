"""`tiree-hal-assign-target`: names the device that a module is compiled for.

In: a module that may have named one itself. Out: `util.global private @__device_0` with a `#hal.device.target`, and the
module attribute `stream.affinity.default` that points to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from tiree.dialects import hal, util
from tiree.support.symbols import SymbolNames

DEVICE_GLOBAL = "__device_0"


def device_target(triple: str, cpu: str, features: str, stack_limit: int) -> hal.DeviceTargetAttr:
    """The local CPU device for a triple, CPU and features. Raises `CompileError` for names that LLVM does not know."""
    from tiree.support.cpu_target import resolve_cpu_target

    facts = resolve_cpu_target(triple, cpu, features, stack_limit)
    format = facts.pop("format")
    configuration: dict[str, Attribute] = {
        name: IntegerAttr(value, i64) if isinstance(value, int) else StringAttr(value)
        for name, value in sorted(facts.items())
    }
    return hal.DeviceTargetAttr("local", [hal.ExecutableTargetAttr("llvm-cpu", format, configuration)])


@dataclass(frozen=True)
class AssignTargetPass(ModulePass):
    """See the module's docstring."""

    name = "tiree-hal-assign-target"
    triple: str = ""
    cpu: str = "host"
    features: str = ""
    stack_limit: int = 32768
    device: hal.DeviceTargetAttr | None = None
    """The device; None: the local CPU, described by the other fields."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        device = next((o for o in op.ops if isinstance(o, util.GlobalOp) and isinstance(o.type, hal.DeviceType)), None)
        if device is None:
            target = self.device or device_target(self.triple, self.cpu, self.features, self.stack_limit)
            device = util.GlobalOp(SymbolNames(op).unique(DEVICE_GLOBAL), hal.DeviceType(), target)
            block = op.body.block
            if block.first_op is None:
                block.add_op(device)
            else:
                block.insert_op_before(device, block.first_op)
        op.attributes.setdefault("stream.affinity.default", hal.DeviceAffinityAttr(device.sym_name.data))
