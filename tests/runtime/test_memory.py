"""Memory of devices: exact numbers of the statistics, of what a call needs, limits of the pool, and alignment."""

from __future__ import annotations

import contextlib
import gc
import re
from pathlib import Path

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import ADD, iree_module, tiree_module
from tools.runtime_tool import needs_iree, ours, refused, theirs

DEVICE, HOST, USAGE = 0x30, 0x46, 0x9000C03
KIB = 1024


@pytest.fixture(params=["local-sync", "local-task"])
def fresh(request: pytest.FixtureRequest) -> rt.HalDevice:
    """A device that nobody else uses."""
    return rt.HalDevice.open(request.param, group_count=2)


def allocate(device: rt.HalDevice, length: int, kind: int = DEVICE) -> rt.HalBuffer:
    return device.allocator.allocate_buffer(kind, USAGE, length)


class TestStatistics:
    def test_names_and_bytes(self, fresh: rt.HalDevice):
        allocator = fresh.allocator
        assert allocator.has_statistics
        zero = dict.fromkeys(
            [f"{kind}_bytes_{what}" for kind in ("host", "device") for what in ("peak", "allocated", "freed")], 0
        )
        assert allocator.statistics == zero
        first, second = allocate(fresh, 1000), allocate(fresh, 17, HOST)
        assert allocator.statistics == zero | {
            "device_bytes_peak": 1000, "device_bytes_allocated": 1000,
            "host_bytes_peak": 17, "host_bytes_allocated": 17,
        }  # fmt: skip
        del first
        third = allocate(fresh, 500)
        assert allocator.statistics == zero | {
            "device_bytes_peak": 1000, "device_bytes_allocated": 1500, "device_bytes_freed": 1000,
            "host_bytes_peak": 17, "host_bytes_allocated": 17,
        }  # fmt: skip
        del second, third
        assert "            0B live" in allocator.formatted_statistics

    def test_names_are_those_of_iree(self):
        theirs = pytest.importorskip("iree.runtime", reason="the oracle is IREE")
        mine = rt.HalDevice.open("local-sync").allocator
        other = theirs.get_device("local-sync").allocator
        assert list(mine.statistics) == list(other.statistics)
        pattern = re.compile(r" +\d+B")
        assert pattern.sub("", mine.formatted_statistics) == pattern.sub("", other.formatted_statistics)

    @needs_iree
    def test_text_of_the_tools(self, tmp_path: Path):
        """The same kinds, the same words; Tiree adds what the call needed."""
        (tmp_path / "add.vmfb").write_bytes(iree_module(ADD))
        flags = [f"--module={tmp_path}/add.vmfb", "--device=local-sync", "--input=4xf32=1", "--input=4xf32=2"]
        found, wanted = (run("run-module", *flags, "--print_statistics").err for run in (ours, theirs))
        line = re.compile(r"DEVICE_LOCAL: +(\d+)B peak / +(\d+)B allocated / +(\d+)B freed / +(\d+)B live")
        assert line.search(found)[0] == line.search(wanted)[0]  # type: ignore[index]
        assert "48B peak" in found
        assert "@add:           16B peak /           16B allocated /           16B kept" in found

    def test_zero_length(self, fresh: rt.HalDevice):
        empty = allocate(fresh, 0)
        assert empty.byte_length() == 0
        assert len(empty.map()) == 0
        assert fresh.allocator.statistics["device_bytes_peak"] == 0
        view = empty.create_view((0, 4), 4)
        assert view.shape == [0, 4]
        del empty, view


class TestCalls:
    def test_bytes_of_a_call(self, fresh: rt.HalDevice):
        """The result, and nothing else: arguments are numpy's memory. What IREE's kernels may write is copied."""
        for module, copies in ((tiree_module(ADD), 0), (iree_module(ADD), 32)):
            add = rt.load(module, fresh).add
            a = np.ones(4, np.float32)
            add(a, a)
            for _ in range(3):
                with fresh.allocator.track_peak() as peak:
                    result = add(a, a)
                assert (peak.peak_bytes, peak.allocated_bytes) == (16 + copies, 16 + copies)
                assert peak.kept_bytes == 16
                del result
        assert repr(peak) == "<MemoryPeak: 48 bytes, 16 kept>"

    def test_nested_and_across_blocks(self, fresh: rt.HalDevice):
        kept = allocate(fresh, 100)
        with fresh.allocator.track_peak() as outer:
            first = allocate(fresh, 1000)
            with fresh.allocator.track_peak() as inner:
                second = allocate(fresh, 10)
                assert inner.peak_bytes == 10
                del first, kept
            third = allocate(fresh, 300)
        assert (outer.peak_bytes, outer.allocated_bytes, outer.kept_bytes) == (1010, 1310, 210)
        assert (inner.peak_bytes, inner.allocated_bytes, inner.kept_bytes) == (10, 10, -1090)
        del second, third
        assert outer.kept_bytes == 210

    def test_used_wrongly(self, fresh: rt.HalDevice):
        peak = fresh.allocator.track_peak()
        with pytest.raises(RuntimeError, match="nothing was measured yet"):
            _ = peak.peak_bytes
        with peak:
            pass
        with pytest.raises(RuntimeError, match="used already"), peak:
            pass

    def test_an_exception_ends_it(self, fresh: rt.HalDevice):
        with contextlib.suppress(ZeroDivisionError), fresh.allocator.track_peak() as peak:
            allocate(fresh, 8)
            raise ZeroDivisionError
        allocate(fresh, 9)
        assert peak.peak_bytes == 8

    def test_benchmark(self, tmp_path: Path):
        (tmp_path / "add.vmfb").write_bytes(tiree_module(ADD))
        done = ours(
            "benchmark-module", f"--module={tmp_path}/add.vmfb", "--device=local-sync", "--function=add",
            "--input=4xf32=1", "--input=4xf32=2", "--benchmark_min_time=3x", "--print_statistics",
        )  # fmt: skip
        assert done.code == 0
        assert "@add:           16B peak /           16B allocated /            0B kept" in done.err


