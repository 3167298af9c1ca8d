"""One compilation from source text to output bytes; the command line and the Python API both end here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tiree.support.errors import CompileError, Diagnostic, InternalError

if TYPE_CHECKING:
    from tiree.pipeline import PipelineObserver
    from tiree.pipeline_observers import Timing
    from tiree.support.options import CompileOptions
    from tiree.support.sources import Data


@dataclass
class Job:
    """What to compile and what to give back."""

    source: Data
    name: str
    """The path, or what stands for it in messages."""
    options: CompileOptions
    compile_from: str = "start"
    compile_to: str = "end"
    print_settings: dict[str, Any] = field(default_factory=dict[str, Any])
    """For the text of a phase: `generic`, `debuginfo`, `elide_larger_than`."""
    vm_listing: str = ""
    """File for the text of the `vm` phase; empty: none."""
    command: tuple[str, ...] = ()
    """The flags as given, for the reproducer."""
    observers: Sequence[PipelineObserver] = ()
    timing: Timing | None = None


def run_job(job: Job) -> bytes:
    """The `.vmfb`, or the text of phase `compile_to`.

    Raises `CompileError`; a fault of the compiler is one as well, after the input has been saved as a reproducer.
    """
    try:
        for observer in job.observers:
            observer.begin()
        return _run(job)
    except CompileError as error:
        error.place(job.name)
        raise
    finally:
        for observer in job.observers:
            observer.finish()


def _run(job: Job) -> bytes:
    from xdsl.dialects.builtin import ModuleOp

    from tiree.dialects import get_context, read_module
    from tiree.pipeline import run_pipeline, verify_module
    from tiree.support.input_type import check_input_type

    start = perf_counter()
    ctx = get_context(extensions=job.options.extensions)
    format = job.options.extensions.format_of(job.name, job.options.input_type)
    source = job.source if format is None else format.read(bytes(job.source), job.name)
    module = source if isinstance(source, ModuleOp) else read_module(_text(source), ctx, job.name)
    verify_module(module)
    if job.compile_from == "start":
        check_input_type(module, job.options.input_type)
    _tell(job, "read and verify", perf_counter() - start)
    try:
        run_pipeline(module, job.options, job.compile_from, job.compile_to, ctx=ctx, observers=job.observers)
        return _output(job, module)
    except InternalError as error:
        raise _internal(error, job) from error


def _text(source: Data | str) -> Data:
    return source.encode() if isinstance(source, str) else source


def _output(job: Job, module: Any) -> bytes:
    from tiree.dialects import print_module
    from tiree.pipeline import emit

    settings = {"generic": False, **job.print_settings}
    if job.vm_listing:
        with open(job.vm_listing, "w", encoding="utf-8") as file:
            file.write(print_module(module, **settings))
    start = perf_counter()
    output = emit(module, job.options) if job.compile_to == "end" else print_module(module, **settings).encode()
    _tell(job, "write", perf_counter() - start)
    return output


def _tell(job: Job, what: str, seconds: float) -> None:
    for observer in job.observers:
        observer.after_step(what, seconds)


def _internal(error: InternalError, job: Job) -> CompileError:
    """The report of a compiler fault: what failed, and a file and command that show it again."""
    from tiree.support.reproducer import save_reproducer

    saved = save_reproducer(job.source, error.culprit, job.command, job.compile_from)
    hint = "this is a fault of the compiler, not of your program."
    if job.options.extensions.origins:
        names = ", ".join(map(str, job.options.extensions.origins))
        hint = f"this is a fault of the compiler, or of {names}: does it happen without?"
    if saved:
        flags = "".join(f"{flag} " for flag in job.command)
        hint += f" The input is saved in {saved}; rerun: tiree-compile {flags}{saved} -o /dev/null"
    return CompileError(Diagnostic(f"internal error: {error}", job.name, hint))
