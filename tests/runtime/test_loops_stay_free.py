"""Calls that compute for long leave the event loop that awaits them free, and behave as if it had run them."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import time
from collections.abc import Awaitable
from typing import Any

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import iree_module

SIZE = 768
LONG = f"""
module @long {{
  util.global private mutable @sum = dense<0.0> : tensor<{SIZE}x{SIZE}xf32>
  func.func @square(%a: tensor<{SIZE}x{SIZE}xf32>) -> tensor<{SIZE}x{SIZE}xf32> {{
    %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
      : (tensor<{SIZE}x{SIZE}xf32>, tensor<{SIZE}x{SIZE}xf32>) -> tensor<{SIZE}x{SIZE}xf32>
    return %0 : tensor<{SIZE}x{SIZE}xf32>
  }}
  func.func @gather(%a: tensor<{SIZE}x{SIZE}xf32>) -> tensor<{SIZE}x{SIZE}xf32> {{
    %sum = util.global.load @sum : tensor<{SIZE}x{SIZE}xf32>
    %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
      : (tensor<{SIZE}x{SIZE}xf32>, tensor<{SIZE}x{SIZE}xf32>) -> tensor<{SIZE}x{SIZE}xf32>
    %1 = stablehlo.add %sum, %0 : tensor<{SIZE}x{SIZE}xf32>
    util.global.store %1, @sum : tensor<{SIZE}x{SIZE}xf32>
    return %1 : tensor<{SIZE}x{SIZE}xf32>
  }}
}}
"""
HOST = """
vm.module @host_loop version 0
vm.import @there.look cconv "0i_i"
vm.export @spin
vm.func @spin(%i0: i32) -> (i32) {
^bb0:
  vm.br ^bb1()
^bb1:
  %i0 = vm.add.i32 %i0, %i0
  vm.br ^bb1()
}
vm.export @count
vm.func @count(%i0: i32) -> (i32) {
^bb0:
  %i1 = vm.const.i32 -1
  %i2 = vm.call @there.look(%i0)
  vm.br ^bb1()
^bb1:
  %i0 = vm.add.i32 %i0, %i1
  vm.cond_br %i0, ^bb1(), ^bb2()
^bb2:
  %i2 = vm.call @there.look(%i2)
  vm.return %i2
}
"""
LOOPS = 3_000_000
NOTE: contextvars.ContextVar[str] = contextvars.ContextVar("NOTE", default="nothing")


class There(rt.PythonModule, name="there"):
    """What the bytecode calls."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, ...]] = []

    def look(self, value: rt.i32) -> rt.i32:
        loop = asyncio.get_running_loop()
        self.seen.append((threading.current_thread(), loop, NOTE.get()))
        return value + 1


class Bound:
    """A context of both."""

    def __init__(self) -> None:
        self.there = There()
        host = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(HOST))
        modules = [There.create(lambda: self.there), host]
        _, self.host = rt.load_vm_modules(*modules, config=rt.Config("local-sync"))


@pytest.fixture
def bound() -> Bound:
    return Bound()


async def ticks(call: Awaitable[Any]) -> tuple[int, Any]:
    """How often the loop came to something else, and the result or the exception."""
    task = asyncio.ensure_future(call)
    count = 0
    while not task.done():
        await asyncio.sleep(0)
        count += 1
    return count, task.exception() or task.result()


@pytest.fixture(scope="module")
def long() -> bytes:
    return iree_module(LONG)


A = np.eye(SIZE, dtype=np.float32)


def test_a_long_dispatch(device: rt.HalDevice, long: bytes) -> None:
    square = rt.load(long, device).square

    async def main() -> None:
        for call in (square.call_async, square.begin, square.call_async):
            # A busy machine may give the loop no turn during one dispatch.
            for _ in range(10):
                count, result = await ticks(call(A))
                assert np.array_equal(result, A)
                if count >= 10:
                    break
            assert count >= 10

    asyncio.run(main())


