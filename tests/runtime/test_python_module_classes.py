"""`PythonModule`: classes whose annotated methods are functions of a module."""

from __future__ import annotations

import functools
import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest
import tiree.runtime as rt
from numpy.typing import NDArray
from runtime.modules import iree_module, tiree_module


class Values(rt.PythonModule, name="values", version=3):
    """One method per type."""

    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        self.seen: list[Any] = []

    def narrow(self, a: rt.i32, b: rt.f32) -> tuple[rt.i32, rt.f32]:
        return a + 1, b * 2

    def wide(self, a: int, b: float) -> tuple[int, float]:
        return a + 1, b / 3

    def named(self, a: rt.i64, b: rt.f64, c: np.int32) -> tuple[rt.f64, rt.i64, np.int32]:
        assert type(c) is np.int32
        return b, a, c + np.int32(1)

    def negated(self, flag: bool) -> bool:
        assert isinstance(flag, bool)
        return not flag

    def nothing(self) -> None:
        self.seen.append("nothing")

    def device(self, x: rt.DeviceArray) -> rt.DeviceArray:
        assert isinstance(x, rt.DeviceArray)
        return x

    def scaled(self, factor: rt.f32, x: NDArray[np.float32]) -> NDArray[np.float32]:
        assert not x.flags.writeable
        return x * np.float32(factor)

    def any_array(self, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x, x])

    def other_order(self, x: np.ndarray) -> NDArray[np.float32]:
        assert x.dtype.isnative
        return x.astype(">f4")

    def view(self, x: rt.HalBufferView) -> rt.HalBuffer:
        return x.get_buffer()

    def perhaps(self, x: rt.VmBuffer | None) -> rt.VmBuffer | None:
        return x

    def text(self, x: str, y: bytes) -> tuple[bytes, str]:
        return x.encode(), y.decode()

    def numbers(self, x: list[int]) -> list[int]:
        return [*reversed(x)]

    def halves(self, x: list[float]) -> list[rt.f32]:
        return [one / 2 for one in x]

    def mixed(self, x: list) -> list[list[int] | None]:
        return [[len(x)], None]

    def raw(self, x: rt.VmVariantList, y: rt.VmRef, z: Any) -> object:
        assert isinstance(y, rt.VmRef)
        assert isinstance(z, rt.VmRef)
        return x

    def wrong(self, x: rt.i32) -> NDArray[np.float32]:
        return [np.zeros(2), "text", None][x]  # pyright: ignore[reportReturnType]: it is wrong on purpose

    def _helper(self, x):
        return x

    def plain_helper(self, x):
        return x


@pytest.fixture
def values(device: rt.HalDevice) -> rt.BoundModule:
    return rt.load_vm_modules(Values.create(), config=rt.Config(device=device))[0]


def test_what_is_exported(values: rt.BoundModule):
    assert (values.name, values.vm_module.version) == ("values", 3)
    names = values.vm_module.function_names
    assert names[:3] == ["narrow", "wide", "named"]
    assert not {"create", "plain_helper", "_helper", "__init__"} & set(names)
    conventions = {name: values[name].vm_function.cconv for name in names}
    assert conventions["narrow"] == "0if_if"
    assert conventions["named"] == "0IFi_FIi"
    assert conventions["nothing"] == "0v_v"
    assert values.narrow.signature == "narrow(a: i32, b: f32)"


def test_numbers(values: rt.BoundModule):
    assert values.narrow(41, 1.5) == (42, 3.0)
    assert values.narrow(b=1.5, a=41) == (42, 3.0)
    assert values.wide(2**40, 1.0) == (2**40 + 1, 1 / 3)
    assert values.named(1, 2.5, 3) == (2.5, 1, 4)
    assert (values.negated(True), values.negated(0)) == (0, 1)
    assert values.nothing() is None


def test_arrays(values: rt.BoundModule):
    x = np.arange(4, dtype=np.float32)
    assert np.array_equal(values.device(x), x)
    assert np.array_equal(values.scaled(3.0, x), 3 * x)
    assert np.array_equal(values.any_array(np.array([1, 2], np.int64)), [1, 2, 1, 2])
    assert np.array_equal(values.other_order(x.astype(">f4")), x)
    assert np.array_equal(values.any_array(np.array([1, 2], ">i8")), [1, 2, 1, 2])
    assert isinstance(values.view(x), rt.HalBuffer)
    with pytest.raises(
        TypeError, match=r'values\.scaled\(\): argument 2 \("x"\) is an array of float64; needs float32'
    ):
        values.scaled(1.0, x.astype(np.float64))
    for number, text in enumerate(["is an array of float64", "is an array of <U4", "is None; needs an array"]):
        with pytest.raises(TypeError, match=rf"values\.wrong\(\): the result {text}"):
            values.wrong(number)
    with pytest.raises(TypeError, match=r'argument 1 \("x"\) is null; needs a DeviceArray'):
        values.device(None)


