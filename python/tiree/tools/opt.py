"""`tiree-opt`: reads a module, runs the passes that the command line names, prints the result.

Passes are named as flags (`--tiree-flow-cse`), in their order, or as one pipeline (`-p 'a,b{key=value}'`). Options of
tiree-compile apply where a named pass is part of its pipeline: the pass is then taken as the pipeline would make it.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NoReturn

from tiree.dialects.bytecode import MAGIC
from tiree.pass_registry import pass_locations
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.extensions import Extensions
from tiree.support.replacing import replace_file
from tiree.support.startup import leave
from tiree.tools.compile_flags import FLAGS as COMPILE_FLAGS
from tiree.tools.compile_flags import REFUSED as COMPILE_REFUSED
from tiree.tools.compile_flags import options_from_flags
from tiree.tools.ending import guarded_compiler
from tiree.tools.flags import Flag, ParsedFlags, fail, help_text, parse_flags
from tiree.tools.plugin_flags import extended, extensions_of, with_extensions

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from tiree.pipeline import PipelineObserver
    from tiree.tools.opt_diagnostics import Expectation

USAGE = "tiree-opt [options] [passes] <input.mlir | ->"

_OWN = (
    Flag("pass-pipeline", "str", "the passes to run", "", metavar="'builtin.module(a,b{key=value})'"),
    Flag("p", "str", "short for --pass-pipeline", "", metavar="'a,b'"),
    Flag("iree-transformation-pipeline", "bool", "run everything from input to vm", False),
    Flag("split-input-file", "bool", "the file is several modules, with // ----- lines between them", False),
    Flag("verify-diagnostics", "bool", "compare errors with // expected-error comments", False),
    Flag("verify-each", "bool", "verify the module after every pass", True),
    Flag("allow-unregistered-dialect", "bool", "keep operations of unknown dialects", False),
    Flag("no-implicit-module", "bool", "the file must hold one builtin.module", False),
    Flag("show-dialects", "action", "print the known dialects and exit"),
)
_ONLY_COMPILE = frozenset(
    {
        "iree-vm-bytecode-source-listing",
        "iree-vm-bytecode-module-output-format",
        "output-format",
        "compile-mode",
        "iree-vm-emit-polyglot-zip",
        "iree-vm-bytecode-module-strip-source-map",
        "iree-vm-bytecode-module-strip-debug-ops",
        "tiree-report",
        "tiree-cache-dir",
        "tiree-cache-size",
        "dump-compilation-phases-to",
        "iree-hal-list-target-backends",
        "iree-print-plugin-info",
    }
    | {flag.name for flag in COMPILE_FLAGS if flag.name.startswith("iree-hal-dump-")}
)
FLAGS: tuple[Flag, ...] = (*_OWN, *(flag for flag in COMPILE_FLAGS if flag.name not in _ONLY_COMPILE))
REFUSED: dict[str, str] = {
    **COMPILE_REFUSED,
    **dict.fromkeys(sorted(_ONLY_COMPILE), "it belongs to tiree-compile"),
    "emit-bytecode": "modules are printed as text, which every MLIR tool reads; iree-opt --emit-bytecode converts it",
    "emit-bytecode-version": "modules are printed as text, which every MLIR tool reads",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; returns its exit code."""
    given = sys.argv[1:] if arguments is None else arguments

    def body() -> int:
        extensions = extensions_of(given)
        names = {*pass_locations(), *extensions.passes}
        passes = {name: Flag(name, "list", "a pass") for name in names}
        raw = [_pass_argument(argument, names) for argument in given]
        parsed = parse_flags(raw, extended(FLAGS, extensions), REFUSED, passes)
        # Flags that only tiree-compile has keep their defaults, for `options_from_flags`.
        parsed.values = {**{flag.name: flag.default for flag in COMPILE_FLAGS}, **parsed.values}
        return _run(parsed, extensions)

    return guarded_compiler("tiree-opt", given, body)


