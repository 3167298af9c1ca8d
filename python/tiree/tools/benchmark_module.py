"""`tiree-benchmark-module`: times functions of a module, in the forms that Google Benchmark prints.

Each function is warmed up, then called often enough to fill the minimal time, as often as there are repetitions; with
several, mean, median, standard deviation and coefficient of variation follow. A function that times one dispatch (its
reflection says so: `iree.benchmark = "dispatch"`) gets `--batch_size=` as its argument.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tiree.support.replacing import replace_file
from tiree.tools.benchmark_report import UNITS, WRITERS, Measurement, aggregates
from tiree.tools.ending import guarded
from tiree.tools.flags import Flag, ParsedFlags, fail, help_text, parse_flags
from tiree.tools.runtime_flags import DEVICE_FLAGS, MODULE_FLAGS, REFUSED, RUN_FLAGS, expand_flagfiles
from tiree.tools.trace_flag import TRACE_FLAGS, traced

if TYPE_CHECKING:
    from tiree import _native
    from tiree.tools.runtime_session import Session

_FORMATS = tuple(WRITERS)
FLAGS = (
    *MODULE_FLAGS,
    *DEVICE_FLAGS,
    *TRACE_FLAGS,
    *RUN_FLAGS,
    Flag("enable_output_processing", "bool", "keep the last results for --output= and --expected_output=", False),
    Flag("batch_size", "int", "iterations that one call stands for, as when a module repeats its dispatches", 1),
    Flag("time_unit", "choice", "unit of the times", "", ("ms", "us", "ns")),
    Flag("benchmark_time_unit", "choice", "the same", "", tuple(UNITS)),
    Flag("benchmark_filter", "str", "only benchmarks whose name has this regular expression", ""),
    Flag("benchmark_repetitions", "int", "measurements of each function", 1),
    Flag("benchmark_min_time", "str", "time of each measurement (0.5s) or its iterations (100x)", "0.5s"),
    Flag("benchmark_min_warmup_time", "float", "seconds of calls before the first measurement", 0.0),
    Flag("benchmark_format", "choice", "what stdout gets", "console", _FORMATS),
    Flag("benchmark_out", "str", "a file that gets the results too", "", metavar="FILE"),
    Flag("benchmark_out_format", "choice", "form of that file", "json", _FORMATS),
    Flag("benchmark_list_tests", "bool", "print the names and exit", False),
    Flag("benchmark_report_aggregates_only", "bool", "print only mean, median, ...", False),
    Flag("benchmark_context", "repeat", "key=value for the context of JSON output"),
    Flag(
        "dispatch_statistics",
        "bool",
        "print where the time of each function goes, by dispatch",
        False,
    ),
)
_REFUSED = {
    **REFUSED,
    "batch_concurrency": "one call runs at a time; start several processes to load all cores",
}
_RESULT_FLAGS = [f.name for f in RUN_FLAGS if f.name != "input"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; `arguments` default to the command line. Exit code 0, or 1 on any error."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    return guarded("tiree-benchmark-module", lambda: run(parse_flags(expand_flagfiles(given), FLAGS, _REFUSED)))


def run(parsed: ParsedFlags) -> int:
    """What the flags ask for."""
    if parsed["help"]:
        sys.stdout.write(help_text("tiree-benchmark-module --module=FILE [--function=NAME]", FLAGS, _REFUSED))
        return 0
    from tiree.tools.runtime_session import Session, list_devices

    if list_devices(parsed):
        return 0
    _check(parsed)
    with traced(parsed):
        return benchmark(parsed, Session(parsed))


def benchmark(parsed: ParsedFlags, session: Session) -> int:
    """Measures the functions and prints what was found."""
    functions = [f for f in _functions(parsed, session) if _matches(parsed["benchmark_filter"], _name(f))]
    if parsed["benchmark_list_tests"]:
        print("\n".join(_name(f) for f in functions))
        return 0
    measurements: list[Measurement] = []
    tables = ""
    ok = True
    for family, function in enumerate(functions):
        inputs, found = _benchmark(parsed, session, function, family)
        measurements += found
        if parsed["dispatch_statistics"]:
            tables += _dispatches(parsed, session, function, inputs, found)
        if parsed["enable_output_processing"]:
            from tiree.tools.run_module import finish

            ok = finish(parsed, session, function, session.invoke(function, inputs)) and ok
    _report(parsed, measurements)
    # Other forms are for programs, which get nothing else on stdout.
    print(tables, end="", file=sys.stdout if parsed["benchmark_format"] == "console" else sys.stderr)
    if parsed["print_statistics"]:
        print(session.statistics(), file=sys.stderr)
    return 0 if ok else 1


def _check(parsed: ParsedFlags) -> None:
    """Refuses what would have no effect or no meaning."""
    useless = [name for name in _RESULT_FLAGS if name in parsed.given]
    if useless and not parsed["enable_output_processing"]:
        raise fail(f"--{useless[0]} has no effect here", "add --enable_output_processing to process the last results")
    for name in ("batch_size", "benchmark_repetitions"):
        if parsed[name] < 1:
            raise fail(f"--{name}={parsed[name]}: needs at least 1")


def _report(parsed: ParsedFlags, measurements: list[Measurement]) -> None:
    """Prints and writes the measurements."""
    context = dict(_pair(text) for text in parsed["benchmark_context"])
    repetitions = parsed["benchmark_repetitions"]
    if parsed["benchmark_report_aggregates_only"] and repetitions > 1:
        measurements = [m for m in measurements if m.aggregate]
    unit = parsed["time_unit"] or parsed["benchmark_time_unit"] or "ms"
    sys.stdout.write(WRITERS[parsed["benchmark_format"]](measurements, unit, context, repetitions))
    if parsed["benchmark_out"]:
        text = WRITERS[parsed["benchmark_out_format"]](measurements, unit, context, repetitions)
        replace_file(parsed["benchmark_out"], text.encode())


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise fail(f"--benchmark_context={text}: not key=value")
    return key, value


def _matches(pattern: str, name: str) -> bool:
    if not pattern:
        return True
    import re

    try:
        return re.search(pattern, name) is not None
    except re.error as error:
        raise fail(f"--benchmark_filter={pattern}: not a regular expression ({error})") from None


def _functions(parsed: ParsedFlags, session: Session) -> list[_native.VmFunction]:
    """The function asked for, or every export without arguments and every one that times a dispatch."""
    if parsed["function"]:
        return [session.function(parsed["function"])]
    module = session.modules[-1]
    exports = [module.lookup_function(n) for n in module.function_names if not n.startswith("__")]
    found = [f for f in exports if f is not None and (f.cconv.startswith("0v_") or _times_dispatch(f))]
    if not found:
        names = ", ".join(f.name for f in exports if f is not None)
        raise fail("no export without arguments", f"name one with --function= and --input=; there are: {names}")
    return found


def _times_dispatch(function: _native.VmFunction) -> bool:
    """Whether the function runs one dispatch as often as its argument says."""
    return function.cconv.startswith("0i_") and function.reflection.get("iree.benchmark") == "dispatch"


def _name(function: _native.VmFunction) -> str:
    return f"BM_{function.name}/process_time/real_time"


def _benchmark(
    parsed: ParsedFlags, session: Session, function: _native.VmFunction, family: int
) -> tuple[_native.VmVariantList, list[Measurement]]:
    """Times one function. Returns its inputs too."""
    from tiree import _native
    from tiree.tools.runtime_session import CALL_ERRORS, failed

    texts = parsed["input"]
    if not texts and _times_dispatch(function):
        texts = [str(parsed["batch_size"])]
    inputs, fence = session.read_inputs(function, texts)
    if fence is not None:
        raise fail(f"@{function.name} is asynchronous (coarse-fences)", "compile with the default execution model")

    def measure(calls: int) -> tuple[float, float]:
        cpu = time.process_time()
        try:
            real = _native.time_invocations(session.context, function, inputs, calls)
        except CALL_ERRORS as error:
            raise failed(function, error) from error
        return real, time.process_time() - cpu

    if parsed["print_statistics"]:
        with session.measured(function.name):
            measure(1)
    batch = parsed["batch_size"]
    calls = _calls(parsed, measure)
    name = _name(function)
    found: list[Measurement] = []
    for repetition in range(parsed["benchmark_repetitions"]):
        real, cpu = measure(calls)
        iterations = calls * batch
        rate = iterations / real if real else 0.0
        found.append(Measurement(name, family, real / iterations, cpu / iterations, rate, iterations, repetition))
    return inputs, found + (aggregates(found) if len(found) > 1 else [])


def _dispatches(
    parsed: ParsedFlags,
    session: Session,
    function: _native.VmFunction,
    inputs: _native.VmVariantList,
    found: list[Measurement],
) -> str:
    """The table of the dispatches of one function: as many calls as one measurement, for at most about a second."""
    from tiree import _native
    from tiree.tools.dispatch_statistics import collect, table

    first = found[0]
    calls = max(1, first.iterations // parsed["batch_size"])
    calls = max(1, min(calls, int(1.0 / max(first.real * parsed["batch_size"], 1e-9))))
    sums = collect(lambda: _native.time_invocations(session.context, function, inputs, calls))
    return table(f"@{function.name}", calls, sums)


def _calls(parsed: ParsedFlags, measure: Callable[[int], tuple[float, float]]) -> int:
    """How many calls fill the minimal time; finding out warms up."""
    text = parsed["benchmark_min_time"]
    warm_up = parsed["benchmark_min_warmup_time"]
    if not 0 <= warm_up < math.inf:
        raise fail(f"--benchmark_min_warmup_time={warm_up}: needs seconds, 0 or more")
    try:
        if text.endswith("x"):
            count = int(text[:-1])
            if not 1 <= count <= 10**12:
                raise fail(f"--benchmark_min_time={text}: needs a count from 1x to {10**12}x")
            spent = measure(1)[0]
            while spent < warm_up:
                spent += measure(1)[0]
            return max(1, -(-count // parsed["batch_size"]))
        wanted = float(text.removesuffix("s"))
    except ValueError:
        wanted = math.nan
    if not 0 <= wanted < math.inf:
        raise fail(f"--benchmark_min_time={text}: neither a time such as 0.5s nor a count such as 100x")
    most = 1_000_000_000
    calls, spent = 1, 0.0
    while True:
        real, _ = measure(calls)
        spent += real
        enough = real >= wanted * 0.5 or calls >= most
        if enough and spent >= warm_up:
            return max(1, min(most, int(calls * wanted / max(real, 1e-9))))
        if not enough:
            calls = min(most, max(calls * 2, int(calls * min(10, wanted / max(real, 1e-9)))))


if __name__ == "__main__":
    sys.exit(main())
