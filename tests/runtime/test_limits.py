"""Limits of calls: each raises its own exception, leaves nothing behind, and the module goes on working."""

from __future__ import annotations

import asyncio
import math
import pickle
import time
from typing import Any

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import ADD, WAITS, iree_module

ASSEMBLY = """
vm.module @limits version 0
vm.type i32
vm.type i64
vm.type !vm.opaque
vm.type !vm.buffer
vm.export @spin
vm.func @spin(%i0: i32) -> (i32) {
^bb0:
  %i2:3 = vm.const.i64 1000
  %i4 = vm.const.i32 16
  %r0 = vm.buffer.alloc %i2:3, %i4
  vm.br ^bb1()
^bb1:
  %i0 = vm.add.i32 %i0, %i0
  vm.br ^bb1()
^bb2:
  vm.return %i0
}
vm.export @deep
vm.func @deep(%i0: i32) -> (i32) {
^bb0:
  %i2:3 = vm.const.i64 16
  %i4 = vm.const.i32 16
  %r0 = vm.buffer.alloc %i2:3, %i4
  %i0 = vm.call @limits:1(%i0)
  vm.return %i0
}
vm.export @fill
vm.func @fill(%i0: i32) -> (i32) {
^bb0:
  %i2:3 = vm.const.i64 1000000
  %i4 = vm.const.i32 16
  %i5 = vm.const.i32 1
  %r0 = vm.list.alloc %i5 : !vm.list<!vm.opaque>
  vm.br ^bb1()
^bb1:
  %i6 = vm.list.size %r0
  %i7 = vm.add.i32 %i6, %i5
  vm.list.resize %r0, %i7
  %r1 = vm.buffer.alloc %i2:3, %i4
  vm.list.set.ref %r0, %i6, %R1
  vm.br ^bb1()
^bb2:
  vm.return %i0
}
vm.export @twice
vm.func @twice(%i0: i32) -> (i32) {
^bb0:
  %i0 = vm.add.i32 %i0, %i0
  vm.return %i0
}
"""
MEGABYTE = 1 << 20
# (function, limits, class, also caught as, text)
CASES: list[tuple[str, dict[str, Any], type[rt.LimitError], type[Exception], str]] = [
    ("spin", {"fuel": 100_000}, rt.FuelError, RuntimeError, "more than 100000 instructions"),
    ("deep", {"fuel": 1_000}, rt.FuelError, RuntimeError, "out of fuel"),
    ("spin", {"timeout": 0.02}, rt.TimeLimitError, TimeoutError, "before its deadline"),
    ("deep", {"max_stack_depth": 9}, rt.StackLimitError, RecursionError, "9 calls are active"),
    ("deep", {}, rt.StackLimitError, RecursionError, "1048576 bytes"),
    ("fill", {}, rt.MemoryLimitError, MemoryError, f"limit of {8 * MEGABYTE} bytes"),
]


@pytest.fixture(scope="module")
def vm_module() -> rt.VmModule:
    return rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(ASSEMBLY))


@pytest.fixture(scope="module")
def context(vm_module: rt.VmModule) -> rt.VmContext:
    return rt.VmContext(rt.VmInstance(), modules=[vm_module], memory_limit=8 * MEGABYTE)


def one(value: int) -> rt.VmVariantList:
    inputs = rt.VmVariantList(1)
    inputs.push_int(value)
    return inputs


class TestContext:
    @pytest.mark.parametrize(("name", "limits", "error", "base", "text"), CASES)
    def test_limits(self, context: rt.VmContext, vm_module: rt.VmModule, name, limits, error, base, text):
        function, twice = vm_module.lookup_function(name), vm_module.lookup_function("twice")
        assert function is not None
        assert twice is not None
        idle = context.memory_used
        outputs = rt.VmVariantList(1)
        with pytest.raises(error, match=text) as caught:
            context.invoke(function, one(1), outputs, **limits)
        assert isinstance(caught.value, base)
        assert isinstance(caught.value, rt.StatusError)
        assert len(outputs) == 0
        assert context.memory_used == idle
        context.invoke(twice, one(21), outputs, fuel=10, timeout=60, max_stack_depth=1)
        assert outputs.get_variant(0) == 42

    def test_limits_of_the_context_and_of_the_call(self, vm_module: rt.VmModule):
        context = rt.VmContext(rt.VmInstance(), modules=[vm_module], fuel=1_000, max_stack_depth=5)
        spin, deep = vm_module.lookup_function("spin"), vm_module.lookup_function("deep")
        assert spin is not None
        assert deep is not None
        for function, limits, error in (
            (spin, {}, rt.FuelError),
            (deep, {}, rt.StackLimitError),
            (spin, {"fuel": 10**18, "timeout": 0.01}, rt.TimeLimitError),
        ):
            with pytest.raises(error):
                context.invoke(function, one(1), rt.VmVariantList(0), **limits)

    def test_steps_and_fuel_used(self, context: rt.VmContext, vm_module: rt.VmModule):
        twice, spin = vm_module.lookup_function("twice"), vm_module.lookup_function("spin")
        assert twice is not None
        assert spin is not None
        call = context.begin(twice, one(4))
        assert call.fuel_used == 0
        assert call.step()
        assert call.fuel_used == 2
        call = context.begin(spin, one(4), fuel=500)
        with pytest.raises(rt.FuelError):
            call.step()
        assert call.fuel_used > 500

    @pytest.mark.parametrize("timeout", [math.nan, "soon"])
    def test_what_is_no_time(self, context: rt.VmContext, vm_module: rt.VmModule, timeout: Any):
        twice = vm_module.lookup_function("twice")
        assert twice is not None
        with pytest.raises((ValueError, TypeError)):
            context.invoke(twice, one(1), rt.VmVariantList(0), timeout=timeout)