def _pass_argument(argument: str, names: set[str]) -> str:
    """`--pass` has no value: give it an empty one, so that the next argument is not taken for it."""
    return f"{argument}=" if argument.startswith("-") and argument.lstrip("-") in names else argument


def _run(parsed: ParsedFlags, extensions: Extensions) -> int:
    if parsed["help"]:
        sys.stdout.write(help_text(USAGE, FLAGS, REFUSED))
        sys.stdout.write("\nPASSES:\n" + "".join(f"  --{name}\n" for name in (*pass_locations(), *extensions.passes)))
        return 0
    if parsed["version"]:
        from tiree.version import COMPATIBLE_WITH, VERSION

        print(f"Tiree optimizer version {VERSION} (interchangeable with {COMPATIBLE_WITH})")
        return 0
    if parsed["show-dialects"]:
        from tiree.dialects.registry import dialect_factories

        print("Available Dialects: " + ", ".join([*dialect_factories(), *extensions.dialects]))
        return 0
    if len(parsed.positional) > 1:
        raise fail(f"several input files: {', '.join(parsed.positional)}", f"usage: {USAGE}")
    path = parsed.positional[0] if parsed.positional else "-"
    if path == "-":
        source, name = sys.stdin.buffer.read(), "<stdin>"
    else:
        with open(path, "rb") as file:
            source, name = file.read(), path
    return _process(parsed, _text_of(source), name, extensions)


def _text_of(source: bytes) -> str | bytes:
    """What is no text stays as it is: bytecode, or something that reading it will refuse."""
    if source.startswith(MAGIC):
        return source
    try:
        return io.TextIOWrapper(io.BytesIO(source), encoding="utf-8").read()
    except UnicodeDecodeError:
        return source


def _process(parsed: ParsedFlags, text: str | bytes, filename: str, extensions: Extensions) -> int:
    from tiree.dialects.syntax.diagnosed import operations_in_errors
    from tiree.tools.opt_diagnostics import check_expectations, expectations, split_input

    if isinstance(text, bytes) and (parsed["split-input-file"] or parsed["verify-diagnostics"]):
        flag = "split-input-file" if parsed["split-input-file"] else "verify-diagnostics"
        raise fail(f"--{flag} needs text, and {filename} is none")
    chunks: list[tuple[int, str | bytes]]
    chunks = [*split_input(text)] if parsed["split-input-file"] and isinstance(text, str) else [(0, text)]
    outputs: list[str] = []
    found: list[Diagnostic] = []
    wanted: list[Expectation] = []
    for first_line, chunk in chunks:
        # Blank lines in front keep the line numbers of the whole file.
        padded = "\n" * first_line + chunk if isinstance(chunk, str) else chunk
        if parsed["verify-diagnostics"] and isinstance(padded, str):
            wanted += expectations(padded)
        try:
            with operations_in_errors() if parsed["mlir-print-op-on-diagnostic"] else nullcontext():
                outputs.append(_transform(parsed, padded, filename, extensions))
        except CompileError as error:
            error.place(filename)
            if not parsed["verify-diagnostics"] and not parsed["split-input-file"]:
                raise
            found += error.diagnostics
    if parsed["verify-diagnostics"]:
        problems = check_expectations(wanted, found, filename)
        print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
        return 1 if problems else 0
    _write(parsed["o"], "// -----\n\n".join(outputs))
    for diagnostic in found:
        print(diagnostic, file=sys.stderr)
    return 1 if found else 0


def _write(path: str, text: str) -> None:
    if path == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    replace_file(path, text.encode())


