"""Semaphores and fences: values that only grow, waits with ends, failures, callbacks."""

from __future__ import annotations

import asyncio
import itertools
import signal
import subprocess
import sys
import threading
import time

import pytest
import tiree.runtime as rt

SOON = 20_000_000
"""Nanoseconds."""


@pytest.fixture
def semaphore(device: rt.HalDevice) -> rt.HalSemaphore:
    return device.create_semaphore(3)


class TestSemaphore:
    def test_grows(self, semaphore: rt.HalSemaphore):
        assert semaphore.query() == 3
        semaphore.signal(5)
        assert semaphore.query() == 5
        for value in (5, 4, 0):
            with pytest.raises(ValueError, match="current_value=5"):
                semaphore.signal(value)

    def test_wait_with_an_end(self, semaphore: rt.HalSemaphore):
        assert semaphore.wait(3)
        assert semaphore.wait(3, timeout=0)
        for keywords in ({"timeout": 0}, {"timeout": SOON}, {"timeout": -1}, {"deadline": 0}):
            assert not semaphore.wait(4, **keywords)
        start = time.monotonic_ns()
        assert not semaphore.wait(4, deadline=start + SOON)
        assert time.monotonic_ns() - start >= SOON
        with pytest.raises(ValueError, match="cannot both be set"):
            semaphore.wait(4, timeout=1, deadline=2)

    def test_failure_stays(self, semaphore: rt.HalSemaphore):
        semaphore.fail("out of paper")
        semaphore.fail("something else")
        for attempt in (semaphore.query, lambda: semaphore.wait(1), lambda: semaphore.wait(9, timeout=0)):
            with pytest.raises(RuntimeError, match="out of paper"):
                attempt()

    def test_another_thread_signals(self, semaphore: rt.HalSemaphore):
        thread = threading.Thread(target=lambda: semaphore.signal(7))
        thread.start()
        assert semaphore.wait(7)
        thread.join()

    def test_callbacks(self, semaphore: rt.HalSemaphore):
        calls: list[str] = []
        semaphore.on_reached(3, lambda: calls.append("now"))
        semaphore.on_reached(4, lambda: calls.append("four"))
        semaphore.on_reached(9, lambda: calls.append("failed"))
        assert calls == ["now"]
        semaphore.signal(6)
        assert calls == ["now", "four"]
        semaphore.fail("x")
        assert calls == ["now", "four", "failed"]

    def test_a_callback_that_raises_is_reported(self, semaphore: rt.HalSemaphore, monkeypatch: pytest.MonkeyPatch):
        reports: list[object] = []
        monkeypatch.setattr(sys, "unraisablehook", reports.append)
        semaphore.on_reached(4, lambda: 1 / 0)
        semaphore.signal(4)
        assert [report.exc_type for report in reports] == [ZeroDivisionError]  # pyright: ignore[reportAttributeAccessIssue]

    def test_a_callback_may_wait_for_what_it_signals(self, device: rt.HalDevice):
        done: list[bool] = []

        def callback() -> None:
            first, second = device.create_semaphore(0), device.create_semaphore(0)
            first.on_reached(1, lambda: second.signal(1))
            first.signal(1)
            done.append(second.wait(1, timeout=5_000_000_000))

        start = device.create_semaphore(0)
        start.on_reached(1, callback)
        start.signal(1)
        assert done == [True]

    def test_a_callback_that_waits_for_the_device(self):
        device = rt.get_device("local-task")
        done: list[bool] = []
        usage = rt.BufferUsage.DEFAULT | rt.BufferUsage.MAPPING
        buffers = [device.allocator.allocate_buffer(rt.MemoryType.DEVICE_LOCAL, usage, 16) for _ in range(2)]

        def callback() -> None:
            first, second = device.create_semaphore(0), device.create_semaphore(0)
            device.queue_copy(buffers[0], buffers[1], [(first, 1)], [(second, 1)])
            first.signal(1)
            done.append(second.wait(1, timeout=5_000_000_000))

        start = device.create_semaphore(0)
        start.on_reached(1, callback)
        start.signal(1)
        assert done == [True]

    def test_chains_of_any_length(self, device: rt.HalDevice):
        semaphores = [device.create_semaphore(0) for _ in range(5000)]
        for here, there in itertools.pairwise(semaphores):
            here.on_reached(1, lambda there=there: there.signal(1))
        semaphores[0].signal(1)
        assert semaphores[-1].query() == 1

    @pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
    def test_what_ends_the_program_is_raised_where_it_goes_on(self, device: rt.HalDevice, raised: type[BaseException]):
        calls: list[int] = []

        def stop() -> None:
            raise raised("asked for")

        inner, outer = device.create_semaphore(0), device.create_semaphore(0)
        inner.on_reached(1, stop)
        outer.on_reached(1, lambda: inner.signal(1))
        outer.on_reached(1, lambda: calls.extend(range(100)))

        def go_on() -> None:
            outer.signal(1)
            for _ in range(3):
                time.sleep(0)

        with pytest.raises(raised, match="asked for"):
            go_on()
        assert len(calls) == 100


