"""What the numbers of runtime flags may be, on the command line and from Python."""

from __future__ import annotations

COUNT = (0, 2**31 - 1)
BYTES = (0, 2**63 - 1)
MICROSECONDS = (0, 2**32 - 1)

TASK_RANGES = {
    "task_topology_group_count": COUNT,
    "task_topology_max_group_count": COUNT,
    "task_topology_cpu_ids": COUNT,
    "task_worker_spin_us": MICROSECONDS,
    "task_worker_local_memory": BYTES,
    "task_worker_stack_size": BYTES,
}


def range_error(value: int, limits: tuple[int, int]) -> str:
    """What is wrong with `value`; empty when it is between the limits, both included."""
    if limits[0] <= value <= limits[1]:
        return ""
    if value < 0 <= limits[0]:
        return "cannot be negative"
    return f"is not between {limits[0]} and {limits[1]}"
