"""`tiree-compile`: MLIR in, `.vmfb` (or the module of a phase) out.

Exit code 1 on any diagnostic. A fault of the compiler saves a reproducer and says how to run it; no traceback unless
`--mlir-print-stacktrace-on-diagnostic` or `TIREE_TRACEBACK=1` asks for one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from tiree.dialects.bytecode import MAGIC
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.extensions import NONE, OWN_BACKENDS, Extensions
from tiree.support.replacing import replacing
from tiree.support.sources import Data, open_source
from tiree.support.startup import collect_rarely, leave
from tiree.tools.compile_flags import FLAGS, REFUSED, has_target, options_from_flags
from tiree.tools.ending import guarded_compiler
from tiree.tools.flags import ParsedFlags, fail, help_text, parse_flags
from tiree.tools.output_paths import check_output_paths
from tiree.tools.parameter_flags import check_parameter_phases
from tiree.tools.plugin_flags import INFO, extended, extensions_of, plugin_info, with_extensions

if TYPE_CHECKING:
    from tiree.driver import Job
    from tiree.pipeline import PipelineObserver
    from tiree.pipeline_observers import Timing
    from tiree.report import Report

USAGE = "tiree-compile [options] <input.mlir | input.mlirbc | ->"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; returns its exit code. `arguments` are those after the program's name."""
    if arguments is None:
        collect_rarely()
    given = sys.argv[1:] if arguments is None else arguments

    def body() -> int:
        extensions = extensions_of(given)
        return _run(parse_flags(given, extended(FLAGS, extensions), REFUSED), extensions)

    return guarded_compiler("tiree-compile", given, body)


def _run(parsed: ParsedFlags, extensions: Extensions) -> int:
    if parsed["help"]:
        sys.stdout.write(help_text(USAGE, FLAGS, REFUSED))
        return 0
    if parsed["version"]:
        from tiree.version import COMPATIBLE_WITH, VERSION

        print(f"Tiree compiler version {VERSION} (interchangeable with {COMPATIBLE_WITH})")
        return 0
    if parsed["iree-hal-list-target-backends"]:
        print("\n  ".join(["Registered target backends:", *OWN_BACKENDS, *extensions.backends]))
        return 0
    if parsed[INFO]:
        sys.stdout.write(plugin_info(extensions))
        return 0
    if len(parsed.positional) != 1:
        what = "no input file" if not parsed.positional else f"several input files: {', '.join(parsed.positional)}"
        raise fail(what, f"usage: {USAGE}")
    return _compile(parsed, parsed.positional[0], extensions)


def _read_source(path: str) -> Data:
    if path == "-":
        return sys.stdin.buffer.read()
    if not os.path.exists(path):
        raise CompileError(Diagnostic("no such file", path))
    return open_source(path)


def _compile(parsed: ParsedFlags, path: str, extensions: Extensions) -> int:
    from tiree.driver import parts_of, run_job_in_pieces

    name = "<stdin>" if path == "-" else path.encode(errors="backslashreplace").decode()
    job, report = job_from_flags(parsed, _read_source(path), name, extensions)
    _note_target(parsed, job)
    _note_narrowing(job)
    try:
        pieces = run_job_in_pieces(job)
    except CompileError as error:
        write_failed_report(report, parsed["tiree-report"], error, job)
        raise
    _write(parsed["o"], parts_of(pieces, job.source))
    if report is not None:
        report.write(parsed["tiree-report"], b"".join(pieces))
    if job.timing is not None:
        job.timing.report()
    return 0


def write_failed_report(report: Report | None, path: str, error: CompileError, job: Job) -> None:
    """What was known when the compilation failed. The error counts for more than a report that cannot be written."""
    if report is None:
        return
    report.fail(error, job.compile_from)
    try:
        report.write(path)
    except OSError as problem:
        error.add_note(f"the report could not be written: {problem}")


def job_from_flags(
    parsed: ParsedFlags, source: Data, name: str, extensions: Extensions = NONE
) -> tuple[Job, Report | None]:
    """The compilation that a command line asks for, and the report that it fills. Raises `CompileError`."""
    from tiree.driver import Job

    compile_from, compile_to = _phases(parsed)
    listing = parsed["iree-vm-bytecode-source-listing"]
    if listing and compile_to not in ("vm", "end"):
        raise fail(f"--iree-vm-bytecode-source-listing needs the vm phase, not --compile-to={compile_to}")
    check_parameter_phases(parsed, compile_from, compile_to)
    options = with_extensions(options_from_flags(parsed), parsed, extensions)
    check_output_paths(parsed)
    observers, timing, report = _observers(parsed, name, extensions)
    job = Job(
        source,
        name,
        options,
        compile_from,
        compile_to,
        _print_settings(parsed),
        listing,
        tuple(f"--{flag}={value}" for flag, values in parsed.given.items() if flag != "o" for value in values),
        observers,
        timing,
        parsed["mlir-print-op-on-diagnostic"],
    )
    return job, report


