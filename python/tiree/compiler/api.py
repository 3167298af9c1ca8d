"""The compiler's Python API: flags are built from keywords and parsed by the table of `tiree-compile`.

So a keyword, a flag and the command line can never differ in what they mean.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from tiree.support.errors import CompileError, Diagnostic, InternalError
from tiree.support.replacing import replace_file
from tiree.support.sources import Data, open_source

if TYPE_CHECKING:
    from tiree.compiler.output import Output


class InputType(Enum):
    """Values of `input_type`."""

    NONE = "none"
    AUTO = "auto"
    STABLEHLO = "stablehlo"
    STABLEHLO_XLA = "stablehlo_xla"
    VHLO = "vhlo"
    TOSA = "tosa"
    TORCH = "torch"
    ONNX = "onnx"


class OutputFormat(Enum):
    """Values of `output_format`."""

    FLATBUFFER_BINARY = "flatbuffer-binary"
    FLATBUFFER_TEXT = "flatbuffer-text"
    MLIR_TEXT = "mlir-text"


class CompilerToolError(Exception):
    """A compilation failed; the text holds the diagnostics, and `__cause__` is the `CompileError`."""


def _enum_value(kind: type[Enum], value: Any, name: str) -> str:
    if isinstance(value, kind):
        return value.value
    key = str(value).upper().replace("-", "_")
    if key not in kind.__members__:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(member.value for member in kind)}")
    return kind[key].value


_TOOL_KEYWORDS: dict[str, Any] = {
    "output_file": None,
    "target_backends": (),
    "input_type": InputType.AUTO,
    "output_format": OutputFormat.FLATBUFFER_BINARY,
    "extra_args": (),
    "optimize": True,
    "output_mlir_debuginfo": True,
    "output_generic_mlir": False,
    "extended_diagnostics": False,
    "strip_debug_ops": False,
    "strip_source_map": False,
    "crash_reproducer_path": None,
    "enable_tflite_bindings": False,
    "enable_benchmark": False,
}

_REFUSED_KEYWORDS = {
    "optimize": 'iree.compiler ignores it; extra_args=["--iree-opt-level=O0"] names a level',
    "enable_tflite_bindings": "modules have the native calling convention only; call them through tiree.runtime",
    "enable_benchmark": "modules are not instrumented; tiree-benchmark-module times any function",
    "crash_reproducer_path": "a fault of the compiler saves its input beside the working folder and names the file",
}
"""Keywords that are known but have one possible value, with the reason."""


def _tool_flags(given: Mapping[str, Any]) -> tuple[list[str], str | None]:
    """The flags that iree.compiler's keywords stand for, and the output file."""
    unknown = sorted(set(given) - set(_TOOL_KEYWORDS))
    if unknown:
        raise TypeError(f"unknown keyword {unknown[0]!r}; known are {', '.join(_TOOL_KEYWORDS)}")
    values = {**_TOOL_KEYWORDS, **given}
    for name, reason in _REFUSED_KEYWORDS.items():
        if values[name] != _TOOL_KEYWORDS[name]:
            raise ValueError(f"{name}={values[name]!r} is not available: {reason}")
    output_format = _enum_value(OutputFormat, values["output_format"], "output_format")
    flags = [
        f"--iree-input-type={_enum_value(InputType, values['input_type'], 'input_type')}",
        f"--iree-vm-bytecode-module-output-format={output_format}",
        *(f"--iree-hal-target-backends={backend}" for backend in values["target_backends"] or ()),
    ]
    switches = {
        "mlir-print-debuginfo": values["output_mlir_debuginfo"],
        "mlir-print-op-generic": values["output_generic_mlir"],
        "mlir-print-stacktrace-on-diagnostic": values["extended_diagnostics"],
        "iree-vm-bytecode-module-strip-debug-ops": values["strip_debug_ops"],
        "iree-vm-bytecode-module-strip-source-map": values["strip_source_map"],
    }
    flags += [f"--{name}" for name, wanted in switches.items() if wanted]
    return [*flags, *values["extra_args"]], values["output_file"]


_COMMAND_LINE_ONLY = {
    "o": "name the file with output= (tiree.compile) or output_file= (compile_str)",
    "help": "tiree-compile --help lists the flags",
    "version": "tiree.__version__ has it",
    "iree-print-plugin-info": "tiree-compile prints it",
    "iree-hal-list-target-backends": "tiree.compiler.query_available_targets() returns them",
}
"""Flags without a meaning for a call from Python, and what to use there."""


