"""`fork()`: contexts for other threads, which share what is loaded and have states of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
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