def test_a_loop_of_the_program(bound: Bound) -> None:
    count, error = asyncio.run(ticks(bound.host.spin.limited(timeout=0.3).call_async(1)))
    assert isinstance(error, rt.TimeLimitError)
    assert count >= 20


def test_updates_of_variables_are_not_lost(long: bytes) -> None:
    """Calls of a context take turns where they wait, although threads run them."""
    module = rt.load(long, "local-sync")

    async def main() -> list[Any]:
        return await asyncio.gather(*(module.gather.call_async(A) for _ in range(8)))

    assert sorted(np.asarray(sum)[0, 0] for sum in asyncio.run(main())) == list(range(1, 9))


def test_functions_in_python_run_on_the_thread_of_the_loop(bound: Bound) -> None:
    async def main() -> None:
        NOTE.set("of the task")
        for call in (bound.host.count.call_async, bound.host.count.begin):
            assert await call(LOOPS) == LOOPS + 2
        here = threading.current_thread(), asyncio.get_running_loop(), "of the task"
        assert bound.there.seen == 4 * [here]

    asyncio.run(main())


def test_cancelling(bound: Bound) -> None:
    async def main() -> None:
        task = asyncio.create_task(bound.host.spin.call_async(1))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(bound.host.spin.call_async(1), 0.02)
        assert await bound.host.count.call_async(5) == 7
        call = bound.host.count.begin(LOOPS)
        for _ in range(2):
            waiting = asyncio.ensure_future(call)
            await asyncio.sleep(0.003)
            waiting.cancel()
        assert await call == LOOPS + 2

    asyncio.run(main())


def test_two_wait_for_one_call(bound: Bound) -> None:
    async def main() -> None:
        call = bound.host.count.begin(LOOPS)
        assert await asyncio.gather(call, call, call) == 3 * [LOOPS + 2]
        call = bound.host.spin.begin(1)
        waiting = [asyncio.ensure_future(call) for _ in range(2)]
        await asyncio.sleep(0.03)
        assert call.cancel()
        for error in await asyncio.gather(*waiting, return_exceptions=True):
            assert isinstance(error, rt.StatusError)
            assert error.code_name == "CANCELLED"

    asyncio.run(main())


def test_deadlines_while_another_call_computes(bound: Bound) -> None:
    async def main() -> None:
        endless = asyncio.create_task(bound.host.spin.call_async(1))
        with pytest.raises(rt.TimeLimitError):
            await bound.host.spin.limited(timeout=0.05).call_async(1)
        assert await bound.host.count.call_async(LOOPS) == LOOPS + 2
        endless.cancel()

    asyncio.run(main())


def test_limits_of_the_call_around_it(bound: Bound) -> None:
    class Outer(rt.PythonModule, name="outer"):
        async def spin(self) -> rt.i32:
            return await bound.host.spin.call_async(1)

    outer = rt.load_vm_modules(Outer.create())[0]

    async def main() -> None:
        for limits, error in (({"timeout": 0.05}, rt.TimeLimitError), ({"fuel": 10**6}, rt.FuelError)):
            with pytest.raises(error):
                await outer.spin.limited(**limits).call_async()

    asyncio.run(main())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:os.fork.. was called:RuntimeWarning")
def test_a_forked_child_has_helpers_of_its_own(bound: Bound) -> None:
    def call() -> int:
        return asyncio.run(bound.host.count.call_async(LOOPS))

    assert call() == LOOPS + 2
    child = os.fork()
    if child == 0:
        os._exit(call() == LOOPS + 2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def test_the_loop_ends_first(bound: Bound) -> None:
    """What a thread is in the middle of ends soon after, and harms nobody."""

    async def main() -> None:
        waiting = asyncio.ensure_future(bound.host.spin.begin(1))
        await asyncio.sleep(0.01)
        waiting.cancel()

    for _ in range(3):
        asyncio.run(main())
    time.sleep(0.03)
    assert asyncio.run(bound.host.count.call_async(LOOPS)) == LOOPS + 2
