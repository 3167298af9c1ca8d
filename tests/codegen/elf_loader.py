"""Loads an executable image as the runtime would, in this process, and calls its kernels on numpy arrays.

Written from the loader's rules, not from the linker: it reads headers, dynamic entries and relocations afresh and
checks what the real loader checks, so that an image which it takes is one that the runtime takes.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CANARY = 0xA5
PAD = 128


@dataclass(frozen=True)
class KernelEntry:
    name: str
    address: int
    local_memory_pages: int
    constants: int
    bindings: int


class Image:
    """A loaded image; x86-64 only. `kernels` maps names to entries.

    `features` is the word of processor data that the image finds: what the CPU that loads it is said to have.
    """

    def __init__(self, data: bytes, features: int = 0) -> None:
        self.environment = ctypes.create_string_buffer(struct.pack("<32xQ", features), 96)
        assert data[:7] == b"\x7fELF\x02\x01\x01"
        kind, machine, version = struct.unpack_from("<HHI", data, 16)
        assert (kind, machine, version) == (3, 62, 1)
        phoff, shoff = struct.unpack_from("<QQ", data, 32)
        ehsize, phentsize, phnum, shentsize, shnum, _ = struct.unpack_from("<HHHHHH", data, 52)
        assert (ehsize, phentsize, shentsize) == (64, 56, 64)
        assert phnum
        assert shnum
        assert shoff + shnum * 64 <= len(data)
        headers = [struct.unpack_from("<IIQQQQQQ", data, phoff + i * 56) for i in range(phnum)]
        loads = [h for h in headers if h[0] == 1]
        assert all(not (h[1] & 2 and h[1] & 1) for h in loads), "a segment is writable and executable"
        span = max(h[3] + h[6] for h in loads)
        self.memory = mmap.mmap(-1, max(span, 1), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        for _, _, offset, address, _, filesz, _, _ in loads:
            assert offset + filesz <= len(data)
            self.memory[address : address + filesz] = data[offset : offset + filesz]
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self._relocate(next(h for h in headers if h[0] == 2))
        self.kernels = self._query()

    def _read(self, form: str, offset: int) -> tuple:
        return struct.unpack_from(form, self.memory, offset)

    def _relocate(self, dynamic: tuple) -> None:
        tags: dict[int, int] = {}
        for at in range(dynamic[3], dynamic[3] + dynamic[6], 16):
            tag, value = self._read("<QQ", at)
            tags.setdefault(tag, value)
        self.tags = tags
        assert {4, 5, 6, 10} <= set(tags), "missing .dynsym/.dynstr/hash"
        assert tags[11] == 24
        count = self._read("<II", tags[4])[1]
        self.symbols: dict[str, int] = {}
        for i in range(1, count):
            name, info, _, section, value, _ = self._read("<IBBHQQ", tags[6] + 24 * i)
            assert section != 0, "imports a symbol"
            assert info >> 4 in (1, 2)
            start = tags[5] + name
            self.symbols[self.memory[start : self.memory.find(b"\0", start)].decode()] = value
        if tags.get(8):
            assert tags[9] == 24
            for at in range(tags[7], tags[7] + tags[8], 24):
                offset, info, addend = self._read("<QQq", at)
                assert info == 8, f"relocation {info} is not RELATIVE"
                struct.pack_into("<Q", self.memory, offset, self.base + addend)

    def _query(self) -> dict[str, KernelEntry]:
        query_type = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)
        query = query_type(self.base + self.symbols["iree_hal_executable_library_query"])
        environment = ctypes.addressof(self.environment)
        assert query(5, environment) is None
        library = query(6, environment)
        assert library, "the image has no kernels for this CPU"

        def at(address: int, form: str) -> tuple:
            return struct.unpack(form, ctypes.string_at(address, struct.calcsize(form)))

        header = at(library, "<Q")[0]
        version, name, features, sanitizer = at(header, "<I4xQII")
        assert (version, features, sanitizer) == (6, 0, 0)
        self.name = ctypes.string_at(name).decode()
        count, functions, attributes, params, _, names = at(library + 24, "<I4xQQQQQ")
        assert params == 0
        places, stages = at(library + 88, "<QQ")
        source_count, files = at(library + 112, "<I4xQ")

        def place(address: int) -> tuple[str, int]:
            line, length, path = at(address, "<IIQ")
            return ctypes.string_at(path, length).decode(), line

        self.places: dict[str, tuple[str, int]] = {}
        self.stages: dict[str, dict[str, tuple[str, int]]] = {}
        self.sources: dict[str, str] = {}
        for i in range(source_count):
            length, path, size, content = at(files + 32 * i, "<I4xQI4xQ")
            self.sources[ctypes.string_at(path, length).decode()] = ctypes.string_at(content, size).decode()
        kernels = {}
        for i in range(count):
            flags, pages, constants, bindings, x, y, z, _ = at(attributes + 64 * i, "<QHBBIIHH")
            assert (flags, x, y, z) == (0, 1, 1, 1)
            text = ctypes.string_at(at(names + 8 * i, "<Q")[0]).decode()
            kernels[text] = KernelEntry(text, at(functions + 8 * i, "<Q")[0], pages, constants, bindings)
            if places:
                self.places[text] = place(places + 16 * i)
            if stages:
                stage_count, stage_names, stage_places = at(stages + 24 * i, "<I4xQQ")
                self.stages[text] = {
                    ctypes.string_at(at(stage_names + 8 * k, "<Q")[0]).decode(): place(stage_places + 16 * k)
                    for k in range(stage_count)
                }
        return kernels

    def run(
        self,
        name: str,
        bindings: Sequence[np.ndarray],
        workgroups: tuple[int, int, int] = (1, 1, 1),
        constants: Sequence[int] = (),
    ) -> None:
        """Runs every workgroup of a dispatch; results are written into the arrays of `bindings`.

        Bytes before and after each array are checked: a kernel that writes outside its binding fails here.
        """
        kernel = self.kernels[name]
        assert len(bindings) == kernel.bindings, f"{name} takes {kernel.bindings} bindings"
        assert len(constants) == kernel.constants, f"{name} takes {kernel.constants} constants"
        buffers = [_Padded(array) for array in bindings]
        pointers = (ctypes.c_void_p * max(1, len(buffers)))(*(b.address for b in buffers))
        lengths = (ctypes.c_size_t * max(1, len(buffers)))(*(a.nbytes for a in bindings))
        words = (ctypes.c_uint32 * max(1, len(constants)))(*constants)
        x, y, z = workgroups
        counts = (len(constants), x, y, z, 1, len(bindings))
        state = struct.pack("<IIHHIIHBB4x", 1, 1, 1, *counts)[:24]
        state += struct.pack("<QQQ", ctypes.addressof(words), ctypes.addressof(pointers), ctypes.addressof(lengths))
        local = ctypes.create_string_buffer(kernel.local_memory_pages * 4096 + 64)
        local_address = -(-ctypes.addressof(local) // 64) * 64
        function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p)(kernel.address)
        for k in range(z):
            for j in range(y):
                for i in range(x):
                    group = struct.pack("<IIHHIQI", i, j, k, 0, 0, local_address, kernel.local_memory_pages * 4096)
                    status = function(self.environment.raw, state, group)
                    assert status == 0
        for i, (array, buffer) in enumerate(zip(bindings, buffers, strict=True)):
            buffer.check(f"{name}: binding {i}")
            if array.flags.writeable:
                array[...] = buffer.view


class _Padded:
    """A copy of an array, 64-byte aligned, between canaries."""

    def __init__(self, array: np.ndarray) -> None:
        size = array.nbytes
        self.raw = np.full(size + 2 * PAD + 64, CANARY, np.uint8)
        start = (-(self.raw.ctypes.data + PAD) % 64) + PAD
        self.start, self.end = start, start + size
        self.view = self.raw[start : start + size].view(array.dtype).reshape(array.shape)
        self.view[...] = array
        self.address = self.raw.ctypes.data + start

    def check(self, what: str) -> None:
        outside = np.concatenate([self.raw[: self.start], self.raw[self.end :]])
        assert (outside == CANARY).all(), f"{what}: bytes outside the binding were written"
