"""`PyModuleInterface`: modules written in Python, called from Python and from compiled code."""

from __future__ import annotations

import gc

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import iree_module


class Methods:
    """The object of one context."""

    alive = 0

    def __init__(self, interface: rt.PyModuleInterface) -> None:
        assert isinstance(interface, rt.PyModuleInterface)
        type(self).alive += 1
        self.calls: list[tuple] = []

    def __del__(self) -> None:
        type(self).alive -= 1

    def add(self, a: float, b: float) -> float:
        self.calls.append((a, b))
        return a + b

    def count(self) -> int:
        return len(self.calls)

    def two(self) -> tuple[int, float]:
        return 1, 2.5

    def nothing(self) -> None:
        return None

    def same(self, reference: rt.VmRef | None) -> rt.VmRef | None:
        assert reference is None or isinstance(reference, rt.VmRef)
        return reference

    def fail(self) -> int:
        raise ValueError("custom text")

    def wrong(self) -> str:
        return "x"


def interface(constructor: type[Methods] = Methods) -> rt.PyModuleInterface:
    made = rt.PyModuleInterface("python", constructor)
    for name, cconv, method in [
        ("add", "0ii_i", Methods.add),
        ("add64", "0II_I", Methods.add),
        ("addf", "0fF_F", Methods.add),
        ("count", "0v_i", Methods.count),
        ("two", "0v_if", Methods.two),
        ("nothing", "0v_v", Methods.nothing),
        ("same", "0r_r", Methods.same),
        ("fail", "0v_i", Methods.fail),
        ("wrong", "0v_i", Methods.wrong),
    ]:
        made.export(name, cconv, method)
    return made


class Bound:
    """A context with the module; `call` goes through lists."""

    def __init__(self) -> None:
        self.module = interface().create()
        self.context = rt.VmContext(rt.VmInstance(), modules=[self.module])

    def call(self, name: str, *given: object) -> list:
        inputs, outputs = rt.VmVariantList(4), rt.VmVariantList(4)
        for value in given:
            {int: inputs.push_int, float: inputs.push_float}.get(type(value), inputs.push_ref)(value)
        self.context.invoke(self.module.lookup_function(name), inputs, outputs)
        return [outputs.get_variant(i) for i in range(len(outputs))]


@pytest.fixture
def bound() -> Bound:
    return Bound()


def test_calls(bound: Bound):
    assert bound.call("add", 1, 2) == [3]
    assert bound.call("add64", 2**40, 1) == [2**40 + 1]
    assert bound.call("addf", 1.5, 2.25) == [3.75]
    assert bound.call("two") == [1, 2.5]
    assert bound.call("nothing") == []
    buffer = rt.VmBuffer(4)
    assert bound.call("same", buffer) == [buffer.ref]


@pytest.mark.parametrize(
    ("name", "given"), [("add", (2**31 - 1, 1)), ("add", (-(2**31), -1)), ("add64", (2**63 - 1, 2**63 - 1))]
)
def test_results_out_of_range(bound: Bound, name: str, given: tuple[int, int]):
    """As in arguments: a number that the type does not have is refused, not wrapped around."""
    kind = "i64" if name == "add64" else "i32"
    with pytest.raises(ValueError, match=rf"the function returned {sum(given)}, which is no {kind}"):
        bound.call(name, *given)


def test_a_list_of_results():
    made = rt.PyModuleInterface("python", Methods)
    made.export("two", "0v_iF", lambda _self: [1, 2.5])
    made.export("one", "0v_i", lambda _self: [1])
    assert repr(made) == "<tiree.runtime.PyModuleInterface 'python'>"
    module = made.create()
    assert repr(made) == "<tiree.runtime.PyModuleInterface 'python' initialized>"
    outputs = rt.VmVariantList(2)
    context = rt.VmContext(rt.VmInstance(), modules=[module])
    context.invoke(module.lookup_function("two"), rt.VmVariantList(0), outputs)
    assert [outputs.get_variant(i) for i in range(2)] == [1, 2.5]
    with pytest.raises(ValueError, match=r"the function returned \[1\], which is no i32"):
        context.invoke(module.lookup_function("one"), rt.VmVariantList(0), outputs)


def test_unsigned_results_of_numpy():
    for cconv, value, wanted in [("0v_i", np.uint32(2**32 - 1), -1), ("0v_I", np.uint64(2**63), -(2**63))]:
        made = rt.PyModuleInterface("python", Methods)
        made.export("give", cconv, lambda _self, value=value: value)
        module = made.create()
        outputs = rt.VmVariantList(1)
        context = rt.VmContext(rt.VmInstance(), modules=[module])
        context.invoke(module.lookup_function("give"), rt.VmVariantList(0), outputs)
        assert outputs.get_variant(0) == wanted


