"""What the runtime tools do before and around a call: open devices, load modules, find the function."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tiree import _native
from tiree.support.errors import CompileError
from tiree.tools.flags import ParsedFlags, fail

if TYPE_CHECKING:
    from collections.abc import Sequence


def topology(parsed: ParsedFlags) -> dict[str, Any]:
    """Keyword arguments of `HalDevice.open` from the task flags."""
    cpus = parsed["task_topology_cpu_ids"]
    try:
        cpu_ids = [int(c) for c in cpus.split(",") if c]
    except ValueError:
        raise fail(f"--task_topology_cpu_ids={cpus}: not a comma-separated list of CPU numbers") from None
    return {
        "group_count": parsed["task_topology_group_count"],
        "max_group_count": parsed["task_topology_max_group_count"],
        "cpu_ids": cpu_ids,
        "worker_spin_us": parsed["task_worker_spin_us"],
        "worker_local_memory": parsed["task_worker_local_memory"],
        "worker_stack_size": parsed["task_worker_stack_size"],
    }


def list_devices(parsed: ParsedFlags) -> bool:
    """Serves `--list_drivers`, `--list_devices` and `--dump_devices`. Returns whether one of them was given."""
    if parsed["list_drivers"]:
        for name in _native.driver_names():
            print(f"{name:>12}: runs on this machine's CPU")
        return True
    for flag in ("list_devices", "dump_devices"):
        if flag not in parsed.given:
            continue
        driver = parsed[flag] if parsed[flag] not in (None, "", "true") else ""
        if driver and driver not in _native.driver_names():
            raise fail(f"--{flag}={driver}: no such driver", f"this build has {', '.join(_native.driver_names())}")
        for uri in _native.device_uris():
            if not uri.startswith(driver):
                continue
            print(uri)
            if flag == "dump_devices":
                device = _native.HalDevice.open(uri, **topology(parsed))
                print(f"  workers: {device.worker_count}")
        return True
    return False


class Session:
    """Devices and modules of one run of a tool."""

    def __init__(self, parsed: ParsedFlags) -> None:
        paths = list(parsed["module"])
        if not paths:
            raise fail("no module given", "pass --module=file.vmfb")
        self.instance = _native.VmInstance()
        self.modules = [self._load(path, parsed["module_mode"]) for path in paths]
        uris: Sequence[str] = parsed["device"] or ("local-task",)
        self.devices = [_native.HalDevice.open(uri, **topology(parsed)) for uri in uris]
        hal = _native.create_hal_module(self.instance, devices=self.devices)
        self.context = _native.VmContext(self.instance, modules=[hal, *self.modules])

    @property
    def device(self) -> _native.HalDevice:
        return self.devices[0]

    def _load(self, path: str, mode: str) -> _native.VmModule:
        if not os.path.exists(path):
            raise fail(f"--module={path}: no such file")
        if mode == "mmap":
            return _native.VmModule.mmap(self.instance, path)
        # A module keeps file-backed memory mapped either way; preloading reads it before the first call.
        module = _native.VmModule.mmap(self.instance, path)
        module.prefetch()
        return module

    def function(self, name: str) -> _native.VmFunction:
        """The export `name` of the last module that has it; without a name, the only export."""
        module = self.modules[-1]
        names = [n for n in module.function_names if not n.startswith("__")]
        if not name:
            if len(names) != 1:
                raise fail("--function is needed", f"the module has: {', '.join(names) or 'no functions'}")
            name = names[0]
        for candidate in reversed(self.modules):
            found = candidate.lookup_function(name)
            if found is not None:
                return found
        from difflib import get_close_matches

        close = get_close_matches(name, names, 1)
        hint = f"it has: {', '.join(names)}." + (f' Did you mean "{close[0]}"?' if close else "")
        raise fail(f'module has no function "{name}"', hint)

    def read_inputs(
        self, function: _native.VmFunction, texts: Sequence[str]
    ) -> tuple[_native.VmVariantList, _native.HalFence | None]:
        return _native.read_inputs(self.device, function, list(texts))

    def invoke(self, function: _native.VmFunction, inputs: _native.VmVariantList) -> _native.VmVariantList:
        outputs = _native.VmVariantList(4)
        self.context.invoke(function, inputs, outputs)
        return outputs

    def statistics(self) -> str:
        """Bytes per device and kind of memory."""
        lines = []
        for device in self.devices:
            counts = device.allocator.statistics
            lines += [
                f"{device.id} {kind}: {counts[f'{kind}_bytes_peak']}B peak / "
                f"{counts[f'{kind}_bytes_allocated']}B allocated / {counts[f'{kind}_bytes_freed']}B freed"
                for kind in ("host", "device")
            ]
        return "\n".join(lines)


def explain(error: BaseException) -> str:
    """An error as a tool prints it: what was wrong first, what to do below."""
    if isinstance(error, CompileError):
        return "\n".join(str(d).removeprefix("<command line>: ") for d in error.diagnostics)
    if isinstance(error, OSError) and error.filename:
        return f"error: {error.filename}: {error.strerror}"
    message = getattr(error, "message", "") or str(error)
    return f"error: {message}"
