"""What the runtime tools do before and around a call: open devices, load modules, find the function."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from tiree import _native
from tiree.support.ranges import COUNT, range_error
from tiree.tools.flags import ParsedFlags, fail
from tiree.tools.module_source import module_file

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


def topology(parsed: ParsedFlags) -> dict[str, Any]:
    """Keyword arguments of `HalDevice.open` from the task flags."""
    cpus = parsed["task_topology_cpu_ids"]
    try:
        cpu_ids = [int(c) for c in cpus.split(",") if c]
    except ValueError:
        raise fail(f"--task_topology_cpu_ids={cpus}: not a comma-separated list of CPU numbers") from None
    for cpu in cpu_ids:
        wrong = range_error(cpu, COUNT)
        if wrong:
            raise fail(f"--task_topology_cpu_ids={cpus}: {cpu} {wrong}")
    nodes = parsed["task_topology_nodes"]
    if nodes == "numa":
        raise fail("--task_topology_nodes=numa is not available: a device has one pool", "use all, current or numbers")
    favored = {"latency": "compact", "throughput": "scatter", "": ""}[parsed["task_topology_favor"]]
    return {
        "nodes": nodes,
        "distribution": favored or parsed["task_topology_distribution"],
        "group_count": parsed["task_topology_group_count"],
        "max_group_count": parsed["task_topology_max_group_count"],
        "cpu_ids": cpu_ids,
        "worker_spin_us": parsed["task_worker_spin_us"],
        "worker_local_memory": parsed["task_worker_local_memory"],
        "worker_stack_size": parsed["task_worker_stack_size"],
    }


DRIVERS = {
    "local-sync": "runs on the calling thread",
    "local-task": "runs on worker threads of this machine's CPU",
    "null": "executes nothing and counts everything (--print_statistics)",
}


def list_devices(parsed: ParsedFlags) -> bool:
    """Serves `--list_drivers`, `--list_devices` and `--dump_devices`. Returns whether one of them was given."""
    if parsed["list_drivers"]:
        print(_heading("Available HAL drivers"))
        print("# Use --list_devices={driver name} to enumerate available devices.\n")
        for name in _native.driver_names():
            print(f"{name:>16}: {DRIVERS.get(name, '')}")
        return True
    for flag in ("list_devices", "dump_devices"):
        if flag not in parsed.given:
            continue
        driver = parsed[flag] if parsed[flag] not in (None, "", "true") else ""
        if driver and driver not in _native.driver_names():
            raise fail(f"--{flag}={driver}: no such driver", f"this build has {', '.join(_native.driver_names())}")
        for name in [driver] if driver else _native.driver_names():
            uris = [uri for uri in _native.device_uris() if uri.partition("://")[0] == name]
            if flag == "list_devices":
                print("\n".join(uris))
                continue
            print(_heading(f"Enumerated devices for driver '{name}'") + "\n")
            for uri in uris:
                dump_device(uri, topology(parsed))
        return True
    return False


def _heading(text: str) -> str:
    """As iree-run-module heads its lists."""
    line = "# " + "=" * 76
    return f"{line}\n# {text}\n{line}"


def dump_device(uri: str, options: dict[str, Any]) -> None:
    """Prints what the workers of a device are like, below the heading that iree-run-module prints."""
    line = f"# ==={'-' * 70}==="
    print(f"{line}\n# --device={uri}\n#   default\n{line}")
    device = _native.HalDevice.open(uri, **options)
    found = _native.describe_topology(**options)
    print(f"  workers: {device.worker_count}")
    print(f"  local memory: {found['worker_local_memory']} bytes per worker")
    if device.id == "local-task":
        cpus = [cpu for cpu in found["worker_cpus"] if cpu is not None]
        print(f"  CPUs: {', '.join(map(str, cpus)) if cpus else 'any'}")
        print(f"  spin: {found['worker_spin_us']} us")
        print(f"  stack: {found['worker_stack_size']} bytes per worker")
    print()


def limits(parsed: ParsedFlags) -> dict[str, Any]:
    """Keyword arguments of `VmContext` from the limit flags."""
    timeout: float | None = parsed["vm_timeout_ms"]
    return {
        "fuel": parsed["vm_fuel"],
        "timeout": None if timeout is None else timeout / 1e3,
        "max_stack_depth": parsed["vm_stack_depth"],
        "memory_limit": parsed["vm_memory_limit"],
    }


def pool_limits(parsed: ParsedFlags) -> dict[str, int | None]:
    """Keyword arguments of `HalAllocator.set_limits` from the flags."""
    return {"memory": parsed["device_memory_limit"], "cached": parsed["device_cache_limit"]}


def parameters_module(parsed: ParsedFlags, instance: _native.VmInstance) -> _native.VmModule:
    """The `io_parameters` module over the archives of `--parameters=`; those of one scope are one index."""
    from tiree.tools.parameter_files import parameter_indices

    indices = parameter_indices(parsed)
    providers = [index.create_provider(scope=scope) for scope, index in indices.items()]
    return _native.create_io_parameters_module(instance, *providers)


def explain_device(error: RuntimeError, given: Sequence[str]) -> Exception:
    """The error of a module that finds no device: what it needs, in place of all that its executables were made for."""
    import re

    text = str(error)
    missing = re.search(r"HAL device `([^`]*)` not found or unavailable: (.*)", text, re.DOTALL)
    if missing is None:
        return error
    name, target = missing.groups()
    ordinal = re.search(r"ordinal = (\d+) : index", target)
    number = int(ordinal[1]) if ordinal else 0
    if number >= len(given):
        flags = " ".join(f"--device={uri}" for uri in given)
        return fail(
            f'the module was made for {number + 1} devices or more: "{name}" is device {number + 1}, given are {flags}',
            "repeat --device= for each device of the module, in its order",
        )
    formats = re.findall(r'#hal\.executable\.target<"[^"]*", "([^"]*)"', target)
    if not formats:
        return error
    wanted = ", ".join(dict.fromkeys(formats))
    hint = "allow them with --system_executables" if any(f.startswith("system-elf-") for f in formats) else ""
    return fail(f"no device runs the executables of this module, which are {wanted}", hint)


CALL_ERRORS = (RuntimeError, ValueError, IndexError, MemoryError)
"""What a call can end with."""


def failed(function: _native.VmFunction, error: BaseException) -> RuntimeError:
    """The error of a call, which says whose call it was."""
    message = getattr(error, "message", "") or str(error)
    where = "" if message.startswith("in '") else ":"
    return RuntimeError(f"{function.name}() failed{where} {message}")


class Session:
    """Devices and modules of one run of a tool."""

    def __init__(self, parsed: ParsedFlags) -> None:
        paths = list(parsed["module"])
        if not paths:
            raise fail("no module given", "pass --module=file.vmfb")
        self._calls: list[tuple[str, list[_native.MemoryPeak]]] = []
        self.instance = _native.VmInstance()
        if paths.count("-") > 1:
            raise fail("--module=- is given twice", "one module can come from stdin")
        self.modules = [self._load(path, parsed["module_mode"]) for path in paths]
        if parsed["vm_verify_constants"]:
            for module in self.modules:
                module.verify_constants()
        uris: Sequence[str] = parsed["device"] or ("local-task",)
        self.devices = [_native.HalDevice.open(uri, **topology(parsed)) for uri in uris]
        for device in self.devices:
            device.allow_system_executables(parsed["system_executables"])
            device.allocator.set_limits(**pool_limits(parsed))
        needed = {name for module in self.modules for name, _ in module.dependencies}
        natives = [_native.create_hal_module(self.instance, devices=self.devices)]
        if "io_parameters" in needed or parsed["parameters"]:
            natives.append(parameters_module(parsed, self.instance))
        others = (_native.create_native_module(self.instance, name, self.device) for name in sorted(needed))
        natives += [module for module in others if module is not None]
        try:
            self.context = _native.VmContext(self.instance, modules=[*natives, *self.modules], **limits(parsed))
        except RuntimeError as error:
            raise explain_device(error, uris) from None

    @property
    def device(self) -> _native.HalDevice:
        return self.devices[0]

    def _load(self, path: str, mode: str) -> _native.VmModule:
        if path != "-" and not os.path.exists(path):
            library = "@" in path or path.endswith(".so")
            hint = "native libraries with modules are not supported; pass a .vmfb file" if library else ""
            raise fail(f"--module={path}: no such file", hint)
        with module_file(path) as file:
            module = _native.VmModule.mmap(self.instance, file)
        if mode != "mmap":
            # A module keeps file-backed memory mapped either way; preloading reads it before the first call.
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
        try:
            self.context.invoke(function, inputs, outputs)
        except CALL_ERRORS as error:
            raise failed(function, error) from error
        return outputs

    @contextlib.contextmanager
    def measured(self, name: str) -> Generator[None]:
        """Measures the memory that a call of @name needs, for `statistics`."""
        peaks = [device.allocator.track_peak() for device in self.devices]
        with contextlib.ExitStack() as stack:
            for peak in peaks:
                stack.enter_context(peak)
            yield
        self._calls.append((name, peaks))

    def statistics(self) -> str:
        """Bytes per device and kind of memory, what measured calls needed, what a device that counts was asked for."""
        lines: list[str] = []
        for index, device in enumerate(self.devices):
            lines += [f"Device: {device.id}", "[[ memory statistics ]]", device.allocator.formatted_statistics]
            lines += ["[[ memory of calls ]]"] if self._calls else []
            for name, peaks in self._calls:
                peak = peaks[index]
                lines.append(
                    f"@{name}: {peak.peak_bytes:>12}B peak / {peak.allocated_bytes:>12}B allocated / "
                    f"{peak.kept_bytes:>12}B kept"
                )
            if device.counts is not None:
                lines += ["[[ operations ]]", *(f"{name:>16}: {n}" for name, n in device.counts.items())]
        return "\n".join(lines)
