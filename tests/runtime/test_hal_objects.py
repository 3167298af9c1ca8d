"""Devices, buffers, queues, command buffers, allocators and DLPack, as IREE's Python API has them."""

from __future__ import annotations

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import TRACED, iree_module

LOCAL = rt.MemoryType.DEVICE_LOCAL | rt.MemoryType.HOST_VISIBLE
USAGE = rt.BufferUsage.DEFAULT | rt.BufferUsage.MAPPING


def buffer_of(device: rt.HalDevice, data: bytes) -> rt.HalBuffer:
    return device.allocator.allocate_buffer_copy(LOCAL, USAGE, device, data)


def bytes_of(buffer: rt.HalBuffer) -> bytes:
    return bytes(memoryview(buffer.map()))


class TestBuffers:
    def test_allocate(self, device: rt.HalDevice):
        buffer = device.allocator.allocate_buffer(LOCAL, rt.BufferUsage.DEFAULT, 16)
        assert buffer.byte_length() == 16
        assert buffer.memory_type() == LOCAL == 50
        assert buffer.allowed_usage() & rt.BufferUsage.DEFAULT == rt.BufferUsage.DEFAULT
        assert repr(buffer) == (
            "<HalBuffer 16 bytes (at offset 0 into 16), memory_type=DEVICE_LOCAL|HOST_VISIBLE, allowed_access=ALL, "
            "allowed_usage=TRANSFER|DISPATCH_STORAGE|MAPPING|MAPPING_PERSISTENT>"
        )

    def test_enums_and_numbers_are_the_same(self, device: rt.HalDevice):
        for kind, usage in ((50, 3075), (np.int64(50), np.uint32(3075)), (LOCAL, rt.BufferUsage.DEFAULT)):
            assert device.allocator.allocate_buffer(kind, usage, 4).memory_type() == rt.MemoryType(50)

    def test_fill_zero(self, device: rt.HalDevice):
        buffer = buffer_of(device, b"12345678")
        buffer.fill_zero(2, 3)
        assert bytes_of(buffer) == b"12\0\0\x00678"
        with pytest.raises(IndexError, match="outside the buffer of 8 bytes"):
            buffer.fill_zero(6, 3)

    def test_views(self, device: rt.HalDevice):
        buffer = buffer_of(device, np.arange(6, dtype=np.float32).tobytes())
        view = buffer.create_view(rt.Shape([2, 3]), 4)
        assert (view.shape, view.element_type, view.byte_length) == ([2, 3], rt.HalElementType.OPAQUE_32, 24)
        typed = rt.HalBufferView(buffer, [3, 2], rt.HalElementType.FLOAT_32)
        assert typed.map().asarray((3, 2), np.float32).tolist() == [[0, 1], [2, 3], [4, 5]]
        assert np.asarray(typed).tolist() == [[0, 1], [2, 3], [4, 5]]
        assert bytes_of(typed.get_buffer()) == bytes_of(buffer)
        with pytest.raises(IndexError, match="bytes"):
            rt.HalBufferView(buffer, [7], rt.HalElementType.FLOAT_32)
        with pytest.raises(ValueError, match="negative"):
            rt.Shape([-1])
        assert rt.Shape((1, 2)) == rt.Shape([1, 2])

    def test_mapped_memory_is_the_memory(self, device: rt.HalDevice):
        buffer = buffer_of(device, b"abcdefgh")
        array = buffer.map().asarray([8], np.uint8)
        array[0] = ord("X")
        assert bytes_of(buffer) == b"Xbcdefgh"
        assert buffer.map().asarray([2, 2], np.dtype("<u2")).shape == (2, 2)


