"""Flags that the runtime tools share: modules, devices, the task system; and those that are refused, with reasons."""

from __future__ import annotations

from collections.abc import Sequence

from tiree.support.ranges import BYTES, COUNT, MICROSECONDS
from tiree.tools.flags import Flag, fail

PARAMETER_FLAGS = (
    Flag(
        "parameters", "repeat", "an .irpa, .gguf or .safetensors file; scope=FILE for a scope; repeat for several",
        metavar="FILE",
    ),
    Flag("parameter_mode", "choice", "how parameter files are read: mapped, or preloaded", "file", ("file", "preload")),
)  # fmt: skip

LIMIT_FLAGS = (
    Flag("vm_fuel", "int", "instructions that each call, also of an initializer, may execute", None, limits=BYTES),
    Flag("vm_timeout_ms", "float", "milliseconds that each call may take", None),
    Flag("vm_stack_depth", "int", "calls that may be active at once inside a call", None, limits=BYTES),
    Flag(
        "vm_memory_limit",
        "int",
        "bytes that all buffers, lists and other objects of the modules may take",
        None,
        limits=BYTES,
    ),
)

MODULE_FLAGS = (
    Flag("help", "action", "print the flags and exit", False),
    Flag("module", "repeat", "a .vmfb file, - for stdin; repeat for several, in order of registration", metavar="FILE"),
    Flag("module_mode", "choice", "how module files are read", "preload", ("preload", "mmap")),
    Flag("vm_verify_constants", "bool", "compare checksums of constants of more than 4 MiB too", False),
    Flag("function", "str", "the export to call; may be left out when there is one", "", metavar="NAME"),
    *PARAMETER_FLAGS,
    *LIMIT_FLAGS,
)

DEVICE_FLAGS = (
    Flag("device", "repeat", "a name that --list_drivers prints, or a URI (local-task://); repeat for several"),
    Flag("list_drivers", "action", "print the drivers of this build and exit", False),
    Flag(
        "list_devices", "optional", "print the devices of this build (of one driver) and exit", None, metavar="DRIVER"
    ),
    Flag("dump_devices", "optional", "print what is known of each device and exit", None, metavar="DRIVER"),
    Flag(
        "task_topology_group_count", "int", "worker threads of local-task, unpinned; 0: one per core", 0, limits=COUNT
    ),
    Flag("task_topology_max_group_count", "int", "at most this many worker threads", 64, limits=COUNT),
    Flag("task_topology_cpu_ids", "str", "comma-separated CPUs, one pinned worker each", ""),
    Flag("task_topology_nodes", "str", "memory nodes that get workers: all, current, or numbers such as 0,2", "all"),
    Flag(
        "task_topology_distribution",
        "choice",
        "pin workers, over caches in turn or close together; by default the system places them",
        "",
        ("scatter", "compact"),
    ),
    Flag(
        "task_topology_favor",
        "choice",
        "latency: distribution compact; throughput: scatter",
        "",
        ("latency", "throughput"),
        {"efficiency": "cores of low performance are not told apart"},
    ),
    Flag(
        "task_worker_spin_us",
        "int",
        "microseconds that an idle worker spins before it sleeps",
        None,
        limits=MICROSECONDS,
    ),
    Flag("task_worker_stack_size", "int", "bytes of stack of each worker; 0: the default", 0, limits=BYTES),
    Flag("task_worker_local_memory", "int", "bytes of scratch memory of each worker; 0: the L2 cache", 0, limits=BYTES),
    Flag("system_executables", "bool", "load system-elf executables, which may do all that a program may", False),
    Flag("device_memory_limit", "int", "bytes of buffers that a device may have at once", None, limits=BYTES),
    Flag("device_cache_limit", "int", "bytes of memory that a device keeps for reuse", None, limits=BYTES),
    Flag("print_statistics", "bool", "print memory statistics, also of each call, on stderr at the end", False),
)

RUN_FLAGS = (
    Flag("input", "repeat", "an argument: 4xf32=1 2 3 4, 2xi32 (zeros), 3.5 (scalar), @file.npy, (null)"),
    Flag("output", "repeat", "what to do with a result: '' ignore, - print, @file.npy write, +file.npy append"),
    Flag("expected_output", "repeat", "what a result must be, written as --input; (ignored) skips one"),
    Flag("equality_mode", "choice", "how results are compared", "approximate", ("approximate", "exact")),
    Flag("expected_f16_threshold", "float", "absolute tolerance of f16", 0.001),
    Flag("expected_f32_threshold", "float", "absolute tolerance of f32", 0.0001),
    Flag("expected_f64_threshold", "float", "absolute tolerance of f64", 0.0001),
    Flag("expected_bf16_threshold", "float", "absolute tolerance of bf16", 0.01),
    Flag("expected_rtol", "float", "relative tolerance", 1e-05),
    Flag("output_max_element_count", "int", "elements printed of a tensor", 1024),
)