def test_objects(values: rt.BoundModule):
    buffer = rt.VmBuffer(4)
    assert bytes(values.perhaps(buffer)) == bytes(4)
    assert values.perhaps(None) is None
    text, other = rt.VmBuffer(2), rt.VmBuffer(3)
    memoryview(text)[:], memoryview(other)[:] = b"ab", b"xyz"
    assert [bytes(one) for one in values.text(text, other)] == [b"ab", b"xyz"]
    with pytest.raises(TypeError, match=r'argument 1 \("x"\) is hal.fence; needs str'):
        values.text(rt.HalFence(0), other)


def variants(*given: tuple[Any, str]) -> rt.VmVariantList:
    made = rt.VmVariantList(len(given))
    for value, kind in given:
        made.push(value, kind)
    return made


def items(given: rt.VmVariantList) -> list[Any]:
    return [given.get_variant(index) for index in range(len(given))]


def test_lists(values: rt.BoundModule):
    assert items(values.numbers(variants((1, "i"), (2**40, "I")))) == [2**40, 1]
    assert items(values.halves(variants((1 / 3, "F"), (1.0, "f")))) == [np.float32(1 / 6), 0.5]
    inner, null = items(values.mixed(variants((None, "r"))))
    assert (items(inner.deref(rt.VmVariantList)), null) == ([1], None)
    same = variants()
    assert values.raw(same, rt.VmBuffer(1), same).ref == same.ref
    for value, kind in [("x", "i"), (2**32, "i"), (1.5, "I"), (3, "r")]:
        with pytest.raises(TypeError, match="is no "):
            same.push(value, kind)
    with pytest.raises(ValueError, match="one of i, I, f, F, r"):
        same.push(1, "ii")


def refused(body: str, text: str) -> None:
    names: dict[str, Any] = {"rt": rt, "np": np, "Any": Any}
    with pytest.raises(TypeError, match=text):
        exec(f"class M(rt.PythonModule, name='m'):\n    {body}\n        ...", names)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("def f(self, x: dict) -> None:", r'^m\.f\(\): parameter "x" is annotated as dict; functions of modules take'),
        ("def f(self, x: rt.i32):", r"^m\.f\(\): the result has no annotation; write `-> None`"),
        ("def f(self, x, y: rt.i32) -> None:", r'^m\.f\(\): parameter "x" has no annotation'),
        ("def f(self, *x: rt.i32) -> None:", r'^m\.f\(\): parameter "x" is not positional'),
        ("def f(self, *, x: rt.i32) -> None:", r'^m\.f\(\): parameter "x" is not positional'),
        ("def f(self, x: rt.i32 | None) -> None:", r"annotated as an optional i32; numbers are always there"),
        ("def f(self, x: int | str) -> None:", r"annotated as a union; only `T \| None`"),
        ("def f(self, x: np.uint8) -> None:", r"annotated as np\.uint8; functions"),
        ("def f(self) -> tuple[int, ...]:", r"the result is annotated as tuple\[int, \.\.\.\]; several results"),
        ("def f() -> None:", r"^m\.f\(\) has no parameter for self; add one, or make it a @staticmethod"),
        ("def f(*, x: rt.i32) -> None:", r"^m\.f\(\) has no parameter for self"),
        ("def f(x: rt.i32) -> None:", r'its first parameter "x" would be self, but has an annotation; add a parameter'),
        ("@classmethod\n    def f() -> None:", r"^m\.f\(\) has no parameter for the class"),
        ("@staticmethod\n    def f(x) -> None:", r'^m\.f\(\): parameter "x" has no annotation'),
        ("def f(self, x: 'nowhere') -> None:", r"an annotation cannot be evaluated: name 'nowhere'"),
    ],
)
def test_refused_annotations(body: str, text: str):
    refused(body, text)


def test_refused_names():
    for name in ("", "a.b"):
        with pytest.raises(TypeError, match="a module cannot be called"):
            type("M", (rt.PythonModule,), {}, name=name)


def test_inheritance(device: rt.HalDevice):
    class Base:
        def one(self) -> rt.i32:
            return 1

        def two(self) -> rt.i32:
            return 2

    class Derived(Base, rt.PythonModule):
        def two(self) -> rt.i32:
            return 22

    module = rt.load_vm_modules(Derived.create(), config=rt.Config(device=device))[0]
    assert (module.name, module.one(), module.two()) == ("Derived", 1, 22)


