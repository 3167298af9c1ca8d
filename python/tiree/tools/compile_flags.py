"""The flags of `tiree-compile`, by iree-compile's names, and how they become `CompileOptions`.

A flag is in `FLAGS` and has an effect, or in `REFUSED` with the reason and what to use instead; values that exist in
IREE but not here are refused by value. Nothing is accepted and ignored.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from tiree.pipeline import PHASE_NAMES
from tiree.support.extensions import OWN_BACKENDS
from tiree.support.input_type import NOT_READ, OWN_TYPES
from tiree.support.options import CompileOptions
from tiree.support.ranges import BYTES
from tiree.tools.flags import Flag, ParsedFlags, fail
from tiree.tools.model_flags import MODELS, check_model, default_backend
from tiree.tools.parameter_flags import PARAMETER_FIELDS, PARAMETER_FLAGS, PARAMETER_PATHS, parameter_values
from tiree.tools.plugin_flags import PLUGIN, PLUGIN_FLAGS

_CPU_ONLY = "this release compiles for the CPU only; use --iree-hal-target-device=local"
_GPU_BACKENDS: dict[str, str] = dict.fromkeys(
    ("cuda", "rocm", "hip", "vulkan", "metal", "amdgpu", "vulkan-spirv", "metal-spirv"), _CPU_ONLY
)
_OPT_LEVELS = ("O0", "O1", "O2", "O3")
_VM_FLOATS = "every runtime that loads these files has them; only scalar floats of host code need them"
_NO_UKERNELS = "kernels are made for the named CPU and call no library; leave the flag out or write =none"
_UKERNELS = (
    "default",
    "all",
    "mmt4d",
    "pack",
    "unpack",
    "unpack_tile",
    "generic",
    "argmax",
    "softmax",
    "quantized_matmul",
)

FLAGS: tuple[Flag, ...] = (
    Flag("o", "str", "the file to write; - is the standard output", "-", metavar="FILE"),
    Flag("help", "action", "print this text"),
    Flag("version", "action", "print the version"),
    # Target.
    Flag(
        "iree-hal-target-device", "repeat", "a device, as local, local[1] or NAME=local[1]; repeat for several",
        choices=("local",), refused=_GPU_BACKENDS, metavar="DEVICE",
    ),
    Flag("iree-hal-default-device", "str", "name or number of the device of what names none", "", metavar="DEVICE"),
    Flag(
        "iree-hal-local-target-device-backends", "list", "the backends of device local",
        choices=OWN_BACKENDS, refused=_GPU_BACKENDS,
    ),
    Flag(
        "iree-hal-target-backends", "list", "the backends (older form)",
        choices=OWN_BACKENDS, refused=_GPU_BACKENDS,
    ),
    Flag("iree-hal-list-target-backends", "action", "list the backends and exit"),
    Flag("iree-llvmcpu-target-cpu", "str", "host, generic or LLVM CPU names, with commas", "host", metavar="CPU"),
    Flag("iree-llvmcpu-target-cpu-features", "str", "host, or features such as +avx2,+fma", "", metavar="FEATURES"),
    Flag("iree-llvmcpu-target-triple", "str", "an LLVM triple; the host's if empty", "", metavar="TRIPLE"),
    Flag(
        "iree-llvmcpu-link-embedded", "bool", "link kernels into the embedded ELF", True,
        refused={"false": "kernels are always linked into the embedded ELF, which every IREE runtime loads"},
    ),
    Flag("iree-llvmcpu-debug-symbols", "bool", "keep debug information in the kernels", True),
    Flag(
        "iree-llvmcpu-enable-ukernels", "list", "calls of a microkernel library", choices=("none",),
        refused=dict.fromkeys(_UKERNELS, _NO_UKERNELS),
    ),
    Flag("iree-llvmcpu-stack-allocation-limit", "int", "bytes of stack that a kernel may use", 32768, limits=BYTES),
    # Input.
    Flag(
        "iree-input-type", "choice", "the dialects of the input", "auto",
        choices=OWN_TYPES,
        refused=NOT_READ,
    ),
    Flag("iree-input-demote-i64-to-i32", "bool", "narrow i64 to i32", False),
    Flag("iree-input-demote-f64-to-f32", "bool", "narrow f64 to f32 (IREE does so unless told otherwise)", False),
    Flag("iree-input-promote-f16-to-f32", "bool", "widen f16 to f32", False),
    Flag("iree-input-promote-bf16-to-f32", "bool", "widen bf16 to f32", False),
    # Optimisation and scheduling.
    Flag("iree-opt-level", "choice", "O1 and above strip assertions, nothing else", "O0", choices=_OPT_LEVELS),
    Flag("O0", "action", "--iree-opt-level=O0"),
    Flag("O1", "action", "--iree-opt-level=O1"),
    Flag("O2", "action", "--iree-opt-level=O2"),
    Flag("O3", "action", "--iree-opt-level=O3"),
    Flag("iree-opt-strip-assertions", "bool", "leave out checks of arguments", False),
    Flag("iree-opt-const-eval", "bool", "compute expressions of constants while compiling", True),
    Flag("iree-opt-const-expr-hoisting", "bool", "compute them once, not in every call", True),
    Flag("iree-opt-const-expr-max-size-increase-threshold", "int", "bytes that computing one may add", 1 << 20,
         limits=BYTES),
    Flag(
        "iree-execution-model", "choice", "how calls and devices are synchronised, or that there are none",
        "async-internal", choices=MODELS,
    ),
    Flag("iree-hal-memoization", "bool", "record command buffers once and keep them", True),
    Flag("iree-hal-indirect-command-buffers", "bool", "recorded buffers take their bindings per call", True),
    Flag("iree-hal-link-executables", "bool", "put all dispatches into one executable", True),
    Flag("iree-hal-executable-debug-level", "int", "executables hold 1 names, 2 also locations, 3 sources; 0 none", 2),
    Flag("iree-hal-dump-executable-sources-to", "str", "folder for executables before codegen", "", metavar="DIR"),
    Flag("iree-hal-dump-executable-configurations-to", "str", "folder for configured executables", "", metavar="DIR"),
    Flag("iree-hal-dump-executable-benchmarks-to", "str", "folder for modules that time dispatches", "", metavar="DIR"),
    Flag("iree-hal-dump-executable-binaries-to", "str", "folder for the ELF files", "", metavar="DIR"),
    Flag("iree-hal-dump-executable-intermediates-to", "str", "folder for LLVM IR and assembly", "", metavar="DIR"),
    Flag("iree-hal-benchmark-dispatch-repeat-count", "int", "times that each dispatch is recorded, to be timed", 1,
         limits=(1, 10000)),
    Flag("iree-hal-dump-executable-files-to", "str", "folder for all of these", "", metavar="DIR"),
    # The bytecode module.
    Flag("iree-vm-target-index-bits", "choice", "bits of index in the VM", "64", choices=("64",),
         refused={"32": "indices are 64-bit; --iree-input-demote-i64-to-i32 narrows i64 values"}),
    Flag("iree-vm-target-extension-f32", "bool", "the VM has f32 instructions", True, refused={"false": _VM_FLOATS}),
    Flag("iree-vm-target-extension-f64", "bool", "the VM has f64 instructions", True, refused={"false": _VM_FLOATS}),
    Flag("iree-vm-emit-polyglot-zip", "bool", "make the file a ZIP as well", True),
    Flag("iree-vm-bytecode-module-strip-source-map", "bool", "leave out source locations", False),
    Flag("iree-vm-bytecode-module-strip-debug-ops", "bool", "leave out debugging instructions", False),
    Flag("iree-vm-bytecode-source-listing", "str", "file for the VM program as text", "", metavar="FILE"),
    Flag(
        "iree-vm-bytecode-module-output-format", "choice", "the form of the module", "flatbuffer-binary",
        choices=("flatbuffer-binary", "mlir-text"),
        refused={
            "flatbuffer-text": "print a finished module with tiree-dump-module --output=flatbuffer-json",
            "annotated-mlir-text": "use mlir-text, or tiree-dump-module --output=disassembly",
        },
    ),
    # Parameters.
    *PARAMETER_FLAGS,
    # Extensions.
    *PLUGIN_FLAGS,
    # What to run and print.
    Flag("compile-from", "choice", "the phase that made the input", "start", choices=PHASE_NAMES[:-1]),
    Flag("compile-to", "choice", "the phase to stop after", "end", choices=PHASE_NAMES),
    Flag("compile-mode", "choice", "std, or vm for a module in the vm dialect", "std", choices=("std", "vm"),
         refused={"hal-executable": "compile a whole module with --compile-to=executable-targets instead"}),
    Flag("output-format", "choice", "the kind of output", "vm-bytecode", choices=("vm-bytecode",),
         refused={
             "vm-c": "there is no C emitter; a vm-bytecode file can be embedded with xxd or iree-c-embed-data",
             "vm-asm": "print a finished module with tiree-dump-module --output=disassembly",
         }),
    Flag("mlir-print-ir-before-all", "bool", "print the module before every pass", False),
    Flag("mlir-print-ir-after-all", "bool", "print the module after every pass", False),
    Flag("mlir-print-ir-after-change", "bool", "with -after-all: only if the pass changed it", False),
    Flag("mlir-print-ir-before", "list", "print the module before these passes", metavar="PASS"),
    Flag("mlir-print-ir-after", "list", "print the module after these passes", metavar="PASS"),
    Flag("mlir-print-op-generic", "bool", "print operations in the generic form", False),
    Flag("mlir-print-debuginfo", "bool", "print locations", False),
    Flag("mlir-elide-elementsattrs-if-larger", "int", "leave out constants with more elements", metavar="N"),
    Flag("mlir-timing", "bool", "print the time of every pass", False),
    Flag("mlir-disable-threading", "bool", "compile on one thread", False),
    Flag("mlir-print-stacktrace-on-diagnostic", "bool", "print the Python traceback with an error", False),
    Flag("mlir-print-op-on-diagnostic", "bool", "print the operation with an error about one", False),
    Flag("dump-compilation-phases-to", "str", "folder for the module after every phase", "", metavar="DIR"),
    Flag("tiree-share-layers", "bool", "compile layers that come again and again once", True),
    Flag("tiree-cache-dir", "str", "folder of earlier outputs to take instead of compiling", "", metavar="DIR"),
    Flag("tiree-cache-size", "int", "bytes that the folder may hold", 1 << 30, limits=BYTES),
    Flag("tiree-report", "str", "report on passes, dispatches, memory: .html, .txt or JSON", "", metavar="FILE"),
)  # fmt: skip

_NO_ENCODER = "what is computed from parameters is computed when they are loaded; there is no program that encodes them"
REFUSED: dict[str, str] = {
    "iree-parameter-encoder-output-file": _NO_ENCODER,
    "iree-parameter-encoder-output-scope": _NO_ENCODER,
    "iree-parameter-encoder-mode": _NO_ENCODER,
    "iree-global-optimization-opt-level": "this pipeline has one level; --iree-opt-const-eval and the like change it",
    "iree-global-opt-data-tiling": "constant operands are packed where the chosen strategy wants it, without a flag",
    "iree-llvmcpu-sanitize": "kernels have no sanitizer runtime to call, and keep to their bindings by construction",
    "iree-dispatch-creation-opt-level": "fusion has one level, the one that IREE calls O2",
    "iree-opt-data-tiling": "constant operands are packed where the chosen strategy wants it, without a flag",
    "iree-dispatch-creation-data-tiling": "constant operands are packed where the strategy wants it, without a flag",
    "iree-hal-force-indirect-command-buffers": "indirect command buffers are the default wherever they can be recorded",
    "iree-stream-partitioning-favor": "partitions favour peak memory, IREE's default",
    "iree-stream-resource-index-bits": "resource sizes are 64-bit",
    "iree-stream-resource-max-allocation-size": "allocations have no limit of their own",
    "iree-plugin": "plugins are Python files here: --tiree-plugin=FILE_OR_MODULE",
    "iree-cuda-target": _CPU_ONLY,
    "iree-hip-target": _CPU_ONLY,
    "iree-vulkan-target": _CPU_ONLY,
}

_FIELDS: dict[str, str] = {
    "iree-llvmcpu-target-cpu": "llvmcpu_target_cpu",
    "iree-llvmcpu-target-cpu-features": "llvmcpu_target_cpu_features",
    "iree-llvmcpu-target-triple": "llvmcpu_target_triple",
    "iree-llvmcpu-debug-symbols": "llvmcpu_debug_symbols",
    "iree-llvmcpu-stack-allocation-limit": "llvmcpu_stack_allocation_limit",
    "iree-hal-target-device": "hal_target_devices",
    "iree-hal-default-device": "hal_default_device",
    "iree-hal-local-target-device-backends": "hal_target_backends",
    "iree-input-type": "input_type",
    "iree-input-demote-i64-to-i32": "demote_i64_to_i32",
    "iree-input-demote-f64-to-f32": "demote_f64_to_f32",
    "iree-input-promote-f16-to-f32": "promote_f16_to_f32",
    "iree-input-promote-bf16-to-f32": "promote_bf16_to_f32",
    "iree-opt-strip-assertions": "strip_assertions",
    "iree-opt-const-eval": "opt_const_eval",
    "iree-opt-const-expr-hoisting": "opt_const_expr_hoisting",
    "iree-opt-const-expr-max-size-increase-threshold": "opt_const_expr_max_size_increase_threshold",
    "iree-execution-model": "execution_model",
    "iree-hal-memoization": "hal_memoization",
    "iree-hal-indirect-command-buffers": "hal_indirect_command_buffers",
    "iree-hal-link-executables": "hal_link_executables",
    "iree-hal-benchmark-dispatch-repeat-count": "hal_benchmark_dispatch_repeat_count",
    "iree-hal-executable-debug-level": "hal_executable_debug_level",
    "iree-hal-dump-executable-intermediates-to": "dump_intermediates_to",
    "tiree-share-layers": "share_layers",
    "tiree-cache-dir": "cache_dir",
    "tiree-cache-size": "cache_size",
    "iree-vm-emit-polyglot-zip": "vm_emit_polyglot_zip",
    "iree-vm-bytecode-module-strip-source-map": "vm_strip_source_map",
    "iree-vm-bytecode-module-strip-debug-ops": "vm_strip_debug_ops",
    **PARAMETER_FIELDS,
}
"""Flags that set the option of that name and nothing else."""

_NOT_RECORDED = frozenset(
    {
        "o",
        "dump-compilation-phases-to",
        "tiree-report",
        "tiree-cache-dir",
        "tiree-cache-size",
        "iree-vm-bytecode-source-listing",
        PLUGIN,
        *PARAMETER_PATHS,
    }
    | {
        flag.name
        for flag in FLAGS
        if flag.name.startswith(("mlir-", "iree-hal-dump-")) or (len(flag.choices) == 1 and flag.kind != "repeat")
    }
)
"""Flags that do not change the artifact: two builds that differ in them only give the same bytes. Of plugins the name
and the digest are recorded, not the path; of parameter files nothing is."""


def flags_from_options(options: Mapping[str, Any]) -> list[str]:
    """The flags that set these fields of `CompileOptions`; for a field without a flag, nothing."""
    names = {field: name for name, field in _FIELDS.items()}

    def texts(value: Any) -> list[str]:
        if isinstance(value, list | tuple):
            return [str(one) for one in cast("Sequence[object]", value)]
        return [str(value).lower() if isinstance(value, bool) else str(value)]

    return [f"--{names[field]}={text}" for field, value in options.items() if field in names for text in texts(value)]


def options_from_flags(parsed: ParsedFlags) -> CompileOptions:
    """The options that a command line asks for. Raises `CompileError` for flags that contradict each other."""
    values = {field: parsed[name] for name, field in _FIELDS.items()}
    level = _opt_level(parsed)
    if level != "O0" and "iree-opt-strip-assertions" not in parsed.given:
        values["strip_assertions"] = True
    debug_level = parsed["iree-hal-executable-debug-level"]
    if not 0 <= debug_level <= 3:
        raise fail(f"--iree-hal-executable-debug-level={debug_level}: levels are 0 to 3")
    if parsed["iree-llvmcpu-stack-allocation-limit"] <= 0:
        raise fail("--iree-llvmcpu-stack-allocation-limit needs a positive number of bytes")
    if "tiree-cache-dir" not in parsed.given:
        values["cache_dir"] = os.environ.get("TIREE_CACHE_DIR", "")
    if parsed["iree-hal-dump-executable-files-to"] and not values["dump_intermediates_to"]:
        values["dump_intermediates_to"] = parsed["iree-hal-dump-executable-files-to"]
    if parsed["iree-llvmcpu-target-triple"] and "iree-llvmcpu-target-cpu" not in parsed.given:
        values["llvmcpu_target_cpu"] = "generic"  # `host` is this machine's, perhaps not of that architecture.
    values |= parameter_values(parsed)
    values["hal_target_devices"] = tuple(options_devices(parsed))
    values["hal_target_backends"] = options_backends(parsed)
    check_model(parsed["iree-execution-model"], values["hal_target_backends"], parsed["iree-hal-target-device"])
    if parsed["iree-execution-model"].startswith("inline") and values["hal_benchmark_dispatch_repeat_count"] > 1:
        raise fail(
            f"--iree-execution-model={parsed['iree-execution-model']} records no dispatches that "
            "--iree-hal-benchmark-dispatch-repeat-count could repeat",
            "leave out one of them",
        )
    options = CompileOptions(**values)
    return replace(options, recorded_flags=recorded_flags(parsed), threads=1 if parsed["mlir-disable-threading"] else 0)


def _opt_level(parsed: ParsedFlags) -> str:
    """The one level that `--iree-opt-level` and `-O0` to `-O3` name."""
    named = [f"--iree-opt-level={parsed['iree-opt-level']}"] if "iree-opt-level" in parsed.given else []
    named += [f"-{name}" for name in _OPT_LEVELS if parsed[name]]
    levels = [text[-2:] for text in named]
    if len(set(levels)) > 1:
        raise fail(f"{named[1]} contradicts {named[0]}", "give one of them")
    return levels[0] if levels else "O0"


def options_devices(parsed: ParsedFlags) -> list[str]:
    """The devices that flags name, where they name more than the one local device there is without flags."""
    devices = parsed["iree-hal-target-device"]
    return [] if devices == ["local"] else devices


def options_backends(parsed: ParsedFlags) -> tuple[str, ...]:
    """The backends of local devices that flags name, in order; without a name that of the execution model."""
    named = [*parsed["iree-hal-local-target-device-backends"], *parsed["iree-hal-target-backends"]]
    found = tuple(dict.fromkeys(one for one in named if one in OWN_BACKENDS))
    return found or (default_backend(parsed["iree-execution-model"]),)


def recorded_flags(parsed: ParsedFlags) -> tuple[str, ...]:
    """The given flags that change the artifact from what the defaults make, sorted, for the module's attributes.

    Written without the leading `--iree-`, which every one of them has.
    """
    defaults = {flag.name: flag.default for flag in FLAGS}
    if parsed["iree-llvmcpu-target-cpu"] in (defaults["iree-llvmcpu-target-cpu"], "host"):
        defaults["iree-llvmcpu-target-cpu-features"] = "host"  # What that CPU has anyway.
    if options_backends(parsed) == OWN_BACKENDS[:1]:
        for name in ("iree-hal-local-target-device-backends", "iree-hal-target-backends"):
            if all(one in OWN_BACKENDS for one in parsed[name]):
                defaults[name] = parsed[name]
    if not options_devices(parsed):
        defaults["iree-hal-target-device"] = parsed["iree-hal-target-device"]
    flags = [
        f"{name.removeprefix('iree-')}={value}"
        for name, values in parsed.given.items()
        if name in defaults and name not in _NOT_RECORDED and parsed[name] != defaults[name]
        for value in values
    ]
    return tuple(sorted(flags))


def has_target(parsed: ParsedFlags) -> bool:
    """Whether the command line names a device or backend."""
    names = ("iree-hal-target-device", "iree-hal-local-target-device-backends", "iree-hal-target-backends")
    return any(name in parsed.given for name in names)
