"""`--trace=FILE` of the tools that call functions."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress

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

    try:
        _native.begin_trace(path)
    except OSError as error:
        raise fail(f"--trace={path}: cannot be written ({error.strerror or error})") from None
    try:
        yield
    except BaseException:
        # What ended the run says more than that its record is not complete.
        with suppress(OSError):
            _native.end_trace()
        raise
    _native.end_trace()
