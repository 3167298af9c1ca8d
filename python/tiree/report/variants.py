"""The variants of each executable that has several: what each is compiled for and asks of a machine, and how it runs
its dispatches."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr

from tiree.dialects.hal import DeviceQueryOp, ExecutableOp, ExecutableVariantOp


def variants(module: ModuleOp) -> dict[str, list[dict[str, Any]]]:
    """By executable, in the order in which they are tried."""
    executables = [op for op in module.body.block.ops if isinstance(op, ExecutableOp) and len(op.variants) > 1]
    return {one.sym_name.data: [_described(variant) for variant in one.variants] for one in executables}


def _described(variant: ExecutableVariantOp) -> dict[str, Any]:
    cpu = variant.target.configuration.data.get("cpu")
    condition = variant.condition
    queries = [op for op in condition.walk() if isinstance(op, DeviceQueryOp)] if condition is not None else []
    strategies = {one.sym_name.data: one.attributes.get("tiree.strategy") for one in variant.exports}
    return {
        "name": variant.sym_name.data,
        "backend": variant.target.backend.data,
        "cpu": cpu.data if isinstance(cpu, StringAttr) else "",
        "asks": [query.key.data for query in queries],
        "strategies": {name: value.data for name, value in strategies.items() if isinstance(value, StringAttr)},
    }
