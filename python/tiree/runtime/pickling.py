"""What modules and functions pickle as: what their context was made of, from which it is made anew where they arrive.

Modules of bytecode travel by their contents, devices by their name, the state of a context (its globals) not at all.
What is pickled together shares one context again.
"""

from __future__ import annotations

import copyreg
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from tiree import _native

if TYPE_CHECKING:
    from tiree.runtime.system_api import Limits


class Origin:
    """The devices, the modules besides those that every context has, and the limits of a context; and the context."""

    __slots__ = ("devices", "limits", "vm_context", "vm_modules")

    def __init__(
        self,
        devices: Sequence[_native.HalDevice],
        vm_modules: list[_native.VmModule],
        limits: Limits,
        vm_context: _native.VmContext,
    ) -> None:
        self.devices = tuple(devices)
        self.vm_modules = vm_modules
        self.limits = limits
        self.vm_context = vm_context

    @property
    def device(self) -> _native.HalDevice:
        """The first device: arguments are made on it."""
        return self.devices[0]

    def module(self, name: str) -> _native.VmModule:
        return next(module for module in self.vm_modules if module.name == name)

    def forked(self, vm_context: _native.VmContext) -> Origin:
        """That of a fork of the context."""
        return Origin(self.devices, list(self.vm_modules), self.limits, vm_context)

    def __reduce__(self) -> tuple[Any, ...]:
        # Native modules that others only depend on come with them.
        wanted = {name for module in self.vm_modules for name, _ in module.dependencies}
        return _made_anew, (
            self.devices,
            [m for m in self.vm_modules if m.is_bytecode or m.name not in wanted],
            self.limits,
        )


def _made_anew(devices: Sequence[_native.HalDevice], vm_modules: Sequence[_native.VmModule], limits: Limits) -> Origin:
    from tiree.runtime.system_api import Config, SystemContext, native_dependencies

    config = Config(device=devices, **limits)
    names: set[str] = set()
    modules: list[_native.VmModule] = []
    for module in vm_modules:
        modules += [native for native in native_dependencies(module, config) if native.name not in names]
        modules.append(module)
        names.update(m.name for m in modules)
    return SystemContext(vm_modules=modules, config=config).origin


def function_of(
    origin: Origin, module: str, name: str, fuel: int | None, timeout: float | None, max_stack_depth: int | None
) -> _native.FunctionInvoker:
    """A function that was pickled. Called natively."""
    vm_function = origin.module(module).lookup_function(name)
    if vm_function is None:
        raise ValueError(f'module "{module}" has no function "{name}"')
    found = _native.FunctionInvoker(origin.vm_context, origin.device, vm_function).with_origin(origin)
    return found.limited(fuel=fuel, timeout=timeout, max_stack_depth=max_stack_depth)


def _refuse(thing: object) -> Any:
    name = type(thing).__name__
    raise TypeError(f"cannot pickle or copy a {name}: it belongs to its process")


# Protocols 0 and 1 would write them down and fail when they are read.
for _class in (cast("type[object]", found) for found in vars(_native).values() if isinstance(found, type)):
    if not issubclass(_class, BaseException) and "__reduce__" not in vars(_class):
        copyreg.pickle(_class, _refuse)
