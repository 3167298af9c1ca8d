"""Parameters: indices, archives (byte for byte as IREE writes them), providers, numpy arrays in them."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import WEIGHTS, iree_module
from runtime.vm_program import VmProgram

iree = pytest.importorskip("iree.runtime", reason="iree-base-runtime is a development dependency")

W = np.array([1, 2, 3, 4], np.float32)


def scatter_module() -> bytes:
    """`scatter(v)` writes v into bytes 4 to 12 of parameter `w` of scope `m` and 0 to 4 of `k`; `gather()` reads it."""
    program = VmProgram("m")
    table = np.array([0, 1, 1, 1], np.uint32).tobytes()
    spans = np.array([4, 0, 8, 0, 8, 4], np.uint64).tobytes()
    for name in ("scatter", "gather"):
        with program.function(name, "i" if name == "scatter" else "") as f:
            device = f.call("hal.devices.get", 0)
            allocator = f.call("hal.device.allocator", device)
            buffer = f.call("hal.allocator.allocate", allocator, -1, 0x76, 0x9000C03, 16)
            for offset in (0, 4, 8, 12):
                f.call("hal.buffer.store", f.arguments[0] if f.arguments else 77, buffer, offset, 4)
            fence = f.call("hal.fence.create", device, 0)
            both = ("m", buffer) if name == "gather" else (buffer, "m")
            f.call(f"io_parameters.{name}", device, -1, None, fence, *both, table, "wk", spans)
            f.line(f'vm.cond_fail {f.call("hal.fence.await", -1, 0, [fence])}, "await"')
            if name == "gather":
                f.result(*(f.call("hal.buffer.load", buffer, offset, 4) for offset in (0, 4, 8, 12)))
    return program.compile()


class TestIndex:
    def test_entries(self):
        index = rt.ParameterIndex()
        index.add_splat("s", np.float32(1.5), 64, metadata="text")
        index.add_buffer("b", b"12345678", metadata=b"\1\2")
        assert len(index) == 2
        splat, data = index[0], index[1]
        assert (splat.key, splat.length, splat.metadata, splat.is_splat, splat.is_file) == (
            "s",
            64,
            b"text",
            True,
            False,
        )
        assert splat.splat_pattern == np.float32(1.5).tobytes()
        assert (data.key, data.length, data.metadata, data.is_splat, data.is_file) == ("b", 8, b"\1\2", False, True)
        assert bytes(data.file_view) == b"12345678"
        assert data.file_view.readonly
        handle, offset = data.file_storage
        assert bytes(handle.host_allocation)[offset : offset + 8] == b"12345678"
        assert [key for key, _ in index.items()] == ["s", "b"]

    def test_refusals(self):
        index = rt.ParameterIndex()
        index.add_buffer("b", b"1234")
        index.add_splat("s", b"1", 4)
        with pytest.raises(IndexError, match="entry 9 out of range"):
            index[9]
        with pytest.raises(ValueError, match="splat pattern length 3 invalid; must be 1, 2, 4, 8, or 16"):
            index.add_splat("x", b"abc", 9)
        with pytest.raises(ValueError, match="not splat based"):
            index[0].splat_pattern  # noqa: B018
        for read in (lambda e: e.file_view, lambda e: e.file_storage):
            with pytest.raises(ValueError, match="not file storage based"):
                read(index[1])
        with pytest.raises(ValueError, match="not C-contiguous"):
            index.add_buffer("x", np.ones((2, 2)).T[:1])
        with pytest.raises(BufferError, match="not writable"):
            index.add_buffer("x", b"1", writable=True)
        with pytest.raises(NotImplementedError, match="must be readable"):
            index.add_buffer("x", b"1", readable=False)
        with pytest.raises(TypeError, match="metadata must be str or bytes"):
            index.add_buffer("x", b"1", metadata=5)

    def test_file_handles(self, tmp_path):
        path = tmp_path / "data.bin"
        path.write_bytes(bytes(range(100)))
        index = rt.ParameterIndex()
        memory = rt.FileHandle.wrap_memory(path.read_bytes())
        assert (memory.is_host_allocation, memory.is_fd, memory.is_async) == (True, False, False)
        descriptor = os.open(path, os.O_RDONLY)
        file = rt.FileHandle.wrap_fd(descriptor)
        os.close(descriptor)
        assert (file.is_host_allocation, file.is_fd, file.fd) == (False, True, descriptor)
        for number, handle in enumerate((memory, file)):
            index.add_from_file_handle(f"k{number}", handle, 10, offset=5)
            assert bytes(index[number].file_view) == bytes(range(5, 15))
            with pytest.raises(
                ValueError, match=r"range \[95, 95 \+ 10\) of \"x\" lies outside the handle's 100 bytes"
            ):
                index.add_from_file_handle("x", handle, 10, offset=95)
        with pytest.raises(ValueError, match="memory, not a file descriptor"):
            memory.fd  # noqa: B018
        with pytest.raises(BufferError, match="not writable"):
            rt.FileHandle.wrap_memory(b"1234", writable=True)
        with pytest.raises(NotImplementedError, match="must be readable"):
            rt.FileHandle.wrap_memory(b"1234", readable=False)
        for number in (-1, 1 << 20):
            with pytest.raises((ValueError, OSError), match="descriptor"):
                rt.FileHandle.wrap_fd(number)


def fill(index) -> None:
    """The same entries with either library."""
    index.add_buffer("w", W.tobytes(), metadata="meta")
    index.add_splat("s", np.int16(3), 64)
    index.add_buffer("odd", b"12345")
    index.add_splat("long", np.array([1.5], np.float64), 80, metadata="more")


class TestArchives:
    def test_bytes_are_those_of_iree(self, tmp_path):
        ours, theirs = tmp_path / "ours.irpa", tmp_path / "theirs.irpa"
        for library, path in ((rt, ours), (iree, theirs)):
            index = library.ParameterIndex()
            fill(index)
            index.create_archive_file(str(path))
        assert ours.read_bytes() == theirs.read_bytes()

    def test_saved_arrays_are_those_of_iree(self, tmp_path):
        ours, theirs = tmp_path / "ours.irpa", tmp_path / "theirs.irpa"
        for library, path in ((rt, ours), (iree, theirs)):
            entries = {
                "a": np.arange(6, dtype=np.float32).reshape(2, 3),
                "t": np.arange(6, dtype=np.int16).reshape(2, 3),
                "s": library.SplatValue(np.int16(3), [4, 5]),
                "n": library.SplatValue(np.array([1], np.int8), 16),
                "b": b"1234",
            }
            library.save_archive_file(entries, path)
        assert ours.read_bytes() == theirs.read_bytes()

    @pytest.mark.parametrize("way", ["mapped", "read", "memory", "descriptor"])
    def test_load_what_iree_wrote(self, tmp_path, way: str):
        path = tmp_path / "theirs.irpa"
        theirs = iree.ParameterIndex()
        fill(theirs)
        theirs.create_archive_file(str(path))
        index = rt.ParameterIndex()
        if way in ("mapped", "read"):
            index.load(str(path), mmap=way == "mapped")
        else:
            memory = rt.FileHandle.wrap_memory(path.read_bytes())
            handle = memory if way == "memory" else rt.FileHandle.wrap_fd(os.open(path, os.O_RDONLY))
            index.load_from_file_handle(handle, "irpa")
        found = {key: (e.length, e.metadata, e.is_splat) for key, e in index.items()}
        assert found == {
            "w": (16, b"meta", False),
            "s": (64, b"", True),
            "odd": (5, b"", False),
            "long": (80, b"more", True),
        }
        assert bytes(index[0].file_view) == W.tobytes()
        assert index[3].splat_pattern == np.float64(1.5).tobytes()

    def test_archive_inside_a_file(self, tmp_path):
        path = tmp_path / "x.bin"
        path.write_bytes(b"head" * 1024)
        index, target = rt.ParameterIndex(), rt.ParameterIndex()
        fill(index)
        assert index.create_archive_file(str(path), 4096, target) is target
        assert path.read_bytes()[:4100] == b"head" * 1024 + b"IRPA"
        assert bytes(target[0].file_view) == W.tobytes()

    def test_refusals(self, tmp_path):
        index = rt.ParameterIndex()
        text = tmp_path / "x.irpa"
        text.write_text("hello")
        with pytest.raises(ValueError, match="magic"):
            index.load(str(text))
        with pytest.raises(ValueError, match="cannot open"):
            index.load(str(tmp_path / "missing.irpa"))


class TestArrays:
    def test_metadata_is_that_of_iree(self):
        for array in (
            np.ones((2, 2), np.float16),
            np.arange(3, dtype=np.uint8),
            np.array(True),
            np.ones(2, np.complex64),
        ):
            ours, theirs = rt.ParameterIndex(), iree.ParameterIndex()
            rt.parameter_index_add_numpy_ndarray(ours, "x", array)
            iree.parameter_index_add_numpy_ndarray(theirs, "x", array)
            prefix, _, text = ours[0].metadata.partition(b":")
            their_prefix, _, their_text = theirs[0].metadata.partition(b":")
            assert (prefix, json.loads(text)) == (their_prefix, json.loads(their_text))
            found = rt.parameter_index_entry_as_numpy_ndarray(ours[0])
            assert found.dtype == array.dtype
            assert np.array_equal(found, array)

    def test_types_that_numpy_alone_has_not(self):
        ml_dtypes = pytest.importorskip("ml_dtypes", reason="a dependency of jax")
        index = rt.ParameterIndex()
        given = np.array([[1, 2], [3, 4]], ml_dtypes.bfloat16)
        rt.parameter_index_add_numpy_ndarray(index, "x", given.T)
        assert np.array_equal(rt.parameter_index_entry_as_numpy_ndarray(index[0]), given.T)

    def test_the_other_byte_order(self, tmp_path):
        ours, plain = tmp_path / "ours.irpa", tmp_path / "plain.irpa"
        numbers = np.arange(6).reshape(2, 3)
        for path, order in ((ours, ">"), (plain, "=")):
            array = numbers.astype(f"{order}i4")
            entries = {
                "a": array,
                "t": array.T,
                "scalar": array[1, 2],
                "view": memoryview(array),
                "bytes": b"1234",
                "s": rt.SplatValue(np.array(3, f"{order}i2"), 8),
                "h": np.arange(3).astype(f"{order}f2"),
            }
            rt.save_archive_file(entries, path)
        assert ours.read_bytes() == plain.read_bytes()
        index, other = rt.ParameterIndex(), rt.ParameterIndex()
        rt.parameter_index_add_numpy_ndarray(index, "x", numbers.astype(">f4"))
        rt.parameter_index_add_numpy_ndarray(other, "x", numbers.astype("f4"))
        assert np.array_equal(rt.parameter_index_entry_as_numpy_ndarray(index[0]), numbers)
        assert index[0].metadata == other[0].metadata

    def test_flat(self):
        index = rt.ParameterIndex()
        index.add_buffer("b", W)
        index.add_splat("s", np.int16(3), 6)
        assert rt.parameter_index_entry_as_numpy_flat_ndarray(index[0]).tolist() == list(W.tobytes())
        assert rt.parameter_index_entry_as_numpy_flat_ndarray(index[1]).tolist() == [3, 0, 3, 0, 3, 0]
        with pytest.raises(ValueError, match=r'parameter "b": its metadata is empty'):
            rt.parameter_index_entry_as_numpy_ndarray(index[0])

    def test_splats_need_one_element(self):
        with pytest.raises(ValueError, match="repeats one element; got 2"):
            rt.SplatValue(np.ones(2), 4)


class TestSizes:
    def test_of_another_size(self, device: rt.HalDevice, tmp_path):
        """The message names the file, the parameter and both sizes."""
        for count in (3, 5):
            path = tmp_path / f"{count}.irpa"
            rt.save_archive_file({"w": np.ones(count, np.float32), "b": W}, path)
            index = rt.ParameterIndex()
            index.load(str(path))
            pattern = rf"'w' of .*{count}\.irpa \(scope 'model'\) has {4 * count} bytes, the program needs 16"
            with pytest.raises(IndexError, match=pattern):
                TestProviders().module(device, index.create_provider(scope="model"))

    def test_programs_write_parameters(self, device: rt.HalDevice, tmp_path):
        """`io_parameters.scatter` into memory, a descriptor and a file, as IREE's; `gather` reads it back."""
        instance, path = rt.VmInstance(), tmp_path / "w.irpa"
        module = rt.VmModule.from_buffer(instance, scatter_module(), warn_if_copy=False)
        w, k = np.array([10, 20, 30, 40], np.int32), np.array([5, 6], np.int32)
        rt.save_archive_file({"w": w, "k": k}, path)
        memory, mapped, opened = rt.ParameterIndex(), rt.ParameterIndex(), rt.ParameterIndex()
        memory.add_buffer("w", w, writable=True)
        memory.add_from_file_handle("k", rt.FileHandle.wrap_memory(k, writable=True), 8)
        mapped.load(str(path), writable=True)
        descriptor = os.open(path, os.O_RDWR)
        opened.load_from_file_handle(rt.FileHandle.wrap_fd(descriptor, writable=True), "irpa")
        os.close(descriptor)
        for value, index in enumerate((memory, mapped, opened), 7):
            parameters = rt.create_io_parameters_module(instance, index.create_provider(scope="m"))
            loaded = rt.load_vm_modules(parameters, module, config=rt.Config(device=device))[1]
            loaded.scatter(value)
            assert loaded.gather() == (value, value, value, 77)
            read = rt.ParameterIndex()
            read.load(str(path))
            there = [w, k] if index is memory else [np.frombuffer(e.file_view, np.int32) for _, e in read.items()]
            assert [a.tolist() for a in there] == [[10, value, value, 40], [value, 6]]
        splats = rt.ParameterIndex()
        for key, length in (("w", 16), ("k", 8)):
            splats.add_splat(key, b"1", length)
        rt.save_archive_file({"w": w, "k": k}, path)
        closed = rt.ParameterIndex()
        closed.load(str(path))
        for index, why in ((splats, "one pattern for all of it"), (closed, "opened for reading")):
            parameters = rt.create_io_parameters_module(instance, index.create_provider(scope="m"))
            loaded = rt.load_vm_modules(parameters, module, config=rt.Config(device=device))[1]
            with pytest.raises(RuntimeError, match=rf"parameter 'w' .* cannot be written: .*{why}"):
                loaded.scatter(1)