class TestModules:
    def test_functions_with_limits(self, vm_module: rt.VmModule):
        module = rt.Module(vm_module, "local-sync")
        spin = module.spin.limited(timeout=0.01)
        for _ in range(2):
            with pytest.raises(rt.TimeLimitError):
                spin(1)
        with pytest.raises(rt.FuelError):
            module.spin.limited(fuel=10_000).begin(1).wait()
        assert module.twice.limited(fuel=2)(21) == 42
        assert spin.signature == module.spin.signature

    def test_load_with_limits(self):
        module = rt.load(rt.assemble(ASSEMBLY), "local-sync", fuel=1_000, memory_limit=MEGABYTE)
        for copy in (module, pickle.loads(pickle.dumps(module))):
            with pytest.raises(rt.FuelError):
                copy.spin(1)
            with pytest.raises(rt.MemoryLimitError):
                copy.fill.limited(fuel=10**9)(1)
            assert copy.twice(21) == 42

    def test_compiled_code(self, device_name: str):
        """An initializer that needs more than it may, and a call with just enough."""
        with pytest.raises(rt.FuelError, match="initializing module"):
            rt.load(iree_module(ADD), device_name, fuel=5)
        module = rt.load(iree_module(ADD), device_name, fuel=100_000, timeout=60)
        a = np.ones(4, np.float32)
        assert module.add(a, a).to_host().tolist() == [2, 2, 2, 2]
        with pytest.raises(rt.FuelError):
            module.add.limited(fuel=5)(a, a)

    @pytest.mark.parametrize(
        ("name", "limits"),
        [
            ("spin", {"fuel": 10_000}),
            ("spin", {"timeout": 0.02}),
            ("deep", {"max_stack_depth": 9}),
            ("fill", {"memory_limit": MEGABYTE}),
        ],
    )
    def test_hostile_initializers(self, name: str, limits: dict[str, Any], device_name: str):
        body = f"^bb0:\n  %i0 = vm.call @{name}(%i0)\n  vm.return"
        text = f"{ASSEMBLY}vm.export @__init\nvm.func @__init() -> () {{\n{body}\n}}\n"
        with pytest.raises(rt.LimitError, match="initializing module 'limits'"):
            rt.load(rt.assemble(text), device_name, **limits)

    def test_device_memory_counts(self, device_name: str):
        """Results as long as somebody has them; arguments, which are the caller's, do not."""
        config = rt.Config(device=rt.get_device(device_name), memory_limit=MEGABYTE)
        system = rt.SystemContext([rt.VmModule.copy_buffer(config.vm_instance, iree_module(ADD))], config)
        module, context = system.modules.module, system.vm_context
        a = np.ones(4, np.float32)
        module.add(a, a)
        idle = context.memory_used
        kept = [module.add(a, a) for _ in range(3)]
        assert idle + 3 * 16 <= context.memory_used <= idle + 3 * 1000
        del kept
        assert context.memory_used == idle
        with pytest.raises(rt.MemoryLimitError):
            rt.load(iree_module(ADD), device_name, memory_limit=1000)

    def test_waits_end_in_time(self, device_name: str):
        """Neither a wait for a fence nor the device's work after it is waited for."""
        module = rt.load(iree_module(WAITS), device_name)
        fence = rt.HalFence.create_at(rt.get_device(device_name).create_semaphore(0), 1)
        limited = module.double_after.limited(timeout=0.05)
        start = time.monotonic()
        with pytest.raises(rt.TimeLimitError):
            limited(fence, 4)
        with pytest.raises(rt.TimeLimitError):
            limited.begin(fence, 4).wait()

        async def drive() -> int:
            return await limited.begin(fence, 4)

        with pytest.raises(rt.TimeLimitError):
            asyncio.run(drive())
        assert time.monotonic() - start < 30
        fence.signal()
        assert limited(fence, 4) == 8
