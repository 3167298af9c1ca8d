"""Runs images of other architectures in the Unicorn CPU emulator, under that architecture's calling convention."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

IMAGE, STACK, HEAP, END = 0x100000, 0x8000000, 0x4000000, 0x7000000
"""Addresses of the image, the stack's top, the arrays, and where calls return to."""


@dataclass(frozen=True)
class Machine:
    bits: int
    relative: int


MACHINES = {
    "x86_64": Machine(64, 8),
    "i386": Machine(32, 8),
    "aarch64": Machine(64, 1027),
    "arm": Machine(32, 23),
    "riscv64": Machine(64, 3),
}


def _open(arch: str) -> Any:
    """An emulator with its floating-point unit switched on."""
    import unicorn as u
    from unicorn import arm64_const, arm_const, riscv_const

    if arch in ("x86_64", "i386"):
        return u.Uc(u.UC_ARCH_X86, u.UC_MODE_64 if arch == "x86_64" else u.UC_MODE_32)
    if arch == "aarch64":
        machine = u.Uc(u.UC_ARCH_ARM64, u.UC_MODE_ARM)
        machine.reg_write(arm64_const.UC_ARM64_REG_CPACR_EL1, 3 << 20)
    elif arch == "arm":
        machine = u.Uc(u.UC_ARCH_ARM, u.UC_MODE_ARM)
        machine.ctl_set_cpu_model(arm_const.UC_CPU_ARM_CORTEX_A15)
        machine.reg_write(arm_const.UC_ARM_REG_C1_C0_2, 0xF << 20)
        machine.reg_write(arm_const.UC_ARM_REG_FPEXC, 1 << 30)
    else:
        machine = u.Uc(u.UC_ARCH_RISCV, u.UC_MODE_RISCV64)
        machine.reg_write(riscv_const.UC_RISCV_REG_MSTATUS, 1 << 13)
    return machine


