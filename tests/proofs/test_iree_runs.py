"""A few of the programs that `make iree-runs` runs under iree-run-module, compiled by both compilers."""

from __future__ import annotations

from pathlib import Path

import pytest
from proofs import iree_reference as iree

from tests.proofs.program import Program

pytestmark = iree.needs_iree
SAMPLE = ("r.bits(k, (7, 13), 'uint8')", "r.bernoulli(k, p)", "grad of scan", "while in while", "vmap of sort", "cond")


@pytest.mark.filterwarnings("ignore")
def test_equal_under_iree_run_module(tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="the programs are JAX functions")
    from tests.proofs import iree_runs, random_programs, transform_programs

    made: list[Program] = [*random_programs.programs(), *transform_programs.programs()]
    known = {program.name: program for program in made}
    tally = iree_runs.Tally()
    for name in SAMPLE:
        program = known[name]
        module = iree_runs.Module(name, program.text, "main", program.inputs)
        iree_runs.prove(module, tmp_path, tally, times=False)
    assert not tally.faults, "\n".join(tally.faults)
    assert f"{len(SAMPLE)} of {len(SAMPLE)} modules give equal results" in tally.line()
