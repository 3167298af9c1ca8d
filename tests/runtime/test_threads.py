"""Several threads and one thing: a call that many wait for, a context whose variables many change."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import WAITS, iree_module, tiree_module
from runtime.threads import in_threads

SIZE = 1 << 12
STATE = f"""
util.global private mutable @n = dense<0> : tensor<i64>
util.global private mutable @wide = dense<0.0> : tensor<{SIZE}xf32>
func.func @count() -> tensor<i64> {{
  %c = stablehlo.constant dense<1> : tensor<i64>
  %0 = util.global.load @n : tensor<i64>
  %1 = stablehlo.add %0, %c : tensor<i64>
  util.global.store %1, @n : tensor<i64>
  return %1 : tensor<i64>
}}
func.func @set(%a: tensor<{SIZE}xf32>) {{
  util.global.store %a, @wide : tensor<{SIZE}xf32>
  return
}}
func.func @get() -> tensor<{SIZE}xf32> {{
  %0 = util.global.load @wide : tensor<{SIZE}xf32>
  return %0 : tensor<{SIZE}xf32>
}}
"""


@pytest.fixture
def spin(device_name: str) -> rt.FunctionInvoker:
    return rt.load(iree_module(WAITS), device_name).spin


class TestWaiting:
    def test_any_number_of_threads(self, spin: rt.FunctionInvoker) -> None:
        """One drives the call; the others sleep until it is done."""
        call = spin.begin(3_000_000)
        found: list[object] = []

        def wait() -> None:
            call.wait()
            found.append(call.results())

        in_threads([wait] * 8)
        assert len(found) == 8
        assert len({str(one) for one in found}) == 1

    def test_has_a_timeout_and_hears_of_failures(self, spin: rt.FunctionInvoker) -> None:
        call = spin.limited(timeout=1.0).begin(2_000_000_000)
        heard: list[BaseException] = []

        def wait() -> None:
            try:
                call.wait()
            except rt.TimeLimitError as error:
                heard.append(error)

        threads = [threading.Thread(target=wait) for _ in range(2)]
        for thread in threads:
            thread.start()
        with pytest.raises(TimeoutError, match="did not finish in time"):
            call.wait(0.02)
        for thread in threads:
            thread.join()
        assert len(heard) == 2

    def test_not_for_oneself(self) -> None:
        calls: list[rt.Invocation] = []

        class Inside:
            def __init__(self, interface: rt.PyModuleInterface) -> None:
                del interface

            def look(self) -> None:
                with pytest.raises(RuntimeError, match="on this thread, inside of this function"):
                    calls[0].step()
                calls[0].wait()

        interface = rt.PyModuleInterface("inside", Inside)
        interface.export("look", "0v_v", Inside.look)
        module = interface.create()
        context = rt.VmContext(rt.VmInstance(), modules=[module])
        function = module.lookup_function("look")
        assert function is not None
        calls.append(context.begin(function, rt.VmVariantList(0)))
        with pytest.raises(RuntimeError, match="the call is running on this thread, inside of this function"):
            calls[0].wait()


@pytest.mark.parametrize("compiler", [tiree_module, iree_module])
class TestVariables:
    """Calls of one context by several threads: each reads and writes whole values; no order is promised."""

    def test_updates_may_be_lost_but_nothing_else_happens(
        self, compiler: Callable[[str], bytes], device_name: str
    ) -> None:
        module = rt.load(compiler(STATE), device_name)
        seen: list[int] = []

        def work() -> None:
            for _ in range(100):
                seen.append(int(module.count()))

        in_threads([work] * 8)
        assert len(seen) == 800
        assert all(1 <= value <= 800 for value in seen)
        before = int(module.count())
        assert int(module.count()) == before + 1

    def test_values_are_whole(self, compiler: Callable[[str], bytes], device_name: str) -> None:
        module = rt.load(compiler(STATE), device_name)
        torn: list[np.ndarray] = []

        def work() -> None:
            for number in range(50):
                module.set(np.full(SIZE, number, np.float32))
                found = np.asarray(module.get())
                if not (found == found[0]).all():
                    torn.append(found)

        in_threads([work] * 8)
        assert torn == []

    def test_a_fork_for_each_thread_loses_nothing(self, compiler: Callable[[str], bytes], device_name: str) -> None:
        module = rt.load(compiler(STATE), device_name)
        last: list[int] = []

        def work() -> None:
            mine = module.fork()
            last.append([int(mine.count()) for _ in range(50)][-1])

        in_threads([work] * 4)
        assert last == [50] * 4

    def test_a_lock_loses_nothing(self, compiler: Callable[[str], bytes], device_name: str) -> None:
        module, lock = rt.load(compiler(STATE), device_name), threading.Lock()

        def work() -> None:
            for _ in range(50):
                with lock:
                    module.count()

        in_threads([work] * 4)
        assert int(module.count()) == 201