def test_state_is_the_contexts(bound: Bound):
    bound.call("add", 1, 2)
    assert bound.call("count") == [1]
    other = rt.VmContext(rt.VmInstance(), modules=[bound.module])
    outputs = rt.VmVariantList(1)
    other.invoke(bound.module.lookup_function("count"), rt.VmVariantList(0), outputs)
    assert outputs.get_variant(0) == 0


def test_exceptions(bound: Bound):
    for _ in range(2):
        with pytest.raises(ValueError, match="custom text") as caught:
            bound.call("fail")
        # As it was raised, with a note about the place.
        assert type(caught.value) is ValueError
        assert "python.fail" in caught.value.__notes__[0]
        assert caught.value.__traceback__ is not None
    with pytest.raises(ValueError, match="the function returned 'x', which is no i32"):
        bound.call("wrong")
    with pytest.raises(ValueError, match="expected 2 arguments but passed 1"):
        bound.call("add", 1)


def test_what_functions_return():
    made = rt.PyModuleInterface("m", lambda _: None)
    for number, (cconv, value) in enumerate(
        [("0v_ii", 5), ("0v_ii", (1, 2, 3)), ("0v_v", 3), ("0v_i", 2**40), ("0v_r", 3)]
    ):
        made.export(f"f{number}", cconv, lambda _, value=value: value)
    module = made.create()
    context = rt.VmContext(rt.VmInstance(), modules=[module])
    for name in module.function_names:
        with pytest.raises(ValueError, match="the function returned"):
            context.invoke(module.lookup_function(name), rt.VmVariantList(0), rt.VmVariantList(0))


def test_life_of_an_interface():
    class Local(Methods):
        alive = 0

    made = interface(Local)
    assert (made.initialized, made.destroyed) == (False, False)
    with pytest.raises(ValueError, match="already defined: add"):
        made.export("add", "0v_v", Methods.nothing)
    with pytest.raises(ValueError, match="unsupported cconv fragment"):
        made.export("x", "0z_v", Methods.nothing)
    with pytest.raises(ValueError, match="spans"):
        made.export("x", "0CiD_v", Methods.nothing)
    module = made.create()
    assert (module.name, module.version) == ("python", 0)
    assert (made.initialized, made.destroyed) == (True, False)
    for attempt in (made.create, lambda: made.export("x", "0v_v", Methods.nothing)):
        with pytest.raises(RuntimeError, match="created already"):
            attempt()
    context = rt.VmContext(rt.VmInstance(), modules=[module])
    assert Local.alive == 1
    del module
    assert not made.destroyed
    del context
    gc.collect()
    assert Local.alive == 0
    assert made.destroyed


def test_constructor_that_fails():
    def refuse(_: object) -> None:
        raise KeyError("no such thing")

    module = rt.PyModuleInterface("m", refuse).create()
    with pytest.raises(KeyError, match="no such thing") as caught:
        rt.VmContext(rt.VmInstance(), modules=[module])
    assert "creating module 'm'" in caught.value.__notes__[0]


CALLER = """
module @caller {
  util.func private @python.scale(%factor: f32, %x: tensor<4xf32>) -> tensor<4xf32>
  util.func private @python.note(%a: i32) -> i32
  func.func @twice(%a: i32) -> i32 {
    %0 = util.call @python.note(%a) : (i32) -> i32
    %1 = util.call @python.note(%0) : (i32) -> i32
    return %1 : i32
  }
}
"""


def test_compiled_code_calls_python(device: rt.HalDevice):
    text = CALLER.replace("  util.func private @python.scale(%factor: f32, %x: tensor<4xf32>) -> tensor<4xf32>\n", "")
    seen: list[int] = []

    def note(_: object, a: int) -> int:
        seen.append(a)
        if a == 13:
            raise RuntimeError("unlucky")
        return a * 10

    made = rt.PyModuleInterface("python", lambda _: None)
    made.export("note", "0i_i", note)
    instance = rt.VmInstance()
    compiled = rt.VmModule.from_buffer(instance, iree_module(text), warn_if_copy=False)
    caller = rt.load_vm_modules(made.create(), compiled, config=rt.Config(device=device))[1]
    assert caller.twice(4) == 400
    assert seen == [4, 40]
    with pytest.raises(RuntimeError, match="unlucky") as caught:
        caller.twice(13)
    assert "python.note" in caught.value.__notes__[0]
    assert "twice" in caught.value.__notes__[0]
    assert caller.twice(1) == 100
    assert np.asarray(caller.twice(np.int32(2))) == 200
