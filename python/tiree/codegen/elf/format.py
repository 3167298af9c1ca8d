"""Numbers and record layouts of ELF, as far as objects from LLVM and executable images use them."""

from __future__ import annotations

import struct
from dataclasses import dataclass

ET_REL, ET_DYN = 1, 3
EM_386, EM_ARM, EM_X86_64, EM_AARCH64, EM_RISCV = 3, 40, 62, 183, 243
PT_LOAD, PT_DYNAMIC = 1, 2
PF_X, PF_W, PF_R = 1, 2, 4
SHT_NULL, SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_NOBITS, SHT_REL = 0, 1, 2, 3, 4, 8, 9
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR = 1, 2, 4
SHN_UNDEF, SHN_ABS, SHN_COMMON = 0, 0xFFF1, 0xFFF2
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION = 0, 1, 2, 3
DT_NULL, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_RELAENT = 0, 4, 5, 6, 7, 8, 9
DT_STRSZ, DT_SYMENT, DT_REL, DT_RELSZ, DT_RELENT = 10, 11, 17, 18, 19


@dataclass(frozen=True)
class ElfClass:
    """Record layouts of the 64-bit or 32-bit form, little-endian."""

    bits: int

    @property
    def header_bytes(self) -> int:
        return 64 if self.bits == 64 else 52

    @property
    def program_header_bytes(self) -> int:
        return 56 if self.bits == 64 else 32

    @property
    def section_header_bytes(self) -> int:
        return 64 if self.bits == 64 else 40

    @property
    def symbol_bytes(self) -> int:
        return 24 if self.bits == 64 else 16

    @property
    def word_bytes(self) -> int:
        return self.bits // 8

    def header(self, machine: int, flags: int, phnum: int, shoff: int, shnum: int, shstrndx: int) -> bytes:
        """The file header of a shared object whose program headers follow it."""
        ident = bytes([0x7F, 0x45, 0x4C, 0x46, 2 if self.bits == 64 else 1, 1, 1]) + bytes(9)
        form = "<HHIQQQIHHHHHH" if self.bits == 64 else "<HHIIIIIHHHHHH"
        sizes = (self.header_bytes, self.program_header_bytes, phnum, self.section_header_bytes, shnum, shstrndx)
        return ident + struct.pack(form, ET_DYN, machine, 1, 0, self.header_bytes, shoff, flags, *sizes)

    def program_header(self, type: int, flags: int, offset: int, size: int, align: int) -> bytes:
        """A segment at the same offset in file and memory."""
        if self.bits == 64:
            return struct.pack("<IIQQQQQQ", type, flags, offset, offset, offset, size, size, align)
        return struct.pack("<IIIIIIII", type, offset, offset, offset, size, size, flags, align)

    def zeroed_segment(self, flags: int, address: int, size: int, align: int) -> bytes:
        """A segment of zeros that takes no bytes in the file."""
        if self.bits == 64:
            return struct.pack("<IIQQQQQQ", PT_LOAD, flags, 0, address, address, 0, size, align)
        return struct.pack("<IIIIIIII", PT_LOAD, 0, address, address, 0, size, flags, align)

    def section_header(
        self, name: int, type: int, flags: int, offset: int, size: int, link: int = 0, info: int = 0, entry: int = 0
    ) -> bytes:
        form = "<IIQQQQIIQQ" if self.bits == 64 else "<IIIIIIIIII"
        address = offset if flags & SHF_ALLOC else 0
        align = 1 if type else 0
        return struct.pack(form, name, type, flags, address, offset, size, link, info, align, entry)

    def symbol(self, name: int, info: int, section: int, value: int, size: int) -> bytes:
        if self.bits == 64:
            return struct.pack("<IBBHQQ", name, info, 0, section, value, size)
        return struct.pack("<IIIBBH", name, value, size, info, 0, section)

    def dynamic(self, tag: int, value: int) -> bytes:
        return struct.pack("<QQ" if self.bits == 64 else "<II", tag, value)
