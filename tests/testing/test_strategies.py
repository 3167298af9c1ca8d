"""The strategies: what they draw is valid, complete and shrinks; without hypothesis they say what to install."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import tiree.runtime as rt
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from tiree import testing
from tiree.testing.archive import read
from tiree.testing.decode import function_code

FEW = settings(
    max_examples=40, derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
DRAWN_ONCE = settings(max_examples=300, derandomize=True, database=None, deadline=None)


def context(*modules: rt.VmModule) -> rt.VmContext:
    return rt.VmContext(rt.VmInstance(), [testing.native_module(), *modules])


@FEW
@given(testing.modules())
def test_modules_load(data: bytes) -> None:
    module = rt.VmModule.copy_buffer(rt.VmInstance(), data)
    if "__init" in module.function_names:
        return  # An initializer may fail, as any function.
    assert context(module).module_names[-1] == "main"


@FEW
@given(testing.modules(natives=False))
def test_modules_without_natives(data: bytes) -> None:
    assert {wanted.module for wanted in read(data).imports} <= {"absent"}


@FEW
@given(testing.programs())
def test_programs_agree(program: testing.Program) -> None:
    assert not testing.difference(program, testing.Tiree)


@FEW
@given(testing.mutations(testing.modules()))
def test_damaged_modules_are_refused_or_run(data: bytes) -> None:
    try:
        module = rt.VmModule.copy_buffer(rt.VmInstance(), data)
    except (ValueError, RuntimeError, NotImplementedError, IndexError):
        return
    assert isinstance(module.name, str)


def test_nothing_is_not_mutated() -> None:
    with pytest.raises(ValueError, match="needs a module"):
        testing.mutate(b"", testing.RandomChoices(0))
    for seed in range(200):
        assert isinstance(testing.mutate(b"I", testing.RandomChoices(seed)), bytes)


@FEW
@given(st.data())
def test_mutations_of_one_module(data: st.DataObject) -> None:
    module = testing.generate(testing.RandomChoices(3)).modules[-1]
    assert isinstance(data.draw(testing.mutations(module)), bytes)


def matches(item: str | tuple[str, ...], value: Any) -> bool:
    if isinstance(item, tuple):
        assert isinstance(value, list)
        return all(
            matches(item[0], each) if len(item) == 1 else isinstance(each, tuple) and all(map(matches, item, each))
            for each in value
        )
    if item in "iI":
        width = 32 if item == "i" else 64
        return isinstance(value, int) and -(1 << (width - 1)) <= value < 1 << (width - 1)
    if item in "fF":
        return isinstance(value, float)
    return value is None or isinstance(value, rt.VmBuffer | rt.VmVariantList)


@FEW
@given(st.data())
def test_arguments_of_every_calling_convention(data: st.DataObject) -> None:
    kinds = st.text("iIfFr", min_size=1, max_size=3)
    items = data.draw(st.lists(st.sampled_from("iIfFr") | kinds.map(lambda text: f"C{text}D"), max_size=5))
    cconv = f"0{''.join(items) or 'v'}_v"
    drawn = data.draw(testing.arguments(cconv))
    expected = [tuple(item[1:-1]) if item[0] == "C" else item for item in items]
    assert len(drawn) == len(expected)
    assert all(map(matches, expected, drawn))


@pytest.mark.parametrize(
    ("cconv", "wanted"),
    [
        ("0i_v", lambda a: a[0] == -(2**31)),
        ("0f_v", lambda a: np.isnan(a[0])),
        ("0F_v", lambda a: a[0] == float("-inf")),
        ("0r_v", lambda a: a[0] is None),
        ("0r_v", lambda a: isinstance(a[0], rt.VmBuffer) and len(a[0]) > 3),
        ("0r_v", lambda a: isinstance(a[0], rt.VmVariantList) and len(a[0]) > 2),
        ("0CirD_v", lambda a: len(a[0]) > 2 and any(isinstance(pair[1], rt.VmBuffer) for pair in a[0])),
    ],
)
def test_arguments_reach(cconv: str, wanted: Any) -> None:
    find(testing.arguments(cconv), wanted, settings=DRAWN_ONCE)


def test_wrong_calling_conventions() -> None:
    with pytest.raises(ValueError, match="unknown letter"):
        testing.arguments("0q_v")
    with pytest.raises(ValueError, match="another version"):
        testing.arguments("1i_v")
    with pytest.raises(ValueError, match="span"):
        testing.arguments("0Ci_v")


def test_arguments_can_be_passed() -> None:
    """What is drawn for a function of the VM is taken by it."""
    text = """vm.module @m
vm.export @f
vm.func @f(%i0: i32, %i2:3: i64, %i4: f32, %i6:7: f64, %r0: !vm.ref<?>) -> (!vm.ref<?>, i32) {
^bb0:
  vm.return %r0, %i0
}
"""
    from tiree.runtime.assembly import assemble

    module = rt.VmModule.copy_buffer(rt.VmInstance(), assemble(text))
    function, made = module.lookup_function("f"), context(module)

    @FEW
    @given(testing.arguments(function.cconv))
    def call(drawn: tuple[Any, ...]) -> None:
        outputs = rt.VmVariantList(2)
        made.invoke(function, testing.variant_list(drawn), outputs)
        assert outputs.get_variant(1) == drawn[0]
        assert (outputs.get_variant(0) is None) == (drawn[4] is None)

    call()


def statements(program: testing.Program) -> int:
    main = read(program.modules[-1])
    return len(function_code(main.function("f0").code))


@pytest.mark.parametrize("mnemonic", ["buffer.hash", "list.set.ref", "br_table", "call.variadic"])
def test_examples_shrink(mnemonic: str) -> None:
    """The shortest program with an instruction is short."""
    found = find(
        testing.programs(),
        lambda program: f"vm.{mnemonic} " in program.texts[-1],
        settings=settings(DRAWN_ONCE, max_examples=2000, phases=[Phase.generate, Phase.shrink]),
    )
    assert len(found.texts) == 1
    assert statements(found) < 30


def test_without_hypothesis() -> None:
    """Everything else works; the strategies name the extra."""
    code = """
import sys
sys.modules["hypothesis"] = None
from tiree import testing
assert not testing.difference(testing.generate(testing.RandomChoices(5)), testing.Tiree)
try:
    testing.modules
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'tiree[testing]'" in done.stdout