def _compile(
    source: Data,
    name: str,
    flags: Sequence[str],
    options: Mapping[str, Any] | None = None,
    plugins: Sequence[Any] = (),
) -> Output:
    from tiree import _native
    from tiree.compiler.output import Output
    from tiree.driver import run_job_in_pieces
    from tiree.tools.compile import job_from_flags, write_failed_report
    from tiree.tools.compile_flags import FLAGS, REFUSED, flags_from_options
    from tiree.tools.flags import fail, parse_flags
    from tiree.tools.plugin_flags import extended, extensions_of

    options = options or {}
    extensions = extensions_of(flags, plugins)
    parsed = parse_flags([*flags, *flags_from_options(options)], extended(FLAGS, extensions), REFUSED)
    if parsed.positional:
        raise fail(f"{parsed.positional[0]!r} is not a flag")
    for flag, instead in _COMMAND_LINE_ONLY.items():
        if flag in parsed.given:
            raise fail(f"-{flag} belongs to the command line" if flag == "o" else f"--{flag} prints and exits", instead)
    job, report = job_from_flags(parsed, source, name, extensions)
    # What a reproducer has to name. Plugins that are objects of this process have no name there.
    named = [str(plugin) for plugin in plugins if isinstance(plugin, str | PurePath)]
    job.command = (*(f"--tiree-plugin={one}" for one in named), *job.command)
    if "threads" in options:
        job.options = replace(job.options, threads=options["threads"])
    try:
        # Constants are folded on this thread, and on those that it starts, which inherit its mode.
        output = Output(_native.in_standard_float_mode(lambda: run_job_in_pieces(job)), job.source)
    except CompileError as error:
        write_failed_report(report, parsed["tiree-report"], error, job)
        if parsed["mlir-print-stacktrace-on-diagnostic"]:
            import traceback

            error.add_note("".join(traceback.format_exception(error)))
        raise
    if report is not None:
        report.write(parsed["tiree-report"], output.to_bytes(bytes))
    if job.timing is not None:
        job.timing.report()
    return output


def _compile_tool(source: Data, name: str, keywords: Mapping[str, Any]) -> bytes | None:
    flags, output_file = _tool_flags(keywords)
    try:
        output = _compile(source, name, flags).to_bytes(bytes)
    except CompileError as error:
        notes = "".join(f"\n{note}" for note in getattr(error, "__notes__", ()))
        raise CompilerToolError(f"Error compiling {name}\nDiagnostics:\n{error}{notes}") from error
    if output_file is None:
        return output
    replace_file(output_file, output)
    return None


def compile_str(input_str: str | bytes, **keywords: Any) -> bytes | None:
    """Compiles MLIR text or bytecode. Returns the module, or None when `output_file` is given.

    Keywords are those of `iree.compiler.tools.compile_str`. Raises `CompilerToolError` with the diagnostics.
    """
    source = input_str.encode() if isinstance(input_str, str) else input_str
    return _compile_tool(source, "<input>", keywords)


def compile_file(input_file: str | os.PathLike[str], **keywords: Any) -> bytes | None:
    """Compiles a file; see `compile_str`. Raises `OSError` when it cannot be read."""
    path = os.fspath(input_file)
    return _compile_tool(open_source(path), path, keywords)


def query_available_targets() -> list[str]:
    """The names that `target_backends` takes."""
    from tiree.support.extensions import OWN_BACKENDS

    return list(OWN_BACKENDS)


def run_pass_pipeline(program: Any, pipeline: str, *, plugins: Sequence[Any] = (), generic: bool = False) -> str:
    """What `tiree-opt --pass-pipeline` prints: `program` (MLIR text or a path) after passes such as `a,b{key=value}`.

    Passes are Tiree's, xDSL's and those of `plugins`; the module is verified after each. Raises `CompileError`.
    """
    from tiree.dialects import get_context, print_module, read_module
    from tiree.frontends import load_program
    from tiree.pipeline import run_passes, verify_module
    from tiree.pipeline_observers import VerifyEach
    from tiree.plugins import load_plugins, parse_passes

    source, name = load_program(program)
    try:
        extensions = load_plugins(plugins)
        passes = parse_passes(pipeline, extensions)
        ctx = get_context(extensions=extensions)
        module = read_module(source, ctx, name)
        verify_module(module)
        run_passes(module, passes, ctx, [VerifyEach()])
    except CompileError as error:
        error.place(name)
        raise
    except InternalError as error:
        raise CompileError(Diagnostic(f"internal error: {error}", name)) from error
    return print_module(module, generic)


def compile_program(
    program: Any,
    example_arguments: Sequence[Any],
    flags: Sequence[str],
    options: Mapping[str, Any],
    plugins: Sequence[Any] = (),
) -> Output:
    """What `tiree.compile` does. Raises `CompileError`, and `TypeError` for an unknown option."""
    from tiree.frontends import load_program
    from tiree.support.options import CompileOptions

    known = [field.name for field in fields(CompileOptions) if field.name not in ("recorded_flags", "extensions")]
    for name in options:
        if name not in known:
            from difflib import get_close_matches

            close = get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]}?" if close else f"options are {', '.join(known)}"
            raise TypeError(f"compile() has no option {name!r}; {hint}")
    source, name = load_program(program, example_arguments)
    return _compile(source, name, list(flags), options, plugins)
