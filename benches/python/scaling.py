"""Calls from several threads, as ratios in one run; prints a verdict for each bar. Needs two idle cores.

    python benches/python/scaling.py [--rounds N]

Two threads against one, with a fork of the module each and with one context, for calls of VM code and of compiled code
of well over 100 us; small calls of four threads against as many of one, and somewhat longer ones, which run without the
GIL. Under free-threaded CPython also short calls of VM code. "CPU" is the CPU time of a call compared with that on one
thread: what contention costs, also on a busy machine.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import tiree
import tiree.runtime as rt

LOOP = """
vm.module @loop version 0
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
"""
# About 2 ns an element on a fast core.
COMPUTE = """
func.func @compute(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.exponential %a : tensor<?xf32>
  %1 = stablehlo.tanh %0 : tensor<?xf32>
  %2 = stablehlo.logistic %1 : tensor<?xf32>
  %3 = stablehlo.exponential %2 : tensor<?xf32>
  %4 = stablehlo.tanh %3 : tensor<?xf32>
  %5 = stablehlo.logistic %4 : tensor<?xf32>
  return %5 : tensor<?xf32>
}
"""
ADD = """
func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
Call = Callable[[], object]


def spend(calls: list[Call], count: int) -> tuple[float, float]:
    """Wall and CPU seconds for `count` of each of `calls`, each in a thread of its own."""
    start = threading.Barrier(len(calls) + 1)

    def work(call: Call) -> None:
        call()
        start.wait()
        for _ in range(count):
            call()

    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    start.wait()
    wall, cpu = time.perf_counter(), time.process_time()
    for thread in threads:
        thread.join()
    return time.perf_counter() - wall, time.process_time() - cpu


def verdict(name: str, good: bool, text: str) -> bool:
    print(f"{'PASS' if good else 'FAIL'}: {name}: {text}", flush=True)
    return good


def twofold(name: str, make: Callable[[], Call], count: int, bar: float, rounds: int) -> bool:
    """Two threads against one, `count` calls each."""
    one = two = cpu_one = cpu_two = float("inf")
    for _ in range(rounds):
        wall, cpu = spend([make()], count)
        one, cpu_one = min(one, wall), min(cpu_one, cpu)
        wall, cpu = spend([make(), make()], count)
        two, cpu_two = min(two, wall), min(cpu_two, cpu / 2)
    ratio = 2 * one / two
    text = f"two threads do {ratio:.2f}x of one (at least {bar}), CPU {cpu_two / cpu_one:.2f}x"
    return verdict(f"{name}, {one / count * 1e6:.0f} us a call", ratio >= bar, text)


def no_slower(name: str, make: Callable[[], Call], count: int, threads: int, rounds: int) -> bool:
    """As many calls from many threads as from one."""
    one = many = cpu_one = cpu_many = float("inf")
    for _ in range(rounds):
        wall, cpu = spend([make()], count * threads)
        one, cpu_one = min(one, wall), min(cpu_one, cpu)
        wall, cpu = spend([make() for _ in range(threads)], count)
        many, cpu_many = min(many, wall), min(cpu_many, cpu)
    text = f"{threads} threads take {many / one:.2f}x the time of one (at most 1.2), CPU {cpu_many / cpu_one:.2f}x"
    return verdict(f"{name}, {one / count / threads * 1e6:.1f} us a call", many <= 1.2 * one, text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="rounds of which the best counts")
    rounds = parser.parse_args().rounds
    loop = rt.load(rt.assemble(LOOP), "local-sync")
    compute = rt.load(tiree.compile(COMPUTE), "local-sync")
    add = rt.load(tiree.compile(ADD), "local-sync")
    task_add = rt.load(tiree.compile(ADD), "local-task")
    large, small = np.linspace(-1, 1, 1 << 17, dtype=np.float32), np.ones(4, np.float32)
    middle = large[: 1 << 13]

    def vm(argument: int) -> Callable[[], Call]:
        def make() -> Call:
            function = loop.fork().sum
            return lambda: function(argument)

        return make

    def compiled(argument: np.ndarray, fork: bool) -> Callable[[], Call]:
        def make() -> Call:
            function = (compute.fork() if fork else compute).compute
            return lambda: function(argument)

        return make

    def tiny(module: rt.Module, fork: bool) -> Callable[[], Call]:
        def make() -> Call:
            function = (module.fork() if fork else module).add
            return lambda: function(small, small)

        return make

    good = [
        twofold("VM code", vm(50_000), 2000, 1.8, rounds),
        twofold("compiled code, a fork each", compiled(large, True), 500, 1.7, rounds),
        twofold("compiled code, one context", compiled(large, False), 500, 1.7, rounds),
        no_slower("small calls, a fork each", tiny(add, True), 20_000, 4, rounds),
        no_slower("small calls, one context", tiny(add, False), 20_000, 4, rounds),
        no_slower("small calls, one context, local-task", tiny(task_add, False), 20_000, 4, rounds),
        no_slower("calls without the GIL, one context", compiled(middle, False), 2_000, 4, rounds),
    ]
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        good.append(twofold("short VM code without a GIL", vm(1), 50_000, 1.8, rounds))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
