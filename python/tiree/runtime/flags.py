"""Flags of the runtime for programs: what the tools take on the command line, `parse_flags` takes from Python."""

from __future__ import annotations

from typing import Any

from tiree.support.ranges import TASK_RANGES, range_error

FUNCTION_INPUT_VALIDATION = True
"""Kept for programs that set it; arguments are always checked."""

_TOPOLOGY: dict[str, Any] = {}
_FLAGS = {
    "task_topology_group_count": "group_count",
    "task_topology_max_group_count": "max_group_count",
    "task_topology_cpu_ids": "cpu_ids",
    "task_topology_nodes": "nodes",
    "task_topology_distribution": "distribution",
    "task_worker_spin_us": "worker_spin_us",
    "task_worker_local_memory": "worker_local_memory",
    "task_worker_stack_size": "worker_stack_size",
}


def parse_flags(*flags: str) -> None:
    """Sets flags such as `--task_topology_group_count=2` for devices that are opened later.

    Raises `ValueError` for a flag that does not exist or a value that does not fit.
    """
    for flag in flags:
        name, equals, value = flag.removeprefix("--").partition("=")
        field = _FLAGS.get(name)
        if field is None or not equals:
            known = ", ".join(f"--{f}=" for f in _FLAGS)
            raise ValueError(f"unknown runtime flag '{flag}'; there are {known}")
        if field in ("nodes", "distribution"):
            _TOPOLOGY[field] = value
            continue
        try:
            numbers = [int(v) for v in value.split(",") if v] if field == "cpu_ids" else [int(value)]
        except ValueError:
            raise ValueError(f"--{name}: '{value}' is not a whole number") from None
        for number in numbers:
            wrong = range_error(number, TASK_RANGES[name])
            if wrong:
                raise ValueError(f"--{name}: {number} {wrong}")
        _TOPOLOGY[field] = numbers if field == "cpu_ids" else numbers[0]


def topology() -> dict[str, Any]:
    """Keyword arguments of `HalDevice.open`."""
    return dict(_TOPOLOGY)
