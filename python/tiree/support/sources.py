"""The bytes of input files: read, or mapped where they are large; and what a file is that is no text of a module."""

from __future__ import annotations

import mmap
import os
from typing import BinaryIO

from tiree.support.errors import CompileError, Diagnostic

Data = bytes | mmap.mmap
"""A file's bytes. A map has `find`, slices and a length as bytes have."""

_MAPPED_FROM = 1 << 20
"""Smaller files are read: a map is not worth its pages, and may change while it is read."""

_RUN = "Run it with tiree-run-module --module=FILE."
_KINDS: tuple[tuple[int, bytes, str, str], ...] = (
    (8, b"IREE", "a compiled module", _RUN),
    (4, b"TFL3", "a TensorFlow Lite model", "Convert it to StableHLO text first."),
    (0, b"BC\xc0\xde", "LLVM bitcode", ""),
    (0, b"\x7fELF", "an ELF file", ""),
    (0, b"\x93NUMPY", "a NumPy array", "Arrays are given to tiree-run-module, with --input=@FILE."),
    (0, b"GGUF", "a GGUF model", "It holds weights only; the program must be MLIR text."),
    (0, b"PK\x03\x04", "a ZIP file", ""),
)
"""Place, bytes, what a file with them is, and what to do."""


def open_source(path: str) -> Data:
    """The contents of a file. Raises `OSError`."""
    with open(path, "rb") as file:
        return contents_of(file)


def contents_of(file: BinaryIO) -> Data:
    """All of an open file, which may be closed then."""
    size = os.fstat(file.fileno()).st_size
    if size < _MAPPED_FROM:
        file.seek(0)
        return file.read()
    return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)


def give_back(data: Data) -> None:
    """Lets the system drop the pages of a map, which it reads from the file again if somebody asks."""
    if isinstance(data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        data.madvise(mmap.MADV_DONTNEED)


def is_onnx(data: Data, name: str) -> bool:
    """Whether a file is an ONNX model: it is called so, and begins as they do, with the number of their format."""
    return name.endswith(".onnx") and data[:1] == b"\x08"


def check_text(data: Data, name: str) -> None:
    """Raises `CompileError` for a file that is empty or surely no text, saying what it is."""
    head = data[:4096]
    if len(data) <= len(head) and not head.strip():
        raise CompileError(Diagnostic("the input is empty", name, "Give the text of an MLIR module."))
    if head.startswith(b"PK") and b"module.fb" in head[:64]:
        raise CompileError(Diagnostic("this is a compiled module, not MLIR text", name, _RUN))
    for place, mark, what, hint in _KINDS:
        if head[place : place + len(mark)] == mark:
            raise CompileError(Diagnostic(f"this is {what}, not MLIR text", name, hint))
    if b"\0" in head or name.endswith(".onnx"):
        what = "an ONNX model" if name.endswith(".onnx") else "a binary file"
        hint = "tiree-compile reads it; tiree-import-onnx writes it as text." if name.endswith(".onnx") else ""
        raise CompileError(Diagnostic(f"this is {what}, not MLIR text", name, hint))
