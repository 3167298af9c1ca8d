"""`FunctionInvoker`: a function of a bound module, callable with arrays and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tiree import _native

if TYPE_CHECKING:
    from tiree.runtime.system_api import SystemContext


class FunctionInvoker:
    """Calls a function: `f(a, b)` waits for the results; `f.begin(a, b)` starts it and gives an `Invocation`.

    The native invoker does the work; this class gives it IREE's names, a docstring and help.
    """

    __slots__ = ("_invoker", "vm_function")

    def __init__(self, context: SystemContext, vm_module: _native.VmModule, vm_function: _native.VmFunction) -> None:
        self.vm_function = vm_function
        self._invoker = _native.Invoker(context.vm_context, vm_module, vm_function, context.config.device)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls and waits. Raises `TypeError`/`ValueError` for arguments that do not fit, `StatusError` otherwise."""
        return self._invoker(*args, **kwargs)

    def begin(self, *args: Any, **kwargs: Any) -> _native.Invocation:
        """Starts the call. Drive it with `step()`, `wait()` or `await`."""
        return self._invoker.begin(*args, **kwargs)

    @property
    def signature(self) -> str:
        """`add(a: f32[4], b: f32[4])`"""
        return self._invoker.signature

    def __repr__(self) -> str:
        return repr(self.vm_function)
