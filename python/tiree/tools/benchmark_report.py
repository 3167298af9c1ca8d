"""Measurements and the three forms in which Google Benchmark prints them: console, JSON, CSV.

The layout follows Google Benchmark 1.9, so that scripts that read its output read this one.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

UNITS = {"ms": 1e3, "us": 1e6, "ns": 1e9, "s": 1.0}
"""Units of time, and how many of them a second has."""


@dataclass(frozen=True)
class Measurement:
    """One repetition of one benchmark: seconds and items per iteration; or an aggregate of several (`cv`: ratios)."""

    name: str
    family: int
    real: float
    cpu: float
    rate: float
    iterations: int
    repetition: int = 0
    aggregate: str = ""

    @property
    def run_name(self) -> str:
        return self.name.removesuffix(f"_{self.aggregate}") if self.aggregate else self.name

    def times(self, unit: str) -> tuple[float, float]:
        """Real and CPU time in `unit`; the ratios of `cv` as they are."""
        scale = 1.0 if self.aggregate == "cv" else UNITS[unit]
        return self.real * scale, self.cpu * scale


def _variation(values: Sequence[float]) -> float:
    mean = statistics.mean(values)
    return statistics.stdev(values) / mean if mean else 0.0


def aggregates(found: Sequence[Measurement]) -> list[Measurement]:
    """Mean, median, standard deviation and coefficient of variation of at least two repetitions."""
    kinds: dict[str, Callable[[Sequence[float]], float]] = {
        "mean": statistics.mean,
        "median": statistics.median,
        "stddev": statistics.stdev,
        "cv": _variation,
    }

    def aggregate(kind: str, compute: Callable[[Sequence[float]], float]) -> Measurement:
        real, cpu, rate = (compute([getattr(m, column) for m in found]) for column in ("real", "cpu", "rate"))
        return Measurement(f"{found[0].name}_{kind}", found[0].family, real, cpu, rate, len(found), aggregate=kind)

    return [aggregate(kind, compute) for kind, compute in kinds.items()]


def _amount(value: float) -> str:
    """A time with about three significant digits, ten characters wide."""
    digits = 3 if value < 0.9995 else 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:>10.{digits}f}"


def _human(rate: float) -> str:
    for limit, suffix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= limit:
            return f"{rate / limit:.6g}{suffix}/s"
    return f"{rate:.6g}/s"


def console(measurements: Sequence[Measurement], unit: str, context: Mapping[str, Any], repetitions: int) -> str:
    """A table."""
    del context, repetitions
    width = max([len(m.name) for m in measurements] + [9])
    head = f"{'Benchmark':<{width}} {'Time':>13} {'CPU':>15} {'Iterations':>12} UserCounters..."
    lines = ["-" * len(head), head, "-" * len(head)]
    for m in measurements:
        real, cpu = m.times(unit)
        if m.aggregate == "cv":
            times = f"{real * 100:>10.2f} %  {cpu * 100:>12.2f} % "
            counter = f"{m.rate * 100:.2f}%"
        else:
            times = f"{_amount(real)} {unit:<2} {_amount(cpu):>12} {unit:<2}"
            counter = _human(m.rate)
        lines.append(f"{m.name:<{width}} {times} {m.iterations:>12} items_per_second={counter}")
    return "\n".join(lines) + "\n"


def json(measurements: Sequence[Measurement], unit: str, context: Mapping[str, Any], repetitions: int) -> str:
    """An object with `context` and `benchmarks`."""
    import json as text
    from datetime import UTC, datetime

    described = {
        "date": datetime.now(UTC).astimezone().isoformat(timespec="seconds"),
        "host_name": os.uname().nodename,
        "executable": "tiree-benchmark-module",
        "num_cpus": os.cpu_count(),
        "load_avg": list(os.getloadavg()),
        "json_schema_version": 1,
        **context,
    }
    rows: list[dict[str, Any]] = []
    for m in measurements:
        row: dict[str, Any] = {
            "name": m.name,
            "family_index": m.family,
            "per_family_instance_index": 0,
            "run_name": m.run_name,
            "run_type": "aggregate" if m.aggregate else "iteration",
            "repetitions": repetitions,
        }
        if not m.aggregate:
            row["repetition_index"] = m.repetition
        row["threads"] = 1
        if m.aggregate:
            row["aggregate_name"] = m.aggregate
            row["aggregate_unit"] = "percentage" if m.aggregate == "cv" else "time"
        real, cpu = m.times(unit)
        row |= {"iterations": m.iterations, "real_time": real, "cpu_time": cpu, "time_unit": unit}
        row["items_per_second"] = m.rate
        rows.append(row)
    return text.dumps({"context": described, "benchmarks": rows}, indent=2) + "\n"


def csv(measurements: Sequence[Measurement], unit: str, context: Mapping[str, Any], repetitions: int) -> str:
    """A line each, under a line of names."""
    del context, repetitions
    columns = "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred"
    lines = [f"{columns},error_message"]
    for m in measurements:
        real, cpu = m.times(unit)
        shown = "" if m.aggregate == "cv" else unit
        lines.append(f'"{m.name}",{m.iterations},{real:.6g},{cpu:.6g},{shown},,{m.rate:.6g},,,')
    return "\n".join(lines) + "\n"


WRITERS = {"console": console, "json": json, "csv": csv}
"""The forms by name."""
