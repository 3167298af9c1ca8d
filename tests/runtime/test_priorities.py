"""Devices of two priorities on the same workers, and contexts that share a pool."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import iree_module

# One dispatch that keeps all workers busy for a while.
LONG = """
module @long {
  func.func @run(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    %0 = stablehlo.dot %a, %b : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    return %0 : tensor<1024x1024xf32>
  }
}
"""


def load(data: bytes, device: rt.HalDevice) -> rt.BoundModule:
    config = rt.Config(device=device)
    return rt.load_vm_module(rt.VmModule.copy_buffer(config.vm_instance, data), config)


def test_an_urgent_device_is_the_same_device() -> None:
    device = rt.HalDevice.open("local-task", group_count=2)
    urgent = device.with_priority("urgent")
    assert (urgent.id, urgent.worker_count) == ("local-task", 2)
    buffer = urgent.allocator.allocate_buffer(rt.MemoryType.DEVICE_LOCAL, rt.BufferUsage.DEFAULT, 100)
    assert device.allocator.statistics["device_bytes_allocated"] == 100
    del buffer
    with pytest.raises(ValueError, match=r'priority "high": write "normal" or "urgent"'):
        device.with_priority("high")
    with pytest.raises(ValueError, match=r"local-sync has no workers that could be urgent"):
        rt.get_device("local-sync").with_priority("urgent")


def test_urgent_calls_are_right_while_the_workers_are_busy(add_file: Path) -> None:
    device = rt.HalDevice.open("local-task", group_count=2)
    long = load(iree_module(LONG), device)
    add = load(add_file.read_bytes(), device.with_priority("urgent")).add
    a = np.ones((1024, 1024), np.float32)
    stop = False

    def load_workers() -> None:
        while not stop:
            assert np.asarray(long.run(a, a))[0, 0] == 1024

    busy = threading.Thread(target=load_workers)
    busy.start()
    try:
        for index in range(50):
            value = np.full(4, index, np.float32)
            assert np.array_equal(np.asarray(add(value, value)), value + value)
            time.sleep(0.001)
    finally:
        stop = True
        busy.join()


# In a process of its own: pools of other tests may be ending.
SHARING = """
import sys, time
from pathlib import Path
import numpy as np
import tiree.runtime as rt

def threads():
    names = [(task / "comm").read_text() for task in Path("/proc/self/task").iterdir()]
    return sum(name.startswith("tiree-worker") for name in names)

def load(device):
    config = rt.Config(device=device)
    return rt.load_vm_module(rt.VmModule.mmap(config.vm_instance, sys.argv[1]), config)

device = rt.HalDevice.open("local-task", group_count=3)
a = np.ones((1024, 1024), np.float32)
modules = [load(device) for _ in range(5)] + [load(device.with_priority("urgent"))]
assert all(np.asarray(module.run(a, a))[0, 0] == 1024 for module in modules)
assert threads() == 3, threads()
del modules, device
deadline = time.monotonic() + 20
while threads() and time.monotonic() < deadline:
    time.sleep(0.01)
assert threads() == 0, threads()
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads as Linux lists them")
def test_contexts_share_the_workers_of_their_device(tmp_path: Path) -> None:
    (tmp_path / "long.vmfb").write_bytes(iree_module(LONG))
    done = subprocess.run(
        [sys.executable, "-c", SHARING, str(tmp_path / "long.vmfb")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