class Kinds(rt.PythonModule, name="kinds"):
    """Methods of every kind."""

    base = 10

    @staticmethod
    def added(a: rt.i32, b: rt.i32) -> rt.i32:
        return a + b

    @classmethod
    def based(cls, a: rt.i32) -> rt.i32:
        return cls.base + a

    @staticmethod
    async def later(text: str) -> str:
        return text + "!"

    @functools.lru_cache(maxsize=4)  # noqa: B019 - What is kept is the test's.
    def cached(self, a: rt.i32) -> rt.i32:
        return 2 * a

    @staticmethod
    def private(a):
        return a


class MoreKinds(Kinds, name="more"):
    base = 20


@pytest.mark.parametrize(("kinds", "base"), [(Kinds, 10), (MoreKinds, 20)])
def test_static_and_class_methods(device: rt.HalDevice, kinds: type[Kinds], base: int):
    assert [export.name for export in kinds.exports] == ["added", "based", "later", "cached"]
    assert [export.cconv for export in kinds.exports] == ["0ii_i", "0i_i", "0r_r", "0i_i"]
    module = rt.load_vm_modules(kinds.create(), config=rt.Config(device=device))[0]
    assert (module.added(3, 4), module.based(1), module.cached(4)) == (7, base + 1, 8)
    text = rt.VmBuffer(4)
    memoryview(text)[:] = b"abcd"
    assert bytes(module.later(text)) == b"abcd!"


class Counter(rt.PythonModule, name="counter"):
    """State, and failures."""

    def __init__(self) -> None:
        self.count = 0

    def next(self) -> rt.i32:
        self.count += 1
        return self.count

    def fail(self, a: rt.i32) -> rt.i32:
        self.next()
        try:
            raise KeyError("inner")
        except KeyError as inner:
            raise LookupError("outer", a) from inner


CALLER = """
vm.module @caller version 0
vm.dependency @counter version {version}
vm.import @counter.next cconv "0v_i"
vm.import @counter.fail cconv "0i_i"
vm.import optional @counter.absent cconv "0v_i"
vm.import optional @nowhere.function cconv "0v_i"
vm.export @twice
vm.func @twice() -> (i32) {{
^bb0:
  %i0 = vm.call @counter.next()
  %i0 = vm.call @counter.next()
  vm.return %i0
}}
vm.export @fail
vm.func @fail(%i0: i32) -> (i32) {{
^bb0:
  %i0 = vm.call @counter.fail(%i0)
  vm.return %i0
}}
vm.export @has
vm.func @has() -> (i32, i32) {{
^bb0:
  %i0 = vm.import.resolved @counter.next
  %i1 = vm.import.resolved @counter.absent
  vm.return %i0, %i1
}}
"""


def caller(version: int = 0) -> rt.VmModule:
    return rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(CALLER.format(version=version)))


def test_bytecode_links_by_name(device: rt.HalDevice):
    modules = [Counter.create(), caller()]
    contexts = [rt.load_vm_modules(*modules, config=rt.Config(device=device))[1] for _ in range(2)]
    assert [contexts[0].twice(), contexts[0].twice(), contexts[1].twice()] == [2, 4, 2]
    assert contexts[0].has() == (1, 0)


def test_minimum_versions(device: rt.HalDevice):
    class Newer(Counter, name="counter", version=7):
        pass

    assert rt.load_vm_modules(Newer.create(), caller(7), config=rt.Config(device=device))[1].twice() == 2
    with pytest.raises(ValueError, match="required module 'counter' version mismatch; have 7 but require 8"):
        rt.load_vm_modules(Newer.create(), caller(8), config=rt.Config(device=device))
    with pytest.raises(ValueError, match="required module 'counter' not registered"):
        rt.load_vm_modules(caller(), config=rt.Config(device=device))


def test_mismatched_signature(device: rt.HalDevice):
    class Other(rt.PythonModule, name="counter"):
        def next(self) -> rt.f32:
            return 1.0

        def fail(self, a: rt.i32) -> rt.i32:
            return a

    with pytest.raises(RuntimeError, match=r"counter\.next signature mismatch .*; expected 0v_i but got 0v_f"):
        rt.load_vm_modules(Other.create(), caller(), config=rt.Config(device=device))


def test_exceptions_come_out_as_raised(device: rt.HalDevice):
    module = rt.load_vm_modules(Counter.create(), caller(), config=rt.Config(device=device))[1]
    for _ in range(3):
        with pytest.raises(LookupError) as caught:
            module.fail(13)
        error = caught.value
        assert type(error) is LookupError
        assert error.args == ("outer", 13)
        assert type(error.__cause__) is KeyError
        (note,) = error.__notes__
        assert "while invoking native function counter.fail; while calling import" in note
        assert "bytecode caller@1" in note
    assert module.twice() == 5