_ONE_TOPOLOGY = "workers are one per available core; use --task_topology_group_count or --task_topology_cpu_ids"
_NO_PROFILE = "there is no profile format; --trace=FILE writes a timeline, tiree-benchmark-module times functions"

_NO_CAPTURE = "CPU devices have no capture tools"
_NO_GPU = "this build has no GPU drivers; use local-sync or local-task"
_GPU_FLAGS = (
    "cuda_allow_inline_execution cuda_async_allocations cuda_default_index cuda_default_index_from_mpi cuda_tracing "
    "cuda_use_streams hip_allow_inline_execution hip_async_allocations hip_async_caching hip_default_index "
    "hip_dylib_path hip_tracing hip_use_streams vulkan_buffer_device_addresses vulkan_cached_bda_replay_instances "
    "vulkan_cached_bda_replay_publication_bytes vulkan_debug_utils vulkan_debug_verbosity "
    "vulkan_dedicated_compute_queue vulkan_dispatch_abi vulkan_libvulkan_search_path "
    "vulkan_retained_cached_bda_replay_instances vulkan_robust_buffer_access vulkan_sparse_binding "
    "vulkan_sparse_residency vulkan_tracing vulkan_validation_layers"
)

REFUSED = {
    "device_allocator": "memory is pooled already; --device_memory_limit and --device_cache_limit bound the pool",
    "device_lead_allocator": "devices share the host's memory; none leads",
    "print_device_statistics": "--dispatch_statistics of tiree-benchmark-module times dispatches",
    "agents_md": "there is no such document; --help prints the flags",
    "dump_task_topologies": "--dump_devices prints the workers of each device",
    "task_topology_snapshot": _ONE_TOPOLOGY,
    "trace_execution": "the VM prints no trace yet; tiree-dump-module --output=disassembly shows the code",
    "task_topology_mode": _ONE_TOPOLOGY,
    "task_topology_performance_level": _ONE_TOPOLOGY,
    "task_abort_on_failure": "a failure ends the call and never the process",
    "executable_plugin": "kernels of Tiree import nothing; there is nothing to provide",
    "instrument_file": _NO_PROFILE,
    **dict.fromkeys(
        (
            "device_profiling_mode", "device_profiling_output", "device_profiling_counter",
            "device_profiling_filter_command_buffer", "device_profiling_filter_command_index",
            "device_profiling_filter_function", "device_profiling_filter_physical_device",
            "device_profiling_filter_queue", "device_profiling_flush_interval_ms", "device_replay_output",
            "device_replay_file_policy", "device_replay_file_validation",
        ),
        _NO_PROFILE,
    ),
    **dict.fromkeys(("device_capture_tool", "device_capture_file", "device_capture_label"), _NO_CAPTURE),
    **dict.fromkeys(_GPU_FLAGS.split(), _NO_GPU),
}  # fmt: skip
"""Flags of the reference tools that are not available: the reason and what to use instead."""


_MOST_OF_A_FLAGFILE = 16 << 20
"""Characters. A device or a pipe may have no end."""


def expand_flagfiles(arguments: Sequence[str]) -> list[str]:
    """Replaces `--flagfile=path` by the flags in the file: one a line, `#` begins a comment."""
    expanded: list[str] = []
    for argument in arguments:
        _check_text(argument)
        name, equals, path = argument.partition("=")
        if name not in ("--flagfile", "-flagfile"):
            expanded.append(argument)
            continue
        if not equals or not path:
            raise fail("--flagfile needs a path", "write --flagfile=path")
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read(_MOST_OF_A_FLAGFILE + 1)
        except UnicodeDecodeError:
            raise fail(f"--flagfile={path}: not UTF-8 text") from None
        if len(text) > _MOST_OF_A_FLAGFILE:
            most = f"{_MOST_OF_A_FLAGFILE >> 20} MiB"
            raise fail(f"--flagfile={path}: more than {most}", "pass large values as --input=@file.npy")
        lines = [line.strip() for line in text.split("\n")]
        expanded += [line for line in lines if line and not line.startswith("#")]
    return expanded


def _check_text(argument: str) -> None:
    """The native side takes UTF-8 only; other bytes of a command line come as lone surrogates."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        shown = argument.encode(errors="backslashreplace").decode()
        raise fail(f"{shown} is not UTF-8 text", "rename the file, or set the locale that its name is in") from None
