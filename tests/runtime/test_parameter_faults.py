"""Damaged parameter files, in every format: an error that names the file, no crash, no file left open, and the index,
the device and other files as good as before."""

from __future__ import annotations

import gc
import os
import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import WEIGHTS, iree_module
from tools.runtime_tool import needs_iree, ours

W = np.array([1, 2, 3, 4], np.float32)
B = np.array([10, 20, 30, 40], np.float32)


def irpa(path: Path, arrays: dict[str, np.ndarray]) -> None:
    rt.save_archive_file(arrays, path)


def safetensors(path: Path, arrays: dict[str, np.ndarray]) -> None:
    pytest.importorskip("safetensors.numpy", reason="a development dependency").save_file(arrays, path)


def gguf(path: Path, arrays: dict[str, np.ndarray]) -> None:
    writer = pytest.importorskip("gguf", reason="a development dependency").GGUFWriter(path, "none")
    for key, array in arrays.items():
        writer.add_tensor(key, array)
    for write in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file):
        write()
    writer.close()


FORMATS: dict[str, Callable[[Path, dict[str, np.ndarray]], None]] = {
    "irpa": irpa,
    "safetensors": safetensors,
    "gguf": gguf,
}


def put(data: bytes, offset: int, form: str, *values: int) -> bytes:
    copy = bytearray(data)
    struct.pack_into(form, copy, offset, *values)
    return bytes(copy)


def json(data: bytes, old: bytes, new: bytes) -> bytes:
    """The header of a safetensors file with a text replaced, its length corrected."""
    length = struct.unpack_from("<Q", data)[0]
    header = data[8 : 8 + length]
    assert old in header
    header = header.replace(old, new)
    return struct.pack("<Q", len(header)) + header + data[8 + length :]


def in_gguf(data: bytes) -> int:
    """Where the one dimension of tensor `w` stands; its type and its offset follow."""
    name = b"\1\0\0\0\0\0\0\0w\1\0\0\0"
    return data.index(name) + len(name)


# Format, what is done to a good file, what the message says besides the file's name.
DAMAGE: list[tuple[str, str, Callable[[bytes], bytes], str]] = [
    ("irpa", "magic", lambda d: b"IRPB" + d[4:], "IRPA|magic"),
    ("irpa", "version", lambda d: put(d, 4, "<H", 9), "version"),
    ("irpa", "size of the header", lambda d: put(d, 8, "<Q", 80), "header"),
    ("irpa", "entries beyond the file", lambda d: put(d, 40, "<QQ", 1 << 40, 100), "beyond|outside|range|file"),
    ("irpa", "metadata beyond the file", lambda d: put(d, 56, "<QQ", 1 << 63, 1 << 63), "beyond|outside|range|file"),
    ("irpa", "storage beyond the file", lambda d: put(d, 72, "<QQ", 64, 1 << 62), "beyond|outside|range|file"),
    ("irpa", "data beyond the storage", lambda d: put(d, 96 + 60, "<QQ", 1 << 20, 16), "beyond|outside|range|data"),
    ("irpa", "data that wraps around", lambda d: put(d, 96 + 60, "<QQ", 2**64 - 8, 16), "beyond|outside|range|data"),
    ("irpa", "a count of entries", lambda d: put(d, 32, "<Q", 1 << 60), "entr"),
    ("irpa", "a kind of entry", lambda d: put(d, 96 + 8, "<I", 3), "entry type|EXTERNAL|external"),
    ("irpa", "a next header beyond the file", lambda d: put(d, 16, "<Q", 1 << 40), "header|beyond|outside|range"),
    ("safetensors", "length of the header", lambda d: put(d, 0, "<Q", 1 << 50), "header"),
    ("safetensors", "no JSON", lambda d: d[:8] + b"[" + d[9:], "JSON|header|object"),
    ("safetensors", "offsets beyond the file", lambda d: json(d, b"[16,32]", b"[16,320]"), "its data has 304"),
    ("safetensors", "offsets backwards", lambda d: json(d, b"[16,32]", b"[32,16]"), "beyond|outside|range|offsets"),
    ("safetensors", "huge offsets", lambda d: json(d, b"[16,32]", b"[16,99999999999999999999]"), "offset|number|range"),
    ("safetensors", "negative offsets", lambda d: json(d, b"[16,32]", b"[-16,32]"), "offset|number|range"),
    ("gguf", "magic", lambda d: b"GGUX" + d[4:], "GGUF|magic"),
    ("gguf", "version", lambda d: put(d, 4, "<I", 99), "version"),
    ("gguf", "a count of tensors", lambda d: put(d, 8, "<Q", 1 << 60), "tensor|cut short|file|end"),
    ("gguf", "a count of metadata", lambda d: put(d, 16, "<Q", 1 << 60), "cut short|file|end|metadata"),
    ("gguf", "a length of a name", lambda d: put(d, d.index(b"general") - 8, "<Q", 2**63), "cut short|file"),
    ("gguf", "a type of tensor", lambda d: put(d, in_gguf(d) + 8, "<I", 999), "type"),
    ("gguf", "an offset beyond the file", lambda d: put(d, in_gguf(d) + 12, "<Q", 1 << 40), "at offset"),
    ("gguf", "a huge extent", lambda d: put(d, in_gguf(d), "<Q", 1 << 62), "overflows"),
]  # fmt: skip


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("parameters")
    made = {}
    for name, write in FORMATS.items():
        path = folder / f"good.{name}"
        write(path, {"w": W, "b": B})
        made[name] = path.read_bytes()
    return made


