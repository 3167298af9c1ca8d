"""Compile options: one field per fact that a stage may ask for.

The command line, `tiree.compile` and the tests all build a `CompileOptions`; a stage never reads flags or the
environment. `tools/compile_flags.py` maps flag names to these fields.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tiree.support.extensions import NONE, Extensions


@dataclass(frozen=True)
class CompileOptions:
    """Everything that can change the bytes of an artifact.

    Names follow `iree-compile`: the field of `--iree-llvmcpu-target-cpu` is `llvmcpu_target_cpu`.
    """

    # Target: the devices and their CPU.
    hal_target_devices: tuple[str, ...] = ()
    """`[NAME=]local[ORDINAL]` each; empty: one local device."""
    hal_default_device: str = ""
    """Name or number of the device of work that names none; empty: the first."""
    hal_target_backends: tuple[str, ...] = ("llvm-cpu",)
    """What executables are made for, the preferred first: `llvm-cpu`, `vmvx`."""
    llvmcpu_target_triple: str = ""
    """Empty: the host's architecture."""
    llvmcpu_target_cpu: str = "host"
    """A CPU, or several with commas between: kernels for each, one of which is chosen when the file is loaded."""
    llvmcpu_target_cpu_features: str = ""
    """LLVM feature string such as `+avx2,+fma`, or `host`."""
    llvmcpu_debug_symbols: bool = True
    llvmcpu_stack_allocation_limit: int = 32768

    # Input conversion.
    input_type: str = "auto"
    demote_f64_to_f32: bool = False
    demote_i64_to_i32: bool = False
    promote_f16_to_f32: bool = False
    promote_bf16_to_f32: bool = False

    share_layers: bool = True
    """Whether layers that come again and again are compiled once; without, the artifact is the same but for the order
    of independent work."""

    # Global optimisation, scheduling.
    strip_assertions: bool = False
    opt_const_eval: bool = True
    """Whether expressions of constants are computed while compiling."""
    opt_const_expr_hoisting: bool = True
    """Whether those that are not are computed when the program is loaded, not in every call."""
    opt_const_expr_max_size_increase_threshold: int = 1 << 20
    """Bytes that such an expression may add to the constants that it is made of."""
    parameter_import: tuple[str, ...] = ()
    """`[scope=]path` of files from which parameters become constants."""
    parameter_import_keys: tuple[str, ...] = ()
    """Parameters to import, of any of the scopes."""
    parameter_import_maximum_size: int = 0
    """Bytes up to which parameters are imported without being named; 0: none are."""
    parameter_export: str = ""
    """`[scope=]path` of an archive that constants are written to, as parameters; empty: none."""
    parameter_export_minimum_size: int = 0
    """Bytes from which constants are exported."""
    parameter_splat: str = ""
    """Path of an archive with zeros for every parameter of the program; empty: none."""
    execution_model: str = "async-internal"
    hal_memoization: bool = True
    hal_indirect_command_buffers: bool = True
    hal_link_executables: bool = True
    hal_benchmark_dispatch_repeat_count: int = 1
    """How often each dispatch is recorded, for timing; more than once, results mean nothing."""
    hal_executable_debug_level: int = 2
    """What executables say of themselves: 1 their name, 2 also source locations, 3 also their text; 0 nothing."""

    # Bytecode module.
    vm_emit_polyglot_zip: bool = True
    vm_strip_source_map: bool = False
    vm_strip_debug_ops: bool = False

    # What plugins bring.
    extensions: Extensions = field(default=NONE, hash=False)

    # How to compile; none of these changes the artifact.
    threads: int = field(default=0, compare=False)
    """Threads that compile executables; 0: as many as there are CPUs."""
    dump_intermediates_to: str = field(default="", compare=False)
    """Folder for LLVM IR and assembly of each executable; empty: none."""

    cache_dir: str = field(default="", compare=False)
    """Folder of outputs of earlier compilations, which are taken instead of compiling again; empty: none."""
    cache_size: int = field(default=1 << 30, compare=False)
    """Bytes that the folder may hold."""

    # What a user typed, recorded in the module's attributes (the output path and the like left out).
    recorded_flags: tuple[str, ...] = field(default=(), compare=False)
