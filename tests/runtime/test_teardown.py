"""`__deinit` runs when the last reference of a context goes, whoever has it, and holds nobody up."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import tiree.runtime as rt

LOOP = "^bb0:\n  vm.br ^bb0()"
CALL = "^bb0:\n  %i0 = vm.const.i32 7\n  {call} @py.close(%i0){after}\n  vm.return"
PLAIN = CALL.format(call="vm.call", after="").replace("  vm.call", "  %i0 = vm.call")
YIELDABLE = CALL.format(call="vm.call.yieldable", after=" -> ^bb1(%i0)\n^bb1:")


def text(deinit: str, function: str = "^bb0:\n  vm.return", needs: str = "") -> str:
    return (
        f"vm.module @m version 0\n{needs}vm.export @__deinit\nvm.func @__deinit() -> () {{\n{deinit}\n}}\n"
        f"vm.export @f\nvm.func @f() -> () {{\n{function}\n}}\n"
    )


IMPORT = 'vm.import @py.close cconv "0i_i"\n'


class Counting(rt.PythonModule, name="py"):
    closed: list[int]

    def close(self, k: rt.i32) -> rt.i32:
        self.closed.append(k)
        time.sleep(0.2)
        return k


class Waiting(rt.PythonModule, name="py"):
    closed: list[int]

    async def close(self, k: rt.i32) -> rt.i32:
        await asyncio.sleep(0.01)
        self.closed.append(k)
        return k


def loaded(source: str) -> rt.VmModule:
    return rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(source))


def context(deinit: str, *modules: rt.VmModule, **limits: Any) -> rt.VmContext:
    source = text(deinit, needs=IMPORT if modules else "")
    return rt.VmContext(rt.VmInstance(), modules=[*modules, loaded(source)], **limits)


class Reported:
    """What could not be raised."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.all: list[tuple[BaseException | None, object]] = []
        monkeypatch.setattr(sys, "unraisablehook", lambda u: self.all.append((u.exc_value, u.object)))


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> Reported:
    return Reported(monkeypatch)


def counted_meanwhile(work: Callable[[], None]) -> int:
    """How often another thread got to run Python code while `work` was done."""
    over, count = threading.Event(), 0

    def other() -> None:
        nonlocal count
        while not over.wait(0.005):
            count += 1

    thread = threading.Thread(target=other)
    thread.start()
    work()
    over.set()
    thread.join()
    return count


class TestThreads:
    """Other threads run while `__deinit` does; limits of the context end it, which is reported."""

    def check(self, drop: Callable[[], None], reported: Reported) -> None:
        assert counted_meanwhile(drop) > 5
        [(error, where)] = reported.all
        assert isinstance(error, rt.TimeLimitError)
        assert where == "m.__deinit"
        assert "m.__deinit() failed: the call did not finish before its deadline" in str(error)

    def test_contexts(self, reported: Reported):
        held = [context(LOOP, timeout=0.2)]
        self.check(held.clear, reported)

    def test_forks(self, reported: Reported):
        origin = context("^bb0:\n  vm.return", timeout=0.2)
        held = [origin.fork()]
        held.clear()
        assert not reported.all
        held = [context(LOOP, timeout=0.2)]
        fork = held[0].fork()
        self.check(held.clear, reported)
        reported.all.clear()
        held = [fork]
        del fork
        self.check(held.clear, reported)

    def test_functions(self, reported: Reported):
        held: list[Any] = [rt.load(rt.assemble(text(LOOP)), timeout=0.2).f]
        held[0]()
        self.check(held.clear, reported)

    def test_invocations(self, reported: Reported):
        # The deadline of the call counts from its beginning, on however busy a machine.
        made = context(LOOP, timeout=2)
        module = loaded(text(LOOP))
        held = [made.begin(module.lookup_function("f"), rt.VmVariantList(0))]
        del made
        assert not reported.all
        self.check(lambda: held[0].wait(), reported)

    def test_cycles(self, reported: Reported):
        cycle: list[Any] = [context(LOOP, timeout=0.2)]
        cycle.append(cycle)
        del cycle
        self.check(lambda: [gc.collect(), None][1], reported)

    def test_other_threads(self, reported: Reported):
        held = [context(LOOP, timeout=0.2)]

        def drop() -> None:
            thread = threading.Thread(target=held.clear)
            thread.start()
            thread.join()

        self.check(drop, reported)

    def test_fuel(self, reported: Reported):
        held = [context(LOOP, fuel=1000)]
        held.clear()
        [(error, _)] = reported.all
        assert isinstance(error, rt.FuelError)

    def test_python_methods(self):
        """They may wait for other threads."""
        closed = Counting.closed = []
        held = [context(PLAIN, Counting.create())]
        assert counted_meanwhile(held.clear) > 5
        assert closed == [7]