class TestAllocator:
    def test_copies(self, device: rt.HalDevice):
        source = np.arange(6, dtype=np.int16).reshape(2, 3)
        view = device.allocator.allocate_buffer_copy(LOCAL, USAGE, device, source, rt.HalElementType.SINT_16)
        assert isinstance(view, rt.HalBufferView)
        assert np.asarray(view).tolist() == source.tolist()
        assert bytes_of(device.allocator.allocate_host_staging_buffer_copy(device, np.int32(7))) == b"\7\0\0\0"
        with pytest.raises(ValueError, match="not C-contiguous"):
            device.allocator.allocate_buffer_copy(LOCAL, USAGE, device, source.T)
        with pytest.raises(TypeError):
            device.allocator.allocate_buffer_copy(LOCAL, USAGE, device, 5)

    def test_imported_memory_is_shared(self, device: rt.HalDevice):
        raw = np.zeros(48, np.int32)
        aligned = raw[-raw.ctypes.data % 64 // 4 :][:16]
        buffer = device.allocator.import_host_allocation(aligned, LOCAL, USAGE)
        aligned[3] = 9
        assert np.frombuffer(buffer.map(), np.int32)[3] == 9
        buffer.fill_zero(0, 64)
        assert aligned[3] == 0
        with pytest.raises(RuntimeError, match="64-byte aligned; copy it instead"):
            device.allocator.import_host_allocation(raw[-raw.ctypes.data % 64 // 4 + 1 :][:4], LOCAL, USAGE)

    def test_read_only_memory_is_not_written(self, device: rt.HalDevice):
        raw = np.zeros(48, np.int32)
        aligned = raw[-raw.ctypes.data % 64 // 4 :][:16]
        aligned.flags.writeable = False
        buffer = device.allocator.import_host_allocation(aligned, LOCAL, USAGE)
        with pytest.raises(RuntimeError, match="read-only"):
            buffer.fill_zero(0, 4)
        assert memoryview(buffer.map()).readonly

    @pytest.mark.parametrize("kind", [0, 0x46, 0x30, 0x2, 0x10])
    @pytest.mark.parametrize(
        "usages", [(0, 0), (3, 3), (0xC03, 0xC03), (0xC03, 0xC00), (3, 0xC03), (0x9000000, 0x9000000), (0x3000, 0x3000)]
    )
    def test_compatibility_is_that_of_iree(self, device: rt.HalDevice, kind: int, usages: tuple[int, int]):
        iree = pytest.importorskip("iree.runtime", reason="iree-base-runtime is a development dependency")
        theirs = iree.get_device("local-sync").allocator.query_buffer_compatibility(kind, *usages, 64)
        assert device.allocator.query_buffer_compatibility(kind, *usages, 64) == theirs

    def test_statistics(self):
        device = rt.HalDevice.open("local-sync")
        allocator = device.allocator
        kept = allocator.allocate_buffer(LOCAL, USAGE, 1000)
        del kept
        second = allocator.allocate_buffer(LOCAL, USAGE, 500)
        assert second.byte_length() == 500
        assert allocator.has_statistics
        assert allocator.statistics == {
            "host_bytes_peak": 0,
            "host_bytes_allocated": 0,
            "host_bytes_freed": 0,
            "device_bytes_peak": 1000,
            "device_bytes_allocated": 1500,
            "device_bytes_freed": 1000,
        }
        assert allocator.formatted_statistics == (
            "  HOST_LOCAL:            0B peak /            0B allocated /            0B freed /            0B live\n"
            "DEVICE_LOCAL:         1000B peak /         1500B allocated /         1000B freed /          500B live\n"
        )
        allocator.trim()


class TestQueues:
    def test_alloca_copy_dealloca(self, device: rt.HalDevice):
        timeline = device.create_semaphore(0)
        source = buffer_of(device, b"hello!!!")
        transient = device.queue_alloca(8, [], [(timeline, 1)])
        device.queue_copy(source, transient, rt.HalFence.create_at(timeline, 1), [(timeline, 2)])
        assert timeline.wait(2)
        assert bytes_of(transient) == b"hello!!!"
        kept = np.frombuffer(transient.map(), np.uint8)
        device.queue_dealloca(transient, [(timeline, 2)], [(timeline, 3)])
        assert timeline.wait(3)
        # What Python maps stays; the buffer itself has no memory any more.
        assert bytes(kept) == b"hello!!!"
        with pytest.raises(RuntimeError, match="given back"):
            transient.map()

    def test_memory_comes_when_the_fence_does(self):
        device = rt.get_device("local-task")
        timeline = device.create_semaphore(0)
        transient = device.queue_alloca(8, [(timeline, 1)], [(timeline, 2)])
        with pytest.raises(RuntimeError, match="has not run"):
            transient.map()
        timeline.signal(1)
        assert timeline.wait(2)
        assert transient.map() is not None

    def test_views_of_deallocated_memory_stay_valid(self, device: rt.HalDevice):
        timeline = device.create_semaphore(0)
        transient = device.queue_alloca(4096, [], [(timeline, 1)])
        assert timeline.wait(1)
        view = rt.HalBufferView(transient, [1024], rt.HalElementType.INT_32)
        array = np.asarray(view)
        array[:] = 7
        device.queue_dealloca(transient, [], [(timeline, 2)])
        assert timeline.wait(2)
        others = [device.allocator.allocate_buffer(LOCAL, USAGE, 4096) for _ in range(8)]
        for other in others:
            other.fill_zero(0, 4096)
        assert (array == 7).all()

    def test_copy_that_does_not_fit(self, device: rt.HalDevice):
        with pytest.raises(ValueError, match="the source has 8 bytes, the target only 4"):
            device.queue_copy(buffer_of(device, b"12345678"), buffer_of(device, b"1234"), [], [])

    def test_wrong_semaphores(self, device: rt.HalDevice):
        for wrong in (5, [1], [(1, 2)], None):
            with pytest.raises(TypeError, match=r"HalFence or a list of \(HalSemaphore, value\) pairs"):
                device.queue_alloca(4, wrong, [])

    def test_failure_travels(self, device: rt.HalDevice):
        start, end = device.create_semaphore(0), device.create_semaphore(0)
        start.fail("no power")
        refused = "no power"
        try:
            device.queue_copy(buffer_of(device, b"1"), buffer_of(device, b"2"), [(start, 1)], [(end, 1)])
        except RuntimeError as error:
            refused = str(error)
        assert "no power" in refused
        with pytest.raises(RuntimeError, match="no power"):
            end.wait(1)


class TestCommandBuffers:
    def test_copy_and_fill(self, device: rt.HalDevice):
        timeline = device.create_semaphore(0)
        source, target = buffer_of(device, bytes(range(16))), buffer_of(device, bytes(16))
        commands = rt.HalCommandBuffer(device)
        commands.copy(source, target)
        commands.copy(source, target, source_offset=8, target_offset=2, length=2)
        commands.fill(target, np.int16(0x4241), 4, 4)
        commands.fill(target, b"Z", target_offset=15, end=True)
        for number in (1, 2):
            device.queue_execute(commands, [], [(timeline, number)])
            assert timeline.wait(number)
            assert bytes_of(target) == bytes([0, 1, 8, 9]) + b"ABAB" + bytes(range(8, 15)) + b"Z"

    def test_recording_ends_once(self, device: rt.HalDevice):
        commands = rt.HalCommandBuffer(device, binding_capacity=2, begin=False)
        commands.begin()
        target = buffer_of(device, bytes(8))
        with pytest.raises(RuntimeError, match="still being recorded"):
            device.queue_execute(commands, [], [])
        commands.end()
        for attempt in (commands.end, commands.begin, lambda: commands.fill(target, b"1")):
            with pytest.raises(RuntimeError, match="finalized"):
                attempt()

    @pytest.mark.parametrize(
        ("record", "kind", "text"),
        [
            (lambda c, b: c.fill(b, b"abc"), ValueError, "pattern length 3"),
            (lambda c, b: c.fill(b, np.int64(3)), ValueError, "pattern length 8"),
            (lambda c, b: c.fill(b, bytes(9)), ValueError, "fill pattern of 9 bytes"),
            (lambda c, b: c.fill(b, np.int32(1), 2, 4), ValueError, "multiples of the pattern length 4"),
            (lambda c, b: c.fill(b, b"1", 7, 2), IndexError, "outside the buffer of 8 bytes"),
            (lambda c, b: c.copy(b, b, 0, 4, 5), IndexError, "outside the buffer of 8 bytes"),
        ],
    )
    def test_refusals(self, device: rt.HalDevice, record, kind: type, text: str):
        with pytest.raises(kind, match=text):
            record(rt.HalCommandBuffer(device), buffer_of(device, bytes(8)))


class TestDLPack:
    DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
              "complex64", "complex128", "bool")  # fmt: skip

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_there_and_back(self, device: rt.HalDevice, dtype: str):
        given = np.array([[1, 0, 1], [0, 0, 1]]).astype(dtype)
        view = device.from_dlpack_capsule(given.__dlpack__())
        assert view.shape == [2, 3]
        again = device.from_dlpack_capsule(device.create_dlpack_capsule(view, 1, 0))
        assert (again.shape, again.element_type) == (view.shape, view.element_type)
        assert np.array_equal(np.asarray(again), given)

    def test_numpy_takes_our_capsules(self, device: rt.HalDevice):
        view = device.allocator.allocate_buffer_copy(
            LOCAL, USAGE, device, np.arange(6, dtype=np.float32).reshape(2, 3), rt.HalElementType.FLOAT_32
        )

        class Holder:
            def __dlpack__(self, **keywords: object) -> object:
                return device.create_dlpack_capsule(view, 1, 0)

            def __dlpack_device__(self) -> tuple[int, int]:
                return (1, 0)

        found = np.from_dlpack(Holder())
        assert found.tolist() == [[0, 1, 2], [3, 4, 5]]
        assert found.ctypes.data == np.asarray(view).ctypes.data

    def test_aligned_memory_is_shared(self, device: rt.HalDevice):
        raw = np.zeros(64, np.float32)
        aligned = raw[-raw.ctypes.data % 64 // 4 :][:16]
        view = device.from_dlpack_capsule(aligned.__dlpack__())
        aligned[0] = 5
        assert np.asarray(view)[0] == 5

    def test_refusals(self, device: rt.HalDevice):
        capsule = np.ones(3, np.float32).__dlpack__()
        device.from_dlpack_capsule(capsule)
        for used in (capsule, "no capsule", None):
            with pytest.raises(ValueError, match="not a DLPack capsule that is still unused"):
                device.from_dlpack_capsule(used)
        with pytest.raises(ValueError, match="strided"):
            device.from_dlpack_capsule(np.ones((3, 4))[:, :2].__dlpack__())
        opaque = buffer_of(device, bytes(8)).create_view(rt.Shape([2]), 4)
        with pytest.raises(ValueError, match="dlpack unsupported"):
            device.create_dlpack_capsule(opaque, 1, 0)
        typed = rt.HalBufferView(buffer_of(device, bytes(8)), [2], rt.HalElementType.FLOAT_32)
        elsewhere = device.create_dlpack_capsule(typed, 2, 0)
        with pytest.raises(ValueError, match="device type 2, not on the CPU"):
            device.from_dlpack_capsule(elsewhere)

    def test_torch_like_layouts(self, device: rt.HalDevice):
        for given in (np.ones((1, 4), np.float32)[:, :3], np.zeros((0, 3), np.float32), np.array(5.0)):
            view = device.from_dlpack_capsule(given.__dlpack__())
            assert np.array_equal(np.asarray(view), given)


class TestProfilingAndCapture:
    def test_nothing_is_profiled(self, device: rt.HalDevice):
        device.begin_profiling()
        device.flush_profiling()
        device.end_profiling()
        with pytest.raises(ValueError, match='profiling mode "queue-operations" is not available'):
            device.begin_profiling("queue-operations")
        for attempt in (lambda: device.begin_external_capture("renderdoc"), device.end_external_capture):
            with pytest.raises(NotImplementedError, match="no external capture"):
                attempt()


class TestTraces:
    def test_sink(self, device: rt.HalDevice):
        seen: list[tuple[str, list]] = []
        sink = rt.HalModuleDebugSink(lambda key, views: seen.append((key, [np.asarray(v).tolist() for v in views])))
        instance = rt.VmInstance()
        hal = rt.create_hal_module(instance, device, debug_sink=sink)
        module = rt.VmModule.from_buffer(instance, iree_module(TRACED), warn_if_copy=False)
        context = rt.VmContext(instance, modules=[hal, module])
        traced = rt.FunctionInvoker(context, device, module.lookup_function("traced"))
        traced(np.array([1, 2, 3, 4], np.float32))
        assert seen == [("key", [[1, 2, 3, 4]]), ("sum", [[2, 4, 6, 8], [1, 2, 3, 4]])]
        assert sink.buffer_view_trace_callback is not None

    @pytest.mark.parametrize("raised", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
    def test_what_the_sink_raises_the_call_raises(self, device: rt.HalDevice, raised: type[BaseException]):
        def callback(key: str, _views: list) -> None:
            raise raised(key)

        config = rt.Config(device=device)
        hal = rt.create_hal_module(config.vm_instance, device, debug_sink=rt.HalModuleDebugSink(callback))
        module = rt.VmModule.copy_buffer(config.vm_instance, iree_module(TRACED))
        traced = rt.load_vm_modules(hal, module, config=config)[-1].traced
        with pytest.raises(raised, match="key"):
            traced(np.array([1, 2, 3, 4], np.float32))

    def test_stderr_without_a_sink(self, device_name: str, capfd: pytest.CaptureFixture[str]):
        rt.load(iree_module(TRACED), device_name).traced(np.array([1, 2, 3, 4], np.float32))
        ours = capfd.readouterr().err
        iree = pytest.importorskip("iree.runtime", reason="iree-base-runtime is a development dependency")
        iree.load_vm_flatbuffer(iree_module(TRACED), driver="local-sync").traced(np.array([1, 2, 3, 4], np.float32))
        assert ours == capfd.readouterr().err

    def test_modules_of_several_devices(self, device: rt.HalDevice):
        instance = rt.VmInstance()
        assert rt.create_hal_module(instance, devices=[device, rt.get_device("local-sync")]).name == "hal"
        for keywords in ({}, {"device": device, "devices": [device]}, {"devices": []}):
            with pytest.raises(ValueError, match="give `device`, or a list of `devices`"):
                rt.create_hal_module(instance, **keywords)
