"""The FlatBuffer writer, read back by the public `flatbuffers` package."""

import struct

import flatbuffers
import flatbuffers.table
from flatbuffers import number_types as n
from tiree.vm.flatbuffer import FlatBufferBuilder, reference, scalar


def root_table(data: bytes) -> flatbuffers.table.Table:
    """The root of a size-prefixed buffer."""
    assert struct.unpack_from("<I", data)[0] == len(data) - 4
    assert data[8:12] == b"TEST"
    return flatbuffers.table.Table(bytearray(data), 4 + struct.unpack_from("<I", data, 4)[0])


def test_scalars_strings_and_defaults() -> None:
    b = FlatBufferBuilder()
    name = b.string("naïve")
    root = b.table(reference(0, name), scalar(1, "I", 7), scalar(2, "i", 0), scalar(4, "Q", 1 << 40))
    table = root_table(b.finish(root, b"TEST"))

    assert table.String(table.Pos + table.Offset(4)).decode() == "naïve"
    assert table.Get(n.Uint32Flags, table.Pos + table.Offset(6)) == 7
    assert table.Offset(8) == 0, "a default is absent"
    assert table.Offset(10) == 0, "a field that was not given is absent"
    assert table.Get(n.Uint64Flags, table.Pos + table.Offset(12)) == 1 << 40


def test_vectors_of_tables_share_vtables() -> None:
    b = FlatBufferBuilder()
    items = [b.table(reference(0, b.string(s)), scalar(1, "H", i + 1)) for i, s in enumerate(["a", "b", "a"])]
    root = b.table(reference(0, b.offset_vector(items)))
    data = b.finish(root, b"TEST")
    table = root_table(data)

    start, vtables = table.Vector(table.Offset(4)), set()
    assert table.VectorLen(table.Offset(4)) == 3
    for i, text in enumerate(["a", "b", "a"]):
        item = flatbuffers.table.Table(table.Bytes, table.Indirect(start + 4 * i))
        assert item.String(item.Pos + item.Offset(4)).decode() == text
        assert item.Get(n.Uint16Flags, item.Pos + item.Offset(6)) == i + 1
        vtables.add(item.Pos - item.Get(n.SOffsetTFlags, item.Pos))
    assert len(vtables) == 1


def test_byte_vectors_are_aligned_from_the_size_prefix() -> None:
    for alignment in (1, 4, 16, 64):
        b = FlatBufferBuilder()
        b.string("odd")
        payload = bytes(range(37))
        vector = b.bytes_vector(payload, alignment)
        data = b.finish(b.table(reference(0, vector), scalar(1, "B", 3)), b"TEST")
        assert data.index(payload) % alignment == 0
