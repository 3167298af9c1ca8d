"""When calls hold the GIL: short ones that are known to be short, and those only while they need not wait.

What is tested ends by itself when threads get their turns; with the GIL held it would not.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import ADD, ASYNC_FLAGS, WAITS, iree_module, tiree_module
from runtime.threads import LIMIT, in_threads

# Copies the first number of a buffer to the second until it is the argument.
ECHO = """
vm.module @echo version 0
vm.type i32
vm.type !vm.buffer
vm.export @echo
vm.func @echo(%r0: !vm.buffer, %i0: i32) -> (i32) {
^bb0:
  %i2:3 = vm.const.i64 0
  %i4:5 = vm.const.i64 1
  vm.br ^bb1()
^bb1:
  %i1 = vm.buffer.load.i32 %r0, %i2:3
  vm.buffer.store.i32 %i1, %r0, %i4:5
  %i6 = vm.cmp.lt.i32.s %i1, %i0
  vm.cond_br %i6, ^bb1(), ^bb2()
^bb2:
  vm.return %i1
}
"""

DYNAMIC = """
func.func @grow(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.exponential %a : tensor<?xf32>
  %1 = stablehlo.tanh %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}
"""
CALLS_PYTHON = """
vm.module @program version 0
vm.import @host.next cconv "0i_i"
vm.export @next
vm.func @next(%i0: i32) -> (i32) {
^bb0:
  %i0 = vm.call @host.next(%i0)
  vm.return %i0
}
"""
X = np.arange(4, dtype=np.float32)
# More short calls than are seen before the GIL is held.
MANY = 100


def repeat(call: Callable[[], object], count: int = MANY) -> None:
    for _ in range(count):
        call()


class Host(rt.PythonModule, name="host"):
    """Counts on."""

    def next(self, number: rt.i32) -> rt.i32:
        return number + 1


def unsignalled(device: rt.HalDevice) -> rt.HalFence:
    return rt.HalFence.create_at(device.create_semaphore(0), 1)


@pytest.mark.parametrize("short_before", [0, MANY])
def test_others_run_while_vm_code_does(device: rt.HalDevice, short_before: int):
    """VM code and another thread answer each other, and the call ends by that alone.

    VM code copies one number of a buffer into the other, and calls nothing that would let go of the GIL. So when each
    has seen the other's number several times, both ran in turns: with the GIL held the thread would get one turn.
    """
    rounds = 20
    echo = rt.load(rt.assemble(ECHO), device).echo
    repeat(lambda: echo(rt.VmBuffer(8, 0, True), 0), short_before)
    buffer = rt.VmBuffer(8, 0, True)
    asked, answered = (memoryview(buffer)[at : at + 4] for at in (0, 4))
    seen: list[int] = []
    over = threading.Event()

    def answer() -> None:
        for number in range(1, rounds + 1):
            asked[:] = number.to_bytes(4, "little")
            while answered != asked and not over.is_set():
                time.sleep(0)
            seen.append(int.from_bytes(answered, "little"))

    def call() -> None:
        try:
            # The limit is for a failure alone; then no test has to wait for ever.
            assert echo.limited(timeout=LIMIT)(buffer, rounds) == rounds
        finally:
            over.set()

    in_threads([call, answer])
    assert seen == list(range(1, rounds + 1))


def test_others_run_while_a_long_kernel_does(device: rt.HalDevice):
    """A call of the same function that is long because its argument is."""
    grow = rt.load(tiree_module(DYNAMIC), device).grow
    large = np.ones(1 << 22, np.float32)
    turns, over = [0], threading.Event()

    def count() -> None:
        while not over.is_set():
            turns[0] += 1
            time.sleep(0)

    def turned() -> bool:
        repeat(lambda: grow(X))
        before = turns[0]
        grow(large)
        return turns[0] > before

    def call() -> None:
        try:
            # Beside other programs the system may run the counting thread late in any one of them.
            for _ in range(3):
                assert any(turned() for _ in range(20))
        finally:
            over.set()

    in_threads([call, count])


def test_waits_let_others_run(device: rt.HalDevice):
    """A call that waits for what another Python thread signals, after many that found it signalled."""
    waits = rt.load(iree_module(WAITS), device).double_after
    signalled = rt.HalFence.create_at(device.create_semaphore(1), 1)
    repeat(lambda: waits(signalled, 4))
    for _ in range(20):
        fence, begun = unsignalled(device), threading.Event()

        def call(fence: rt.HalFence = fence, begun: threading.Event = begun) -> None:
            begun.set()
            assert waits.limited(timeout=LIMIT)(fence, 4) == 8

        def signal(fence: rt.HalFence = fence, begun: threading.Event = begun) -> None:
            begun.wait()
            fence.signal()

        in_threads([call, signal])


def test_modules_in_python(device: rt.HalDevice):
    """Their functions have the GIL whether or not the call does; other threads take turns inside."""
    program = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(CALLS_PYTHON))
    context = rt.SystemContext(vm_modules=[Host.create(), program], config=rt.Config(device=device))
    following = context.modules.program.next

    def work() -> None:
        for number in range(1000):
            assert following(number) == number + 1

    in_threads([work] * 4)


def test_callbacks_in_python(device: rt.HalDevice, device_name: str):
    """What a short call signals calls Python, and lets work begin that waited for it."""
    add = rt.load(iree_module(ADD, *ASYNC_FLAGS), device).add
    repeat(lambda: add(X, X, None, unsignalled(device)))
    called: list[int] = []

    def work() -> None:
        for number in range(200):
            first, second = unsignalled(device), unsignalled(device)
            second.on_reached(lambda number=number: called.append(number))
            if device_name == "local-task":
                results = [add(X, X, first, second), add(X, X, None, first)]
            else:
                results = [add(X, X, None, first), add(X, X, first, second)]
            assert second.wait()
            assert [result.to_host().tolist() for result in results] == [[0, 2, 4, 6]] * 2

    in_threads([work] * 4)
    assert sorted(called) == sorted([*range(200)] * 4)


def test_memory_of_python_is_given_back(device: rt.HalDevice):
    """Arguments that only the call holds any more are released wherever it ends."""
    add = rt.load(tiree_module(ADD), device).add

    def work() -> None:
        for number in range(500):
            view = device.from_dlpack_capsule(np.full(4, number, np.float32).__dlpack__())
            assert add(view, np.full(4, 1, np.float32))[3] == number + 1

    in_threads([work] * 4)


def test_others_run_while_c_code_makes_short_calls():
    """`sorted` gives no turns between the calls of its key."""
    identity = """
vm.module @m version 0
vm.export @same
vm.func @same(%i0: i32) -> (i32) {
^bb0:
  vm.return %i0
}
"""
    same, done = rt.load(rt.assemble(identity)).same, threading.Event()
    gaps: list[float] = []
    repeat(lambda: same(1))

    def measure() -> None:
        last = time.perf_counter()
        while not done.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    def work() -> None:
        begin = time.perf_counter()
        while time.perf_counter() - begin < 0.5:
            sorts.append(sorted(range(500_000), key=same))
        done.set()

    sorts: list[list[int]] = []
    in_threads([measure, work])
    # Between two sorts there is a turn; many are inside of each.
    assert len(gaps) > 2 * len(sorts)
