"""Cases of instructions on buffers and lists."""

# ruff: noqa: E501 - Assembly in one line a function reads better than broken up.

from __future__ import annotations

import itertools
from collections.abc import Iterator

from isa.cases import EDGES, FEW, OUTSIDE, Case
from isa.scenario_text import INDICES, KINDS, OFFSETS, SMALL, WIDE, case, inward, outward, pair, register

ELEMENTS = (("i8", "i", 1), ("i16", "i", 2), ("i32", "i", 4), ("i64", "I", 8), ("f32", "f", 4), ("f64", "F", 8))
MAKE = "%i20:21 = vm.const.i64 16\n%i22 = vm.const.i32 16\n%i23 = vm.const.i32 165\n%i24:25 = vm.const.i64.zero\n%r0 = vm.buffer.alloc %i20:21, %i22\n"
FILLED = f"{MAKE}vm.buffer.fill.i8 %r0, %i24:25, %i20:21, %i23\n"
HASH = "%i30:31 = vm.buffer.length %r0\n%i30:31 = vm.buffer.hash %r0, %i24:25, %i30:31\nvm.discard.refs %r0, %r1\nvm.return %i30:31"
READ_ONLY = "%r0 = vm.const.ref.rodata 0\n"
NULL = "%r0 = vm.const.ref.zero\n"


def buffers() -> Iterator[Case]:
    offsets = tuple((o,) for o in OFFSETS)
    for t, kind, _ in ELEMENTS:
        out = OUTSIDE[kind]
        loads = [f"buffer.load.{t}.u", f"buffer.load.{t}.s"] if t in ("i8", "i16") else [f"buffer.load.{t}"]
        for load in loads:
            body = f"{READ_ONLY}{register(kind, 8)} = vm.{load} %r0, %i0:1\nvm.discard.refs %r0\n{outward(kind, 8, 10)}"
            yield case(load, "I", out, body, offsets)
            body = f"{FILLED}{register(kind, 8)} = vm.{load} %r0, %i0:1\nvm.discard.refs %r0\n{outward(kind, 8, 10)}"
            yield case(load, "I", out, body, offsets, ".filled")
            yield case(
                load,
                "I",
                out,
                f"{NULL}{register(kind, 8)} = vm.{load} %r0, %i0:1\n{outward(kind, 8, 10)}",
                ((0,),),
                ".null",
            )
        store = f"{inward(kind, 2, 8)}\nvm.buffer.store.{t} {register(kind, 8)}, %r0, %i0:1\n"
        yield case(f"buffer.store.{t}", f"I{out}", "I", FILLED + store + HASH, pair(OFFSETS, FEW[kind]))
        yield case(
            f"buffer.store.{t}", f"I{out}", "I", READ_ONLY + store + HASH, pair([0, 99], FEW[kind][:1]), ".read_only"
        )
        yield case(f"buffer.store.{t}", f"I{out}", "I", NULL + store + HASH, pair([0], FEW[kind][:1]), ".null")
        fill = f"{inward(kind, 4, 8)}\nvm.buffer.fill.{t} %r0, %i0:1, %i2:3, {register(kind, 8)}\n"
        yield case(f"buffer.fill.{t}", f"II{out}", "I", FILLED + fill + HASH, pair(SMALL, SMALL, FEW[kind][-3:]))
        yield case(
            f"buffer.fill.{t}",
            f"II{out}",
            "I",
            READ_ONLY + fill + HASH,
            pair([0, 99], [1], FEW[kind][:1]),
            ".read_only",
        )
        yield case(f"buffer.fill.{t}", f"II{out}", "I", NULL + fill + HASH, pair([0], [0], FEW[kind][:1]), ".null")


