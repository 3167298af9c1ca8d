"""What goes wrong while programs run: the right error, which names the thing; the device and its workers still usable
afterwards; and nothing leaked, which is counted: bytes of the device, file descriptors, threads, Python objects.

`FAULTS` is the table. Faults that end or fork a process are in `test_process_faults.py`, those of parameter files in
`test_parameter_faults.py`, exceptions of Python modules in `test_python_modules.py`.
"""

from __future__ import annotations

import gc
import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.fault_programs import DIVIDE, GROW, failing_kernel
from runtime.modules import ADD, ASYNC_FLAGS, WAITS, iree_module, iree_module_with, tiree_module
from tools.runtime_tool import needs_iree

pytestmark = needs_iree

DEVICE, USAGE = 0x30, 0x9000C03
A = np.arange(4, dtype=np.float32)
LARGE = 1 << 20


@dataclass(frozen=True)
class Counts:
    """What must be the same before and after."""

    bytes: int
    descriptors: int
    threads: int
    objects: int


def counts(device: rt.HalDevice) -> Counts:
    gc.collect()
    numbers = device.allocator.statistics
    live = sum(numbers[f"{kind}_bytes_allocated"] - numbers[f"{kind}_bytes_freed"] for kind in ("host", "device"))
    objects = sum(str(getattr(type(o), "__module__", "")).startswith("tiree") for o in gc.get_objects())
    return Counts(live, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")), objects)


class Place:
    """A device with two workers, and modules on it."""

    def __init__(self, name: str) -> None:
        self.device = rt.HalDevice.open(name, group_count=2)
        self.load = cache(lambda module: rt.load(module, self.device))
        self.ones = np.ones(LARGE, np.float32)

    def unsignalled(self) -> rt.HalFence:
        return rt.HalFence.create_at(self.device.create_semaphore(0), 1)

    def works(self) -> None:
        """Small calls, and ones that need all workers."""
        add, large = self.load(tiree_module(ADD)).add, self.load(tiree_module(ADD.replace("4xf32", f"{LARGE}xf32"))).add
        np.testing.assert_array_equal(np.asarray(add(A, A)), 2 * A)
        assert np.asarray(large(self.ones, self.ones))[-1] == 2


@pytest.fixture(params=["local-sync", "local-task"], scope="module")
def place(request: pytest.FixtureRequest) -> Place:
    return Place(request.param)


VMVX = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx")


def native_kernel(place: Place) -> None:
    place.load(failing_kernel()).add(A, A)


def native_kernel_of_an_asynchronous_call(place: Place) -> None:
    call = place.load(failing_kernel(*ASYNC_FLAGS)).add.begin(A, A)
    call.wait()
    call.results()


def bytecode_kernel(place: Place) -> None:
    place.load(iree_module_with(DIVIDE, VMVX)).divide(np.ones(4, np.int32), np.zeros(4, np.int32))


def wait_past_a_timeout(place: Place) -> None:
    function = place.load(iree_module(WAITS)).double_after.limited(timeout=0.05)
    function(place.unsignalled(), 3)


def wait_that_fails(place: Place) -> None:
    fence = place.unsignalled()
    call = place.load(iree_module(WAITS)).double_after.begin(fence, 3)
    call.step()
    fence.fail("the other side is gone")
    call.wait()
    call.results()


def more_than_there_is(place: Place) -> None:
    place.load(iree_module(GROW)).grow(1 << 44)


def more_than_the_limit(place: Place) -> None:
    place.device.allocator.set_limits(memory=1 << 20)
    try:
        place.load(iree_module(GROW)).grow(1 << 19)
    finally:
        place.device.allocator.set_limits()


def queue_allocation_past_the_limit(place: Place) -> None:
    place.device.allocator.set_limits(memory=1 << 20)
    fence = place.unsignalled()
    try:
        buffer = place.device.queue_alloca(1 << 30, [], fence)
        fence.wait()
        buffer.map()
    finally:
        place.device.allocator.set_limits()


def buffer_used_after_its_deallocation(place: Place) -> None:
    done, gone = place.unsignalled(), place.unsignalled()
    buffer = place.device.queue_alloca(64, [], done)
    place.device.queue_dealloca(buffer, done, gone)
    gone.wait()
    buffer.map()


def copy_that_does_not_fit(place: Place) -> None:
    big, small = (place.device.allocator.allocate_buffer(DEVICE, USAGE, size) for size in (64, 32))
    place.device.queue_copy(big, small, [], place.unsignalled())


def work_after_a_failed_fence(place: Place) -> None:
    buffers = [place.device.allocator.allocate_buffer(DEVICE, USAGE, 64) for _ in range(2)]
    wait, done = place.unsignalled(), place.unsignalled()
    wait.fail("never mind")
    place.device.queue_copy(*buffers, wait, done)
    done.wait()


def wrong_rank(place: Place) -> None:
    place.load(iree_module(ADD)).add(A, A.reshape(2, 2))


@dataclass(frozen=True)
class Fault:
    run: Callable[[Place], None]
    kind: type[BaseException]
    text: str


FAULTS = [
    Fault(native_kernel, rt.StatusError, r"add\(\) failed in 'add_dispatch_0\w*'.*: .*returned.* error 7"),
    Fault(
        native_kernel_of_an_asynchronous_call,
        rt.StatusError,
        r"add\(\) failed in 'add_dispatch_0\w*'.*returned.* error 7",
    ),
    Fault(bytecode_kernel, ValueError, r"divide\(\) failed in 'divide_dispatch_0\w*'.*division by zero"),
    Fault(wait_past_a_timeout, TimeoutError, r"double_after\(\) failed: the call did not finish before its deadline"),
    Fault(wait_that_fails, rt.StatusError, r"double_after\(\) failed: .*the other side is gone"),
    Fault(more_than_there_is, MemoryError, rf"grow\(\) failed: out of memory: {4 << 44} bytes asked"),
    Fault(more_than_the_limit, MemoryError, rf"grow\(\) failed: out of memory: {4 << 19} .* may use {1 << 20} bytes"),
    Fault(queue_allocation_past_the_limit, MemoryError, rf"{1 << 30} bytes asked, .* may use {1 << 20} bytes"),
    Fault(buffer_used_after_its_deallocation, rt.StatusError, r"no memory any more: .*queue\.dealloca"),
    Fault(copy_that_does_not_fit, ValueError, r"64 .*32"),
    Fault(work_after_a_failed_fence, rt.StatusError, r"never mind"),
    Fault(wrong_rank, ValueError, r'add\(\): argument 2 \("input1"\) has shape \[2x2\]; needs \[4\]'),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.run.__name__)
def test_fault(fault: Fault, place: Place) -> None:
    def fail() -> None:
        with pytest.raises(fault.kind) as caught:
            fault.run(place)
        assert re.search(fault.text, str(caught.value), re.DOTALL), str(caught.value)

    place.works()
    fail()
    place.works()
    before = counts(place.device)
    for _ in range(3):
        fail()
    place.works()
    assert counts(place.device) == before


def eventually(device: rt.HalDevice, wanted: Counts) -> None:
    end = time.monotonic() + 20
    while (found := counts(device)) != wanted:
        assert time.monotonic() < end, (found, wanted)
        time.sleep(0.005)


class TestDeallocation:
    """Memory goes while work that uses it is queued or runs: the work has it to its end, and then it is given back."""

    def test_arguments_and_results_of_a_running_call(self, place: Place):
        module = place.load(iree_module(ADD.replace("4xf32", f"{LARGE}xf32"), *ASYNC_FLAGS))
        module.add(place.ones, place.ones)
        place.works()
        before = counts(place.device)
        for _ in range(5):
            a, b = np.full(LARGE, 3, np.float32), np.full(LARGE, 4, np.float32)
            call = module.add.begin(a, b)
            del a, b
            gc.collect()
            scribble = [np.full(LARGE, 9, np.float32) for _ in range(4)]
            call.wait()
            result = call.results()
            assert np.all(np.asarray(result) == 7)
            del result, call, scribble
        for _ in range(5):
            module.add.begin(place.ones, place.ones)  # Nobody waits for it.
        eventually(place.device, before)

    def test_buffers_of_queued_work(self, place: Place):
        before = counts(place.device)
        start, done = place.unsignalled(), place.unsignalled()
        thread = threading.Thread(target=self._copies, args=(place, start, done))
        thread.start()  # local-sync waits where it is asked for work.
        time.sleep(0.02)
        gc.collect()
        scribble = [place.device.allocator.allocate_buffer(DEVICE, USAGE, 4 * LARGE) for _ in range(3)]
        for buffer in scribble:
            np.frombuffer(buffer.map(), np.uint8)  # type: ignore[arg-type]
        start.signal()
        assert done.wait(timeout=20_000_000_000)
        thread.join()
        del scribble, start, done, thread, buffer
        eventually(place.device, before)

    @staticmethod
    def _copies(place: Place, start: rt.HalFence, done: rt.HalFence) -> None:
        """Three copies in a row, each freed by Python before the first begins."""
        made, there = place.unsignalled(), place.unsignalled()
        source = place.device.allocator.allocate_buffer_copy(DEVICE, USAGE, place.device, np.full(LARGE, 5, np.float32))
        middle = place.device.queue_alloca(4 * LARGE, [], made)
        target = place.device.allocator.allocate_buffer(DEVICE, USAGE, 4 * LARGE)
        place.device.queue_copy(source, middle, rt.HalFence.join([made, start]), there)
        del source
        copied = place.unsignalled()
        place.device.queue_copy(middle, target, there, copied)
        place.device.queue_dealloca(middle, copied, done)
        del middle
        done.wait()
        assert np.all(np.frombuffer(target.map(), np.float32) == 5)  # type: ignore[arg-type]

    def test_a_view_of_a_result_outlives_everything(self):
        device = rt.HalDevice.open("local-task", group_count=1)
        module = rt.load(tiree_module(ADD), device)
        array = np.asarray(module.add(A, A))
        del module, device
        gc.collect()
        np.testing.assert_array_equal(array, 2 * A)


class TestDeadlines:
    def test_fences_and_semaphores(self, place: Place):
        """A wait that ends in time is an answer, not an error."""
        semaphore = place.device.create_semaphore(0)
        fence = rt.HalFence.create_at(semaphore, 1)
        for wait in (fence.wait, lambda **when: semaphore.wait(1, **when)):
            assert wait(timeout=5_000_000) is False
            assert wait(deadline=time.monotonic_ns() + 5_000_000) is False
            assert wait(deadline=0) is False
        semaphore.signal(1)
        assert fence.wait(timeout=0)

    def test_the_call_can_be_made_again(self, place: Place):
        """The fence that was late comes; the same function then succeeds."""
        function = place.load(iree_module(WAITS)).double_after
        fence = place.unsignalled()
        with pytest.raises(TimeoutError):
            function.limited(timeout=0.02)(fence, 4)
        fence.signal()
        assert function(fence, 4) == 8


class TestSizesThatDisagree:
    """`tensor<?xf32>` arguments of 5 and 3 elements, where the program says they are equal."""

    TEXT = ADD.replace("4xf32", "?xf32")

    def test_own_modules_refuse(self, place: Place):
        add = place.load(tiree_module(self.TEXT)).add
        for sizes in ((5, 3), (3, 5), (100_000, 3)):
            a, b = (np.ones(size, np.float32) for size in sizes)
            with pytest.raises(ValueError, match=r"add\(\) failed: .*dimension 0 must equal dimension 0 of argument 1"):
                add(a, b)
        place.works()

    def test_native_kernels_of_iree_do_not_notice(self, place: Place):
        """They read behind the shorter argument. For these sizes that is the rest of its own block of 64 bytes, so what
        both arguments have is right and the process goes on; for others nothing holds, see the safety model."""
        add = place.load(iree_module(self.TEXT)).add
        for five, three in ((5, 3), (3, 5)):
            a, b = np.ones(five, np.float32), np.ones(three, np.float32)
            result: Any = np.asarray(add(a, b))
            both = min(five, three)
            assert result.shape == (five,)
            assert np.all(result[:both] == 2)
        place.works()

    def test_bytecode_kernels_of_iree_notice(self, place: Place):
        """With the place in the source, in the first words."""
        add = place.load(iree_module_with(self.TEXT, VMVX)).add
        with pytest.raises(IndexError) as caught:
            add(np.ones(60_000, np.float32), np.ones(3, np.float32))
        text = str(caught.value)
        place_in_source = r"add\(\) failed in 'add_dispatch_0\w*' \([^)]+:\d+:\d+\) of executable '\w+', workgroup"
        assert re.match(place_in_source, text)
        assert "out-of-bounds access detected" in text
        place.works()