class TestFence:
    def test_points(self, device: rt.HalDevice):
        first, second = device.create_semaphore(0), device.create_semaphore(0)
        fence = rt.HalFence(2)
        assert (fence.timepoint_count, fence.wait()) == (0, True)
        fence.insert(first, 1)
        fence.insert(first, 2)
        fence.insert(second, 1)
        assert fence.timepoint_count == 2
        second.signal(1)
        first.signal(1)
        assert not fence.wait(timeout=0)
        first.signal(2)
        assert fence.wait()

    def test_join_and_extend(self, device: rt.HalDevice):
        first, second = (rt.HalFence.create_at(device.create_semaphore(0), 1) for _ in range(2))
        joined = rt.HalFence.join([first, second, first])
        assert joined.timepoint_count == 2
        other = rt.HalFence(2)
        other.extend(joined)
        first.signal()
        assert not joined.wait(timeout=0)
        second.signal()
        assert joined.wait()
        assert other.wait()
        assert rt.HalFence.join([]).wait()

    def test_signalled_once(self, device: rt.HalDevice):
        fence = rt.HalFence.create_at(device.create_semaphore(0), 1)
        fence.signal()
        with pytest.raises(ValueError, match="current_value=1"):
            fence.signal()

    def test_failure(self, device: rt.HalDevice):
        semaphore = device.create_semaphore(0)
        fence = rt.HalFence.create_at(semaphore, 1)
        calls: list[int] = []
        fence.on_reached(lambda: calls.append(1))
        fence.fail("burnt")
        assert calls == [1]
        with pytest.raises(RuntimeError, match="burnt"):
            fence.wait()
        with pytest.raises(RuntimeError, match="burnt"):
            semaphore.query()


class TestLoopBridge:
    def test_futures(self, device: rt.HalDevice):
        async def main() -> None:
            bridge = rt.HalDeviceLoopBridge(device, asyncio.get_running_loop())
            semaphore = device.create_semaphore(0)
            first = bridge.on_semaphore(semaphore, 1, "one")
            second = bridge.on_semaphore(semaphore, 2, "two")
            third = bridge.on_semaphore(semaphore, 3, "three")
            await asyncio.sleep(0)
            assert not first.done()
            threading.Thread(target=semaphore.signal, args=(2,)).start()
            assert await asyncio.gather(first, second) == ["one", "two"]
            assert not third.done()
            semaphore.fail("gone")
            with pytest.raises(RuntimeError, match="gone"):
                await third
            assert await bridge.on_semaphore(device.create_semaphore(5), 5, "there") == "there"
            bridge.stop()
            with pytest.raises(RuntimeError, match="stopped"):
                bridge.on_semaphore(semaphore, 1, None)

        asyncio.run(main())


@pytest.mark.parametrize(
    "wait",
    [
        "rt.HalFence.create_at(device.create_semaphore(0), 1).wait()",
        "device.create_semaphore(0).wait(1, timeout=10**12)",
    ],
)
def test_keyboard_interrupt_ends_a_wait(wait: str):
    code = f"""
import tiree.runtime as rt
device = rt.get_device("local-task")
try:
    print("waiting", flush=True)
    {wait}
except KeyboardInterrupt:
    print("interrupted")
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    # Inside the `try` in any case: the line was printed there.
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert rest == "interrupted\n"