def byte_ranges() -> Iterator[Case]:
    lengths = [0, 1, 5, 4096, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
    alignments = [0, 1, 2, 3, 16, 64, 4096, 12288, 2**31, 2**32 - 1]
    body = "%r0 = vm.buffer.alloc %i0:1, %i2\n%i8:9 = vm.buffer.length %r0\nvm.discard.refs %r0\nvm.return %i8:9"
    yield case("buffer.alloc", "Ii", "I", body, pair(lengths, alignments))
    yield case("buffer.length", "Ii", "I", body, pair(lengths[:4], [0, 16]))
    yield case("buffer.length", "", "I", f"{NULL}%i8:9 = vm.buffer.length %r0\nvm.return %i8:9", ((),), ".null")
    clone = "%r1 = vm.buffer.clone %r0, %i0:1, %i2:3, %i4\nvm.discard.refs %r0\n%r0 = vm.assign.ref %R1\n"
    zero = "%i24:25 = vm.const.i64.zero\n"
    # A clone may be written, its source not.
    wrote = "%i23 = vm.const.i32 165\nvm.buffer.fill.i8 %r0, %i24:25, %i24:25, %i23\n"
    yield case("buffer.clone", "IIi", "I", zero + READ_ONLY + clone + wrote + HASH, pair(SMALL, SMALL, [0, 3, 16]))
    yield case("buffer.clone", "IIi", "I", zero + NULL + clone + HASH, pair([0], [0], [0]), ".null")
    ranges = pair(SMALL[:6] + SMALL[-1:], SMALL[:6] + SMALL[-2:], [0, 1, 3, 16, 17, 2**64 - 1])
    other = "%r1 = vm.const.ref.rodata 0\n"
    yield case(
        "buffer.copy", "III", "I", f"{FILLED}{other}vm.buffer.copy %r1, %i0:1, %r0, %i2:3, %i4:5\n{HASH}", ranges
    )
    overlap = f"{FILLED}vm.buffer.store.i8 %i24, %r0, %i24:25\nvm.buffer.copy %r0, %i0:1, %r0, %i2:3, %i4:5\n{HASH}"
    yield case("buffer.copy", "III", "I", overlap, ranges, ".overlap")
    yield case(
        "buffer.copy",
        "III",
        "I",
        f"{FILLED}{other}vm.buffer.copy %r0, %i0:1, %r1, %i2:3, %i4:5\n{HASH}",
        ((0, 0, 1), (0, 0, 99)),
        ".read_only",
    )
    yield case(
        "buffer.copy",
        "III",
        "I",
        f"{FILLED}vm.buffer.copy %r0, %i0:1, %r1, %i2:3, %i4:5\n{HASH}",
        ((0, 0, 1),),
        ".null",
    )
    compare = f"{FILLED}{other}vm.buffer.copy %r1, %i24:25, %r0, %i24:25, %i20:21\n%i8 = vm.buffer.compare %r0, %i0:1, %r1, %i2:3, %i4:5\nvm.discard.refs %r0, %r1\nvm.return %i8"
    yield case("buffer.compare", "III", "i", compare, ranges)
    yield case(
        "buffer.compare",
        "III",
        "i",
        f"{NULL}{other}%i8 = vm.buffer.compare %r0, %i0:1, %r1, %i2:3, %i4:5\nvm.return %i8",
        ((0, 0, 0),),
        ".null",
    )
    hashed = f"{READ_ONLY}%i8:9 = vm.buffer.hash %r0, %i0:1, %i2:3\nvm.discard.refs %r0\nvm.return %i8:9"
    yield case("buffer.hash", "II", "I", hashed, pair(SMALL, SMALL))
    yield case(
        "buffer.hash", "II", "I", f"{NULL}%i8:9 = vm.buffer.hash %r0, %i0:1, %i2:3\nvm.return %i8:9", ((0, 0),), ".null"
    )


def three(element: str) -> str:
    return f"%i20 = vm.const.i32 3\n%r0 = vm.list.alloc %i20 : !vm.list<{element}>\nvm.list.resize %r0, %i20\n"


def lists() -> Iterator[Case]:
    counts = tuple((c,) for c in (0, 1, 5, 2**31, 2**32 - 1))
    size = "%i8 = vm.list.size %r0\nvm.discard.refs %r0\nvm.return %i8"
    for element in ("i8", "f64", "!vm.buffer", "!vm.opaque"):
        yield case(
            "list.alloc",
            "i",
            "i",
            f"%r0 = vm.list.alloc %i0 : !vm.list<{element}>\n{size}",
            counts[:3],
            f".{element.strip('!')}",
        )
        yield case(
            "list.reserve",
            "i",
            "i",
            f"{three(element)}vm.list.reserve %r0, %i0\n{size}",
            counts,
            f".{element.strip('!')}",
        )
        yield case(
            "list.resize",
            "i",
            "i",
            f"{three(element)}vm.list.resize %r0, %i0\n{size}",
            counts,
            f".{element.strip('!')}",
        )
    yield case("list.size", "", "i", three("i32") + size, ((),))
    for name, line in (
        ("list.size", "%i8 = vm.list.size %r0"),
        ("list.resize", "vm.list.resize %r0, %i0"),
        ("list.reserve", "vm.list.reserve %r0, %i0"),
    ):
        yield case(name, "i", "i", f"{NULL}{line}\nvm.return %i8", ((0,),), ".null")
        yield case(name, "i", "i", f"{READ_ONLY}{line}\nvm.return %i8", ((0,),), ".buffer")
    for t, kind in KINDS.items():
        out = OUTSIDE[kind]
        at = 2 if kind in WIDE else 1
        for element in ("i8", "i16", "i32", "i64", "f32", "f64", "!vm.opaque", "!vm.buffer"):
            suffix = "" if element == t else f".in_{element.strip('!')}"
            move = f"{inward(kind, 0, 8)}\nvm.list.set.{t} %r0, %i{at}, {register(kind, 8)}\n"
            move += f"{register(kind, 10)} = vm.list.get.{t} %r0, %i{at}\nvm.discard.refs %r0\n{outward(kind, 10, 12)}"
            values = EDGES[kind] if element == t else FEW[kind]
            calls = (*pair(values, [1]), *pair(FEW[kind][:2], INDICES))
            yield case(f"list.set.{t}", out + "i", out, three(element) + move, calls, suffix)
            get = f"{three(element)}{register(kind, 10)} = vm.list.get.{t} %r0, %i0\nvm.discard.refs %r0\n{outward(kind, 10, 12)}"
            yield case(f"list.get.{t}", "i", out, get, tuple((i,) for i in INDICES), suffix)
        null = f"{NULL}{register(kind, 10)} = vm.list.get.{t} %r0, %i0\n{outward(kind, 10, 12)}"
        yield case(f"list.get.{t}", "i", out, null, ((0,),), ".null")
        yield case(
            f"list.set.{t}",
            "i",
            "i",
            f"{NULL}vm.list.set.{t} %r0, %i0, {register(kind, 10)}\nvm.return %i0",
            ((0,),),
            ".null",
        )


def list_references() -> Iterator[Case]:
    indices = tuple((i,) for i in INDICES)
    put = "%r1 = vm.const.ref.rodata 0\nvm.list.set.ref %r0, %i0, {source}\n"
    tell = "%i1 = vm.cmp.nz.ref %r1\n%i2 = vm.cmp.nz.ref %r2\n%i3 = vm.cmp.nz.ref %r3\nvm.discard.refs %r0, %r1, %r2, %r3\nvm.return %i1, %i2, %i3"
    for element in ("!vm.buffer", "!vm.opaque", "!vm.list<i32>", "i32"):
        name = f".{element.strip('!').removesuffix('<i32>')}"
        get = "%r2 = vm.list.get.ref %r0, %i0 : !vm.buffer\n%r3 = vm.list.get.ref %r0, %i0 : !vm.list<i32>\n"
        yield case("list.set.ref", "i", "iii", three(element) + put.format(source="%r1") + get + tell, indices, name)
        # Moved in, moved out, and what is left.
        moved = "%R2 = vm.list.get.ref %r0, %i0 : !vm.buffer\n%r3 = vm.list.get.ref %r0, %i0 : !vm.opaque\n"
        yield case("list.get.ref", "i", "iii", three(element) + put.format(source="%R1") + moved + tell, indices, name)
        yield case("list.get.ref", "i", "iii", three(element) + get + tell, indices, f"{name}.unset")
    number = "vm.list.set.i32 %r0, %i20, %i0\n".replace("%i20", "%i0")
    yield case(
        "list.get.ref",
        "i",
        "iii",
        f"{three('!vm.opaque')}{number}%r2 = vm.list.get.ref %r0, %i0 : !vm.opaque\n{tell}",
        indices,
        ".number",
    )
    yield case(
        "list.get.ref", "i", "iii", f"{NULL}%r2 = vm.list.get.ref %r0, %i0 : !vm.opaque\n{tell}", ((0,),), ".null"
    )
    yield case("list.set.ref", "i", "iii", f"{NULL}vm.list.set.ref %r0, %i0, %r1\n{tell}", ((0,),), ".null")
    yield from _onto_the_list()


def _onto_the_list() -> Iterator[Case]:
    """The register of the list gets an element, which may end the list."""
    end = "%r5 = vm.list.alloc %i20 : !vm.list<i32>\nvm.list.resize %r5, %i20\n%i8 = vm.cmp.nz.ref %r0\n"
    end += "vm.discard.refs %r0, %r1, %r4, %r5\nvm.return %i8"
    for element, move in itertools.product(("!vm.buffer", "!vm.opaque"), "rR"):
        # Large, and with a neighbour, so that IREE's allocator notices what is written to freed memory.
        lists = "".join(
            f"%r{number} = vm.list.alloc %i20 : !vm.list<{element}>\nvm.list.resize %r{number}, %i20\n"
            for number in (0, 4)
        )
        body = f"%i20 = vm.const.i32 200\n{lists}%r1 = vm.const.ref.rodata 0\n{{}}"
        body += f"%{move}0 = vm.list.get.ref %r0, %i0 : !vm.buffer\n{end}"
        name = f".{element.removeprefix('!vm.')}.{'kept' if move == 'r' else 'moved'}"
        for filled, put in (("unset", ""), ("set", "vm.list.set.ref %r0, %i0, %r1\n")):
            yield case("list.get.ref", "i", "i", body.format(put), ((0,), (7,), (200,)), f".onto{name}.{filled}")
