"""Calls as futures: `start`, `call_async`, `cancel`, coroutines of Python modules, many in flight on one thread."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import time
import weakref
from typing import Any

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import ADD, ASYNC_FLAGS, WAITS, iree_module
from tiree.runtime import coroutines

A = np.array([1, 2, 3, 4], np.float32)


class Marker:
    """Something to count."""


class Service(rt.PythonModule, name="service"):
    """Functions that wait."""

    def __init__(self) -> None:
        self.markers: weakref.WeakSet[Marker] = weakref.WeakSet()
        self.threads: set[str] = set()
        self.finished = 0
        self.cancelled = 0

    async def later(self, value: rt.i32) -> rt.i32:
        marker = Marker()
        self.markers.add(marker)
        self.threads.add(threading.current_thread().name)
        try:
            await asyncio.sleep(0.001)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.finished += 1
        return value + 1

    async def never(self, value: rt.i32) -> rt.i32:
        marker = Marker()
        self.markers.add(marker)
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled += 1
        return value

    async def fail(self, value: rt.i32) -> rt.i32:
        await asyncio.sleep(0)
        raise LookupError("async", value)

    async def double(self, x: np.ndarray) -> np.ndarray:
        await asyncio.sleep(0)
        return x * 2

    def at_once(self, value: rt.i32) -> rt.i32:
        return value


NAMES = ("later", "never", "fail", "at_once")
IMPORT = """vm.import @service.{name} cconv "0i_i"
"""
# Each calls the import twice, once in a way that says that it may be suspended and once in one that does not.
FUNCTION = """
vm.export @{name}
vm.func @{name}(%i0: i32) -> (i32) {{
^bb0:
  vm.call.yieldable @service.{name}(%i0) -> ^bb1(%i0)
^bb1:
  %i0 = vm.call @service.{name}(%i0)
  vm.return %i0
}}
"""
CALLER = "vm.module @caller version 0\n" + "".join(text.format(name=n) for text in (IMPORT, FUNCTION) for n in NAMES)


class Bound:
    """A context with the service and bytecode that calls it."""

    def __init__(self, device: rt.HalDevice) -> None:
        self.service = Service()
        caller = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(CALLER))
        modules = [Service.create(lambda: self.service), caller]
        self.direct, self.caller = rt.load_vm_modules(*modules, config=rt.Config(device=device))

    def alive(self) -> int:
        gc.collect()
        return len(self.service.markers)


@pytest.fixture
def bound(device: rt.HalDevice) -> Bound:
    return Bound(device)


def wait_until(condition: Any) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def unsignalled(device: rt.HalDevice) -> rt.HalFence:
    return rt.HalFence.create_at(device.create_semaphore(0), 1)


@pytest.fixture(scope="module")
def add_async() -> bytes:
    return iree_module(ADD, *ASYNC_FLAGS)


class TestCoroutines:
    def test_in_the_loop_of_the_caller(self, bound: Bound):
        async def main() -> None:
            assert await bound.direct.later.call_async(1) == 2
            assert await bound.caller.later.call_async(1) == 3
            assert await bound.caller.later.begin(5) == 7
            assert await bound.caller.later.start(6) == 8
            assert np.array_equal(await bound.direct.double.call_async(A), 2 * A)

        asyncio.run(main())
        assert bound.service.threads == {threading.current_thread().name}

    def test_in_a_loop_of_the_process(self, bound: Bound):
        assert bound.caller.later(1) == 3
        call = bound.caller.later.begin(5)
        while not call.step():
            assert call.ready or not call.done
            time.sleep(0.0005)
        assert call.results() == 7
        assert bound.service.threads == {"tiree-coroutines"}

    def test_a_blocking_call_inside_a_loop(self, bound: Bound):
        async def main() -> None:
            assert bound.caller.later(1) == 3
            call = bound.caller.later.start(1)
            with pytest.raises(RuntimeError, match="belongs to the event loop of this thread; use await"):
                call.wait()
            assert await call == 3

        asyncio.run(main())

    def test_exceptions(self, bound: Bound):
        async def main() -> None:
            call = bound.caller.fail.start(3)
            for _ in range(2):
                with pytest.raises(LookupError) as caught:
                    await call
                assert caught.value.args == ("async", 3)
                assert "service.fail" in caught.value.__notes__[0]
            with pytest.raises(LookupError):
                call.results()
            assert await bound.caller.at_once.call_async(3) == 3

        asyncio.run(main())
        with pytest.raises(LookupError):
            bound.caller.fail(3)

    def test_many_in_flight_on_one_thread(self, bound: Bound):
        async def main() -> list[int]:
            return await asyncio.gather(*(bound.caller.later.call_async(number) for number in range(1000)))

        assert asyncio.run(main()) == [number + 2 for number in range(1000)]
        assert bound.service.finished == 2000
        assert bound.alive() == 0

    def test_many_in_flight_without_asyncio(self, bound: Bound):
        calls = [bound.caller.later.start(number) for number in range(1000)]
        left = set(range(1000))

        def drive() -> bool:
            left.difference_update([number for number in left if calls[number].ready and calls[number].step()])
            return not left

        wait_until(drive)
        assert [call.results() for call in calls] == [number + 2 for number in range(1000)]

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python's and, where an earlier test imported it,
    @pytest.mark.filterwarnings("ignore:os.fork.. was called:RuntimeWarning")  # JAX's advice on threads.
    def test_forked_child(self, bound: Bound):
        assert bound.caller.later(1) == 3
        child = os.fork()
        if child == 0:
            os._exit(bound.caller.later(1))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3


class TestCancelling:
    def test_a_task(self, bound: Bound):
        async def main() -> None:
            calls = [asyncio.create_task(bound.caller.never.call_async(number)) for number in range(100)]
            async with asyncio.timeout(30):
                while len(bound.service.markers) < 100:
                    await asyncio.sleep(0.001)
            for call in calls:
                call.cancel()
            ended = await asyncio.gather(*calls, return_exceptions=True)
            assert {type(one) for one in ended} == {asyncio.CancelledError}
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert bound.service.cancelled == 100
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(bound.caller.never.call_async(1), 0.01)

        asyncio.run(main())
        assert bound.alive() == 0
        assert bound.caller.at_once(3) == 3

    def test_a_call(self, bound: Bound):
        call = bound.caller.never.start(1)
        wait_until(lambda: len(bound.service.markers) == 1)
        assert call.cancel()
        assert not call.cancel()
        for ask in (call.step, call.results, call.wait):
            with pytest.raises(rt.StatusError, match="the call was cancelled") as caught:
                ask()
            assert caught.value.code_name == "CANCELLED"
        wait_until(lambda: bound.alive() == 0)
        assert bound.service.cancelled == 1
        done = bound.caller.at_once.start(1)
        assert not done.cancel()
        assert done.results() == 1

    def test_a_call_that_is_dropped(self, bound: Bound):
        calls = [bound.caller.never.start(number) for number in range(10)]
        wait_until(lambda: len(bound.service.markers) == 10)
        del calls
        wait_until(lambda: bound.alive() == 0)

    def test_while_another_thread_drives(self):
        entered, leave = threading.Event(), threading.Event()

        class Blocks(rt.PythonModule, name="blocks"):
            async def wait(self) -> None:
                entered.set()
                leave.wait()
                await asyncio.Event().wait()

        async def main() -> None:
            function = rt.load_vm_modules(Blocks.create())[0].wait
            call = function.begin()

            def cancel() -> None:
                entered.wait()
                assert call.cancel()
                leave.set()

            thread = threading.Thread(target=cancel)
            thread.start()
            with pytest.raises(rt.StatusError, match="cancelled"):
                await call
            thread.join()

        asyncio.run(main())

    def test_the_program_that_waits_for_a_fence(self, device: rt.HalDevice):
        waits = rt.load(iree_module(WAITS), device)

        async def main() -> None:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(waits.double_after.call_async(unsignalled(device), 3), 0.01)

        asyncio.run(main())


class TestLimits:
    def test_deadline(self, bound: Bound):
        limited = bound.caller.never.limited(timeout=0.02)

        async def main() -> None:
            with pytest.raises(rt.TimeLimitError):
                await limited.call_async(1)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert bound.service.cancelled == 1

        asyncio.run(main())
        with pytest.raises(rt.TimeLimitError):
            limited(1)
        with pytest.raises(rt.TimeLimitError):
            bound.direct.never.limited(timeout=0.02)(1)
        wait_until(lambda: bound.alive() == 0)
        assert bound.service.cancelled == 3

    def test_deadline_of_queued_work(self, device: rt.HalDevice, add_async: bytes):
        add = rt.load(add_async, device).add.limited(timeout=30)
        assert np.array_equal(add(A, A), 2 * A)
        assert np.array_equal(asyncio.run(add.call_async(A, A)), 2 * A)


class TestCoarseFences:
    def test_returns_at_once(self, device: rt.HalDevice, add_async: bytes):
        add = rt.load(add_async, device).add
        ready, done = unsignalled(device), unsignalled(device)
        if device.id == "local-sync":
            # It works inside of calls, so what they wait for has to be there.
            ready.signal()
        result = add(A, A, ready, done)
        if device.id != "local-sync":
            assert not done.wait(timeout=0)
            ready.signal()
        assert done.wait(timeout=10**10)
        assert np.array_equal(result, 2 * A)
        call = add.start(A, 3 * A)
        call.wait(30)
        assert np.array_equal(call.results(), 4 * A)

    def test_awaits(self, device: rt.HalDevice, add_async: bytes):
        add = rt.load(add_async, device).add

        async def main() -> None:
            calls = [add.start(A, np.full(4, number, np.float32)) for number in range(100)]
            for number, call in enumerate(calls):
                assert np.array_equal(await call, A + number)
            results = await asyncio.gather(*(add.call_async(A, A) for _ in range(100)))
            assert all(np.array_equal(result, 2 * A) for result in results)

        asyncio.run(main())


def test_mixed(device: rt.HalDevice, bound: Bound, add_async: bytes):
    """A thousand in flight on one thread: fences, coroutines, device work, failures, cancelled ones, deadlines."""
    waits = rt.load(iree_module(WAITS), device)
    add = rt.load(add_async, device).add
    fence = unsignalled(device)
    soon = bound.caller.never.limited(timeout=0.05)

    async def main() -> None:
        groups: list[list[asyncio.Task[Any]]] = [[] for _ in range(6)]
        for number in range(1000 // 6 + 1):
            started = [
                waits.double_after.call_async(fence, number),
                bound.caller.later.call_async(number),
                add.call_async(A, np.full(4, number, np.float32)),
                bound.caller.fail.call_async(number),
                bound.caller.never.call_async(number),
                soon.call_async(number),
            ]
            for group, call in zip(groups, started, strict=True):
                group.append(asyncio.create_task(call))
        await asyncio.sleep(0.01)
        for call in groups[4]:
            call.cancel()
        fence.signal()
        waited, later, added, failed, cancelled, late = [
            await asyncio.gather(*group, return_exceptions=True) for group in groups
        ]
        assert waited == [2 * number for number in range(len(waited))]
        assert later == [number + 2 for number in range(len(later))]
        assert all(np.array_equal(result, A + number) for number, result in enumerate(added))
        assert {type(error) for error in failed} == {LookupError}
        assert {type(error) for error in cancelled} == {asyncio.CancelledError}
        assert {type(error) for error in late} == {rt.TimeLimitError}

    asyncio.run(main())
    assert bound.alive() == 0


class Ending(rt.PythonModule, name="ending"):
    """Raises what ends event loops."""

    async def leave(self, kind: rt.i32) -> rt.i32:
        if kind == 3:
            asyncio.get_running_loop().stop()
            await asyncio.sleep(0.001)
        if kind in (1, 2):
            raise (SystemExit, KeyboardInterrupt)[kind - 1](kind)
        await asyncio.sleep(0.01)
        return kind


def test_exceptions_that_end_loops_end_only_their_call():
    ending = rt.load_vm_modules(Ending.create())[0]
    others = [ending.leave.start(10 + i) for i in range(3)]
    assert not any(other.step() for other in others)
    for kind, exception in ((1, SystemExit), (2, KeyboardInterrupt)):
        with pytest.raises(exception):
            ending.leave.limited(timeout=20)(kind)
        assert ending.leave.limited(timeout=20)(0) == 0
    assert ending.leave.limited(timeout=20)(3) == 3
    for other in others:
        other.wait(20)
        assert other.step()
    assert [other.results() for other in others] == [10, 11, 12]


def test_a_loop_whose_thread_is_gone_is_replaced(monkeypatch: pytest.MonkeyPatch):
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    loop = asyncio.new_event_loop()
    monkeypatch.setattr(coroutines, "_background", (thread, loop))
    loop.close()
    ending = rt.load_vm_modules(Ending.create())[0]
    assert ending.leave.limited(timeout=20)(5) == 5
    assert coroutines.background_loop() is not loop


SPIN = """
vm.module @host_loop version 0
vm.export @spin
vm.func @spin(%i0: i32) -> (i32) {
^bb0:
  vm.br ^bb1()
^bb1:
  %i0 = vm.add.i32 %i0, %i0
  vm.br ^bb1()
}
"""


def test_host_code_in_a_worker_leaves_the_loop_free():
    """As the page about such calls says."""
    spin = rt.load(rt.assemble(SPIN), "local-sync").spin.limited(timeout=0.5)

    async def ticks() -> int:
        call = asyncio.create_task(asyncio.to_thread(spin, 1))
        count = 0
        while not call.done():
            await asyncio.sleep(0.005)
            count += 1
        with pytest.raises(rt.StatusError, match="before its deadline"):
            await call
        return count

    assert asyncio.run(ticks()) > 5
