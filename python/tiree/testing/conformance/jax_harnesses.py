"""JAX's own harnesses of its primitives, which its wheel ships: functions with makers of arguments, by the thousand.

Each is lowered to StableHLO; JAX on the CPU says what is right. The wheel's module needs absl-py.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable
from typing import Any

from tiree.testing.conformance.case import Case, Skip, Work
from tiree.testing.conformance.comparison import difference
from tiree.testing.conformance.factors import check_general, check_largest, check_singular, check_symmetric

_MODULE = "jax._src.internal_test_util.test_harnesses"

_UNSPECIFIED = re.compile(r"^sort_multiple_arrays.*isstable_False")
"""Equal keys of a sort that is not stable may come in either order."""


class JaxHarnesses:
    """The harnesses with 64-bit types on or off: JAX settles that for a process, before the harnesses are made."""

    def __init__(self, x64: bool) -> None:
        self.x64 = x64
        self.name = "jax64" if x64 else "jax32"
        self.title = f"JAX primitives, x64 {'on' if x64 else 'off'}"

    def missing(self) -> str | None:
        """Needs jax and absl-py."""
        for module, package in (("jax", "jax"), ("absl", "absl-py")):
            try:
                importlib.import_module(module)
            except ImportError:
                return f"{package} is not installed"
        try:
            self._module()
        except ImportError as error:
            return f"this jax has no harnesses ({error})"
        return None

    def cases(self) -> list[Case]:
        """Those that JAX itself can run on the CPU, each name once, in its order."""
        found: dict[str, Case] = {}
        for harness in self._module().all_harnesses:
            name = harness.fullname
            if name in found or _UNSPECIFIED.search(name):
                continue
            if any(limit.filter(device="cpu", dtype=harness.dtype) for limit in harness.jax_unimplemented):
                continue
            found[name] = Case(name, harness.group_name, lambda harness=harness: _work(harness))
        return list(found.values())

    def _module(self) -> Any:
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        jax: Any = importlib.import_module("jax")
        jax.config.update("jax_enable_x64", self.x64)
        return importlib.import_module(_MODULE)


def _special(harness: Any, arguments: Any, wanted: Any, results: Any) -> Callable[[], str | None] | None:
    """How results are judged that are right up to a choice."""
    given = harness.params
    if any(right.shape != got.shape or right.dtype != got.dtype for right, got in zip(wanted, results, strict=True)):
        return None
    if harness.group_name == "eigh":
        return lambda: check_symmetric(arguments[0], bool(given.get("lower", True)), wanted, results)
    if harness.group_name == "approx_top_k":
        return lambda: check_largest(arguments[0], wanted, results)
    if harness.group_name == "svd":
        return lambda: check_singular(arguments[0], wanted, results)
    if harness.group_name == "eig":
        left, right = (bool(given.get(f"compute_{side}_eigenvectors", True)) for side in ("left", "right"))
        return lambda: check_general(arguments[0], left, right, wanted, results)
    return None


def _work(harness: Any) -> Work:
    import numpy as np

    jax: Any = importlib.import_module("jax")
    values = harness.dyn_args_maker(np.random.RandomState(0))
    function = jax.jit(harness.dyn_fun, keep_unused=True)
    lowered = function.lower(*values)
    wanted = [np.asarray(each) for each in jax.tree.leaves(function(*values))]
    kinds = jax.tree.leaves(lowered.in_avals)
    # As the program takes them: without 64-bit types, f64 becomes f32.
    arguments = [np.asarray(each).astype(kind.dtype) for each, kind in zip(jax.tree.leaves(values), kinds, strict=True)]
    for array in (*arguments, *wanted):
        if array.dtype.kind == "V" and not array.dtype.isbuiltin and array.dtype.name == "float0":
            raise Skip("float0 has no tensor")

    def check(results: Any) -> str | None:
        if len(results) != len(wanted):
            return f"{len(results)} results instead of {len(wanted)}"
        special = _special(harness, arguments, wanted, results)
        if special is not None:
            return special()
        for index, (right, got) in enumerate(zip(wanted, results, strict=True)):
            wrong = difference(right, got)
            if wrong is not None:
                return f"result {index}: {wrong}"
        return None

    return Work(lowered.as_text(), "main", arguments, check)
