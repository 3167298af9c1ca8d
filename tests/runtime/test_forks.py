"""`fork()`: contexts for other threads, which share what is loaded and have states of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import ADD, tiree_module
from runtime.threads import in_threads

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


class State(rt.PythonModule, name="state"):
    """Counts calls."""

    def __init__(self) -> None:
        self.count = 0

    def next(self) -> rt.i32:
        self.count += 1
        return self.count


def program() -> rt.VmModule:
    return rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(PROGRAM))


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


LONG = """
vm.module @long version 0
vm.type !vm.buffer
vm.import @gate.wait cconv "0v_v"
vm.global.ref mutable @buffer : !vm.buffer
vm.global.i32 mutable @stop
vm.export @spin
vm.func @spin() -> () {
^bb0:
  %i0 = vm.const.i32 16
  %i2:3 = vm.const.i64 64
  vm.br ^bb1()
^bb1:
  %r0 = vm.buffer.alloc %i2:3, %i0
  vm.global.store.ref %R0, @buffer : !vm.buffer
  %i1 = vm.global.load.i32 @stop
  vm.cond_br %i1, ^bb2(), ^bb1()
^bb2:
  vm.return
}
vm.export @wait
vm.func @wait() -> () {
^bb0:
  %i0 = vm.const.i32 16
  %i2:3 = vm.const.i64 64
  %r0 = vm.buffer.alloc %i2:3, %i0
  vm.global.store.ref %R0, @buffer : !vm.buffer
  vm.call @gate.wait()
  vm.return
}
vm.export @end
vm.func @end() -> () {
^bb0:
  %i0 = vm.const.i32 1
  vm.global.store.i32 %i0, @stop
  vm.return
}
vm.export @length
vm.func @length() -> (i64) {
^bb0:
  %r0 = vm.global.load.ref @buffer : !vm.buffer
  %i0:1 = vm.buffer.length %r0
  vm.return %i0:1
}
"""


class Gate(rt.PythonModule, name="gate"):
    """Its `wait` ends when the gate is opened."""

    opened = threading.Event()

    def wait(self) -> None:
        assert self.opened.wait(60)


@pytest.mark.parametrize("name", ["spin", "wait"])
def test_forks_do_not_wait_for_calls(name: str):
    """Neither for bytecode that stores a global all the time, nor for a method of a Python module."""
    module = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(LONG))
    context = rt.SystemContext(vm_modules=[Gate.create(), module])
    long = context.modules.long
    Gate.opened.clear()
    thread = threading.Thread(target=long[name], daemon=True)
    thread.start()
    forks = 0
    while forks < 50:
        fork = context.fork().modules.long
        try:
            assert fork.length() == 64
        except rt.StatusError:
            continue  # The call has not begun: the global is null.
        forks += 1
    assert thread.is_alive()
    Gate.opened.set()
    long.end()
    thread.join(60)
    assert not thread.is_alive()
