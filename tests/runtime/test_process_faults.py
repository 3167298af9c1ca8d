"""Forks and interrupts, in processes of their own: a forked child gets its results or a clear error and never hangs, an
interrupted call raises KeyboardInterrupt, and afterwards everything works and nothing is leaked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from runtime.modules import ADD, ASYNC_FLAGS, WAITS, iree_module, tiree_module
from tools.runtime_tool import needs_iree

pytestmark = needs_iree

LARGE = 1 << 20
LONG = """
func.func @product(%a: tensor<900x900xf32>, %b: tensor<900x900xf32>) -> tensor<900x900xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<900x900xf32>, tensor<900x900xf32>) -> tensor<900x900xf32>
  return %0 : tensor<900x900xf32>
}
"""

START = """
import gc, multiprocessing, os, signal, sys, threading, time
import numpy as np
import tiree.runtime as rt

signal.alarm(90)
device = rt.HalDevice.open(sys.argv[1], group_count=2)
folder = sys.argv[2]
load = lambda name: rt.load(f"{folder}/{name}.vmfb", device)
add, large = load("add").add, load("large").add
A, L = np.arange(4, dtype=np.float32), np.ones(1 << 20, np.float32)
FORKED = "forked after the worker threads were started, and threads do not survive a fork; create the device after"

def works():
    assert np.array_equal(np.asarray(add(A, A)), 2 * A)
    assert np.all(np.asarray(large(L, L)) == 2)

def counts():
    gc.collect()
    numbers = device.allocator.statistics
    live = numbers["device_bytes_allocated"] - numbers["device_bytes_freed"]
    return live, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

def in_child():
    "What a child may do: use what it inherited, or be told to make its own."
    signal.alarm(30)
    for call, argument in ((add, A), (large, L)):
        try:
            assert np.array_equal(np.asarray(call(argument, argument)), 2 * argument)
            assert sys.argv[1] == "local-sync"
        except rt.StatusError as error:
            assert FORKED in str(error), error
            assert sys.argv[1] == "local-task"
    device.allocator.statistics
    own = rt.load(f"{folder}/large.vmfb", rt.HalDevice.open(sys.argv[1], group_count=2))
    assert np.all(np.asarray(own.add(L, L)) == 2)

def in_busy_child():
    "As `in_child`, when other threads were in the midst of the same call: that call may be lost, a new module is not."
    signal.alarm(30)
    try:
        assert np.array_equal(np.asarray(add(A, A)), 2 * A)
    except rt.StatusError as error:
        assert FORKED in str(error) or "load the module again after forking" in str(error), error
    own = rt.load(f"{folder}/add.vmfb", rt.HalDevice.open(sys.argv[1], group_count=2))
    assert np.array_equal(np.asarray(own.add(A, A)), 2 * A)
    device.allocator.statistics
    device.allocator.allocate_buffer(0x30, 0xC03, 5000)

def fork(work, leave=os._exit):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            import traceback
            traceback.print_exc()
        sys.stderr.flush()
        leave(code)
    return child

def joined(child):
    status = os.waitpid(child, 0)[1]
    assert status == 0, f"child: signal {status & 127}, exit code {status >> 8}"
"""

FORKS = {
    "child uses what it inherited": """
works()
joined(fork(in_child))  # OpenBLAS ends its threads before a fork.
works()
before = counts()
for _ in range(3):
    joined(fork(in_child))
works()
assert counts() == before, (counts(), before)
""",
    "child ends as programs do": """
works()
joined(fork(in_child, sys.exit))
works()
""",
    "before the first call": """
joined(fork(lambda: (signal.alarm(30), works())))
works()
joined(fork(in_child))
""",
    "child of a child": """
works()
joined(fork(lambda: (in_child(), joined(fork(in_child)))))
works()
""",
    "multiprocessing": """
works()
context = multiprocessing.get_context("fork")
processes = [context.Process(target=in_child) for _ in range(2)]
for process in processes:
    process.start()
for process in processes:
    process.join()
    assert process.exitcode == 0
with context.Pool(2) as pool:
    assert pool.map(abs, [-1, 2]) == [1, 2]
