"""Where fusion ends: bodies within their bounds, ordinary chains whole; and that passes take linear time."""

from __future__ import annotations

import cProfile
import re
from collections.abc import Callable

import pytest
from programs import long
from tiree.flow.body_size import MAX_LIVE, MAX_WEIGHT, measure
from tiree.flow.cost import MAX_BINDINGS


def kernels(text: str):
    """The structured ops of every kernel of a module at phase flow."""
    from tiree.dialects import read_module

    module = read_module(text)
    for function in module.walk():
        if function.name == "func.func":
            yield [op for op in function.walk() if op.name == "linalg.generic"]


@pytest.mark.parametrize("count", [12, 100, 400])
def test_a_cheap_chain_is_one_dispatch(count: int, flow) -> None:
    result = flow(long.chain(count, ("add", "multiply", "negate")).text, verify=False)
    assert result.count("flow.dispatch") == 1
    assert result.count("linalg.generic") == 1


def test_a_costly_chain_runs_in_pieces(flow) -> None:
    result = flow(long.sine_chain(600).text, verify=False)
    sines = [sum(inner.name == "math.sin" for op in ops for inner in op.walk()) for ops in kernels(result.text)]
    assert 2 < result.count("flow.dispatch") < 10
    assert result.count("flow.executable") == 2, "all pieces but the last are equal"
    assert min(sines) > 40, "pieces are as large as they may be"


@pytest.mark.parametrize(
    "program",
    [long.sine_chain(400), long.fan(300), long.waiting(200), long.constants(120), long.row_reductions(40)],
    ids=lambda program: program.name,
)
def test_kernels_keep_within_the_bounds(program: long.LongProgram, flow) -> None:
    result = flow(program.text, verify=False)
    for ops in kernels(result.text):
        sizes = [measure(op) for op in ops]
        assert sum(size.weight for size in sizes) <= MAX_WEIGHT
        assert max(size.live for size in sizes) <= MAX_LIVE
    for signature in re.findall(r'"flow\.dispatch"\(([^)]*)\)', result.text):
        assert signature.count("%") <= MAX_BINDINGS


def test_a_sum_of_many_terms_keeps_few_values_waiting(flow) -> None:
    """Each term is evaluated where it is added, not all of them first."""
    (ops,) = kernels(flow(long.fan(300).text, verify=False).text)
    assert len(ops) == 1
    assert measure(ops[0]).live <= 4


def calls(work: Callable[[], object]) -> int:
    """The number of calls that `work` makes: a measure of time that is the same on every machine."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())


GROWING: dict[str, Callable[[int], str]] = {
    "chain": lambda n: long.chain(n, ("add", "multiply", "negate", "maximum")).text,
    "sines": lambda n: long.sine_chain(n).text,
    "fan": lambda n: long.fan(n // 2).text,
    "results": lambda n: long.many_results(n // 4).text,
    "constants": lambda n: long.constants(n // 2).text,
    "rows": lambda n: long.row_reductions(n // 4).text,
    "layers": lambda n: long.layers(n // 4).text,
    "functions": lambda n: long.functions(max(1, n // 16)),
}


@pytest.mark.parametrize("kind", GROWING)
def test_work_grows_linearly(kind: str) -> None:
    """Twice the program, twice the calls, in every pass up to the host program's last form."""
    from tiree.dialects import read_module
    from tiree.pipeline import run_pipeline
    from tiree.support.options import CompileOptions

    def compile(count: int) -> Callable[[], object]:
        text = GROWING[kind](count)
        return lambda: run_pipeline(read_module(text), CompileOptions(), compile_to="vm")

    compile(8)()
    small, middle, large = (calls(compile(count)) for count in (80, 160, 320))
    assert large - middle < 2.35 * (middle - small)
