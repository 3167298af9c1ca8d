"""XLA on the CPU, through JAX, as the oracle of StableHLO text."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from tiree.testing.conformance.case import Skip
from tiree.testing.conformance.comparison import Array


@cache
def _jax() -> Any:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    return importlib.import_module("jax")


def run(text: str, arguments: Sequence[Array]) -> list[Array]:
    """The results of `main`. Raises `Skip` for a program that XLA does not take."""
    jax = _jax()
    mlir: Any = importlib.import_module("jax._src.interpreters.mlir")
    ir: Any = importlib.import_module("jax._src.lib.mlir").ir
    client: Any = importlib.import_module("jax._src.lib").xla_client
    device = jax.devices("cpu")[0]
    try:
        with mlir.make_ir_context(), ir.Location.unknown():
            code = mlir.module_to_bytecode(ir.Module.parse(text))
        devices = client.DeviceList((device,))
        loaded = device.client.compile_and_load(code, devices, client.CompileOptions())
        with jax.enable_x64(True):  # else 64-bit arguments would be narrowed
            results = loaded.execute([jax.device_put(array, device) for array in arguments])
            return [np.asarray(result) for result in results]
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        raise Skip(f"XLA does not take it: {lines[0][:160] if lines else type(error).__name__}") from error
