"""Programs of iree-compile for several devices, and for several queues of one."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import HOST_FLAGS, iree_module_with

TEXT = """
func.func @pipe(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
  %0 = arith.addf %a, %b : tensor<64xf32>
  %1 = flow.tensor.transfer %0 : tensor<64xf32> to #hal.device.promise<@SECOND>
  %2 = arith.mulf %1, %1 : tensor<64xf32>
  %3 = flow.tensor.transfer %2 : tensor<64xf32> to #hal.device.promise<@FIRST>
  return %3 : tensor<64xf32>
}
"""
TWO_DEVICES = TEXT.replace("@SECOND", "@b").replace("@FIRST", "@a")
TWO_QUEUES = TEXT.replace("@SECOND", "@a, [1]").replace("@FIRST", "@a, [0]")
X = np.arange(64, dtype=np.float32)


def iree_module(text: str, *devices: str) -> bytes:
    """`text` for devices with names, by iree-compile."""
    flags = [flag for flag in HOST_FLAGS if "target-device=" not in flag]
    return iree_module_with(text, (*flags, *(f"--iree-hal-target-device={device}" for device in devices)))


@pytest.fixture(scope="module")
def two_devices() -> bytes:
    return iree_module(TWO_DEVICES, "a=local[0]", "b=local[1]")


def events(path: Path, category: str) -> list[dict[str, Any]]:
    trace = json.loads(path.read_text())["traceEvents"]
    return sorted((e for e in trace if e["cat"] == category), key=lambda e: e["ts"])


@pytest.mark.parametrize(
    "devices",
    [
        ["local-task", "local-sync"],
        ["local-sync", "local-task"],
        ["local-sync", "local-sync"],
        ["local-task", "local-task"],
    ],
)
def test_results_and_places(two_devices: bytes, devices: list[str], tmp_path: Path):
    module = rt.load(two_devices, device=devices)
    assert module.device == ", ".join(devices)
    with rt.trace(str(tmp_path / "t.json")):
        result = module.pipe(X, X)
    assert np.array_equal(result.to_host(), (X + X) ** 2)
    first, second = events(tmp_path / "t.json", "dispatch")
    names = [one["args"]["device"] for one in (first, second)]
    assert [name.partition("#")[0] for name in names] == devices
    assert names[0] != names[1]
    assert second["ts"] >= first["ts"] + first["dur"]
    (copy,) = events(tmp_path / "t.json", "transfer")
    assert copy["args"]["device"] == names[0]
    config = rt.Config(device=[rt.get_device(devices[0], cache=False), rt.get_device(devices[1], cache=False)])
    assert config.device is config.devices[0]
    assert config.devices[1].trace_name.partition("#")[0] == devices[1]
    loaded = rt.load_vm_module(rt.VmModule.copy_buffer(config.vm_instance, two_devices), config)
    assert np.array_equal(loaded.pipe(X, X).to_host(), result.to_host())


def test_devices_travel_with_pickled_modules(two_devices: bytes):
    module = rt.load(two_devices, device=["local-task", "local-sync"])
    for copy in (pickle.loads(pickle.dumps(module)), module.fork()):
        assert copy.device == "local-task, local-sync"
        assert np.array_equal(copy.pipe(X, X).to_host(), (X + X) ** 2)
    config = pickle.loads(pickle.dumps(rt.Config(device=[rt.get_device("local-task"), rt.get_device("local-sync")])))
    assert [device.id for device in config.devices] == ["local-task", "local-sync"]


def test_too_few_devices(two_devices: bytes):
    with pytest.raises(RuntimeError, match="`b` not found"):
        rt.load(two_devices)
    with pytest.raises(ValueError, match="at least one device"):
        rt.Config(device=[])
    with pytest.raises(ValueError, match="at least one device"):
        rt.load(two_devices, device=[])


def test_queues(device_name: str, tmp_path: Path):
    """A device has as many queues as a program names; they share its workers."""
    module = rt.load(iree_module(TWO_QUEUES, "a=local"), device_name)
    with rt.trace(str(tmp_path / "t.json")):
        result = module.pipe(X, X)
    assert np.array_equal(result.to_host(), (X + X) ** 2)
    assert [one["args"]["queue"] for one in events(tmp_path / "t.json", "dispatch")] == [0, 1]
    assert {one["args"]["queue"] for one in events(tmp_path / "t.json", "queue")} == {0, 1}
