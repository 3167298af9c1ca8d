"""Parameter files that other libraries make: what the index finds in them, and what it says of damage."""

from __future__ import annotations

import struct
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tiree.runtime as rt

ARRAYS = {
    "matrix": np.arange(6, dtype=np.float32).reshape(2, 3),
    "half": np.arange(4, dtype=np.float16),
    "bytes": np.array([1, -2, 3], np.int8),
    "long": np.array([1 << 40], np.int64),
    "double": np.array(1.5),
    "empty": np.zeros((0, 4), np.float32),
}


def contents(path: Path, **load: object) -> dict[str, bytes]:
    index = rt.ParameterIndex()
    index.load(str(path), **load)  # pyright: ignore[reportArgumentType]
    return {key: bytes(entry.file_view) for key, entry in index.items()}


class TestSafetensors:
    def test_arrays(self, tmp_path: Path):
        numpy_format = pytest.importorskip("safetensors.numpy", reason="a development dependency")
        path = tmp_path / "x.SafeTensors"
        arrays = {**ARRAYS, "truth": np.array([True, False]), "brain": np.ones(3, ml_dtypes.bfloat16)}
        numpy_format.save_file(arrays, path, metadata={"who": "test"})
        for mmap in (True, False):
            assert contents(path, mmap=mmap) == {key: array.tobytes() for key, array in arrays.items()}

    def test_order_is_that_of_the_bytes(self, tmp_path: Path):
        header = (
            b'{"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
        )
        (tmp_path / "x.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + b"123")
        assert list(contents(tmp_path / "x.safetensors").items()) == [("a", b"1"), ("b", b"23")]


class TestGguf:
    def test_arrays(self, tmp_path: Path):
        gguf = pytest.importorskip("gguf", reason="a development dependency")
        path = tmp_path / "x.gguf"
        quantised = gguf.quants.quantize(np.ones((2, 256), np.float32), gguf.GGMLQuantizationType.Q8_0)
        writer = gguf.GGUFWriter(path, "none")
        writer.add_custom_alignment(128)
        writer.add_array("list", [[1, 2], [3]] and ["a", "b"])
        writer.add_uint8("small", 3)
        arrays = {key: array for key, array in ARRAYS.items() if array.size}
        for key, array in arrays.items():
            writer.add_tensor(key, array)
        writer.add_tensor("blocks", quantised, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
        for write in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file):
            write()
        writer.close()
        want = {**arrays, "blocks": quantised}
        for mmap in (True, False):
            assert contents(path, mmap=mmap) == {key: array.tobytes() for key, array in want.items()}
        index = rt.ParameterIndex()
        index.load(str(path))
        assert all(entry.file_storage[1] % 128 == 0 for _, entry in index.items())

    def test_every_type_has_its_size(self, tmp_path: Path):
        gguf = pytest.importorskip("gguf", reason="a development dependency")
        for kind, (block, size) in gguf.constants.GGML_QUANT_SIZES.items():
            head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0)
            head += struct.pack("<Q", 1) + b"t" + struct.pack("<IQQIQ", 2, block, 3, int(kind), 0)
            data = bytes(range(256)) * (size * 3 // 256 + 1)
            path = tmp_path / "x.gguf"
            path.write_bytes(head + b"\0" * (-len(head) % 32) + data)
            assert contents(path) == {"t": data[: size * 3]}, kind


class TestNames:
    @pytest.mark.parametrize("format", ["irpa", ".gguf", "SAFETENSORS"])
    def test_format_may_be_given(self, tmp_path: Path, format: str):
        (tmp_path / "x.bin").write_text("hello, world")
        with pytest.raises(ValueError, match=r"cannot load .*x\.bin: "):
            contents(tmp_path / "x.bin", format=format)

    def test_refusals(self, tmp_path: Path):
        for name in ("x.bin", "x"):
            with pytest.raises(NotImplementedError, match=r"must be \.irpa, \.gguf or \.safetensors"):
                contents(tmp_path / name)
        with pytest.raises(NotImplementedError, match="unsupported file format `npz`"):
            contents(tmp_path / "x.irpa", format="npz")
        for name in ("x.irpa", "x.gguf", "x.safetensors"):
            with pytest.raises(ValueError, match=rf"cannot open .*{name}: No such file"):
                contents(tmp_path / name)
        with pytest.raises(ValueError, match="is a directory, not a parameter file"):
            contents(tmp_path, format="irpa")
        for name in ("x.irpa", "x.gguf", "x.safetensors"):
            (tmp_path / name).write_bytes(b"")
            with pytest.raises(ValueError, match=rf"cannot load .*{name}: "):
                contents(tmp_path / name)

    def test_modes(self, tmp_path: Path):
        path = tmp_path / "x.irpa"
        rt.save_archive_file({"w": np.ones(4, np.float32)}, path)
        assert contents(path, mode="file_async") == contents(path)
        for options, message in (
            ({"mode": "bogus"}, "unsupported parameter file mode: bogus"),
            ({"mode": "file_async", "mmap": True}, "mutually exclusive"),
            ({"mode": "file_async", "writable": True}, "read-only"),
            ({"mmap": False, "writable": True}, "cannot be written back"),
        ):
            with pytest.raises(ValueError, match=message):
                contents(path, **options)


class TestFirstOfOneName:
    def test_all_are_listed(self):
        index = rt.ParameterIndex()
        index.add_buffer("w", b"1")
        index.add_buffer("w", b"2")
        assert [key for key, _ in index.items()] == ["w", "w"]
