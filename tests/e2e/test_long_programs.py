"""Programs of hundreds of ops in a row, side by side, and with reductions in between: they compile within the limits
and give numpy's values, in both runtimes."""

from __future__ import annotations

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from programs import long
from programs.long import LongProgram
from proofs import iree_reference as iree

PROGRAMS = [
    long.sine_chain(300),
    long.chain(400),
    long.fan(500),
    long.many_results(150),
    long.waiting(120),
    long.constants(200),
    long.row_reductions(60),
    long.crossed_reductions(40),
    long.layers(60),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_values(program: LongProgram) -> None:
    module = tiree.compile(program.text)
    results = rt.load(module).main(*program.inputs)
    results = results if isinstance(results, tuple) else (results,)
    for got, want in zip(results, program.expected, strict=True):
        np.testing.assert_allclose(np.asarray(got), want, rtol=2e-4, atol=2e-4)


@iree.needs_iree
def test_a_long_chain_runs_in_iree() -> None:
    program = long.sine_chain(1000)
    (got,) = iree.call(tiree.compile(program.text), "main", program.inputs, "local-task")
    np.testing.assert_allclose(np.asarray(got), program.expected[0], rtol=2e-4, atol=2e-4)


def test_a_long_chain_needs_little_stack() -> None:
    """No kernel of it needs more than a fraction of what is allowed."""
    tiree.compile(long.sine_chain(300).text, flags=["--iree-llvmcpu-stack-allocation-limit=2048"])
