"""The process ends while Python code that Tiree called in another thread has not come to its end.

CPython ends such threads by unwinding their stacks, which frames of Rust do not survive: each program here aborted.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

PROLOGUE = """
import threading, time
import numpy as np
import tiree.runtime as rt

started = threading.Event()

def slow(*_):
    started.set()
    while True:
        time.sleep(0.001)
"""

ON_A_WORKER = """
device = rt.get_device("local-task")
fence = rt.HalFence.create_at(device.create_semaphore(0), 1)
fence.on_reached(slow)
threading.Thread(target=fence.signal, daemon=True).start()
"""

IN_A_MODULE = """
class Host(rt.PythonModule, name="host"):
    def wait(self) -> None:
        slow()

threading.Thread(target=rt.load_vm_modules(Host.create())[0].wait, daemon=True).start()
"""

IN_A_CONSTRUCTOR = """
class Host(rt.PythonModule, name="host"):
    def __init__(self) -> None:
        slow()

threading.Thread(target=lambda: rt.load_vm_modules(Host.create()), daemon=True).start()
"""

IN_A_COROUTINE = """
class Host(rt.PythonModule, name="host"):
    async def wait(self) -> None:
        slow()

threading.Thread(target=rt.load_vm_modules(Host.create())[0].wait, daemon=True).start()
"""

AS_AN_ARGUMENT = """
class Slow:
    def __array__(self, *_, **__):
        slow()

device = rt.get_device("local-task")
threading.Thread(target=rt.asdevicearray, args=(device, Slow()), daemon=True).start()
"""

AS_A_TENSOR = """
class Slow:
    def __dlpack_device__(self):
        return (1, 0)
    def __dlpack__(self, **_):
        slow()

threading.Thread(target=rt.from_dlpack, args=(Slow(),), daemon=True).start()
"""

GIVEN_BACK = """
import ctypes

# Aligned, so that it is lent and not copied.
RAW = np.ones(32, np.float32)
LENT = RAW[-RAW.ctypes.data % 64 // 4 :][:4].__dlpack__()
ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
ctypes.pythonapi.PyCapsule_GetPointer.argtypes = ctypes.py_object, ctypes.c_char_p
where = ctypes.pythonapi.PyCapsule_GetPointer(LENT, b"dltensor")
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(slow)
# After the tensor, of 48 bytes, and the context.
ctypes.c_void_p.from_address(where + 56).value = ctypes.cast(DELETER, ctypes.c_void_p).value
device = rt.get_device("local-task")
held = [device.from_dlpack_capsule(LENT)]
threading.Thread(target=held.clear, daemon=True).start()
"""

EPILOGUE = """
assert started.wait(60)
"""

PROGRAMS = {
    "callback": ON_A_WORKER,
    "method": IN_A_MODULE,
    "constructor": IN_A_CONSTRUCTOR,
    "coroutine": IN_A_COROUTINE,
    "array": AS_AN_ARGUMENT,
    "dlpack": AS_A_TENSOR,
    "deleter": GIVEN_BACK,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_python_code_in_another_thread(program: str):
    done = subprocess.run(
        [sys.executable, "-c", PROLOGUE + program + EPILOGUE], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
