"""Nothing is kept: memory, references and objects after ten thousand calls, failing ones included."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Callable

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import ADD, ASYNC_FLAGS, MIXED, WAITS, iree_module, tiree_module

CALLS = 10_000
A = np.array([1, 2, 3, 4], np.float32)
B = np.array([5, 6, 7, 8], np.float32)


def resident() -> int:
    """Bytes of this process that are in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(work: Callable[[], object], calls: int = CALLS) -> int:
    """Bytes by which the process grows over `calls` of `work`, after warming up."""
    for _ in range(max(200, calls // 20)):
        work()
    gc.collect()
    before = resident()
    for _ in range(calls):
        work()
    gc.collect()
    return resident() - before


def failing(work: Callable[[], object]) -> Callable[[], object]:
    def attempt() -> None:
        with contextlib.suppress(ValueError, TypeError, RuntimeError, LookupError, TimeoutError):
            work()
            raise AssertionError("did not fail")

    return attempt


@pytest.fixture(scope="module")
def device() -> rt.HalDevice:
    return rt.HalDevice.open("local-task", group_count=1)


@pytest.fixture(scope="module")
def mixed(device: rt.HalDevice) -> rt.Module:
    return rt.load(iree_module(MIXED), device)


def unsignalled(device: rt.HalDevice) -> rt.HalFence:
    return rt.HalFence.create_at(device.create_semaphore(0), 1)


def dropped_while_waiting(device: rt.HalDevice, waits: rt.Module) -> None:
    call = waits.double_after.begin(unsignalled(device), 3)
    call.step()
    call.on_ready(lambda: None)


def failed_while_waiting(device: rt.HalDevice, waits: rt.Module) -> None:
    fence = unsignalled(device)
    call = waits.double_after.begin(fence, 3)
    call.step()
    fence.fail("text of a failure")
    call.step()


WORK: dict[str, Callable[[rt.HalDevice, rt.Module], Callable[[], object]]] = {
    "call": lambda device, _: (lambda add: lambda: np.asarray(add(A, B)))(rt.load(tiree_module(ADD), device).add),
    "call of another maker": lambda device, _: (lambda add: lambda: add(A, B).to_host())(
        rt.load(iree_module(ADD), device).add
    ),
    "scalars": lambda _, mixed: lambda: mixed.scalars(1, 2, 3.0, 4.0),
    "list argument": lambda _, mixed: lambda: mixed.scale(2, [1, 2, 3, 4]),
    "keyword": lambda _, mixed: lambda: mixed.scale(2.0, input1=A),
    "wrong dtype": lambda _, mixed: failing(lambda: mixed.scale(2.0, A.astype(np.float64))),
    "wrong shape": lambda _, mixed: failing(lambda: mixed.scale(2.0, A[:3])),
    "too few": lambda _, mixed: failing(lambda: mixed.scale(2.0)),
    "unknown function": lambda _, mixed: failing(lambda: mixed["no_such_function"]),
    "asynchronous": lambda device, _: (lambda f: lambda: f(A, B))(rt.load(iree_module(ADD, *ASYNC_FLAGS), device).add),
    "dropped while waiting": lambda device, _: (lambda w: lambda: dropped_while_waiting(device, w))(
        rt.load(iree_module(WAITS), device)
    ),
    "failed while waiting": lambda device, _: (lambda w: failing(lambda: failed_while_waiting(device, w)))(
        rt.load(iree_module(WAITS), device)
    ),
    "operators": lambda _, mixed: (lambda r: lambda: (r + 1, r[0], r == r, r.reshape(2, 2)))(mixed.scale(2.0, A)),
    "dlpack": lambda device, _: lambda: device.from_dlpack_capsule(A.__dlpack__()),
    "capsule that nobody takes": lambda device, mixed: (lambda r: lambda: device.create_dlpack_capsule(r, 1, 0))(
        mixed.scale(2.0, A)
    ),
    "semaphore callbacks": lambda device, _: lambda: device.create_semaphore(0).on_reached(1, lambda: None),
    "variant list": lambda device, _: lambda: (lambda v: v.push_ref(device) or v.get_variant(0))(rt.VmVariantList(1)),
}


@pytest.mark.parametrize("name", WORK)
def test_memory(name: str, device: rt.HalDevice, mixed: rt.Module):
    work = WORK[name](device, mixed)
    allowed = 1_000_000
    # Allocators grow in steps now and then: a leak grows every time.
    assert any(growth(work) < allowed for _ in range(3))


def test_loading_modules(device: rt.HalDevice):
    data = tiree_module(ADD)
    assert any(growth(lambda: rt.load(data, device).add(A, B), 1000) < 2_000_000 for _ in range(3))


def test_modules_that_do_not_load():
    data = tiree_module(ADD)
    assert any(growth(failing(lambda: rt.load(data[: len(data) // 2])), 2000) < 1_000_000 for _ in range(3))


def test_device_memory(device: rt.HalDevice, mixed: rt.Module):
    """What the allocator counts as live is the same before and after."""

    def live() -> int:
        counts = device.allocator.statistics
        return counts["device_bytes_allocated"] - counts["device_bytes_freed"]

    before = live()
    for _ in range(1000):
        mixed.scale(2.0, A)
        with contextlib.suppress(TypeError):
            mixed.scale(2.0, A, A)
    gc.collect()
    assert live() == before
    kept = mixed.scale(2.0, A)
    assert live() - before >= 16
    del kept
    assert live() == before


def test_references_to_arguments(mixed: rt.Module):
    given = np.arange(4, dtype=np.float32)
    add = rt.load(tiree_module(ADD)).add
    before = sys.getrefcount(given)
    for _ in range(100):
        add(given, given)
        with contextlib.suppress(ValueError):
            mixed.split(given)
    assert sys.getrefcount(given) == before
    call = add.begin(given, given)
    del call
    assert sys.getrefcount(given) == before


def test_python_objects(mixed: rt.Module):
    def work() -> None:
        mixed.scale(2.0, A)
        with contextlib.suppress(TypeError):
            mixed.scale(None, A)

    for _ in range(100):
        work()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(1000):
        work()
    assert len(gc.get_objects()) - before < 50
