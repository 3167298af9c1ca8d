"""`fork()`: contexts for other threads, which share what is loaded and have states of their own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import numpy as np
import tiree.runtime as rt
from runtime.modules import ADD, tiree_module

PROGRAM = """
vm.module @program version 0
vm.import optional @state.next cconv "0v_i"
vm.rodata[0] = 00
vm.global.i32 mutable @count
vm.export @__init
vm.func @__init() -> () {
^bb0:
  %i0 = vm.const.i32 100
  vm.global.store.i32 %i0, @count
  vm.return
}
vm.export @count_on
vm.func @count_on() -> (i32) {
^bb0:
  %i0 = vm.global.load.i32 @count
  %i1 = vm.const.i32 1
  %i0 = vm.add.i32 %i0, %i1
  vm.global.store.i32 %i0, @count
  vm.return %i0
}
vm.export @sum
vm.func @sum(%i0: i32) -> (i32) {
^bb0:
  %i1 = vm.const.i32.zero
  %i2 = vm.const.i32 1
  vm.br ^bb1()
^bb1:
  %i1 = vm.add.i32 %i1, %i0
  %i0 = vm.sub.i32 %i0, %i2
  vm.cond_br %i0, ^bb1(), ^bb2()
^bb2:
  vm.return %i1
}
vm.export @next
vm.func @next() -> (i32) {
^bb0:
  %i0 = vm.call @state.next()
  vm.return %i0
}
"""

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
# Seconds, for what ends by itself.
LIMIT = 60


class State(rt.PythonModule, name="state"):
    """Counts calls."""

    def __init__(self) -> None:
        self.count = 0

    def next(self) -> rt.i32:
        self.count += 1
        return self.count


def program() -> rt.VmModule:
    return rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(PROGRAM))


def in_threads(works: Sequence[Callable[[], None]]) -> None:
    """Runs them at once; raises what one raised."""
    failures: list[BaseException] = []
    start = threading.Barrier(len(works))

    def run(work: Callable[[], None]) -> None:
        try:
            start.wait()
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        raise failure


def test_states_part(device: rt.HalDevice):
    context = rt.SystemContext(vm_modules=[State.create(), program()], config=rt.Config(device=device))
    mine = context.modules.program
    assert [mine.count_on(), mine.next(), mine.next()] == [101, 1, 2]
    fork = context.fork()
    theirs = fork.modules.program
    # Globals as they were, without a second initialization; a new object of the Python module.
    assert [theirs.count_on(), theirs.next()] == [102, 1]
    assert [mine.count_on(), mine.count_on(), mine.next()] == [102, 103, 3]
    assert fork.vm_context.context_id != context.vm_context.context_id
    assert set(fork.modules) == set(context.modules)
    assert theirs.vm_module is mine.vm_module
    again = fork.fork().modules.program
    del context, fork, mine, theirs
    assert again.count_on() == 103


def test_dynamic_contexts_grow_apart(device: rt.HalDevice):
    context = rt.SystemContext(config=rt.Config(device=device))
    fork = context.fork()
    fork.add_vm_module(program())
    assert "program" not in context.modules
    assert fork.modules.program.count_on() == 101


def test_loaded_modules(device: rt.HalDevice):
    module = rt.load(rt.assemble(PROGRAM), device, fuel=10_000)
    assert module.count_on() == 101
    fork = module.fork()
    assert isinstance(fork, rt.Module)
    assert [fork.count_on(), module.count_on()] == [102, 102]
    for one in (fork, fork.fork()):
        try:
            one.sum(1_000_000)
        except rt.FuelError:
            continue
        raise AssertionError("the limit did not hold")


def test_memory_limit_holds_for_each():
    context = rt.VmContext(rt.VmInstance(), modules=[program()], memory_limit=10_000)
    fork = context.fork()
    assert (context.memory_used, fork.memory_used) == (context.memory_used, context.memory_used)


def test_eight_threads_on_forks(device: rt.HalDevice):
    module = rt.load(rt.assemble(PROGRAM), device)

    def work(fork: rt.Module, number: int) -> Callable[[], None]:
        def run() -> None:
            for call in range(50):
                assert fork.sum(1000 + number) == (1000 + number) * (1001 + number) // 2
                assert fork.count_on() == 101 + call

        return run

    in_threads([work(module.fork(), number) for number in range(8)])


def test_eight_threads_on_one_context(device: rt.HalDevice):
    module = rt.load(rt.assemble(PROGRAM), device)
    add = rt.load(tiree_module(ADD), device).add

    def work(number: int) -> Callable[[], None]:
        x = np.full(4, number, np.float32)

        def run() -> None:
            for _ in range(50):
                assert module.sum(1000 + number) == (1000 + number) * (1001 + number) // 2
                assert np.array_equal(add(x, x), 2 * x)

        return run

    in_threads([work(number) for number in range(8)])


def test_others_run_while_a_call_does(device: rt.HalDevice):
    """The GIL is free inside of a call: VM code and another thread answer each other, and the call ends by that alone.

    VM code copies one number of a buffer into the other, and calls nothing that would let go of the GIL. So when each
    has seen the other's number several times, both ran in turns: with the GIL held the thread would get one turn.
    """
    rounds = 20
    echo = rt.load(rt.assemble(ECHO), device).echo
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