def contents(path: Path, mmap: bool = True) -> dict[str, bytes]:
    index = rt.ParameterIndex()
    index.load(str(path), mmap=mmap)
    return {key: bytes(entry.file_view) for key, entry in index.items() if entry.is_file}


def descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def refused(error: Exception, path: Path) -> None:
    """The message names the file."""
    assert str(path) in str(error)
    assert isinstance(error, rt.StatusError)


def live(device: rt.HalDevice) -> int:
    gc.collect()
    numbers = device.allocator.statistics
    return numbers["device_bytes_allocated"] - numbers["device_bytes_freed"]


def maps(path: Path) -> int:
    return Path("/proc/self/maps").read_text().count(str(path))


@pytest.mark.parametrize(("form", "what", "damage", "text"), DAMAGE, ids=[f"{f}: {w}" for f, w, _, _ in DAMAGE])
def test_damage(
    form: str, what: str, damage: Callable[[bytes], bytes], text: str, good: dict[str, bytes], tmp_path: Path
):
    del what
    path = tmp_path / f"damaged.{form}"
    path.write_bytes(damage(good[form]))
    before = descriptors()
    for mmap in (True, False):
        with pytest.raises((ValueError, NotImplementedError), match=rf"damaged\.{form}") as caught:
            contents(path, mmap)
        assert re.search(text, str(caught.value)), str(caught.value)
        assert isinstance(caught.value, rt.StatusError)
    assert (descriptors(), maps(path)) == (before, 0)


@pytest.mark.parametrize("form", FORMATS)
def test_every_truncation(form: str, good: dict[str, bytes], tmp_path: Path):
    """Cut at any byte, a file is refused or its entries are those of the whole file."""
    path, whole = tmp_path / f"cut.{form}", good[form]
    wanted = {"w": W.tobytes(), "b": B.tobytes()}
    before = descriptors()
    lengths = [*range(0, min(len(whole), 700), 3), *range(700, len(whole), 97)]
    for length in lengths:
        path.write_bytes(whole[:length])
        try:
            found = contents(path)
        except (ValueError, NotImplementedError) as error:
            refused(error, path)
            continue
        # Only what comes after the last byte of data may be missing.
        assert found == wanted, length
    assert (descriptors(), maps(path)) == (before, 0)


@pytest.mark.parametrize("form", FORMATS)
def test_every_byte_changed(form: str, good: dict[str, bytes], tmp_path: Path):
    """Any byte of the headers changed: an error that names the file, or entries that lie inside the file."""
    path, whole = tmp_path / f"changed.{form}", good[form]
    before = descriptors()
    for at in range(min(len(whole), 500)):
        for value in (whole[at] ^ 0xFF, 0x7F) if at % 2 else (whole[at] ^ 1,):
            path.write_bytes(whole[:at] + bytes([value]) + whole[at + 1 :])
            try:
                assert sum(map(len, contents(path).values())) <= 64 * len(whole)
            except (ValueError, NotImplementedError) as error:
                refused(error, path)
    assert (descriptors(), maps(path)) == (before, 0)