works()
""",
    "while calls run": """
works()
calls = load("async_large").add
stop = False
def busy():
    mine = load("large").add
    while not stop:
        mine(L, L)
        device.allocator.allocate_buffer(0x30, 0xC03, 100_000)
threads = [threading.Thread(target=busy) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(20):
    call = calls.begin(L, L)
    joined(fork(in_child))
    call.wait()
    assert np.all(np.asarray(call.results()) == 2)
stop = True
for thread in threads:
    thread.join()
works()
""",
    "while small calls of one module run": """
works()
stop = False
def busy():
    while not stop:
        add(A, A)
threads = [threading.Thread(target=busy) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(60):
    joined(fork(in_busy_child))
stop = True
for thread in threads:
    thread.join()
works()
""",
    # CPython up to 3.11 makes a thread's state under a lock that a child finds held for good.
    "while workers get to know the interpreter": """
allocate = lambda: device.allocator.allocate_buffer(0x30, 0xC03, 1 << 22)
stop, seen = False, list
def busy():
    source, target, gate, round = allocate(), allocate(), device.create_semaphore(0), 0
    ends = [device.create_semaphore(0) for _ in range(24)]
    while not stop:
        round += 1
        if sys.argv[1] == "local-sync":  # It waits where work is handed to it.
            gate.signal(round)
        fences = [rt.HalFence.create_at(end, round) for end in ends]
        for fence in fences:
            fence.on_reached(seen)
            device.queue_copy(source, target, rt.HalFence.create_at(gate, round), fence)
        if sys.argv[1] != "local-sync":
            gate.signal(round)
        for fence in fences:
            fence.wait()
threads = [threading.Thread(target=busy) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(int(os.environ.get("TIREE_FORKS", "40"))):
    joined(fork(lambda: signal.alarm(20)))
stop = True
for thread in threads:
    thread.join()
""",
}

INTERRUPTS = {
    "a dispatch": """
product = load("long").product
M = np.ones((900, 900), np.float32)
def call():
    while True:
        product(M, M)
""",
    "a fence": """
def call():
    rt.HalFence.create_at(device.create_semaphore(0), 1).wait()
""",
    "a semaphore": """
def call():
    device.create_semaphore(0).wait(1)
""",
    "a wait inside a call": """
function = load("waits").double_after
def call():
    function(rt.HalFence.create_at(device.create_semaphore(0), 1), 3)
""",
    "a wait for a call": """
function = load("waits").double_after
def call():
    function.begin(rt.HalFence.create_at(device.create_semaphore(0), 1), 3).wait()
""",
    "a loop of the VM": """
spin = load("waits").spin
def call():
    spin(1 << 62)
""",
}
INTERRUPTED = """
works()
for _ in range(4):
    timer = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    try:
        call()
    except KeyboardInterrupt as error:
        assert time.monotonic() - began < 20
        del error
    else:
        raise AssertionError("not interrupted")
    timer.join()
    del timer
    works()
    if _ == 0:
        before = counts()
assert counts() == before, (counts(), before)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("process")
    large = ADD.replace("4xf32", f"{LARGE}xf32")
    for name, module in {
        "add": tiree_module(ADD),
        "large": tiree_module(large),
        "long": iree_module(LONG),
        "waits": iree_module(WAITS),
        "async_large": iree_module(large, *ASYNC_FLAGS),
    }.items():
        (made / f"{name}.vmfb").write_bytes(module)
    return made


def run(script: str, device: str, folder: Path) -> None:
    command = [sys.executable, "-c", START + script + "\nprint('the end')", device, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "the end\n"), done.stderr


@pytest.mark.parametrize("device", ["local-sync", "local-task"])
@pytest.mark.parametrize("name", FORKS)
def test_fork(name: str, device: str, folder: Path) -> None:
    run(FORKS[name], device, folder)


@pytest.mark.parametrize("device", ["local-sync", "local-task"])
@pytest.mark.parametrize("name", INTERRUPTS)
def test_interrupt(name: str, device: str, folder: Path) -> None:
    run(INTERRUPTS[name] + INTERRUPTED, device, folder)
