"""What other processes do in the tests of pickling: importable there."""

from __future__ import annotations

from typing import Any

import numpy as np

A = np.array([1, 2, 3, 4], np.float32)


def add(module: Any) -> list[float]:
    """With a module that came along."""
    return module.add(A, A).to_host().tolist()


def call(function: Any, *arguments: Any) -> Any:
    result = function(*arguments)
    return result if isinstance(result, int | float | tuple) else np.asarray(result).tolist()


def report(connection: Any, module: Any) -> None:
    """For a process that is started by hand."""
    connection.send(add(module))
    connection.close()
