"""Programs of every kind compiled for older CPUs: no library call is left over, and values are right on this machine.

The linker refuses an image with an undefined symbol, so that a call that LLVM introduced (a rounding function, a
conversion, a memory copy) fails the compile.
"""

from __future__ import annotations

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from programs import Bundle, bundles
from programs.bundle import check

from tests.codegen.harness import target

NAMES = ("floats_float16", "functions_float32", "iota", "reduce_window", "gathers")
LEVELS = ("generic", "x86-64-v3")


def runs_here(cpu: str) -> bool:
    host, wanted = target("host"), target(cpu)
    return host.has_avx2 or not wanted.has_avx2


@pytest.mark.parametrize("cpu", LEVELS)
@pytest.mark.parametrize("bundle", [b for b in bundles() if b.name in NAMES], ids=lambda bundle: bundle.name)
def test_values(bundle: Bundle, cpu: str) -> None:
    if not runs_here(cpu):
        pytest.skip(f"this machine lacks instructions of {cpu}")
    pytest.importorskip("jax", reason="values come from JAX")
    module = tiree.compile(bundle.text, flags=[f"--iree-llvmcpu-target-cpu={cpu}"])
    results = rt.load(module, device="local-sync").main(*bundle.inputs)
    results = results if isinstance(results, tuple) else (results,)
    for case, got, want in zip(
        bundle.cases, bundle.split([np.asarray(r) for r in results]), bundle.expected, strict=True
    ):
        check(got, want, case.rtol, case.atol)


def test_the_names_are_bundles() -> None:
    assert set(NAMES) <= {bundle.name for bundle in bundles()}