class Emulated:
    """A loaded image."""

    def __init__(self, image: bytes, arch: str) -> None:
        self.arch, self.facts = arch, MACHINES[arch]
        self.word = self.facts.bits // 8
        self.machine = _open(arch)
        for base, size in ((IMAGE, 0x200000), (STACK - 0x100000, 0x200000), (HEAP, 0x1000000), (END, 0x1000)):
            self.machine.mem_map(base, size)
        self._load(image)
        self.next = HEAP

    def _load(self, image: bytes) -> None:
        wide = self.facts.bits == 64
        phoff = struct.unpack_from("<Q" if wide else "<I", image, 32 if wide else 28)[0]
        form = "<IIQQQQQQ" if wide else "<IIIIIIII"
        phnum = struct.unpack_from("<H", image, 56 if wide else 44)[0]
        headers = [struct.unpack_from(form, image, phoff + i * struct.calcsize(form)) for i in range(phnum)]
        # (type, offset, address, file size)
        parts = [(h[0], h[2], h[3], h[5]) if wide else (h[0], h[1], h[2], h[4]) for h in headers]
        for kind, offset, address, size in parts:
            if kind == 1:
                self.machine.mem_write(IMAGE + address, image[offset : offset + size])
        dynamic = next(p for p in parts if p[0] == 2)
        pair = "<QQ" if wide else "<II"
        tags = dict(struct.unpack_from(pair, image, dynamic[1] + at) for at in range(0, dynamic[3], 2 * self.word))
        entry = 24 if wide else 8
        table, size, found = (tags.get(t) for t in ((7, 8, 9) if wide else (17, 18, 19)))
        if table is None or size is None:
            table, size, found = 0, 0, entry
        assert found == entry
        for at in range(table, table + size, entry):
            place, info = struct.unpack_from(pair, image, at)
            assert info == self.facts.relative
            target = struct.unpack_from("<Q", image, at + 16)[0] if wide else self._word_at(IMAGE + place)
            self.machine.mem_write(IMAGE + place, (IMAGE + target).to_bytes(self.word, "little"))
        symbol = image[tags[6] + (24 if wide else 16) :]
        self.query = IMAGE + (
            struct.unpack_from("<Q", symbol, 8)[0] if wide else struct.unpack_from("<I", symbol, 4)[0]
        )

    def _word_at(self, address: int) -> int:
        return int.from_bytes(self.machine.mem_read(address, self.word), "little")

    def allocate(self, data: bytes) -> int:
        address = self.next
        self.next += -(-len(data) // 64) * 64 + 64
        self.machine.mem_write(address, data)
        return address

    def call(self, address: int, *arguments: int) -> int:
        """Calls a C function with up to three word arguments; returns the word result."""
        from unicorn import arm64_const, arm_const, riscv_const, x86_const

        machine, stack = self.machine, STACK
        if self.arch == "i386":
            frame = b"".join(a.to_bytes(4, "little") for a in (END, *arguments))
            stack -= 64
            machine.mem_write(stack, frame)
            machine.reg_write(x86_const.UC_X86_REG_ESP, stack)
            result = x86_const.UC_X86_REG_EAX
        elif self.arch == "x86_64":
            stack -= 64 + 8
            machine.mem_write(stack, END.to_bytes(8, "little"))
            machine.reg_write(x86_const.UC_X86_REG_RSP, stack)
            names = (x86_const.UC_X86_REG_RDI, x86_const.UC_X86_REG_RSI, x86_const.UC_X86_REG_RDX)
            result = x86_const.UC_X86_REG_RAX
            for name, argument in zip(names, arguments, strict=False):
                machine.reg_write(name, argument)
        else:
            const, first, link, pointer = {
                "aarch64": (arm64_const, "ARM64_REG_X0", "ARM64_REG_LR", "ARM64_REG_SP"),
                "arm": (arm_const, "ARM_REG_R0", "ARM_REG_LR", "ARM_REG_SP"),
                "riscv64": (riscv_const, "RISCV_REG_A0", "RISCV_REG_RA", "RISCV_REG_SP"),
            }[self.arch]
            result = getattr(const, f"UC_{first}")
            for i, argument in enumerate(arguments):
                machine.reg_write(result + i, argument)
            machine.reg_write(getattr(const, f"UC_{link}"), END)
            machine.reg_write(getattr(const, f"UC_{pointer}"), stack)
        machine.emu_start(address, END)
        return machine.reg_read(result)

    def kernels(self) -> dict[str, int]:
        """Kernel addresses by name, read from the library table."""
        assert self.call(self.query, 5, 0) == 0
        library = self.call(self.query, 6, 0)
        word = self.word
        # header*, imports {count, symbols}, exports {count, functions, attributes, parameters, occupancy, names, ...}
        exports = library + 3 * word
        count = int.from_bytes(self.machine.mem_read(exports, 4), "little")
        functions, names = self._word_at(exports + word), self._word_at(exports + 5 * word)
        found = {}
        for i in range(count):
            text = bytes(self.machine.mem_read(self._word_at(names + i * word), 64))
            found[text[: text.index(0)].decode()] = self._word_at(functions + i * word)
        return found

    def run(self, name: str, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Runs one workgroup; returns the arrays as they are afterwards."""
        form = "<Q" if self.word == 8 else "<I"
        places = [self.allocate(array.tobytes()) for array in arrays]
        pointers = self.allocate(b"".join(struct.pack(form, place) for place in places))
        lengths = self.allocate(b"".join(struct.pack(form, array.nbytes) for array in arrays))
        words = struct.pack("<IIHHIIHBB", 1, 1, 1, 0, 1, 1, 1, 1, len(arrays))
        state = self.allocate(words + b"".join(struct.pack(form, p) for p in (0, pointers, lengths)))
        group = self.allocate(bytes(64))
        environment = self.allocate(bytes(128))
        assert self.call(self.kernels()[name], environment, state, group) & 0xFFFFFFFF == 0
        read = [bytes(self.machine.mem_read(p, a.nbytes)) for p, a in zip(places, arrays, strict=True)]
        return [np.frombuffer(data, a.dtype).reshape(a.shape) for data, a in zip(read, arrays, strict=True)]
