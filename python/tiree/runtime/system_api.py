"""Configs, contexts and bound modules: the way most programs load and call a `.vmfb`."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Self, TypedDict, Unpack

from tiree import _native
from tiree.runtime.function import FunctionInvoker
from tiree.runtime.pickling import Origin
from tiree.runtime.system_setup import Devices, get_devices, get_first_device

TARGET_BACKEND_TO_DRIVER = {"llvm-cpu": "local-task", "vmvx": "local-task"}


class Limits(TypedDict, total=False):
    """What calls of a context may use, each None for no limit.

    `fuel` counts instructions of the VM, `timeout` seconds, `max_stack_depth` calls that are active at once, for each
    call from outside that does not have limits of its own (`function.limited(...)`), and for initializers.
    `memory_limit` is in bytes, for all that the modules allocate together: buffers of the host and of devices, lists,
    states, command buffers and so on, until the last reference is gone; arguments are the caller's. What reaches a
    limit raises a `LimitError`.
    """

    fuel: int | None
    timeout: float | None
    max_stack_depth: int | None
    memory_limit: int | None


class Config:
    """A device or several, the modules that every context on them starts with, and the limits of their calls.

    Programs find several `devices` in the order given; `device` is the first, on which arguments are made.
    """

    def __init__(
        self,
        driver_name: str | None = None,
        *,
        device: _native.HalDevice | Sequence[_native.HalDevice] | None = None,
        **limits: Unpack[Limits],
    ) -> None:
        self.limits = limits
        if device is None:
            device = get_first_device(driver_name.split(",") if driver_name is not None else None)
        elif driver_name is not None:
            raise ValueError("give driver_name or device, not both")
        one = isinstance(device, _native.HalDevice)
        self.devices: tuple[_native.HalDevice, ...] = (device,) if one else tuple(device)
        if not self.devices:
            raise ValueError("give at least one device")
        self.device = self.devices[0]
        self.vm_instance = _native.VmInstance()
        self.default_vm_modules = (_native.create_hal_module(self.vm_instance, devices=list(self.devices)),)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Config, device=self.devices, **self.limits), ()


class BoundModule:
    """A module in a context: its functions as attributes and items.

    Pickles by the contents of its modules; where it arrives it has a context of its own, which begins anew.
    """

    def __init__(self, context: SystemContext, vm_module: _native.VmModule) -> None:
        self._bind(context.origin, vm_module)

    def _bind(self, origin: Origin, vm_module: _native.VmModule) -> None:
        # Not the context itself, which holds this: a cycle would keep modules until the garbage collector comes.
        self._origin = origin
        self._vm_context = origin.vm_context
        self.vm_module = vm_module
        self._functions: dict[str, FunctionInvoker] = {}

    @classmethod
    def _restored(cls, origin: Origin, name: str) -> Self:
        bound = cls.__new__(cls)
        bound._bind(origin, origin.module(name))
        return bound

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._restored, (self._origin, self.name)

    @property
    def name(self) -> str:
        return self.vm_module.name

    def __getattr__(self, name: str) -> FunctionInvoker:
        if name.startswith("_") and name not in self.vm_module.function_names:
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __getitem__(self, name: str) -> FunctionInvoker:
        invoker = self._functions.get(name)
        if invoker is None:
            function = self.vm_module.lookup_function(name)
            if function is None:
                raise KeyError(self._unknown(name))
            invoker = FunctionInvoker(self._vm_context, self._origin.device, function).with_origin(self._origin)
            self._functions[name] = invoker
        return invoker

    def _unknown(self, name: str) -> str:
        from difflib import get_close_matches

        names = [n for n in self.vm_module.function_names if not n.startswith("__")]
        close = get_close_matches(name, names, 1)
        hint = f' Did you mean "{close[0]}"?' if close else ""
        return f'module has no function "{name}"; it has: {", ".join(names)}.{hint}'

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(n for n in self.vm_module.function_names if not n.startswith("__"))]

    def __repr__(self) -> str:
        return f"<BoundModule {self.vm_module!r}>"


class BoundModules(Mapping[str, BoundModule]):
    """The modules of a context by name, as attributes and items."""

    def __init__(self, modules: dict[str, BoundModule]) -> None:
        self._modules = modules

    def __getitem__(self, name: str) -> BoundModule:
        return self._modules[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __getattr__(self, name: str) -> BoundModule:
        try:
            return self.__dict__["_modules"][name]
        except KeyError:
            known = ", ".join(self.__dict__.get("_modules", ()))
            raise AttributeError(f'the context has no module "{name}"; it has: {known}') from None

    def __repr__(self) -> str:
        return repr(self._modules)


class SystemContext:
    """A context on the devices of `config`. Without `vm_modules` it starts with their modules and can grow."""

    def __init__(self, vm_modules: Sequence[_native.VmModule] | None = None, config: Config | None = None) -> None:
        self.config = config if config is not None else Config()
        self.is_dynamic = vm_modules is None
        start = list(self.config.default_vm_modules)
        if vm_modules is None:
            self.vm_context = _native.VmContext(self.instance, **self.config.limits)
            self.vm_context.register_modules(start)
        else:
            start += list(vm_modules)
            self.vm_context = _native.VmContext(self.instance, modules=start, **self.config.limits)
        self.origin = Origin(self.config.devices, list(vm_modules or ()), self.config.limits, self.vm_context)
        self._bound = {module.name: BoundModule(self, module) for module in start}
        self.modules = BoundModules(self._bound)

    @property
    def instance(self) -> _native.VmInstance:
        return self.config.vm_instance

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            "a SystemContext has the state of its modules and does not pickle; pickle its modules or functions, such "
            "as context.modules.name, which get a context of their own where they arrive"
        )

    def add_vm_modules(self, vm_modules: Sequence[_native.VmModule]) -> None:
        """Links further modules. Raises `ValueError` for a name that is taken or a context that cannot grow."""
        if not self.is_dynamic:
            raise ValueError("this context was created with its modules and cannot grow; leave vm_modules out")
        for module in vm_modules:
            if module.name in self.modules:
                raise ValueError(f'the context has a module "{module.name}" already')
            self.vm_context.register_modules([module])
            self.origin.vm_modules.append(module)
            self._bound[module.name] = BoundModule(self, module)

    def fork(self) -> SystemContext:
        """A context for another thread: the same modules, with states of their own; see `VmContext.fork`."""
        fork = object.__new__(SystemContext)
        fork.config, fork.is_dynamic = self.config, self.is_dynamic
        fork.vm_context = self.vm_context.fork()
        fork.origin = self.origin.forked(fork.vm_context)
        fork._bound = {name: BoundModule(fork, bound.vm_module) for name, bound in self._bound.items()}
        fork.modules = BoundModules(fork._bound)
        return fork

    def add_module_dependency(self, name: str, minimum_version: int = 0) -> None:
        """Links the native module `name` of this build. Raises `ValueError`: there is none that links itself."""
        self.add_vm_module(_native.VmModule.resolve_module_dependency(self.instance, name, minimum_version))

    def add_vm_module(self, vm_module: _native.VmModule) -> None:
        """Links one further module; see `add_vm_modules`."""
        self.add_vm_modules([vm_module])

    # The name that older IREE tutorials use.
    add_module = add_vm_module


def load_vm_modules(*vm_modules: _native.VmModule, config: Config | None = None) -> list[BoundModule]:
    """The modules in one new context, in order."""
    context = SystemContext(vm_modules=vm_modules, config=config)
    return [context.modules[m.name] for m in vm_modules]


def load_vm_module(vm_module: _native.VmModule, config: Config | None = None) -> BoundModule:
    """One module in a new context."""
    return load_vm_modules(vm_module, config=config)[0]


def _config(driver: str | None, backend: str | None) -> Config:
    if driver is None and backend is None:
        raise ValueError("Either 'driver' or 'backend' must be specified, but got both as None.")
    if driver is not None and backend is not None:
        raise ValueError("Cannot specify both 'driver' and a 'backend' to infer the driver from.")
    return Config(driver if driver is not None else TARGET_BACKEND_TO_DRIVER[str(backend)])


def load_vm_flatbuffer(vm_flatbuffer: bytes, *, driver: str | None = None, backend: str | None = None) -> BoundModule:
    """A module from bytes, on the device of `driver` (or the one that runs `backend`)."""
    config = _config(driver, backend)
    module = _native.VmModule.from_buffer(config.vm_instance, vm_flatbuffer, warn_if_copy=False)
    return load_vm_module(module, config)


def load_vm_flatbuffer_file(
    path: str | os.PathLike[str],
    *,
    driver: str | None = None,
    backend: str | None = None,
    destroy_callback: Callable[[], object] | None = None,
) -> BoundModule:
    """A module from a file, mapped into memory; see `load_vm_flatbuffer`."""
    config = _config(driver, backend)
    module = _native.VmModule.mmap(config.vm_instance, os.fspath(path), destroy_callback=destroy_callback)
    return load_vm_module(module, config)


def native_dependencies(vm_module: _native.VmModule, config: Config) -> list[_native.VmModule]:
    """The native modules besides `hal` that a module depends on and that need no settings, as `hal_inline`."""
    names = [name for name, _ in vm_module.dependencies]
    found = (_native.create_native_module(config.vm_instance, name, config.device) for name in names)
    return [module for module in found if module is not None]


class Module(BoundModule):
    """What `tiree.load` gives: a module on a device, its functions as attributes. Pickles as all bound modules do."""

    def __init__(self, vm_module: _native.VmModule, device: Devices | None = None, **limits: Unpack[Limits]) -> None:
        config = Config(device=get_first_device() if device is None else get_devices(device), **limits)
        modules = [*native_dependencies(vm_module, config), vm_module]
        super().__init__(SystemContext(vm_modules=modules, config=config), vm_module)

    def fork(self) -> Module:
        """The module for another thread: shared as it is loaded, with a state of its own; see `VmContext.fork`."""
        fork = object.__new__(Module)
        fork._bind(self._origin.forked(self._vm_context.fork()), self.vm_module)
        return fork

    def _bind(self, origin: Origin, vm_module: _native.VmModule) -> None:
        super()._bind(origin, vm_module)
        self.device = ", ".join(device.id for device in origin.devices)

    def __repr__(self) -> str:
        functions = [self[n].signature for n in self.vm_module.function_names if not n.startswith("__")]
        return f"<tiree.Module {self.name} on {self.device}: {'; '.join(functions)}>"


def load(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview,
    device: Devices | None = None,
    *,
    verify_constants: bool = False,
    **limits: Unpack[Limits],
) -> Module:
    """The compiled module in a file or in bytes, ready to call on `device` (default: the first of the default drivers).

    A program for several devices gets a list of them, in its order: `device=["local-task", "local-sync"]`.
    `load("add.vmfb").add(a, b)` calls `add`; arrays in, `DeviceArray`s out. Raises `ValueError` for a file that is no
    module or is damaged, or an unknown device; `OSError` for a missing file. Limits hold for every call, see `Limits`.
    Files are mapped; constants of more than 4 MiB are read when they are used, so their checksums are compared only
    with `verify_constants`.
    """
    instance = _native.VmInstance()
    if isinstance(source, bytes):
        module = _native.VmModule.from_buffer(instance, source, warn_if_copy=False)
    elif isinstance(source, bytearray | memoryview):
        # Their contents may change while the module is in use.
        module = _native.VmModule.copy_buffer(instance, source)
    else:
        path = os.fspath(source)
        if not os.path.exists(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        module = _native.VmModule.mmap(instance, path)
    if verify_constants:
        module.verify_constants()
    return Module(module, device, **limits)


def normalize_value(value: Any) -> Any:
    """Numbers, bools and numpy scalars as numpy arrays (ints as int32, floats as float32); anything else as it is."""
    import numpy as np

    from tiree.runtime.dtypes import is_numpy_scalar

    if is_numpy_scalar(value):
        return np.asarray(value)
    if isinstance(value, bool):
        return np.asarray(value, np.bool_)
    if isinstance(value, int):
        return np.asarray(value, np.int32)
    if isinstance(value, float):
        return np.asarray(value, np.float32)
    return value
