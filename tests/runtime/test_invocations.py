"""Calls in progress: many on one thread, each waiting for a fence that the host signals; asyncio, threads, signals."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import ADD, ASYNC_FLAGS, WAITS, iree_module

A = np.array([1, 2, 3, 4], np.float32)
B = np.array([5, 6, 7, 8], np.float32)
SUM = (A + B).tolist()


@pytest.fixture
def waits(device_name: str) -> rt.Module:
    return rt.load(iree_module(WAITS), device_name)


@pytest.fixture
def async_add(device_name: str) -> rt.FunctionInvoker:
    """`add` that takes a wait fence and a signal fence."""
    return rt.load(iree_module(ADD, *ASYNC_FLAGS), device_name).add


def unsignalled(device: rt.HalDevice) -> rt.HalFence:
    return rt.HalFence.create_at(device.create_semaphore(0), 1)


class TestOneThread:
    def test_two_calls_interleave(self, waits: rt.Module, device: rt.HalDevice):
        """Neither blocks the thread; they end in the other order than they began."""
        fences = [unsignalled(device) for _ in range(4)]
        first = waits.sum_after.begin(fences[0], fences[1], 5)
        second = waits.sum_after.begin(fences[2], fences[3], 7)
        assert not first.step()
        assert not second.step()
        assert (first.ready, second.ready, first.done) == (False, False, False)
        fences[2].signal()
        assert second.ready
        assert not second.step()
        assert not first.ready
        fences[3].signal()
        assert second.step()
        assert second.results() == 21
        assert not first.step()
        fences[1].signal()
        assert not first.step()
        fences[0].signal()
        assert first.step()
        assert first.results() == 15
        assert first.done

    def test_steps_without_progress_change_nothing(self, waits: rt.Module, device: rt.HalDevice):
        fence = unsignalled(device)
        call = waits.double_after.begin(fence, 21)
        assert not any(call.step() for _ in range(100))
        with pytest.raises(RuntimeError, match="has not ended"):
            call.results()
        fence.signal()
        assert call.step()
        assert call.step()
        assert call.results() == 42

    def test_wait_with_an_end(self, waits: rt.Module, device: rt.HalDevice):
        fence = unsignalled(device)
        call = waits.double_after.begin(fence, 21)
        with pytest.raises(TimeoutError, match="did not finish in time"):
            call.wait(0.01)
        fence.signal()
        call.wait()
        assert call.results() == 42

    def test_failure_of_the_fence(self, waits: rt.Module, device: rt.HalDevice):
        fence = unsignalled(device)
        call = waits.double_after.begin(fence, 21)
        assert not call.step()
        fence.fail("no paper")
        assert call.ready
        with pytest.raises(RuntimeError, match=r"^double_after\(\) failed: no"):
            call.step()
        with pytest.raises(RuntimeError, match="no paper"):
            call.results()
        assert (call.done, call.failed) == (True, True)
        assert "no paper" in str(call.exception())

    def test_every_end_is_one(self, waits: rt.Module, device: rt.HalDevice):
        """As in concurrent.futures: done by results, by an exception, by cancel() and by a limit."""
        call = waits.double_after.begin(unsignalled(device), 21)
        for _ in range(2):
            assert (call.done, call.failed) == (False, False)
            with pytest.raises(RuntimeError, match="has not ended"):
                call.exception()
            assert not call.step()
        assert call.cancel()
        assert (call.done, call.failed) == (True, True)
        assert "cancelled" in str(call.exception())
        with pytest.raises(RuntimeError) as caught:
            call.results()
        assert caught.value is call.exception()

        call = waits.spin.limited(fuel=100).begin(30_000_000)
        with pytest.raises(rt.FuelError):
            call.step()
        assert (call.done, call.failed, type(call.exception())) == (True, True, rt.FuelError)

        call = waits.spin.begin(3)
        call.wait()
        assert (call.done, call.failed, call.exception()) == (True, False, None)

    def test_on_ready(self, waits: rt.Module, device: rt.HalDevice):
        fence = unsignalled(device)
        call = waits.double_after.begin(fence, 1)
        calls: list[str] = []
        call.on_ready(lambda: calls.append("not begun: a step gets further"))
        call.step()
        call.on_ready(lambda: calls.append("signalled"))
        assert len(calls) == 1
        fence.signal()
        assert calls[1:] == ["signalled"]

    def test_dropped_while_waiting(self, waits: rt.Module, device: rt.HalDevice):
        fence = unsignalled(device)
        for _ in range(3):
            waits.double_after.begin(fence, 1).step()
        gc.collect()
        fence.signal()

    def test_through_the_context(self, waits: rt.Module, device: rt.HalDevice):
        config = rt.Config(device=device)
        context = rt.SystemContext(vm_modules=[waits.vm_module], config=config).vm_context
        fence = unsignalled(device)
        inputs = rt.VmVariantList(2)
        inputs.push_ref(fence)
        inputs.push_int(4)
        call = context.begin(waits.vm_module.lookup_function("double_after"), inputs)
        assert not call.step()
        fence.signal()
        assert call.step()
        assert call.results() == 8


def test_plain_call_of_the_asynchronous_abi_waits(async_add: rt.FunctionInvoker):
    assert async_add(A, B).to_host().tolist() == SUM


class TestAsynchronousAbi:
    @pytest.fixture
    def device_name(self) -> str:
        """local-sync waits for the start fence where the work is submitted: nobody would be left to signal it."""
        return "local-task"

    def test_callers_own_fences(self, async_add: rt.FunctionInvoker, device: rt.HalDevice):
        start, end = unsignalled(device), unsignalled(device)
        given = A.copy()
        result = async_add(given, B, start, end)
        given[:] = 0
        assert not end.wait(timeout=1_000_000)
        start.signal()
        assert end.wait()
        assert result.to_host().tolist() == SUM

    def test_two_calls_in_a_chain(self, async_add: rt.FunctionInvoker, device: rt.HalDevice):
        """The second call is made before the first has begun."""
        start, middle, end = (unsignalled(device) for _ in range(3))
        first = async_add(A, B, start, middle)
        second = async_add(first, B, middle, end)
        start.signal()
        assert end.wait()
        assert second.to_host().tolist() == (A + B + B).tolist()

    def test_two_calls_that_end_in_the_other_order(self, async_add: rt.FunctionInvoker, device: rt.HalDevice):
        starts, ends = [unsignalled(device) for _ in range(2)], [unsignalled(device) for _ in range(2)]
        results = [async_add(A * (i + 1), B, starts[i], ends[i]) for i in range(2)]
        for i in (1, 0):
            starts[i].signal()
            assert ends[i].wait()
            assert results[i].to_host().tolist() == (A * (i + 1) + B).tolist()

    def test_failed_start(self, async_add: rt.FunctionInvoker, device: rt.HalDevice):
        start, end = unsignalled(device), unsignalled(device)
        async_add(A, B, start, end)
        start.fail("not today")
        with pytest.raises(RuntimeError, match="not today"):
            end.wait()

    def test_no_fences_given(self, async_add: rt.FunctionInvoker, device: rt.HalDevice):
        end = unsignalled(device)
        result = async_add(A, B, None, end)
        assert end.wait()
        assert result.to_host().tolist() == SUM
        with pytest.raises(TypeError, match=r"argument 3 is the wait fence; needs a HalFence or None"):
            async_add(A, B, A, end)
        with pytest.raises(TypeError, match=r"takes 2 arguments, 3 given"):
            async_add(A, B, end)

    def test_begin_ends_with_the_work(self, async_add: rt.FunctionInvoker):
        call = async_add.begin(A, B)
        call.wait()
        assert call.results().to_host().tolist() == SUM


class TestAsyncio:
    def test_await(self, add: rt.FunctionInvoker, async_add: rt.FunctionInvoker):
        async def main() -> list:
            results = await asyncio.gather(*(f.begin(A, B) for f in (add, async_add)))
            return [r.to_host().tolist() for r in results]

        assert asyncio.run(main()) == [SUM, SUM]

    def test_other_tasks_run_meanwhile(self, waits: rt.Module, device: rt.HalDevice):
        async def main() -> list[str]:
            fences = [unsignalled(device) for _ in range(2)]
            order: list[str] = []

            async def call(name: str, fence: rt.HalFence) -> None:
                assert await waits.double_after.begin(fence, 3) == 6
                order.append(name)

            tasks = [asyncio.create_task(call(n, f)) for n, f in zip("ab", fences, strict=True)]
            await asyncio.sleep(0)
            fences[1].signal()
            await tasks[1]
            order.append("between")
            threading.Thread(target=fences[0].signal).start()
            await tasks[0]
            return order

        assert asyncio.run(main()) == ["b", "between", "a"]

    def test_a_waiting_task_takes_no_turns(self, waits: rt.Module, device: rt.HalDevice):
        """Nothing polls: while the call waits, the loop has nothing to do."""

        async def wait_in_loop(call: rt.Invocation) -> int:
            return await call

        async def run() -> float:
            fence = unsignalled(device)
            task = asyncio.create_task(wait_in_loop(waits.double_after.begin(fence, 3)))
            await asyncio.sleep(0)
            before = time.process_time()
            await asyncio.sleep(0.2)
            used = time.process_time() - before
            fence.signal()
            assert await task == 6
            return used

        assert asyncio.run(run()) < 0.1

    def test_cancelled_task(self, waits: rt.Module, device: rt.HalDevice):
        async def main() -> None:
            fence = unsignalled(device)
            call = waits.double_after.begin(fence, 3)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(call, 0.01)
            fence.signal()
            assert await call == 6

        asyncio.run(main())

    def test_failure(self, waits: rt.Module, device: rt.HalDevice):
        async def main() -> None:
            fence = unsignalled(device)
            asyncio.get_running_loop().call_later(0.01, fence.fail, "no")
            with pytest.raises(RuntimeError, match=r"^double_after\(\) failed: no"):
                await waits.double_after.begin(fence, 3)

        asyncio.run(main())


class TestThreads:
    def test_calls_from_many_threads(self, add: rt.FunctionInvoker):
        failures: list[object] = []

        def work(number: int) -> None:
            for i in range(200):
                found = add(A * number, B * i).to_host()
                if not np.array_equal(found, A * number + B * i):
                    failures.append((number, i, found))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []

    @pytest.mark.parametrize("what", ["wait", "compute"])
    def test_the_gil_is_free_during_a_call(self, waits: rt.Module, device: rt.HalDevice, what: str):
        fence = unsignalled(device)
        results: list[object] = []
        call = (
            (lambda: results.append(waits.double_after(fence, 4)))
            if what == "wait"
            else (lambda: results.append(waits.spin(150_000_000)))
        )
        thread = threading.Thread(target=call)
        thread.start()
        turns = 0
        while thread.is_alive() and turns < 1000:
            turns += 1
            time.sleep(0)
        assert turns > 10
        fence.signal()
        thread.join()
        assert len(results) == 1

    def test_two_threads_and_one_invocation(self, waits: rt.Module):
        """The second is told at once; nothing waits for a lock while it holds the GIL."""
        call = waits.spin.begin(30_000_000)
        thread = threading.Thread(target=call.step)
        thread.start()
        refused = ""
        while thread.is_alive() and not refused:
            try:
                if call.step():
                    break
            except RuntimeError as error:
                refused = str(error)
                ready = call.ready
        thread.join()
        assert not refused or ("another thread is driving" in refused and not ready)
        assert call.done


LARGE = ADD.replace("4xf32", "1000000xf32")


def test_everything_dropped_while_work_goes_on():
    """Workers give Python's memory back, for which they need the GIL; nobody may hold it while it waits for them."""
    raw = np.ones(1_000_016, np.float32)
    aligned = raw[-raw.ctypes.data % 64 // 4 :][:1_000_000]
    for number in range(20):
        device = rt.HalDevice.open("local-task", group_count=2)
        add = rt.load(iree_module(LARGE, *ASYNC_FLAGS), device).add
        view = device.from_dlpack_capsule(aligned.__dlpack__())
        start, end = unsignalled(device), unsignalled(device)
        result = add(view, view, start, end)
        start.signal()
        if number % 3 == 0:
            assert end.wait()
            assert result[-1] == 2
        del add, device, view, result, start, end


def test_process_ends_while_work_goes_on(tmp_path):
    path = tmp_path / "large.vmfb"
    path.write_bytes(iree_module(LARGE, *ASYNC_FLAGS))
    code = f"""
import numpy as np, tiree.runtime as rt
device = rt.get_device("local-task")
add = rt.load({str(path)!r}, device).add
given = device.from_dlpack_capsule(np.ones(1_000_000, np.float32).__dlpack__())
end = rt.HalFence.create_at(device.create_semaphore(0), 1)
end.on_reached(lambda: print("reached"))
waiting = rt.HalFence.create_at(device.create_semaphore(0), 1)
waiting.on_reached(lambda: None)
results = [add(given, given, None, end), add(given, given, waiting, None)]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("way", ["call", "invocation", "context"])
def test_keyboard_interrupt_ends_a_call_that_waits(tmp_path, way: str):
    path = tmp_path / "waits.vmfb"
    path.write_bytes(iree_module(WAITS))
    code = f"""
import tiree.runtime as rt
module = rt.load({str(path)!r})
fence = rt.HalFence.create_at(rt.get_device("local-task").create_semaphore(0), 1)
inputs = rt.VmVariantList(2)
inputs.push_ref(fence)
inputs.push_int(4)
ways = {{
    "call": lambda: module.double_after(fence, 4),
    "invocation": lambda: module.double_after.begin(fence, 4).wait(),
    "context": lambda: module._vm_context.invoke(
        module.vm_module.lookup_function("double_after"), inputs, rt.VmVariantList(1)),
}}
try:
    print("waiting", flush=True)
    ways[{way!r}]()
except KeyboardInterrupt:
    fence.signal()
    print(module.double_after(fence, 4))
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert rest == "8\n"
