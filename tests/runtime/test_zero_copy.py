"""Memory that Python and the runtime share: no copy where alignment and layout allow it, and no wrong result otherwise.

Where the memory of an argument is, a module says that gives back the buffer it was called with; copies of arguments are
counted by the allocator of the device.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import gc
import mmap
import sys
import weakref
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import ADD, iree_module, tiree_module

SIZE = 1 << 18
LARGE = f"""
func.func @twice(%a: tensor<{SIZE}xf32>) -> tensor<{SIZE}xf32> {{
  %0 = stablehlo.add %a, %a : tensor<{SIZE}xf32>
  return %0 : tensor<{SIZE}xf32>
}}
func.func @same(%a: tensor<{SIZE}xf32>) -> tensor<{SIZE}xf32> {{
  return %a : tensor<{SIZE}xf32>
}}
func.func @half(%a: tensor<8xbf16>) -> tensor<8xbf16> {{
  %0 = stablehlo.add %a, %a : tensor<8xbf16>
  return %0 : tensor<8xbf16>
}}
func.func @bytes(%a: tensor<4096xui8>) -> tensor<4096xui8> {{
  %0 = stablehlo.not %a : tensor<4096xui8>
  return %0 : tensor<4096xui8>
}}
"""


@pytest.fixture(scope="module")
def compiled() -> bytes:
    return tiree_module(LARGE)


@pytest.fixture
def module(compiled: bytes, device: rt.HalDevice) -> rt.Module:
    return rt.load(compiled, device)


def at(offset: int, count: int, dtype: Any = np.float32) -> np.ndarray:
    """`count` elements whose memory begins `offset` bytes after a border of 64 bytes."""
    dtype = np.dtype(dtype)
    raw = np.zeros(count * dtype.itemsize + 128, np.uint8)
    start = -raw.ctypes.data % 64 + offset
    found = raw[start : start + count * dtype.itemsize].view(dtype)
    assert found.ctypes.data % 64 == offset
    found[:] = np.arange(count) % 251
    return found


def address(thing: Any) -> int:
    """Where the contents of an array of anybody's are."""
    return np.asarray(memoryview(thing)).ctypes.data if not isinstance(thing, np.ndarray) else thing.ctypes.data


def allocated_by(device: rt.HalDevice, call: Callable[[], Any]) -> int:
    before = device.allocator.statistics["device_bytes_allocated"]
    call()
    return device.allocator.statistics["device_bytes_allocated"] - before


# Arguments


@pytest.mark.parametrize(("offset", "copies"), [(0, 0), (16, 0), (48, 0), (4, 1), (8, 1)])
def test_a_megabyte_goes_in_without_a_copy(module: rt.Module, device: rt.HalDevice, offset: int, copies: int) -> None:
    given = at(offset, SIZE)
    assert allocated_by(device, lambda: module.twice(given)) == (1 + copies) * given.nbytes
    np.testing.assert_array_equal(module.twice(given), given * 2)


def test_ordinary_arrays_are_aligned_well_enough(module: rt.Module, device: rt.HalDevice) -> None:
    """numpy promises 16 bytes, and large arrays begin 16 bytes into a page."""
    given = np.arange(SIZE, dtype=np.float32)
    assert given.ctypes.data % 16 == 0
    assert allocated_by(device, lambda: module.twice(given)) == given.nbytes


PROBE = """
vm.module @probe version 0
vm.attr "tiree.version" = "0"
vm.attr "tiree.digest" = "fb:00000000"
vm.type !hal.buffer
vm.type !hal.buffer_view
vm.dependency @hal version 7
vm.import @hal.buffer_view.buffer cconv "0r_r"
vm.export @where
vm.func @where(%r0: !hal.buffer_view) -> (!hal.buffer) {
^bb0:
  %r1 = vm.call @hal.buffer_view.buffer(%R0)
  vm.return %R1
}
"""


@pytest.fixture(scope="module")
def probe() -> rt.Module:
    """`where(array)` gives the buffer that a function is called with."""
    return rt.load(rt.assemble(PROBE), "local-sync")


def lies_in(probe: rt.Module, given: Any) -> int:
    return address(probe.where(given).map())


class Lender:
    """An array of another library: DLPack and nothing else, with or without versions."""

    def __init__(self, a: np.ndarray, versions: bool = False) -> None:
        self.a = a
        self.versions = versions

    def __dlpack__(self, **keywords: Any) -> object:
        if not self.versions and keywords:
            raise TypeError("unexpected keyword argument")
        return self.a.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def read_only(a: np.ndarray) -> np.ndarray:
    a.flags.writeable = False
    return a


def mapped() -> mmap.mmap:
    pages = mmap.mmap(-1, 4096)
    pages[:] = bytes(range(256)) * 16
    return pages


