"""The archive: ZIP dress, alignment, checksums, and identical bytes for identical modules."""

import io
import re
import struct
import zipfile
import zlib
from dataclasses import replace

from tiree.dialects import get_context, read_module
from tiree.support.options import CompileOptions
from tiree.vm import emit_archive, vm_passes

MODULE = """
"builtin.module"() ({
  "util.global"() <{sym_name = "data", sym_visibility = "private", type = !util.buffer}> : () -> ()
  "util.initializer"() <{function_type = () -> ()}> ({
    %0 = "util.buffer.constant"() <{alignment = 64 : index, value = dense<7> : tensor<5000xi8>}> : () -> !util.buffer
    "util.global.store"(%0) <{global = @data}> : (!util.buffer) -> ()
    "util.return"() : () -> ()
  }) : () -> ()
  "util.func"() <{function_type = (i32) -> i32, sym_name = "double"}> ({
  ^bb0(%arg0: i32):
    %0 = "arith.addi"(%arg0, %arg0) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    "util.return"(%0) : (i32) -> ()
  }) : () -> ()
}) : () -> ()
"""


def emit(text: str = MODULE, **changes: object) -> bytes:
    options = replace(CompileOptions(), **changes)  # pyright: ignore[reportArgumentType]
    context = get_context()
    module = read_module(text, context)
    for p in vm_passes(options):
        p.apply(context, module)
    return emit_archive(module, options)


def test_polyglot_is_a_valid_zip() -> None:
    data = emit()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["module.fb", "_const.bin"]
        assert archive.read("_const.bin") == bytes([7]) * 5000


def test_big_constants_are_aligned_in_the_file() -> None:
    for polyglot in (False, True):
        data = emit(vm_emit_polyglot_zip=polyglot)
        assert data.index(bytes([7]) * 5000) % 64 == 0


def test_checksums_cover_bytecode_and_flatbuffer() -> None:
    data = emit(vm_emit_polyglot_zip=False)
    digest = re.search(rb"bc:([0-9a-f]{8}).*?,fb:([0-9a-f]{8})", data)
    assert digest
    size = struct.unpack_from("<I", data)[0]
    flatbuffer = bytearray(data[4 : 4 + size])
    flatbuffer[digest.start(2) - 4 : digest.end(2) - 4] = b"0" * 8
    assert f"{zlib.crc32(flatbuffer):08x}".encode() == digest[2]


def test_same_module_same_bytes() -> None:
    assert emit() == emit()


def test_stripping_the_source_map_makes_the_file_smaller() -> None:
    assert len(emit(vm_strip_source_map=True)) < len(emit(vm_strip_source_map=False))