@needs_iree
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("device", ["local-sync", "local-task"])
class TestPrograms:
    """A program on a device, with parameters that are not what it needs; then the same program with good ones."""

    def load(self, device: rt.HalDevice, path: Path) -> rt.BoundModule:
        instance, index = rt.VmInstance(), rt.ParameterIndex()
        index.load(str(path))
        provider = rt.create_io_parameters_module(instance, index.create_provider(scope="model"))
        module = rt.VmModule.from_buffer(instance, iree_module(WEIGHTS), warn_if_copy=False)
        return rt.load_vm_modules(provider, module, config=rt.Config(device=device))[1]

    @pytest.mark.parametrize(
        ("arrays", "kind", "text"),
        [
            ({"w": W}, ValueError, r"no parameter found .* key 'b'; scope 'model' .* has: w"),
            ({"w": W, "c": B}, ValueError, r"no parameter found .* key 'b'; scope 'model' .* has: (w, c|c, w)"),
            ({"w": W, "b": B[:3]}, IndexError, r"'b' of .*p\.\w+ \(scope 'model'\) has 12 bytes, the program needs 16"),
            ({"w": np.ones(5, np.float32), "b": B}, IndexError, r"'w' of .* has 20 bytes, the program needs 16"),
        ],
        ids=["missing", "of another name", "smaller", "larger"],
    )
    def test_parameter(self, device: str, form: str, arrays: dict, kind: type, text: str, tmp_path: Path):
        opened = rt.HalDevice.open(device, group_count=1)
        bad, right = tmp_path / f"p.{form}", tmp_path / f"right.{form}"
        FORMATS[form](bad, arrays)
        FORMATS[form](right, {"w": W, "b": B})
        np.testing.assert_array_equal(np.asarray(self.load(opened, right).forward(W)), W * W + B)
        gc.collect()
        before = descriptors(), live(opened)
        for _ in range(3):
            with pytest.raises(kind, match=text):
                self.load(opened, bad)
        assert (descriptors(), live(opened)) == before
        assert maps(bad) == 0
        np.testing.assert_array_equal(np.asarray(self.load(opened, right).forward(W)), W * W + B)

    def test_tool(self, device: str, form: str, good: dict[str, bytes], tmp_path: Path):
        (tmp_path / "net.vmfb").write_bytes(iree_module(WEIGHTS))
        path = tmp_path / f"cut.{form}"
        path.write_bytes(good[form][:40])
        done = ours(
            "run-module", f"--module={tmp_path}/net.vmfb", f"--device={device}", "--input=4xf32=1",
            f"--parameters=model={path}",
        )  # fmt: skip
        assert done.code == 1
        assert f"cannot load {path}" in done.err
        assert "Traceback" not in done.err


def gguf_table(*tensors: tuple[str, int, int]) -> bytes:
    """A file of f32 vectors: name, elements, offset in the data, of which there are 128 bytes."""
    table = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 0)
    for name, elements, offset in tensors:
        table += struct.pack("<Q", len(name)) + name.encode()
        table += struct.pack("<IQIQ", 1, elements, 0, offset)
    return table + bytes(-len(table) % 32) + bytes(128)


def safetensors_table(header: str, size: int) -> bytes:
    return struct.pack("<Q", len(header)) + header.encode() + bytes(size)


TENSOR = '{{"dtype": "F32", "shape": [2], "data_offsets": [{}, {}]}}'


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("twice.safetensors", safetensors_table(f'{{"a": {TENSOR.format(0, 8)}, "a": {TENSOR.format(8, 16)}}}', 16),
         r'two parameters are called "a": bytes \[131, 139\) and bytes \[139, 147\)'),
        ("over.safetensors", safetensors_table(f'{{"a": {TENSOR.format(0, 8)}, "b": {TENSOR.format(4, 12)}}}', 16),
         r'parameters "a" and "b" overlap: bytes \[131, 139\) and \[135, 143\) of the file'),
        ("same.safetensors", safetensors_table(f'{{"b": {TENSOR.format(0, 8)}, "a": {TENSOR.format(0, 8)}}}', 16),
         'parameters "a" and "b" overlap'),
        ("twice.gguf", gguf_table(("a", 2, 0), ("a", 2, 32)), 'two parameters are called "a": bytes'),
        ("over.gguf", gguf_table(("a", 16, 0), ("b", 2, 32)), r'parameters "a" and "b" overlap: bytes \[96, 160\) and'),
    ],
)  # fmt: skip
def test_names_and_bytes_are_apart(name: str, data: bytes, text: str, tmp_path: Path):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ValueError, match=text) as caught:
        rt.ParameterIndex().load(str(path))
    assert str(caught.value).startswith(f"cannot load {path}: ")


def test_names_and_bytes_are_apart_in_irpa(tmp_path: Path):
    path = tmp_path / "x.irpa"
    irpa(path, {"a": W, "b": B})
    data, index = path.read_bytes(), rt.ParameterIndex()
    index.load(str(path))
    (_, first), (_, second) = (entry.file_storage for _, entry in index.items())
    path.write_bytes(data.replace(b"ab", b"aa", 1))
    with pytest.raises(ValueError, match='two parameters are called "a"'):
        rt.ParameterIndex().load(str(path))
    # The offset of the second in the storage segment, which begins at the first.
    at = data.rfind(struct.pack("<QQ", second - first, 16))
    path.write_bytes(data[:at] + struct.pack("<QQ", 8, 16) + data[at + 16 :])
    with pytest.raises(ValueError, match=rf'"a" and "b" overlap: bytes \[{first}, {first + 16}\) and \[{first + 8}'):
        rt.ParameterIndex().load(str(path))