SHARED: dict[str, Callable[[], Any]] = {
    "numpy": lambda: at(16, 1024),
    "read-only numpy": lambda: read_only(at(0, 1024)),
    "rows of a larger array": lambda: at(0, 4096).reshape(64, 64)[16:32],
    "view of another dtype": lambda: at(0, 512, np.complex64).view(np.float32),
    "rank 0": lambda: at(32, 1).reshape(()),
    "memoryview": lambda: memoryview(at(0, 1024)),
    "cast memoryview": lambda: memoryview(at(0, 4096, np.uint8)).cast("f"),
    "bytearray": lambda: bytearray(4096),
    "array.array": lambda: array.array("d", range(1000)),
    "mmap": mapped,
    "ctypes": lambda: (ctypes.c_double * 64)(*range(64)),
    "DLPack": lambda: Lender(at(0, 1024)),
    "DLPack with versions": lambda: Lender(at(0, 1024), versions=True),
    "read-only DLPack": lambda: Lender(read_only(at(0, 1024)), versions=True),
    "result": lambda: rt.from_dlpack(at(0, 1024)),
}


@pytest.mark.parametrize("kind", SHARED)
def test_functions_see_the_memory_itself(kind: str, probe: rt.Module) -> None:
    given = SHARED[kind]()
    origin = given.a if isinstance(given, Lender) else given
    if address(origin) % 16:
        pytest.skip("the allocator of Python gave less alignment")
    assert lies_in(probe, given) == address(origin)
    assert address(rt.from_dlpack(given, copy=False)) == address(origin)


def test_jax_arrays_are_shared(probe: rt.Module) -> None:
    jnp = pytest.importorskip("jax.numpy", reason="jax is a development dependency")
    for given in (jnp.arange(1024, dtype=jnp.float32), jnp.arange(1024, dtype=jnp.bfloat16)):
        assert lies_in(probe, given) == given.unsafe_buffer_pointer()


def test_torch_tensors_are_shared(probe: rt.Module, module: rt.Module) -> None:
    torch = pytest.importorskip("torch", reason="torch is no development dependency")
    for given in (torch.arange(1024, dtype=torch.float32), torch.ones(1024, dtype=torch.bfloat16)):
        assert lies_in(probe, given) == given.data_ptr()
    assert np.asarray(module.half(torch.ones(8, dtype=torch.bfloat16))).tolist() == [2] * 8
    with pytest.raises(TypeError, match=r"requires? grad"):
        module.half(torch.ones(8, dtype=torch.bfloat16, requires_grad=True))


def test_types_that_the_buffer_protocol_cannot_name(module: rt.Module, device: rt.HalDevice) -> None:
    given = at(0, 8, ml_dtypes.bfloat16)
    assert allocated_by(device, lambda: module.half(given)) == given.nbytes
    np.testing.assert_array_equal(module.half(given), given * 2)


COPIED: dict[str, Callable[[], Any]] = {
    "less aligned": lambda: at(4, SIZE),
    "off by a byte": lambda: np.frombuffer(b"x" + at(0, SIZE).tobytes(), np.uint8)[1:].view(np.float32),
    "every second": lambda: at(0, 2 * SIZE)[::2],
    "backwards": lambda: at(0, SIZE)[::-1],
    "broadcast": lambda: np.broadcast_to(np.float32(3), (SIZE,)),
    "Fortran order": lambda: np.asfortranarray(at(0, SIZE).reshape(512, 512)).ravel(order="K"),
    "column of a matrix": lambda: at(0, 4 * SIZE).reshape(SIZE, 4)[:, 2],
    "field of a structure": lambda: np.ones(SIZE, [("a", "i2"), ("x", "f4"), ("b", "i2")])["x"],
    "big endian": lambda: at(0, SIZE, ">f4"),
    "memoryview with steps": lambda: memoryview(at(0, 2 * SIZE))[::2],
    "DLPack with steps": lambda: Lender(at(0, 2 * SIZE)[::2]),
    "DLPack backwards": lambda: Lender(at(0, SIZE)[::-1], versions=True),
    "DLPack broadcast": lambda: Lender(np.broadcast_to(at(0, 1), (SIZE,)).copy().reshape(1, -1)[0]),
    "DLPack that is less aligned": lambda: Lender(at(4, SIZE)),
}


@pytest.mark.parametrize("kind", COPIED)
def test_other_layouts_are_copied_and_right(kind: str, module: rt.Module) -> None:
    given = COPIED[kind]()
    plain = np.array(given.a if isinstance(given, Lender) else given, np.float32)
    np.testing.assert_array_equal(module.twice(given), plain * 2)


