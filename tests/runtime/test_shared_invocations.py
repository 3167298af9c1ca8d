"""One call that several threads and event loops drive, wait for and listen to; in forked children; at the end.

Each program runs in a process of its own: what it is about stopped whole processes.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

PROLOGUE = """
import asyncio, atexit, os, threading, time, warnings
import tiree.runtime as rt

warnings.simplefilter("ignore")
TEXT = '''vm.module @m version 0
vm.export @count
vm.func @count(%i0: i32) -> (i32) {
^bb0:
  %i1 = vm.const.i32 -1
  vm.br ^bb1()
^bb1:
  %i0 = vm.add.i32 %i0, %i1
  vm.cond_br %i0, ^bb1(), ^bb2()
^bb2:
  vm.return %i0
}
'''
module = rt.load(rt.assemble(TEXT))

async def awaited(invocation):
    return await invocation
"""

# A callback that lets go of the GIL, while another thread makes a step and a third wants to listen.
LISTENERS = """
call = module.count.begin(2_000_000_000)
def turn(): call.turn(asyncio.new_event_loop())
first = threading.Thread(target=call.help)
first.start()
time.sleep(0.002)
call.on_ready(lambda: time.sleep(0.3))
time.sleep(0.05)
def wait():
    try: call.wait()
    except RuntimeError: pass
second = threading.Thread(target=wait)
second.start()
time.sleep(0.05)
call.on_ready(lambda: None)
call.cancel()
first.join(), second.join()
print("ended")
"""

# A callback that makes a step itself.
STEPPING = """
call = module.count.begin(200_000_000)
first = threading.Thread(target=call.help)
first.start()
time.sleep(0.002)
seen = []
call.on_ready(lambda: seen.append(call.step()))
first.join()
call.wait()
print("ended")
"""

SEVERAL_LOOPS = """
for _ in range(20):
    call = module.count.begin(8_000_000)
    threads = [threading.Thread(target=lambda: asyncio.run(awaited(call))) for _ in range(3)]
    threads.append(threading.Thread(target=call.wait))
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert call.results() == 0
print("ended")
"""

AWAITED_AGAIN = """
async def main():
    for _ in range(20):
        call = module.count.begin(20_000_000)
        for _ in range(3):
            try: await asyncio.wait_for(awaited(call), 0.001)
            except TimeoutError: pass
        assert await asyncio.gather(*(awaited(call) for _ in range(3))) == [0, 0, 0]
asyncio.run(main())
print("ended")
"""

FORKED = """
call = module.count.begin(300_000_000)
thread = threading.Thread(target=call.wait)
thread.start()
time.sleep(0.1)
for drive in (call.wait, lambda: call.wait(timeout=12), call.step, lambda: asyncio.run(awaited(call))):
    child = os.fork()
    if child == 0:
        try: drive()
        except RuntimeError as error: os._exit(0 if "forked" in str(error) and module.count(5) == 0 else 3)
        os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
thread.join()
assert call.results() == 0
print("ended")
"""

AT_EXIT = """
IMPORTED
def late(): print("ended" if asyncio.run(module.count.call_async(30_000_000)) == 0 else "wrong")
PLACE
"""

PROGRAMS = {
    "listeners": LISTENERS,
    "stepping": STEPPING,
    "several loops": SEVERAL_LOOPS,
    "awaited again": AWAITED_AGAIN,
    "forked": FORKED,
} | {
    f"{name}, {imported}": AT_EXIT.replace("PLACE", place).replace("IMPORTED", imported)
    for name, place in {
        "at exit": "atexit.register(late)",
        "behind main": "threading.Thread(target=lambda: (time.sleep(0.3), late())).start()",
    }.items()
    for imported in ("pass", "import concurrent.futures.thread")
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_one_call(program: str):
    command = [sys.executable, "-c", PROLOGUE + program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")