class TestProviders:
    def module(self, device: rt.HalDevice, *providers: rt.ParameterProvider):
        instance = rt.VmInstance()
        modules = [
            rt.create_io_parameters_module(instance, *providers),
            rt.VmModule.from_buffer(instance, iree_module(WEIGHTS), warn_if_copy=False),
        ]
        return rt.load_vm_modules(*modules, config=rt.Config(device=device))[1]

    def test_module_reads_its_weights(self, device: rt.HalDevice):
        index = rt.ParameterIndex()
        rt.parameter_index_add_numpy_ndarray(index, "w", W)
        index.add_splat("b", np.float32(10), 16)
        net = self.module(device, index.create_provider(scope="model"))
        del index
        assert net.forward(W).to_host().tolist() == (W * W + 10).tolist()

    def test_several_providers(self, device: rt.HalDevice):
        first, second, other = (rt.ParameterIndex() for _ in range(3))
        first.add_buffer("w", W)
        second.add_splat("b", np.float32(10), 16)
        other.add_splat("b", np.float32(-1), 16)
        providers = [
            other.create_provider(),
            first.create_provider(scope="model"),
            second.create_provider(scope="model"),
        ]
        assert self.module(device, *providers).forward(W).to_host().tolist() == (W * W + 10).tolist()

    def test_refusals(self, device: rt.HalDevice):
        index = rt.ParameterIndex()
        index.add_buffer("w", W)
        with pytest.raises(ValueError, match="no provider registered that handles scopes like 'model'"):
            self.module(device)
        with pytest.raises(ValueError, match=r"no parameter found .* key 'b'; scope 'model' \(memory\) has: w"):
            self.module(device, index.create_provider(scope="model"))
        with pytest.raises(TypeError, match="ParameterProviders"):
            rt.create_io_parameters_module(rt.VmInstance(), index)  # pyright: ignore[reportArgumentType]