def _transform(parsed: ParsedFlags, text: str | bytes, filename: str, extensions: Extensions) -> str:
    from tiree.dialects import get_context, print_module, read_module
    from tiree.pipeline import run_passes, run_pipeline, verify_module

    ctx = get_context(allow_unregistered=parsed["allow-unregistered-dialect"], extensions=extensions)
    module = read_module(text, ctx, filename)
    explicit = isinstance(text, bytes) or re.search(r"^\s*(\"?builtin\.)?module\b", text, re.MULTILINE)
    if parsed["no-implicit-module"] and not explicit:
        raise CompileError(Diagnostic("the file does not hold one builtin.module", f"{filename}:1:1"))
    if parsed["verify-each"]:
        verify_module(module)
    if "iree-input-type" in parsed.given:
        from tiree.support.input_type import check_input_type

        check_input_type(module, parsed["iree-input-type"])
    observers = _observers(parsed)
    compile_to = "vm" if parsed["iree-transformation-pipeline"] else parsed["compile-to"]
    passes = _passes(parsed, extensions)
    pipeline = parsed["iree-transformation-pipeline"] or "compile-to" in parsed.given
    if not passes and not pipeline:
        _refuse_useless(parsed)
    run_passes(module, passes, ctx, observers)
    if pipeline:
        options = with_extensions(options_from_flags(parsed), parsed, extensions)
        run_pipeline(module, options, parsed["compile-from"], compile_to, ctx=ctx, observers=observers)
    settings = _print_settings(parsed)
    for observer in observers:
        report = getattr(observer, "report", None)
        if report is not None:
            report()
    return print_module(module, parsed["mlir-print-op-generic"], **settings)


def _refuse_useless(parsed: ParsedFlags) -> None:
    """Flags of the compiler change what passes do; without one they would be ignored."""
    for name in parsed.given:
        if name == "compile-from" or name.startswith("iree-") or re.fullmatch("O[0-3]", name):
            if name == "iree-input-type":
                continue
            dashes = "-" if len(name) == 2 else "--"
            raise fail(f"{dashes}{name} has no effect: no pass runs", "name passes, or add --compile-to=PHASE")


def _print_settings(parsed: ParsedFlags) -> dict[str, Any]:
    return {
        "debuginfo": parsed["mlir-print-debuginfo"],
        "elide_larger_than": parsed["mlir-elide-elementsattrs-if-larger"],
    }


def _observers(parsed: ParsedFlags) -> list[PipelineObserver]:
    from tiree import pipeline_observers as known

    observers: list[PipelineObserver] = []
    if parsed["verify-each"]:
        observers.append(known.VerifyEach())
    before = None if parsed["mlir-print-ir-before-all"] else parsed["mlir-print-ir-before"]
    after = None if parsed["mlir-print-ir-after-all"] else parsed["mlir-print-ir-after"]
    if before != [] or after != []:
        changes, generic = parsed["mlir-print-ir-after-change"], parsed["mlir-print-op-generic"]
        settings = {**_print_settings(parsed), "generic": generic}
        observers.append(known.PrintIR(before, after, only_changes=changes, **settings))
    if parsed["mlir-timing"]:
        observers.append(known.Timing())
    return observers


def _passes(parsed: ParsedFlags, extensions: Extensions) -> list[ModulePass]:
    """The named passes in order: those of the pipeline flag, then those named as flags."""
    pipeline = parsed["pass-pipeline"] or parsed["p"]
    specs = [pipeline]
    known = {*pass_locations(), *extensions.passes}
    for name, values in parsed.given.items():
        if name in known:
            specs += [f"{name}{{{value.strip('{}')}}}" if value else name for value in values]
    from tiree.plugins.pipelines import parse_passes

    configured = _configured_passes(parsed, extensions)
    return [one for spec in specs for one in parse_passes(spec, extensions, configured)]


def _configured_passes(parsed: ParsedFlags, extensions: Extensions) -> dict[str, ModulePass]:
    """The passes of the compile pipeline by name, made with the given options and plugins; empty if none is given."""
    from tiree.pipeline import PHASES

    options_given = any(name.startswith("iree-") or re.fullmatch("O[0-3]", name) for name in parsed.given)
    if not options_given and not extensions.origins:
        return {}
    options = with_extensions(options_from_flags(parsed), parsed, extensions)
    found: dict[str, ModulePass] = {}
    for phase in PHASES:
        for one in phase.passes(options):
            found.setdefault(one.name, one)
    return found


def entry() -> NoReturn:
    """The console script."""
    leave(main())


if __name__ == "__main__":
    entry()