class Texts(rt.PythonModule, name="texts"):
    """What goes wrong while values are converted, of any class."""

    def length(self, text: str) -> rt.i32:
        return len(text)

    def lone(self) -> str:
        return "\ud800"

    def wrong(self) -> str:
        return 3  # type: ignore


def test_errors_of_conversions_say_where(device: rt.HalDevice):
    module = rt.load_vm_modules(Texts.create(), config=rt.Config(device=device))[0]
    buffer = rt.VmBuffer(2)
    memoryview(buffer)[:] = b"\xff\xfe"
    with pytest.raises(UnicodeDecodeError, match="can't decode byte 0xff") as caught:
        module.length(buffer)
    assert 'texts.length(): argument 1 ("text")' in caught.value.__notes__
    with pytest.raises(UnicodeEncodeError, match="surrogates not allowed") as caught:
        module.lone()
    assert "texts.lone(): the result" in caught.value.__notes__
    with pytest.raises(TypeError, match=r"^texts\.wrong\(\): the result is 3; needs str"):
        module.wrong()


def test_nothing_is_kept_of_failed_calls(device: rt.HalDevice):
    class Marker:
        pass

    alive: weakref.WeakSet[Marker] = weakref.WeakSet()

    class Leaky(Counter, name="counter"):
        def __init__(self) -> None:
            super().__init__()
            self.marker = Marker()
            alive.add(self.marker)

        def fail(self, a: rt.i32) -> rt.i32:
            marker = Marker() if a else None
            assert marker is not None
            alive.add(marker)
            raise RuntimeError(marker)

    module = rt.load_vm_modules(Leaky.create(), caller(), config=rt.Config(device=device))[1]
    for _ in range(100):
        with pytest.raises(RuntimeError):
            module.fail(1)
    gc.collect()
    assert len(alive) == 1
    del module
    gc.collect()
    assert not alive


def test_shared_object(device: rt.HalDevice):
    counter = Counter()
    module = Counter.create(lambda: counter)
    bound = [rt.load_vm_modules(module, config=rt.Config(device=device))[0] for _ in range(2)]
    assert [one.next() for one in bound] == [1, 2]
    assert counter.count == 2


def test_a_method_calls_modules(device: rt.HalDevice):
    """Calls nest: compiled code, Python, compiled code, Python; the exception comes through all of it."""
    inner = rt.load_vm_modules(Counter.create(), caller(), config=rt.Config(device=device))[1]

    class Outer(rt.PythonModule, name="counter"):
        def next(self) -> rt.i32:
            return inner.twice() * 10

        def fail(self, a: rt.i32) -> rt.i32:
            return inner.fail(a)

    outer = rt.load_vm_modules(Outer.create(), caller(), config=rt.Config(device=device))[1]
    assert outer.twice() == 40
    with pytest.raises(LookupError) as caught:
        outer.fail(2)
    assert caught.value.args == ("outer", 2)
    assert "counter.fail" in caught.value.__notes__[0]


def test_threads(device: rt.HalDevice):
    module = rt.load_vm_modules(Counter.create(), caller(), config=rt.Config(device=device))[1]
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(200):
                module.twice()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert module.twice() == 1602


TENSORS = """
module @model {
  func.func private @values.scaled(%f: f32, %x: tensor<4xf32>) -> tensor<4xf32>
  func.func private @values.narrow(%a: i32, %b: f32) -> (i32, f32)
  func.func @run(%x: tensor<4xf32>) -> tensor<4xf32> {
    %f = arith.constant 3.0 : f32
    %y = arith.addf %x, %x : tensor<4xf32>
    %0 = func.call @values.scaled(%f, %y) : (f32, tensor<4xf32>) -> tensor<4xf32>
    %1 = arith.addf %0, %x : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func @numbers(%a: i32) -> f32 {
    %b = arith.constant 0.25 : f32
    %0:2 = func.call @values.narrow(%a, %b) : (i32, f32) -> (i32, f32)
    %1:2 = func.call @values.narrow(%0#0, %0#1) : (i32, f32) -> (i32, f32)
    return %1#1 : f32
  }
}
"""


@pytest.mark.parametrize("compiler", [iree_module, tiree_module])
def test_compiled_programs_call_python(device: rt.HalDevice, compiler: Any):
    compiled = rt.VmModule.copy_buffer(rt.VmInstance(), compiler(TENSORS))
    module = rt.load_vm_modules(Values.create(), compiled, config=rt.Config(device=device))[1]
    x = np.arange(4, dtype=np.float32)
    assert np.array_equal(module.run(x), 7 * x)
    assert module.numbers(1) == 1.0