class TestPool:
    def test_reuse_and_trim(self, fresh: rt.HalDevice):
        allocator = fresh.allocator
        buffer = allocate(fresh, 100 * KIB)
        assert allocator.cached_bytes == 0
        del buffer
        assert allocator.cached_bytes == 100 * KIB + 4 * KIB  # Sizes are rounded up to an eighth at most.
        again = allocate(fresh, 101 * KIB)
        assert allocator.cached_bytes == 0
        del again
        allocator.trim()
        assert allocator.cached_bytes == 0
        assert allocator.statistics["device_bytes_peak"] == 101 * KIB

    def test_limits(self, fresh: rt.HalDevice):
        allocator = fresh.allocator
        assert allocator.limits == {"memory": None, "cached": None}
        allocator.set_limits(memory=1000, cached=512)
        assert allocator.limits == {"memory": 1000, "cached": 512}
        first = allocate(fresh, 600)
        text = "401 bytes asked, 600 bytes in use by this device, which may use 1000 bytes"
        with pytest.raises(MemoryError, match=text) as caught:
            allocate(fresh, 401)
        assert isinstance(caught.value, rt.StatusError)
        assert caught.value.code_name == "RESOURCE_EXHAUSTED"
        second = allocate(fresh, 400, HOST)
        del first, second
        assert allocator.cached_bytes <= 512
        allocator.set_limits(cached=0)
        assert allocator.cached_bytes == 0
        del allocator
        held = [allocate(fresh, 2000) for _ in range(4)]
        held.clear()
        assert fresh.allocator.cached_bytes == 0

    def test_flags(self, tmp_path: Path):
        (tmp_path / "add.vmfb").write_bytes(tiree_module(ADD))
        flags = [f"--module={tmp_path}/add.vmfb", "--device=local-sync", "--input=4xf32=1", "--input=4xf32=2"]
        assert ours("run-module", *flags, "--device_memory_limit=48", "--device_cache_limit=0").code == 0
        assert "32 bytes in use by this device, which may use 47 bytes" in refused(
            "run-module", *flags, "--device_memory_limit=47"
        )
        for name in ("device_memory_limit", "device_cache_limit"):
            assert "cannot be negative" in refused("run-module", *flags, f"--{name}=-1")


def at_offset(values: np.ndarray, offset: int) -> np.ndarray:
    """A copy whose address is `offset` bytes after a multiple of 64."""
    memory = np.zeros(values.nbytes + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    placed = memory[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    placed[...] = values
    return placed


class TestAlignment:
    LENGTH = 1000

    @pytest.mark.parametrize("offset", range(0, 64, 4))
    def test_any_address(self, fresh: rt.HalDevice, offset: int):
        """Tensors at every address that a float can have, by kernels of both makers: vectors in any register width."""
        text = ADD.replace("4xf32", f"{self.LENGTH}xf32")
        a = at_offset(np.arange(self.LENGTH, dtype=np.float32), offset)
        b = at_offset(np.arange(self.LENGTH, dtype=np.float32) * 3, 64 - offset)
        for module in (tiree_module(text), iree_module(text)):
            add = rt.load(module, fresh).add
            np.testing.assert_array_equal(np.asarray(add(a, b)), a + b)

    def test_sixteen_bytes_are_enough(self, fresh: rt.HalDevice):
        """Arguments at multiples of 16, as numpy's allocator gives, are not copied."""
        text = ADD.replace("4xf32", f"{self.LENGTH}xf32")
        add = rt.load(tiree_module(text), fresh).add
        values = np.arange(self.LENGTH, dtype=np.float32)
        for offset in range(0, 64, 4):
            a = at_offset(values, offset)
            with fresh.allocator.track_peak() as peak:
                result = add(a, a)
            copies = 0 if offset % 16 == 0 else 2
            assert peak.allocated_bytes == values.nbytes * (1 + copies), offset
            np.testing.assert_array_equal(np.asarray(result), 2 * a)

    def test_results_are_aligned(self, fresh: rt.HalDevice):
        for length in (1, 4, 1000, 100_000):
            text = ADD.replace("4xf32", f"{length}xf32")
            ones = np.ones(length, np.float32)
            held = [np.asarray(rt.load(tiree_module(text), fresh).add(ones, ones)) for _ in range(4)]
            assert all(array.ctypes.data % 64 == 0 for array in held)

    def test_imported_memory(self, fresh: rt.HalDevice):
        """What is shared for good may be used by kernels of any maker: 64 bytes, as IREE has it."""
        good = at_offset(np.arange(4, dtype=np.float32), 0)
        buffer = fresh.allocator.import_host_allocation(good, DEVICE, USAGE)
        assert buffer.byte_length() == 16
        with pytest.raises(RuntimeError, match="must be 64-byte aligned"):
            fresh.allocator.import_host_allocation(at_offset(good, 16), DEVICE, USAGE)
        del buffer
        gc.collect()
