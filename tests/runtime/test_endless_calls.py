"""Calls that would never end: other threads, event loops and their own methods end them."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time

import pytest
import tiree.runtime as rt

SPIN = """
vm.module @m version 0
vm.export @spin
vm.func @spin() -> () {
^bb0:
  vm.br ^bb0()
}
"""
CALLS = """
vm.module @program version 0
vm.import @host.{name} cconv "0v_v"
vm.export @f
vm.func @f() -> () {{
^bb0:
  vm.call @host.{name}()
  vm.return
}}
"""


def spin() -> rt.FunctionInvoker:
    # What the tests do not end ends by itself.
    return rt.load(rt.assemble(SPIN)).spin.limited(timeout=20)


def test_another_thread_cancels():
    call, errors = spin().begin(), list[BaseException]()

    def wait() -> None:
        try:
            call.wait()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    begin = time.monotonic()
    assert call.cancel()
    for thread in threads:
        thread.join()
    assert time.monotonic() - begin < 5
    assert {getattr(error, "code_name", error) for error in errors} == {"CANCELLED"}
    assert len(errors) == 3
    assert not call.cancel()


def test_event_loops_go_on():
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.001)
            ticks += 1

    async def main() -> None:
        ticking = asyncio.create_task(tick())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(spin().call_async(), 0.3)
        ticking.cancel()

    asyncio.run(main())
    assert ticks > 3


def test_the_first_ctrl_c_ends_a_call_in_an_event_loop():
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(spin().call_async())
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize("endless", [False, True])
def test_a_method_cancels_its_own_call(endless: bool):
    """Directly, and a call that it makes."""
    calls, said = list[rt.Invocation](), list[bool]()

    class Host(rt.PythonModule, name="host"):
        def stop(self) -> None:
            said.append(calls[0].cancel())
            if endless:
                spin()()

    text = CALLS.format(name="stop")
    host, program = Host.create(), rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(text))
    calls.append(rt.load_vm_modules(host, program)[1].f.begin())
    with pytest.raises(rt.StatusError, match="cancelled"):
        calls[0].wait()
    assert said == [True]
    assert (calls[0].done, calls[0].failed) == (True, True)


AGAIN = """
vm.module @program version 0
vm.import @host.again cconv "0i_i"
vm.export @again
vm.func @again(%i0: i32) -> (i32) {
^bb0:
  %i0 = vm.call @host.again(%i0)
  vm.return %i0
}
"""


@pytest.mark.parametrize("awaited", [False, True])
def test_blocking_calls_do_not_wait_for_themselves(awaited: bool):
    """A coroutine of the loop of the process makes a blocking call, which would need another turn of that loop."""

    class Host(rt.PythonModule, name="host"):
        async def again(self, value: rt.i32) -> rt.i32:
            if value == 10:
                return await program.again.call_async(3) + 1 if awaited else 0
            return program.again(value - 1) + 1 if value in (1, 2) else value

    text = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(AGAIN))
    program = rt.load_vm_modules(Host.create(), text)[1]
    with pytest.raises(RuntimeError, match="event loop of this thread; use await"):
        program.again.limited(timeout=20)(1)
    with pytest.raises(RuntimeError, match="event loop of this thread; use await"):
        asyncio.run(program.again.limited(timeout=20).call_async(2))
    # The loop goes on, and awaited calls are no problem in it.
    assert program.again.limited(timeout=20)(5) == 5
    assert program.again.limited(timeout=20)(10) == (4 if awaited else 0)
