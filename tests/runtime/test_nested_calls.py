"""Methods of Python modules that call the VM again: the limits of the call that they are part of hold."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
import tiree.runtime as rt

BYTECODE = """
vm.module @caller version 0
vm.import @python.again cconv "0i_i"
vm.export @again
vm.func @again(%i0: i32) -> (i32) {
^bb0:
  %i0 = vm.call @python.again(%i0)
  vm.return %i0
}
vm.export @spin
vm.func @spin(%i0: i32) -> (i32) {
^bb0:
  vm.br ^bb1()
^bb1:
  vm.br ^bb1()
^bb2:
  vm.return %i0
}
"""


class Python(rt.PythonModule, name="python"):
    """Calls what `target` is, and counts."""

    target: Callable[[int], int]
    calls = 0

    def again(self, value: rt.i32) -> rt.i32:
        type(self).calls += 1
        return type(self).target(value + 1)


@pytest.fixture
def caller(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Its `again` calls itself through Python, without end."""
    module = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(BYTECODE))
    caller = rt.load_vm_modules(Python.create(), module)[-1]
    monkeypatch.setattr(Python, "target", caller.again, raising=False)
    monkeypatch.setattr(Python, "calls", 0)
    return caller


LIMITS: list[tuple[dict[str, Any], type[rt.LimitError], str]] = [
    ({"max_stack_depth": 20}, rt.StackLimitError, "20 calls are active, the limit"),
    ({"fuel": 40}, rt.FuelError, "by its limit"),
]


@pytest.mark.parametrize(("limits", "error", "text"), LIMITS)
@pytest.mark.parametrize("begun", [False, True])
def test_nested_calls_have_the_limits_of_their_caller(caller: Any, limits, error, text, begun: bool):
    function = caller.again.limited(**limits)
    with pytest.raises(error, match=text):
        function.begin(0).wait() if begun else function(0)
    assert 15 <= Python.calls <= 20


def test_a_method_that_is_called_itself_has_limits(monkeypatch: pytest.MonkeyPatch):
    module = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(BYTECODE))
    python, caller = rt.load_vm_modules(Python.create(), module)
    monkeypatch.setattr(Python, "target", caller.again, raising=False)
    monkeypatch.setattr(Python, "calls", 0)
    with pytest.raises(rt.StackLimitError, match="7 calls are active"):
        python.again.limited(max_stack_depth=7)(0)
    monkeypatch.setattr(Python, "target", python.again)
    monkeypatch.setattr(Python, "calls", 0)
    with pytest.raises(rt.StackLimitError, match="9 calls are active"):
        python.again.limited(max_stack_depth=9)(0)
    assert Python.calls == 9


@pytest.mark.parametrize("nested", ["spin", "begin"])
def test_nested_calls_end_by_the_deadline_of_their_caller(caller: Any, monkeypatch: pytest.MonkeyPatch, nested: str):
    target = caller.spin if nested == "spin" else lambda value: caller.spin.begin(value).wait()
    monkeypatch.setattr(Python, "target", target)
    start = time.monotonic()
    with pytest.raises(rt.TimeLimitError):
        caller.again.limited(timeout=0.05)(0)
    assert time.monotonic() - start < 5


RECURSION = """
import sys, threading
import tiree.runtime as rt

class Python(rt.PythonModule, name="python"):
    calls = 0

    def again(self, value: rt.i32) -> rt.i32:
        Python.calls = value
        return target(value + 1)

module = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(BYTECODE))
modules = rt.load_vm_modules(Python.create(), module)

def call():
    global target
    for target in modules[1].again, modules[0].again, lambda value: modules[1].again.begin(value).wait():
        try:
            target(0)
        except rt.StackLimitError as error:
            assert "deep through native code" in str(error), error
            print(Python.calls)

sys.setrecursionlimit(10**6)
if size := int(sys.argv[1]):
    threading.stack_size(size)
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
else:
    call()
"""


@pytest.mark.parametrize("size", [256 << 10, 1 << 20, 0])
def test_the_end_of_the_native_stack_is_an_error(size: int):
    """In a process of its own: it used to end by a signal."""
    program = f"BYTECODE = {BYTECODE!r}\n{RECURSION}"
    done = subprocess.run([sys.executable, "-c", program, str(size)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    depths = [int(line) for line in done.stdout.split()]
    assert len(depths) == 3
    assert min(depths) > 20


class Waiting(rt.PythonModule, name="python"):
    """As `Python`, in coroutines."""

    target: Callable[[int], Any]
    calls = 0

    async def again(self, value: rt.i32) -> rt.i32:
        type(self).calls += 1
        await asyncio.sleep(0)
        return await type(self).target(value + 1)


def in_a_task(target: Any) -> Callable[[int], Any]:
    return lambda value: asyncio.create_task(target.call_async(value))


WAYS: dict[str, Callable[[Any], Callable[[int], Any]]] = {
    "await": lambda target: target.call_async,
    "task": in_a_task,
    "gather": lambda target: lambda value: first_of(asyncio.gather(target.call_async(value))),
}


async def first_of(results: Any) -> Any:
    return (await results)[0]


@pytest.mark.parametrize(("limits", "error", "text"), [*LIMITS, ({"timeout": 0.05}, rt.TimeLimitError, "deadline")])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("driven", [False, True])
def test_coroutines_have_the_limits_of_their_call(monkeypatch, limits, error, text, way: str, driven: bool):
    module = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(BYTECODE))
    caller = rt.load_vm_modules(Waiting.create(), module)[-1]
    monkeypatch.setattr(Waiting, "target", WAYS[way](caller.again), raising=False)
    monkeypatch.setattr(Waiting, "calls", 0)
    if "timeout" in limits:
        # An endless loop in one call, so that only what it inherits ends it.
        monkeypatch.setattr(Waiting, "target", WAYS[way](caller.spin), raising=False)
    function = caller.again.limited(**limits)
    with pytest.raises(error, match=text):
        asyncio.run(function.call_async(0)) if driven else function(0)
    if "timeout" not in limits:
        assert 15 <= Waiting.calls <= 20


@pytest.mark.parametrize(
    ("limits", "error"), [({"max_stack_depth": 4}, rt.StackLimitError), ({"fuel": 9}, rt.FuelError)]
)
def test_threads_of_coroutines_too(monkeypatch: pytest.MonkeyPatch, limits, error):
    module = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(BYTECODE))
    caller = rt.load_vm_modules(Waiting.create(), module)[-1]
    monkeypatch.setattr(Waiting, "target", lambda value: asyncio.to_thread(caller.again, value), raising=False)
    with pytest.raises(error):
        caller.again.limited(**limits)(0)


def test_fuel_of_coroutines_is_the_callers(monkeypatch: pytest.MonkeyPatch):
    module = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(BYTECODE))
    caller = rt.load_vm_modules(Waiting.create(), module)[-1]

    async def three(value: int) -> int:
        if value % 2:
            return value
        for _ in range(3):
            await caller.again.call_async(2 * value)
        return 0

    monkeypatch.setattr(Waiting, "target", three, raising=False)
    call = caller.again.limited(fuel=1000).begin(-1)
    call.wait()
    assert call.fuel_used >= 4 * 2
    again = caller.again.limited(fuel=call.fuel_used)
    again(-1)
    with pytest.raises(rt.FuelError):
        caller.again.limited(fuel=call.fuel_used - 1)(-1)
    assert caller.again(-1) == 0