def test_what_cannot_be_shared_is_said(device: rt.HalDevice) -> None:
    for given in (at(4, 8), at(0, 8)[::2], Lender(at(4, 8)), Lender(at(0, 8)[::2])):
        with pytest.raises(ValueError, match=r"without a copy|not C-contiguous"):
            rt.from_dlpack(given, copy=False)
    with pytest.raises(TypeError, match="list"):
        rt.from_dlpack([1, 2])
    whole = at(0, 8)
    copy = rt.from_dlpack(whole, copy=True, device=device)
    assert address(copy) != address(whole)
    assert copy.tolist() == whole.tolist()


def test_modules_of_iree_get_the_alignment_that_they_need(device: rt.HalDevice) -> None:
    """Their kernels assume 64 bytes."""
    add = rt.load(iree_module(ADD), device).add
    given = at(16, 4)
    view = rt.from_dlpack(given, copy=False)
    np.testing.assert_array_equal(add(given, view), given * 2)
    inputs, outputs = rt.VmVariantList(2), rt.VmVariantList(1)
    inputs.push_ref(view)
    inputs.push_ref(view)
    bound = rt.load_vm_flatbuffer(iree_module(ADD), driver=device.id)
    bound._vm_context.invoke(bound.vm_module.lookup_function("add"), inputs, outputs)
    found = outputs.get_as_object(0, rt.HalBufferView)
    np.testing.assert_array_equal(np.asarray(memoryview(found)), given * 2)


# Results


def test_a_megabyte_comes_out_without_a_copy(module: rt.Module) -> None:
    given = np.ones(SIZE, np.float32)
    result = module.twice(given)
    place = address(result.map())
    assert place % 64 == 0
    for seen in (np.asarray(result), result.to_host(), np.from_dlpack(result), result.reshape(512, 512)):
        assert address(seen) == place
    assert address(memoryview(result)) == place
    assert lies_in(rt.load(rt.assemble(PROBE), "local-sync"), result) == place


def test_results_in_jax(module: rt.Module) -> None:
    jnp = pytest.importorskip("jax.numpy", reason="jax is a development dependency")
    result = module.twice(np.ones(SIZE, np.float32))
    assert jnp.from_dlpack(result).unsafe_buffer_pointer() == address(result)
    half = module.half(np.ones(8, ml_dtypes.bfloat16))
    assert jnp.from_dlpack(half).tolist() == [2] * 8


def test_an_argument_passed_through_becomes_the_callers_own(module: rt.Module) -> None:
    for given in (np.ones(SIZE, np.float32), Lender(at(0, SIZE)), rt.from_dlpack(at(0, SIZE))):
        origin = given.a if isinstance(given, Lender) else given
        assert address(module.same(given)) != address(origin)


class TestDLPack:
    """The keywords of `__dlpack__`, by the standard of arrays."""

    @pytest.fixture
    def result(self, module: rt.Module) -> rt.DeviceArray:
        return module.half(np.ones(8, ml_dtypes.bfloat16))

    def test_kind_of_capsule(self, result: rt.DeviceArray) -> None:
        assert 'capsule object "dltensor" at' in repr(result.__dlpack__())
        assert 'capsule object "dltensor" at' in repr(result.__dlpack__(max_version=(0, 8)))
        for version in ((1, 0), (1, 1), (2, 0)):
            assert 'capsule object "dltensor_versioned" at' in repr(result.__dlpack__(max_version=version))
        assert result.__dlpack_device__() == (1, 0)
        assert rt.HalBufferView.__dlpack_device__(result) == (1, 0)

    def test_copies_on_request(self, module: rt.Module) -> None:
        result = module.twice(np.ones(SIZE, np.float32))
        shared = np.from_dlpack(result, copy=False)
        assert address(shared) == address(result)
        assert address(np.from_dlpack(result, copy=True)) != address(result)

    def test_requests_that_cannot_be_met(self, result: rt.DeviceArray) -> None:
        with pytest.raises(ValueError, match="no streams"):
            result.__dlpack__(stream=7)
        with pytest.raises(BufferError, match="does not move to"):
            result.__dlpack__(dl_device=(2, 0))
        assert result.__dlpack__(stream=None, dl_device=(1, 0)) is not None

    def test_read_only_memory(self) -> None:
        given = read_only(at(0, 8))
        lent = rt.from_dlpack(given, copy=False)
        assert address(lent) == address(given)
        seen = np.from_dlpack(lent)
        assert not seen.flags.writeable
        assert not np.asarray(lent).flags.writeable
        with pytest.raises(BufferError, match="read-only"):
            lent.__dlpack__()

    def test_other_devices(self, module: rt.Module) -> None:
        class Elsewhere(Lender):
            def __dlpack_device__(self) -> tuple[int, int]:
                return (2, 0)

        with pytest.raises(ValueError, match="device type 2, not on the CPU"):
            rt.from_dlpack(Elsewhere(at(0, 8)))
        with pytest.raises(TypeError, match=r'half\(\): argument 1 \("a"\) .* needs bfloat16 \[8\]'):
            module.half(Elsewhere(at(0, 8)))

    def test_without_transfers(self, device: rt.HalDevice) -> None:
        placed = rt.asdevicearray(device, [1.0, 2.0])
        with pytest.raises(ValueError, match="cannot be implicitly transferred"):
            placed.__dlpack__()


