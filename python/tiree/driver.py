"""One compilation from source text to output bytes; the command line and the Python API both end here."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tiree.compile_cache import cache_of
from tiree.support.errors import CompileError, Diagnostic, InternalError
from tiree.support.file_cache import FileCache, Piece, windows
from tiree.support.sources import Data, give_back, is_onnx

if TYPE_CHECKING:
    from tiree.pipeline import PipelineObserver
    from tiree.pipeline_observers import Timing
    from tiree.support.options import CompileOptions


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
    show_operations: bool = False
    """Whether errors show the operations that they are about."""


def run_job(job: Job) -> bytes:
    """The `.vmfb`, or the text of phase `compile_to`. Raises as `run_job_in_pieces` does."""
    pieces = run_job_in_pieces(job)
    if len(pieces) == 1 and isinstance(pieces[0], bytes):
        return pieces[0]
    output = BytesIO()
    for part in parts_of(pieces, job.source):
        output.write(part)
    return output.getvalue()


def parts_of(pieces: Iterable[Piece], source: Data) -> Iterator[memoryview]:
    """`pieces` of what was made from `source` in parts to be copied. Of a mapped source only one is in memory."""
    give_back(source)
    for part in windows(pieces):
        yield part
        give_back(source)


def run_job_in_pieces(job: Job) -> list[Piece]:
    """The same, in pieces; those that hold constants are views of them.

    Raises `CompileError`; a fault of the compiler is one as well, after the input has been saved as a reproducer.
    """
    try:
        for observer in job.observers:
            observer.begin()
        if not job.show_operations:
            return _run_or_find(job)
        from tiree.dialects.syntax.diagnosed import operations_in_errors

        with operations_in_errors():
            return _run_or_find(job)
    except CompileError as error:
        error.place(job.name)
        raise
    finally:
        for observer in job.observers:
            observer.finish()


def _run_or_find(job: Job) -> list[Piece]:
    """What is kept of an earlier compilation, or else of this one from now on."""
    start = perf_counter()
    place = cache_of(job)
    if place is None:
        return _run(job)
    cache, key = place
    try:
        found = cache.get(key)
        _tell(job, f"cache: {'miss' if found is None else 'hit'} {key[:16]}", perf_counter() - start)
        if found is not None:
            return [found]
    except OSError as error:
        _warn(cache, error)
        return _run(job)
    pieces = _run(job)
    start = perf_counter()
    try:
        cache.put(key, parts_of(pieces, job.source))
    except OSError as error:
        _warn(cache, error)
    _tell(job, "cache: keep", perf_counter() - start)
    return pieces


def _warn(cache: FileCache, error: OSError) -> None:
    """A cache that cannot be used is no reason not to compile."""
    print(f"warning: the compile cache {cache.folder} cannot be used: {error.strerror or error}", file=sys.stderr)


def _run(job: Job) -> list[Piece]:
    from xdsl.dialects.builtin import ModuleOp

    from tiree.dialects import get_context, read_module
    from tiree.pipeline import invalid_operations, run_pipeline, verify_module
    from tiree.support.input_type import check_input_type

    start = perf_counter()
    ctx = get_context(extensions=job.options.extensions)
    format = job.options.extensions.format_of(job.name, job.options.input_type)
    source = job.source if format is None else format.read(bytes(job.source), job.name)
    if format is None and is_onnx(job.source, job.name):
        from tiree.frontends.onnx import read_model

        source = read_model(job.source, job.name)
    try:
        module = source if isinstance(source, ModuleOp) else read_module(_text(source), ctx, job.name)
        verify_module(module)
    except CompileError as error:
        if not isinstance(error.module, ModuleOp) or job.compile_from != "start":
            raise
        from tiree.input.check_operations import with_others

        raise with_others(error, invalid_operations(error.module), error.module) from error
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


def _output(job: Job, module: Any) -> list[Piece]:
    from tiree.dialects import print_module
    from tiree.pipeline import emit_in_pieces

    settings = {"generic": False, **job.print_settings}
    if job.vm_listing:
        with open(job.vm_listing, "w", encoding="utf-8") as file:
            file.write(print_module(module, **settings))
    start = perf_counter()
    if job.compile_to == "end":
        output = emit_in_pieces(module, job.options)
    else:
        output: list[Piece] = [print_module(module, **settings).encode()]
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
        placed = [f"{one.name} {point}" for point, passes in job.options.extensions.placed.items() for one in passes]
        hint += f" Passes of plugins: {', '.join(placed)}." if placed else ""
    if saved:
        flags = "".join(f"{flag} " for flag in job.command)
        hint += f" The input is saved in {saved}; rerun: tiree-compile {flags}{saved} -o /dev/null"
    return CompileError(Diagnostic(f"internal error: {error}", job.name, hint))
