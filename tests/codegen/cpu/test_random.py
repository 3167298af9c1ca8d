"""Random dispatches against numpy: whatever strategy is chosen, alone and split over several workgroups."""

import pytest

from tests.codegen.cpu.checks import check
from tests.codegen.cpu.random_dispatches import random_dispatch

# Chosen from a thousand so that each strategy, remainder and split occurs; 1208 to 1786 once failed.
SEEDS = (*range(16), 1012, 1208, 1311, 1424, 1510, 1556, 1778, 1786)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_workgroup(seed: int) -> None:
    dispatch, inputs, wanted = random_dispatch(seed)
    check(dispatch, inputs, wanted, cpus=["host"], fallback=False, scale=20)


@pytest.mark.parametrize("seed", SEEDS)
def test_several_workgroups(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, count in (("nested", 7), ("fallback", 5)):
        monkeypatch.setattr(f"tiree.codegen.cpu.{module}.workgroup_budget", lambda *_, count=count: count)
    dispatch, inputs, wanted = random_dispatch(seed)
    check(dispatch, inputs, wanted, cpus=["generic"], scale=20)