class TestExceptions:
    def test_while_one_goes_through(self, reported: Reported):
        """The frame drops what it holds with the exception set."""
        closed = Waiting.closed = []
        with pytest.raises(ZeroDivisionError):
            [context(YIELDABLE, Waiting.create()), 1 // 0]
        assert closed == [7]
        with pytest.raises(ZeroDivisionError):
            [context(LOOP, fuel=1000), 1 // 0]
        assert len(reported.all) == 1

    def test_what_python_methods_raise(self, reported: Reported):
        class Failing(rt.PythonModule, name="py"):
            def close(self, k: rt.i32) -> rt.i32:
                raise LookupError(f"no {k}")

        held = [context(PLAIN, Failing.create())]
        held.clear()
        [(error, where)] = reported.all
        assert (type(error), str(error), where) == (LookupError, "no 7", "m.__deinit")


class TestCoroutines:
    """`async def` methods work in `__deinit`, where an event loop is left to run them."""

    @pytest.fixture
    def closed(self) -> list[int]:
        Waiting.closed = []
        return Waiting.closed

    def test_by_hand(self, closed: list[int]):
        held = [context(YIELDABLE, Waiting.create())]
        held.clear()
        assert closed == [7]

    def test_in_an_event_loop(self, closed: list[int]):
        async def main() -> None:
            held = [context(YIELDABLE, Waiting.create())]
            held.clear()
            assert closed == [7]
            source = text(YIELDABLE, needs=IMPORT)
            _, module = rt.load_vm_modules(Waiting.create(), loaded(source))
            await module.f.call_async()
            del _, module
            gc.collect()
            assert closed == [7, 7]

        asyncio.run(main())

    def test_in_the_loop_of_the_process(self, closed: list[int], reported: Reported):
        """It cannot run what its own thread waits for."""
        held: list[rt.VmContext] = [context(YIELDABLE, Waiting.create())]

        class Dropping(rt.PythonModule, name="py"):
            async def close(self, k: rt.i32) -> rt.i32:
                held.clear()
                return k

        function = YIELDABLE.replace("@m", "@n")
        _, module = rt.load_vm_modules(Dropping.create(), loaded(text("^bb0:\n  vm.return", function, IMPORT)))
        module.f()
        assert (held, closed) == ([], [])
        [(error, _)] = reported.all
        assert isinstance(error, RuntimeError)
        assert "in the event loop of this thread" in str(error)


SCRIPT = f"""
import signal
import tiree.runtime as rt
signal.signal(signal.SIGINT, signal.default_int_handler)

# The context would keep the globals that it is one of.
exec('''
import asyncio
import tiree.runtime as rt

class Waiting(rt.PythonModule, name="py"):
    async def close(self, k: rt.i32) -> rt.i32:
        await asyncio.sleep(0.01)
        return k

class Printing(rt.PythonModule, name="py"):
    def close(self, k: rt.i32) -> rt.i32:
        print("close", k, flush=True)
        return k
''', classes := {{}})
Waiting, Printing = classes["Waiting"], classes["Printing"]

def context(deinit, *modules, needs=""):
    source = ({text("DEINIT", needs="NEEDS")!r}).replace("DEINIT", deinit).replace("NEEDS", needs)
    module = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(source))
    return rt.VmContext(rt.VmInstance(), modules=[*modules, module])

LOOP, PLAIN, YIELDABLE, IMPORT = {LOOP!r}, {PLAIN!r}, {YIELDABLE!r}, {IMPORT!r}
"""


def run(body: str, interrupt: bool = False) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", SCRIPT + body]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            if interrupt:
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n"
                time.sleep(0.3)
                process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            return subprocess.CompletedProcess(command, process.returncode, out, err)
        finally:
            process.kill()


class TestProcesses:
    @pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
    def test_ctrl_c(self):
        done = run("c = context(LOOP)\nprint('ready', flush=True)\ndel c\nprint('went on')\n", interrupt=True)
        assert (done.returncode, done.stdout) == (0, "went on\n"), done.stderr
        assert "m.__deinit" in done.stderr
        assert "KeyboardInterrupt" in done.stderr

    def test_endless_at_exit(self):
        """Nothing could end it."""
        done = run("a, b = context(LOOP), context(LOOP)\nprint('end', flush=True)\n")
        assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr
        assert done.stderr.count("the call did not finish before its deadline") == 2

    def test_python_methods_at_exit(self):
        done = run("c = context(PLAIN, Printing.create(), needs=IMPORT)\n")
        assert (done.returncode, done.stdout, done.stderr) == (0, "close 7\n", "")

    def test_coroutines_at_exit(self):
        """No thread is left to run them."""
        done = run("c = context(YIELDABLE, Waiting.create(), needs=IMPORT)\n")
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert "no event loop runs the coroutine any more" in done.stderr
        assert "never awaited" not in done.stderr
