"""`tiree-run-module`: calls a function of a module, prints its results or compares them.

Starts without numpy: values are parsed and printed by the native module. Exit code 0, 1 on any error or mismatch, 130
when interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tiree.support.replacing import replace_file
from tiree.tools.ending import guarded
from tiree.tools.flags import ParsedFlags, fail, help_text, parse_flags
from tiree.tools.runtime_flags import DEVICE_FLAGS, MODULE_FLAGS, REFUSED, RUN_FLAGS, expand_flagfiles
from tiree.tools.trace_flag import TRACE_FLAGS, refuse_inputs, traced

if TYPE_CHECKING:
    from tiree import _native
    from tiree.tools.runtime_session import Session

FLAGS = (*MODULE_FLAGS, *DEVICE_FLAGS, *TRACE_FLAGS, *RUN_FLAGS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; `arguments` default to the command line."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    return guarded("tiree-run-module", lambda: run(parse_flags(expand_flagfiles(given), FLAGS, REFUSED)))


def run(parsed: ParsedFlags) -> int:
    """What the flags ask for."""
    if parsed["help"]:
        sys.stdout.write(help_text("tiree-run-module --module=FILE [--input=VALUE]...", FLAGS, REFUSED))
        return 0
    if parsed.positional:
        raise fail(f"unexpected argument '{parsed.positional[0]}'", f"did you mean --module={parsed.positional[0]}?")
    from tiree.tools.runtime_session import Session, list_devices

    if list_devices(parsed):
        return 0
    for target in parsed["output"]:
        refuse_inputs("output", target, parsed, target[1:])
    with traced(parsed):
        return call(parsed, Session(parsed))


def call(parsed: ParsedFlags, session: Session) -> int:
    """Calls the function and deals with its results."""
    from tiree.tools.runtime_session import CALL_ERRORS, failed

    function = session.function(parsed["function"])
    inputs, fence = session.read_inputs(function, parsed["input"])
    print(f"EXEC @{function.name}", flush=True)
    with session.measured(function.name):
        results = session.invoke(function, inputs)
        if fence is not None:
            try:
                fence.wait()
            except CALL_ERRORS as error:
                raise failed(function, error) from error
    ok = finish(parsed, session, function, results)
    del inputs, results
    if parsed["print_statistics"]:
        print(session.statistics(), file=sys.stderr)
    return 0 if ok else 1


def finish(parsed: ParsedFlags, session: Any, function: _native.VmFunction, results: _native.VmVariantList) -> bool:
    """Prints, writes or compares the results. Returns whether they are as expected."""
    from tiree import _native

    # A negative limit is none, as in iree-run-module.
    limit = parsed["output_max_element_count"]
    limit = sys.maxsize if limit < 0 else min(limit, sys.maxsize)
    expected = parsed["expected_output"]
    if expected:
        thresholds = tuple(parsed[f"expected_{t}_threshold"] for t in ("f16", "f32", "f64", "bf16"))
        ok, text = _native.compare_results(
            session.device, function, expected, results, parsed["equality_mode"] == "exact", thresholds,
            parsed["expected_rtol"], limit,
        )  # fmt: skip
        sys.stdout.write(text)
        return ok
    outputs = parsed["output"]
    if not outputs:
        sys.stdout.write(_native.format_results(results, limit))
        return True
    if len(outputs) != len(results):
        raise fail(f"--output is given {len(outputs)} times; @{function.name} returns {len(results)} results")
    for index, target in enumerate(outputs):
        write_output(results, index, target, limit)
    return True


def write_output(results: _native.VmVariantList, index: int, target: str, limit: int) -> None:
    """One `--output=`: nothing, `-`, `@file` (written) or `+file` (appended), `.npy` or raw bytes."""
    from tiree import _native

    if target == "":
        return
    if target == "-":
        sys.stdout.write(_native.format_result_at(results, index, limit).removeprefix(f"result[{index}]: "))
        return
    if target[0] not in "@+":
        raise fail(f"--output={target}: not a target", "write - to print, @file.npy to write, +file.npy to append")
    path = target[1:]
    data = bytes(_native.result_bytes(results, index, path.endswith(".npy")))
    try:
        if target[0] == "@" or not os.path.isfile(path):
            replace_file(path, data)
        else:
            with open(path, "ab") as file:
                file.write(data)
    except OSError as error:
        raise fail(f"--output={target}: cannot be written ({error.strerror or error})") from None


if __name__ == "__main__":
    sys.exit(main())
