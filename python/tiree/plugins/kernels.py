"""Kernels of plugins: strategies that are asked before Tiree's own whether they take a dispatch over.

`LLVMKernel` is written as LLVM IR, `TileKernel` as a Python function over whole tiles. Anything else with `name`,
`match` and `lower` (`tiree.codegen.cpu.strategy.Strategy`) is a kernel as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block

from tiree.codegen.common.builder import INDEX
from tiree.codegen.common.graph import BindingRef, DispatchInfo
from tiree.codegen.cpu.emit import new_evaluator
from tiree.codegen.cpu.strategies import choose
from tiree.codegen.cpu.strategy import Kernel, Strategy
from tiree.dialects.hal_executable import InterfaceWorkgroupIDOp
from tiree.dialects.kernel import CallOp
from tiree.input.lowering.scalar import ScalarBuilder
from tiree.plugins.dispatch import Dispatch
from tiree.plugins.guard import blame
from tiree.plugins.tiles import Tile
from tiree.support.cpu_target import TargetDescription
from tiree.support.extensions import Origin
from tiree.support.locations import location_of


@dataclass(frozen=True)
class LLVMKernel:
    """A kernel in LLVM IR.

    `write(dispatch, function)` returns a module, as text or of llvmlite's builder, that defines `void @function(...)`
    with a pointer for each of `dispatch.inputs` and of `dispatch.outputs`, and the number of the workgroup as `i64`.
    Tables of constants are not passed: `accepts` sees dispatches without them only. The code may call no library.
    """

    name: str
    accepts: Callable[[Dispatch], bool]
    write: Callable[[Dispatch, str], Any]
    workgroups: Callable[[Dispatch], int] = lambda _: 1

    def match(self, info: DispatchInfo, target: TargetDescription) -> Dispatch | None:
        dispatch = Dispatch(info, target)
        whole = all(isinstance(operand.ref, BindingRef) for operand in dispatch.inputs)
        return dispatch if whole and self.accepts(dispatch) else None

    def lower(self, info: DispatchInfo, config: Dispatch, target: TargetDescription) -> Kernel:
        ev = new_evaluator(info, target)
        function = re.sub(r"\W", "_", f"{info.name}_{self.name}")
        memory = [ev.buffer(operand.ref).memref for operand in (*config.inputs, *config.outputs)]
        code = str(self.write(config, function))
        _check(code, function, len(memory))
        properties: dict[str, Attribute] = {"dimension": IntegerAttr(0, IndexType())}
        workgroup = ev.b.emit(InterfaceWorkgroupIDOp, [], INDEX, properties, 0)
        ev.b.append(CallOp(function, code, [*memory, workgroup]))
        return Kernel(ev.b, (self.workgroups(config), 1, 1), ev.tables)


def _check(code: str, function: str, pointers: int) -> None:
    """Raises `ValueError` for LLVM IR that cannot be linked to the kernel that calls it."""
    from tiree.codegen.llvm.compile import ir_functions

    try:
        functions = ir_functions(code)
    except RuntimeError as error:
        reason = next((line for line in str(error).splitlines() if "error:" in line), str(error).strip())
        raise ValueError(f"LLVM cannot read the module: {reason}") from error
    missing = [one.name for one in functions if one.is_declaration and not one.name.startswith("llvm.")]
    if missing:
        raise ValueError(f"it calls @{missing[0]}, which it does not define, and there is no library to link")
    found = next((one for one in functions if one.name == function), None)
    if found is None:
        raise ValueError(f"the LLVM module does not define @{function}")
    types = list(found.arguments)
    if types != ["ptr"] * pointers + ["i64"]:
        raise ValueError(f"@{function} takes ({', '.join(types)}), it is called with {pointers} pointers and an i64")


@dataclass(frozen=True)
class TileKernel:
    """A kernel as a function of Python: it gets a `Tile` for each input of the dispatch's one `linalg.generic` and
    returns one for each result. It is called once; Tiree makes loops, vectors, remainders and workgroups of it."""

    name: str
    accepts: Callable[[Dispatch], bool]
    function: Callable[..., Tile | Sequence[Tile]]

    def match(self, info: DispatchInfo, target: TargetDescription) -> Dispatch | None:
        dispatch = Dispatch(info, target)
        single = len(dispatch.generics) == 1 and not any(dispatch.generics[0].is_reduction)
        return dispatch if single and self.accepts(dispatch) else None

    def lower(self, info: DispatchInfo, config: Dispatch, target: TargetDescription) -> Kernel:
        (generic,) = config.generics
        old = generic.body
        body = Block(arg_types=[arg.type for arg in old.args])
        builder = ScalarBuilder(body, generic.op.location)
        inputs = zip(body.args[: generic.num_inputs], generic.used_args, strict=False)
        found = self.function(*(Tile(arg, builder) for arg, used in inputs if used))
        results = [found] if isinstance(found, Tile) else list(found)
        wanted = [arg.type for arg in body.args[generic.num_inputs :]]
        types = [result.value.type for result in results]
        if types != wanted:
            raise TypeError(f"the function returns tiles of {_list(types)}, the dispatch needs {_list(wanted)}")
        body.add_op(YieldOp.create(operands=[result.value for result in results]))
        # Loops and operands stay: only what is computed for each element is another thing.
        generic.body = body
        strategy, plan = choose(info, target)
        return strategy.lower(info, plan, target)


def _list(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types))


class GuardedKernel:
    """A kernel whose faults are reported with the plugin and the dispatch."""

    def __init__(self, inner: Strategy, origin: Origin) -> None:
        self.name = inner.name
        self._inner, self._origin = inner, origin

    def match(self, info: DispatchInfo, target: TargetDescription) -> Any | None:
        with self._blame(info):
            return self._inner.match(info, target)

    def lower(self, info: DispatchInfo, config: Any, target: TargetDescription) -> Kernel:
        with self._blame(info):
            return self._inner.lower(info, config, target)

    def _blame(self, info: DispatchInfo) -> Any:
        return blame(f"kernel {self.name} of {self._origin}, for dispatch {info.name},", self._origin, _place(info))


def _place(info: DispatchInfo) -> str:
    return location_of(info.op)
