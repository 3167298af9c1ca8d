"""Nothing is left of calls of Python modules that fail: what they were given goes back to the memory of its context."""

from __future__ import annotations

import asyncio
import contextlib
import gc

import pytest
import tiree.runtime as rt

TAKER = """
vm.module @taker version 0
vm.type !vm.buffer
vm.import @takes.take cconv "0ri_r"
vm.import @takes.later cconv "0ri_r"
""" + "".join(
    f"""
vm.export @{name}_{how}
vm.func @{name}_{how}(%i0: i32) -> () {{
^bb0:
  %i1 = vm.const.i32 16
  %i2:3 = vm.const.i64 4096
  %r0 = vm.buffer.alloc %i2:3, %i1
  %r1 = vm.buffer.alloc %i2:3, %i1
  %r2 = vm.call @takes.{name}(%{register}0, %i0)
  vm.return
}}
"""
    for name in ("take", "later")
    for how, register in (("lent", "r"), ("moved", "R"))
)


class Takes(rt.PythonModule, name="takes"):
    """Fails in every way, with an object of the caller."""

    def take(self, x: rt.VmBuffer, how: rt.i32) -> rt.VmBuffer | None:
        if how == 0:
            raise RuntimeError(x)
        return x if how == 1 else "wrong"  # pyright: ignore[reportReturnType]

    async def later(self, x: rt.VmBuffer, how: rt.i32) -> rt.VmBuffer | None:
        await asyncio.sleep(0)
        return self.take(x, how)


@pytest.mark.parametrize("name", ["take_lent", "take_moved", "later_lent", "later_moved"])
def test_arguments_of_failed_imports_are_released(name: str):
    instance = rt.VmInstance()
    taker = rt.VmModule.copy_buffer(instance, rt.assemble(TAKER))
    context = rt.VmContext(instance, modules=[Takes.create(), taker], memory_limit=1 << 20)
    function = taker.lookup_function(name)
    assert function is not None
    idle = context.memory_used
    for how in (0, 1, 2) * 100:
        inputs = rt.VmVariantList(1)
        inputs.push_int(how)
        with contextlib.suppress(RuntimeError, TypeError, ValueError):
            context.invoke(function, inputs, rt.VmVariantList(0))
    gc.collect()
    assert context.memory_used == idle
