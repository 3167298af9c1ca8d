"""The report as text, for reading in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def plain_text(data: dict[str, Any]) -> str:
    """The report for reading."""
    lines = [f"tiree {data['tiree']}", *_error(data), "", "dispatches", *_dispatches(data), *_variants(data)]
    lines += ["", "executions", *_executions(data)]
    lines += ["", "memory", *_memory(data), "", "machine code"]
    lines += [f"  {name}: {size} bytes" for name, size in data["binary_bytes"].items()]
    lines += ["", f"artifact: {data['artifact']['bytes']} bytes"]
    lines += [
        f"  {part['kind']} {part['name']}".rstrip() + f": {part['bytes']} bytes" for part in data["artifact"]["parts"]
    ]
    return "\n".join([*lines, "", "passes that changed the program", *_passes(data)]) + "\n"


def _error(data: dict[str, Any]) -> Iterator[str]:
    error = data["error"]
    if error is not None:
        yield ""
        yield f"failed in phase {error['phase']}" + (f", pass {error['pass']}" if error["pass"] else "")
        yield from (f"  {line}" for line in error["message"].splitlines())


def _dispatches(data: dict[str, Any]) -> Iterator[str]:
    for row in data["dispatches"]:
        work = f"{row.get('flops', 0)} flops, {row.get('bytes', 0)} bytes, {row['call_sites']} call sites"
        yield f"  {row['export']}: {row.get('strategy', 'none')}, workgroups {row.get('workgroups')}, {work}"
        yield from (f"    {op}" for op in row["ops"])


def _variants(data: dict[str, Any]) -> Iterator[str]:
    for executable, variants in data["variants"].items():
        yield ""
        yield f"variants of {executable}, the first that the machine can run"
        for variant in variants:
            asks = f", asks for {', '.join(variant['asks'])}" if variant["asks"] else ""
            yield f"  {variant['cpu'] or variant['backend']}{asks}"


def _executions(data: dict[str, Any]) -> Iterator[str]:
    for execution in data["executions"]:
        yield f"  @{execution['function']}"
        yield from (f"    {number}: {' | '.join(step)}" for number, step in enumerate(execution["steps"]))


def _memory(data: dict[str, Any]) -> Iterator[str]:
    for plan in data["memory"]:
        bytes = f"slab of {plan['slab_bytes']} bytes, at most {plan['max_live_bytes']} live"
        yield f"  @{plan['function']}: {bytes}, {plan['commands']} commands"
        for t in plan["tensors"]:
            yield f"    bytes {t['offset']}..{t['offset'] + t['size']} during commands {t['first']}..{t['last']}"
    for one in data["dynamic_memory"]:
        yield f"  @{one['function']}: {one['size']} bytes during commands {one['first']}..{one['last']}"


def _passes(data: dict[str, Any]) -> Iterator[str]:
    for step in data["passes"]:
        if "added" in step:
            yield f"  {step['phase']}: {step['name']}: +{step['added']} -{step['removed']} lines, {step['ops']} ops"
