"""All of `host_table`, in Tiree's VM and in IREE's."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree
from vm import host_table
from vm.host_table import FLOATS, WIDTHS, Case

TABLES: dict[str, list[Case]] = {
    **{f"{type} integers": host_table.integer_cases(type) for type in WIDTHS},
    **{f"floats of {type}": host_table.from_integer_cases(type) for type in WIDTHS if type != "index"},
    **{f"{type} floats": host_table.float_cases(type) for type in FLOATS},
    **{f"{type} functions": host_table.function_cases(type) for type in FLOATS},
}


def _wrong(case: Case, got: float, expected: float) -> bool:
    if isinstance(expected, float) and math.isnan(expected):
        return not math.isnan(got)
    if case.exact:
        return got != expected or (expected == 0 and math.copysign(1, got) != math.copysign(1, expected))
    return not math.isclose(got, expected, rel_tol=1e-5 if "f32" in case.operands else 1e-13, abs_tol=1e-37)


def _check(cases: list[Case], call: Callable[[int, Case, tuple[float, ...]], float]) -> None:
    wrong, count = list[str](), 0
    for number, case in enumerate(cases):
        for values in host_table.inputs(case):
            expected = case.expected(*values)
            if expected is None:
                continue
            count += 1
            got = call(number, case, values)
            if _wrong(case, got, expected):
                wrong.append(f"{case.name}{values}: {got}, not {expected}")
    assert not wrong, f"{len(wrong)} of {count}:\n" + "\n".join(wrong[:40])


@pytest.mark.parametrize("table", TABLES)
def test_in_the_vm(table: str) -> None:
    cases = TABLES[table]
    module = rt.load(tiree.compile(host_table.module(cases)), device="local-sync")
    functions = [getattr(module, f"f{number}") for number in range(len(cases))]
    _check(cases, lambda number, _, values: functions[number](*values))


@pytest.mark.parametrize("table", ["i8 integers", "i16 integers", "floats of i8", "floats of i16"])
def test_the_upper_bits_of_narrow_numbers_are_open(table: str) -> None:
    cases = TABLES[table]
    module = rt.load(tiree.compile(host_table.module(cases, open_bits=True)), device="local-sync")
    functions = [getattr(module, f"f{number}") for number in range(len(cases))]
    _check(cases, lambda number, case, values: functions[number](*host_table.with_open_bits(case, values)))


@iree.needs_iree
@pytest.mark.parametrize("table", TABLES)
def test_in_iree(table: str) -> None:
    """What Tiree compiles gives the same in IREE's VM."""
    cases = TABLES[table]
    call = _iree_caller(tiree.compile(host_table.module(cases)))
    _check(cases, lambda number, case, values: call(f"f{number}", case, values))


def _iree_caller(archive: bytes) -> Callable[[str, Case, tuple[float, ...]], float]:
    import iree.runtime as theirs

    instance = theirs.VmInstance()
    module = theirs.VmModule.copy_buffer(instance, bytes(archive))
    device = theirs.get_device("local-sync")
    context = theirs.VmContext(instance, [theirs.create_hal_module(instance, device), module])

    def call(name: str, case: Case, values: tuple[float, ...]) -> float:
        arguments, results = theirs.VmVariantList(len(values)), theirs.VmVariantList(1)
        for type, value in zip(case.operands, values, strict=True):
            (arguments.push_float if type in FLOATS else arguments.push_int)(value)
        context.invoke(module.lookup_function(name), arguments, results)
        return results.get_variant(0)

    return call
