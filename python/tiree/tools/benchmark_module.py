"""`tiree-benchmark-module`: times functions of a module, in the forms that Google Benchmark prints.

Each function is warmed up, then called often enough to fill the minimal time, as often as there are repetitions; with
several, mean, median, standard deviation and coefficient of variation follow.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

from tiree.support.errors import CompileError
from tiree.tools.flags import Flag, ParsedFlags, fail, help_text, parse_flags
from tiree.tools.pipes import reader_left
from tiree.tools.runtime_flags import DEVICE_FLAGS, MODULE_FLAGS, REFUSED, expand_flagfiles

if TYPE_CHECKING:
    from tiree import _native
    from tiree.tools.runtime_session import Session

_FORMATS = ("console", "json", "csv")
_UNITS = {"ms": 1e3, "us": 1e6, "ns": 1e9, "s": 1.0}
FLAGS = (
    *MODULE_FLAGS,
    *DEVICE_FLAGS,
    Flag("input", "repeat", "an argument, as in tiree-run-module"),
    Flag("batch_size", "int", "calls that one item stands for, in items_per_second", 1),
    Flag("time_unit", "choice", "unit of the times", "", ("ms", "us", "ns")),
    Flag("benchmark_time_unit", "choice", "the same", "", ("ms", "us", "ns", "s")),
    Flag("benchmark_filter", "str", "only benchmarks whose name has this regular expression", ""),
    Flag("benchmark_repetitions", "int", "measurements of each function", 1),
    Flag("benchmark_min_time", "str", "time of each measurement (0.5s) or its calls (100x)", "0.5s"),
    Flag("benchmark_min_warmup_time", "float", "seconds of calls before the first measurement", 0.0),
    Flag("benchmark_format", "choice", "what stdout gets", "console", _FORMATS),
    Flag("benchmark_out", "str", "a file that gets the results too", "", metavar="FILE"),
    Flag("benchmark_out_format", "choice", "form of that file", "json", _FORMATS),
    Flag("benchmark_list_tests", "bool", "print the names and exit", False),
    Flag("benchmark_report_aggregates_only", "bool", "print only mean, median, ...", False),
    Flag("benchmark_context", "repeat", "key=value for the context of JSON output"),
)
_REFUSED = {
    **REFUSED,
    "batch_concurrency": "one call runs at a time; start several processes to load all cores",
    "enable_output_processing": "results are never copied out of the device here",
    "dispatch_statistics": "times of single dispatches are not collected yet",
}


@dataclass
class Measurement:
    """Seconds per call of one repetition, or an aggregate of several."""

    name: str
    real: float
    cpu: float
    iterations: int
    aggregate: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; `arguments` default to the command line. Exit code 0, or 1 on any error."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        parsed = parse_flags(expand_flagfiles(arguments), FLAGS, _REFUSED)
        code = run(parsed)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return reader_left()
    except (CompileError, ValueError, RuntimeError, OSError, IndexError, TypeError) as error:
        from tiree.tools.runtime_session import explain

        print(explain(error), file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    return 1


def run(parsed: ParsedFlags) -> int:
    """What the flags ask for."""
    if parsed["help"]:
        sys.stdout.write(help_text("tiree-benchmark-module --module=FILE [--function=NAME]", FLAGS, _REFUSED))
        return 0
    from tiree.tools.runtime_session import Session, list_devices

    if list_devices(parsed):
        return 0
    session = Session(parsed)
    functions = [f for f in _functions(parsed, session) if _matches(parsed["benchmark_filter"], _name(f))]
    if parsed["benchmark_list_tests"]:
        print("\n".join(_name(f) for f in functions))
        return 0
    measurements = [m for f in functions for m in _benchmark(parsed, session, f)]
    if parsed["benchmark_report_aggregates_only"] and parsed["benchmark_repetitions"] > 1:
        measurements = [m for m in measurements if m.aggregate]
    unit = parsed["time_unit"] or parsed["benchmark_time_unit"] or "ms"
    _write(sys.stdout.write, parsed["benchmark_format"], measurements, unit, parsed)
    if parsed["benchmark_out"]:
        with open(parsed["benchmark_out"], "w") as file:
            _write(file.write, parsed["benchmark_out_format"], measurements, unit, parsed)
    if parsed["print_statistics"] or parsed["print_device_statistics"]:
        print(session.statistics(), file=sys.stderr)
    return 0


def _matches(pattern: str, name: str) -> bool:
    if not pattern:
        return True
    import re

    try:
        return re.search(pattern, name) is not None
    except re.error as error:
        raise fail(f"--benchmark_filter={pattern}: not a regular expression ({error})") from None


def _functions(parsed: ParsedFlags, session: Session) -> list[_native.VmFunction]:
    """The function asked for, or every export without arguments."""
    if parsed["function"]:
        return [session.function(parsed["function"])]
    module = session.modules[-1]
    exports = [module.lookup_function(n) for n in module.function_names if not n.startswith("__")]
    found = [f for f in exports if f is not None and f.cconv.startswith("0v_")]
    if not found:
        names = ", ".join(f.name for f in exports if f is not None)
        raise fail("no export without arguments", f"name one with --function= and --input=; there are: {names}")
    return found


def _name(function: _native.VmFunction) -> str:
    return f"BM_{function.name}/process_time/real_time"


def _benchmark(parsed: ParsedFlags, session: Session, function: _native.VmFunction) -> list[Measurement]:
    from tiree import _native

    inputs, fence = session.read_inputs(function, parsed["input"])
    if fence is not None:
        raise fail(f"@{function.name} is asynchronous (coarse-fences)", "compile with the default execution model")

    def measure(iterations: int) -> tuple[float, float]:
        cpu = time.process_time()
        real = _native.time_invocations(session.context, function, inputs, iterations)
        return real, time.process_time() - cpu

    iterations = _iterations(parsed, measure)
    name = _name(function)
    found = []
    for _ in range(max(1, parsed["benchmark_repetitions"])):
        real, cpu = measure(iterations)
        found.append(Measurement(name, real / iterations, cpu / iterations, iterations))
    return found + (_aggregates(found) if len(found) > 1 else [])


def _iterations(parsed: ParsedFlags, measure: Callable[[int], tuple[float, float]]) -> int:
    """How many calls fill the minimal time; finding out warms up."""
    text = parsed["benchmark_min_time"]
    try:
        if text.endswith("x"):
            measure(1)
            return max(1, int(text[:-1]))
        wanted = float(text.removesuffix("s"))
    except ValueError:
        raise fail(f"--benchmark_min_time={text}: neither a time such as 0.5s nor a count such as 100x") from None
    iterations, spent = 1, 0.0
    while True:
        real, _ = measure(iterations)
        spent += real
        if (real >= wanted * 0.5 or iterations >= 1_000_000_000) and spent >= parsed["benchmark_min_warmup_time"]:
            return max(1, min(1_000_000_000, int(iterations * wanted / max(real, 1e-9))))
        if real < wanted * 0.5:
            iterations = min(1_000_000_000, max(iterations * 2, int(iterations * min(10, wanted / max(real, 1e-9)))))


def _aggregates(found: list[Measurement]) -> list[Measurement]:
    real, cpu = [m.real for m in found], [m.cpu for m in found]
    kinds: dict[str, Callable[[list[float]], float]] = {
        "mean": statistics.mean,
        "median": statistics.median,
        "stddev": statistics.stdev,
        "cv": lambda values: statistics.stdev(values) / statistics.mean(values) if any(values) else 0.0,
    }
    return [Measurement(f"{found[0].name}_{k}", f(real), f(cpu), len(found), k) for k, f in kinds.items()]


def _write(
    write: Callable[[str], Any], form: str, measurements: list[Measurement], unit: str, parsed: ParsedFlags
) -> None:
    writer = {"console": _console, "json": _json, "csv": _csv}[form]
    write(writer(measurements, unit, parsed))


def _rate(m: Measurement, parsed: ParsedFlags) -> float:
    return parsed["batch_size"] / m.real if m.real else 0.0


def _human(rate: float) -> str:
    for limit, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= limit:
            return f"{rate / limit:.6g}{suffix}/s"
    return f"{rate:.6g}/s"


def _console(measurements: list[Measurement], unit: str, parsed: ParsedFlags) -> str:
    width = max([len(m.name) for m in measurements] + [9])
    head = f"{'Benchmark':<{width}} {'Time':>13} {'CPU':>15} {'Iterations':>12} UserCounters..."
    lines = ["-" * len(head), head, "-" * len(head)]
    for m in measurements:
        if m.aggregate == "cv":
            lines.append(f"{m.name:<{width}} {m.real * 100:>11.2f} % {m.cpu * 100:>13.2f} % {m.iterations:>12}")
            continue
        real, cpu = m.real * _UNITS[unit], m.cpu * _UNITS[unit]
        counters = f" items_per_second={_human(_rate(m, parsed))}" if m.aggregate != "stddev" else ""
        lines.append(f"{m.name:<{width}} {real:>10.3f} {unit} {cpu:>12.3f} {unit} {m.iterations:>12}{counters}")
    return "\n".join(lines) + "\n"


def _json(measurements: list[Measurement], unit: str, parsed: ParsedFlags) -> str:
    from datetime import datetime

    context: dict[str, Any] = {
        "date": datetime.now(UTC).astimezone().isoformat(timespec="seconds"),
        "executable": "tiree-benchmark-module",
        "num_cpus": os.cpu_count(),
        "load_avg": list(os.getloadavg()),
    }
    for pair in parsed["benchmark_context"]:
        key, equals, value = pair.partition("=")
        if not equals:
            raise fail(f"--benchmark_context={pair}: not key=value")
        context[key] = value
    rows = []
    for m in measurements:
        scale = 1.0 if m.aggregate == "cv" else _UNITS[unit]
        row: dict[str, Any] = {
            "name": m.name,
            "run_name": m.name.removesuffix(f"_{m.aggregate}"),
            "run_type": "aggregate" if m.aggregate else "iteration",
            "repetitions": parsed["benchmark_repetitions"],
            "threads": 1,
            "iterations": m.iterations,
            "real_time": m.real * scale,
            "cpu_time": m.cpu * scale,
            "time_unit": unit,
        }
        if m.aggregate:
            row["aggregate_name"] = m.aggregate
        else:
            row["items_per_second"] = _rate(m, parsed)
        rows.append(row)
    return json.dumps({"context": context, "benchmarks": rows}, indent=2) + "\n"


def _csv(measurements: list[Measurement], unit: str, parsed: ParsedFlags) -> str:
    lines = [
        "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred,error_message"
    ]
    for m in measurements:
        scale = 1.0 if m.aggregate == "cv" else _UNITS[unit]
        rate = "" if m.aggregate else f"{_rate(m, parsed):.6g}"
        lines.append(f'"{m.name}",{m.iterations},{m.real * scale:.6g},{m.cpu * scale:.6g},{unit},,{rate},,,')
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
