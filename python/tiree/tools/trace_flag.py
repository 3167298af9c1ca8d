"""`--trace=FILE` of the tools that call functions."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress

from tiree.support.errors import CompileError
from tiree.tools.flags import Flag, ParsedFlags, fail

TRACE_FLAGS = (Flag("trace", "str", "a file that gets a timeline of the run, for ui.perfetto.dev", "", metavar="FILE"),)


@contextmanager
def traced(parsed: ParsedFlags) -> Generator[None]:
    """Writes the timeline that the flags ask for while the body runs."""
    path = parsed["trace"]
    if not path:
        if "trace" in parsed.given:
            raise fail("--trace= needs a file", "write --trace=run.json")
        yield
        return
    from tiree import _native

    refuse_inputs("trace", path, parsed)
    try:
        _native.begin_trace(path)
    except OSError as error:
        raise _unwritten(path, error) from None
    try:
        yield
    except BaseException:
        # What ended the run says more than that its record is not complete.
        with suppress(OSError):
            _native.end_trace()
        raise
    try:
        _native.end_trace()
    except OSError as error:
        raise _unwritten(path, error) from None


def _unwritten(path: str, error: OSError) -> CompileError:
    return fail(f"--trace={path}: cannot be written ({error.strerror or error})")


def refuse_inputs(flag: str, text: str, parsed: ParsedFlags, path: str = "") -> None:
    """Raises where the file that `--flag=text` names (`path`, or all of it) is a module or parameters of the run.

    Inputs too, which only `--output=` may replace by results.
    """
    read = [("module", module, module) for module in parsed.values.get("module", ())]
    read += [("parameters", given, given.partition("=")[2] or given) for given in parsed.values.get("parameters", ())]
    if flag != "output":
        read += [("input", given, given.rpartition("=")[2].lstrip("@+*")) for given in parsed.values.get("input", ())]
    for name, given, file in read:
        with suppress(OSError):
            if os.path.samefile(path or text, file):
                raise fail(f"--{flag}={text}: would overwrite --{name}={given}", "name another file")