def _phases(parsed: ParsedFlags) -> tuple[str, str]:
    compile_from, compile_to = parsed["compile-from"], parsed["compile-to"]
    if parsed["compile-mode"] == "vm":
        if "compile-from" in parsed.given and compile_from != "vm":
            raise fail(f"--compile-mode=vm contradicts --compile-from={compile_from}")
        compile_from = "vm"
    if parsed["iree-vm-bytecode-module-output-format"] == "mlir-text" and compile_to == "end":
        compile_to = "vm"
    return compile_from, compile_to


def _note_target(parsed: ParsedFlags, job: Job) -> None:
    """One line that says what was chosen when no CPU was named."""
    from tiree.pipeline import phase_index

    assigned = phase_index("preprocessing")
    if phase_index(job.compile_from) >= assigned or phase_index(job.compile_to) < assigned:
        return
    if job.options.extensions.target is not None or "llvm-cpu" not in job.options.hal_target_backends:
        return
    flags = ("iree-llvmcpu-target-cpu", "iree-llvmcpu-target-cpu-features", "iree-llvmcpu-target-triple")
    if not any(name in parsed.given for name in flags):
        where = "" if has_target(parsed) else "no target given: "
        print(
            f"note: {where}compiling for this machine's CPU; "
            "--iree-llvmcpu-target-cpu=generic makes a file for every CPU of its kind",
            file=sys.stderr,
        )


def _note_narrowing(job: Job) -> None:
    """One line for each type that a flag narrows, if the program may have it: callers pass the narrow one then."""
    options = job.options
    narrowed = (("f64", "f32", options.demote_f64_to_f32), ("i64", "i32", options.demote_i64_to_i32))
    for wide, narrow, wanted in narrowed:
        if wanted and (job.source.find(f"x{wide}>".encode()) >= 0 or job.source[: len(MAGIC)] == MAGIC):
            print(f"note: {wide} is narrowed to {narrow}, as a flag asks; callers pass {narrow}", file=sys.stderr)


def _observers(
    parsed: ParsedFlags, path: str, extensions: Extensions
) -> tuple[list[PipelineObserver], Timing | None, Report | None]:
    from tiree import pipeline_observers as known

    name = os.path.splitext(os.path.basename(path.strip("<>")))[0].replace(" ", "_")
    observers: list[PipelineObserver] = []
    report = timing = None
    before = None if parsed["mlir-print-ir-before-all"] else parsed["mlir-print-ir-before"]
    after = None if parsed["mlir-print-ir-after-all"] else parsed["mlir-print-ir-after"]
    if before != [] or after != []:
        check_pass_names([*(before or []), *(after or [])], extensions)
        changes = parsed["mlir-print-ir-after-change"]
        observers.append(known.PrintIR(before, after, only_changes=changes, **_print_settings(parsed)))
    if parsed["mlir-timing"]:
        timing = known.Timing()
        observers.append(timing)
    if parsed["dump-compilation-phases-to"]:
        folder = parsed["dump-compilation-phases-to"]
        observers.append(known.DumpPhases(folder, name, generic=parsed["mlir-print-op-generic"]))
    everything = parsed["iree-hal-dump-executable-files-to"]
    kinds = {kind: parsed[f"iree-hal-dump-executable-{kind}-to"] or everything for kind in _DUMPS}
    if any(kinds.values()):
        observers.append(known.DumpExecutables(name, **{kind: folder or None for kind, folder in kinds.items()}))
    if parsed["tiree-report"]:
        from tiree.report import Report

        report = Report(os.path.basename(path))
        observers.append(report)
    prints_ir = before != [] or after != []
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not prints_ir:
        observers.append(known.Progress())
    return observers, timing, report


_DUMPS = ("sources", "configurations", "binaries", "benchmarks")


def check_pass_names(names: Sequence[str], extensions: Extensions) -> None:
    """Raises `CompileError` for a name that no pass has."""
    from tiree.plugins.pipelines import find_pass

    for name in names:
        find_pass(name, extensions)


def _print_settings(parsed: ParsedFlags) -> dict[str, Any]:
    return {
        "generic": parsed["mlir-print-op-generic"],
        "debuginfo": parsed["mlir-print-debuginfo"],
        "elide_larger_than": parsed["mlir-elide-elementsattrs-if-larger"],
    }


def _write(path: str, parts: Iterable[memoryview]) -> None:
    if path == "-":
        for part in parts:
            sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()
        return
    with replacing(path) as file:
        for part in parts:
            file.write(part)


def entry() -> NoReturn:
    """The console script."""
    leave(main())


if __name__ == "__main__":
    entry()