# Lifetimes


def test_arguments_are_let_go(module: rt.Module) -> None:
    """After a call nothing holds its arguments: they can grow, close and die."""
    data = bytearray(4096)
    module.bytes(data)
    data.append(1)
    pages = mapped()
    module.bytes(pages)
    pages.close()
    given = np.ones(SIZE, np.float32)
    module.twice(given)
    assert sys.getrefcount(given) == 2
    gone = weakref.ref(given)
    del given
    gc.collect()
    assert gone() is None


def test_lenders_are_kept_while_they_are_used(module: rt.Module) -> None:
    given = at(0, SIZE)
    lent = rt.from_dlpack(given, copy=False)
    expected = given * 2
    del given
    gc.collect()
    noise = [np.full(SIZE, 7, np.float32) for _ in range(4)]
    np.testing.assert_array_equal(module.twice(lent), expected)
    assert len(noise) == 4


def test_a_failed_conversion_lets_go(module: rt.Module) -> None:
    data = bytearray(5)
    for call in (lambda: module.bytes(data), lambda: rt.from_dlpack(data, copy=False)):
        with contextlib.suppress(TypeError, ValueError):
            call()
        data.append(1)


# What a variable keeps

KEPT = """
util.global private mutable @state = dense<0.0> : tensor<4xf32>
func.func @set(%a: tensor<4xf32>) {
  util.global.store %a, @state : tensor<4xf32>
  return
}
func.func @get() -> tensor<4xf32> {
  %g = util.global.load @state : tensor<4xf32>
  return %g : tensor<4xf32>
}
func.func @delta(%a: tensor<4xf32>) -> tensor<4xf32> {
  %g = util.global.load @state : tensor<4xf32>
  util.global.store %a, @state : tensor<4xf32>
  %0 = stablehlo.subtract %a, %g : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @poke(%a: tensor<1xf32>) {
  %i = stablehlo.constant dense<1> : tensor<i32>
  %g = util.global.load @state : tensor<4xf32>
  %0 = stablehlo.dynamic_update_slice %g, %a, %i : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
  util.global.store %0, @state : tensor<4xf32>
  return
}
"""


def by_tiree(device: str) -> Any:
    return rt.load(tiree_module(KEPT), device)


def by_iree(_: str) -> Any:
    iree = pytest.importorskip("iree.runtime")
    config = iree.Config("local-task")
    return iree.load_vm_module(iree.VmModule.copy_buffer(config.vm_instance, iree_module(KEPT)), config)


@pytest.mark.parametrize("load", [by_tiree, by_iree])
@pytest.mark.parametrize("device", ["local-sync", "local-task"])
class TestVariables:
    def test_keep_what_they_were_given(self, load: Callable[[str], Any], device: str) -> None:
        module, given = load(device), at(0, 4)
        kept = given.copy()
        module.set(given)
        given[:] = -5
        np.testing.assert_array_equal(np.asarray(module.get()), kept)

    def test_of_a_buffer_that_the_caller_fills_again(self, load: Callable[[str], Any], device: str) -> None:
        module, given = load(device), at(0, 4)
        found: list[float] = []
        for value in (1, 4, 9):
            given[:] = value
            found.append(float(np.asarray(module.delta(given))[0]))
        assert found == [1, 3, 5]

    def test_results_stay_when_the_variable_changes(self, load: Callable[[str], Any], device: str) -> None:
        module = load(device)
        module.set(np.full(4, 7, np.float32))
        before = module.get()
        module.poke(np.full(1, 3, np.float32))
        np.testing.assert_array_equal(np.asarray(module.get()), [7, 3, 7, 7])
        module.set(np.zeros(4, np.float32))
        np.testing.assert_array_equal(np.asarray(before), np.full(4, 7))


def test_only_functions_of_modules_with_variables_keep_arguments(device: rt.HalDevice) -> None:
    def keeps(module: bytes, name: str) -> bool:
        return getattr(rt.load(module, device), name).vm_function.reflection.get("tiree.inputs") == "kept"

    kept = tiree_module(KEPT)
    assert [keeps(kept, name) for name in ("set", "get", "delta", "poke")] == [True, False, True, True]
    assert not keeps(tiree_module(ADD), "add")
    counted = "util.global private mutable @n = 0 : i32\n" + ADD.replace("module {", "").rstrip()[:-1]
    assert not keeps(tiree_module(counted), "add")
