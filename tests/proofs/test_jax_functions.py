"""Some 500 functions of JAX's namespaces, called as users call them, equal to JAX on the CPU.

Each call is compiled in one of the types of its family; with TIREE_ALL_TYPES=1 (`make functions`) in all of them.
"""

from __future__ import annotations

import os
from collections import defaultdict

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from programs import Bundle
from programs.bundle import check

from tests.proofs.jax_functions import Row, cases, rows

pytest.importorskip("jax", reason="values come from JAX")

ALL = os.environ.get("TIREE_ALL_TYPES") == "1"
# Calls a module: many share what a compilation costs, and few keep a failure near its cause.
TOGETHER = 20


def parts() -> list[tuple[str, str, list[Row]]]:
    """Rows of one group and type, in modules of at most `TOGETHER` calls."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows():
        for dtype in row.dtypes(ALL):
            found[row.group, dtype].append(row)
    return [
        (f"{group}-{dtype}-{start // TOGETHER}", dtype, members[start : start + TOGETHER])
        for (group, dtype), members in found.items()
        for start in range(0, len(members), TOGETHER)
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("dtype", "members"), [pytest.param(d, m, id=name) for name, d, m in parts()])
def test_equal_to_jax(dtype: str, members: list[Row]) -> None:
    bundle = Bundle("functions", list(cases(members, dtype)))
    results = rt.load(tiree.compile(bundle.text), device="local-sync").main(*bundle.inputs)
    results = results if isinstance(results, tuple) else (results,)
    wrong: list[str] = []
    for case, got, want in zip(
        bundle.cases, bundle.split([np.asarray(r) for r in results]), bundle.expected, strict=True
    ):
        try:
            check(got, want, case.rtol, case.atol)
        except AssertionError as error:
            wrong.append(f"{case.name}: {error}")
    assert not wrong, "\n".join(wrong)


def test_the_table() -> None:
    """At least 300 functions in three types, each row once."""
    table = rows()
    assert len({(row.group, row.call, row.family) for row in table}) == len(table)
    assert len({row.name for row in table}) >= 300
