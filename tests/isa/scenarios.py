"""Cases of instructions on state, references, control flow and calls."""

# ruff: noqa: E501 - Assembly in one line a function reads better than broken up.

from __future__ import annotations

from collections.abc import Iterator

from isa.cases import EDGES, FEW, OUTSIDE, Case
from isa.memory_scenarios import buffers, byte_ranges, list_references, lists
from isa.scenario_text import CONDITIONS, INDICES, KINDS, WIDE, case, inward, outward, pair, register


def scenarios() -> Iterator[Case]:
    """All of them."""
    for part in (constants, state, choices, references, buffers, byte_ranges, lists, list_references, control, calls):
        yield from part()


def constants() -> Iterator[Case]:
    literals = {
        "i32": ["0", "-1", "-2147483648", "2147483647"],
        "i64": ["0", "-1", "-9223372036854775808", "9223372036854775807", "0x0123456789ABCDEF"],
        "f32": ["0", "-0", "1.5", "1e-45", "3.40282347e+38", "inf", "nan", "-nan(0x123)", "snan(0x1)"],
        "f64": ["0", "-0", "2.5", "5e-324", "1.7976931348623157e+308", "-inf", "nan", "nan(0x123456)", "snan(0x1)"],
    }
    for t, kind in KINDS.items():
        out = OUTSIDE[kind]
        for number, literal in enumerate(literals[t]):
            yield case(
                f"const.{t}",
                "",
                out,
                f"{register(kind, 2)} = vm.const.{t} {literal}\n{outward(kind, 2, 4)}",
                ((),),
                f".{number}",
            )
        yield case(f"const.{t}.zero", "", out, f"{register(kind, 2)} = vm.const.{t}.zero\n{outward(kind, 2, 4)}", ((),))
    yield case(
        "const.ref.zero",
        "",
        "i",
        "%r0 = vm.const.ref.rodata 0\n%r0 = vm.const.ref.zero\n%i0 = vm.cmp.nz.ref %r0\nvm.return %i0",
        ((),),
    )
    yield case(
        "const.ref.rodata",
        "",
        "I",
        "%r0 = vm.const.ref.rodata 0\n%i0:1 = vm.buffer.length %r0\nvm.discard.refs %r0\nvm.return %i0:1",
        ((),),
    )


def state() -> Iterator[Case]:
    for t, kind in KINDS.items():
        out = OUTSIDE[kind]
        values = [*((v,) for v in EDGES[kind])]
        body = f"{inward(kind, 0, 8)}\nvm.global.store.{t} {register(kind, 8)}, .rwdata[5]\n"
        body += f"{register(kind, 10)} = vm.global.load.{t} .rwdata[5]\n{outward(kind, 10, 12)}"
        yield case(f"global.store.{t}", out, out, body, tuple(values))
        yield case(f"global.load.{t}", out, out, body, tuple(values))
        offsets = [0, 1, 8, 9, 12, 13, 16, 2**31 - 1, 2**31, 2**32 - 8, 2**32 - 4, 2**32 - 1]
        at = 2 if kind in WIDE else 1
        body = f"{inward(kind, 0, 8)}\nvm.global.store.indirect.{t} {register(kind, 8)}, .rwdata[%i{at}]\n"
        body += f"{register(kind, 10)} = vm.global.load.indirect.{t} .rwdata[%i{at}]\n{outward(kind, 10, 12)}"
        calls = pair(FEW[kind], offsets)
        yield case(f"global.store.indirect.{t}", out + "i", out, body, calls)
        yield case(
            f"global.load.indirect.{t}",
            out + "i",
            out,
            f"{register(kind, 10)} = vm.global.load.indirect.{t} .rwdata[%i{at}]\n{outward(kind, 10, 12)}",
            calls,
        )
    same = "%i1 = vm.cmp.eq.ref %r0, %r1\nvm.discard.refs %r0, %r1\nvm.return %i1"
    yield case(
        "global.store.ref",
        "",
        "i",
        f"%r0 = vm.const.ref.rodata 0\nvm.global.store.ref %r0, .refs[1] : !vm.buffer\n%r1 = vm.global.load.ref .refs[1] : !vm.buffer\n{same}",
        ((),),
    )
    # Moved out of the register, and then out of the global.
    moved = "%r0 = vm.const.ref.rodata 0\nvm.global.store.ref %R0, .refs[0] : !vm.opaque\n%R1 = vm.global.load.ref .refs[0] : !vm.buffer\n"
    moved += "%i0 = vm.cmp.nz.ref %r0\n%i1 = vm.cmp.nz.ref %r1\n%r1 = vm.global.load.ref .refs[0] : !vm.buffer\n%i2 = vm.cmp.nz.ref %r1\n"
    yield case(
        "global.load.ref", "", "iii", f"{moved}vm.discard.refs %r0, %r1\nvm.return %i0, %i1, %i2", ((),), ".moved"
    )
    yield case(
        "global.load.ref",
        "",
        "i",
        f"%r0 = vm.const.ref.rodata 0\nvm.global.store.ref %r0, .refs[1] : !vm.buffer\n%r1 = vm.global.load.ref .refs[1] : !vm.list<i32>\n{same}",
        ((),),
        ".mismatch",
    )
    yield case(
        "global.store.ref",
        "",
        "i",
        f"%r0 = vm.const.ref.rodata 0\nvm.global.store.ref %r0, .refs[1] : !vm.list<i32>\n%r1 = vm.global.load.ref .refs[1] : !vm.buffer\n{same}",
        ((),),
        ".mismatch",
    )
    slots = tuple((s,) for s in (0, 1, 2, 2**31 - 1, 2**31, 2**32 - 1))
    yield case(
        "global.store.indirect.ref",
        "i",
        "i",
        f"%r0 = vm.const.ref.rodata 0\nvm.global.store.indirect.ref %r0, .refs[%i0] : !vm.buffer\n%r1 = vm.global.load.indirect.ref .refs[%i0] : !vm.buffer\n{same}",
        slots,
    )
    # A slot that is not there is told before a type that does not fit.
    yield case(
        "global.store.indirect.ref",
        "i",
        "i",
        f"%r0 = vm.const.ref.rodata 0\nvm.global.store.indirect.ref %r0, .refs[%i0] : !vm.list<i32>\n%r1 = vm.global.load.indirect.ref .refs[%i0] : !vm.buffer\n{same}",
        slots,
        ".mismatch",
    )
    yield case(
        "global.load.indirect.ref",
        "i",
        "i",
        f"%r0 = vm.const.ref.zero\n%R1 = vm.global.load.indirect.ref .refs[%i0] : !vm.opaque\n{same}",
        slots,
    )


def choices() -> Iterator[Case]:
    for t, kind in KINDS.items():
        out = OUTSIDE[kind]
        wide = kind in WIDE
        first, second = (2, 4) if wide else (1, 2)
        body = f"{inward(kind, first, 8)}\n{inward(kind, second, 10)}\n"
        picked = f"{register(kind, 12)} = vm.select.{t} %i0 ? {register(kind, 8)} : {register(kind, 10)}\n{outward(kind, 12, 14)}"
        yield case(f"select.{t}", f"i{out}{out}", out, body + picked, pair(CONDITIONS, FEW[kind], FEW[kind][::-1]))
        listed = f"[{register(kind, 10)}, {register(kind, 8)}, {register(kind, 8)}]"
        picked = f"{register(kind, 12)} = vm.switch.{t} %i0{listed} else {register(kind, 8)}\n{outward(kind, 12, 14)}"
        yield case(f"switch.{t}", f"i{out}{out}", out, body + picked, pair(INDICES, FEW[kind], FEW[kind][::-1]))
        picked = f"{register(kind, 12)} = vm.switch.{t} %i0[] else {register(kind, 8)}\n{outward(kind, 12, 14)}"
        yield case(
            f"switch.{t}", f"i{out}{out}", out, body + picked, pair(INDICES, FEW[kind][:2], FEW[kind][:2]), ".empty"
        )


def references() -> Iterator[Case]:
    two = "%i8:9 = vm.const.i64 4\n%i10 = vm.const.i32 0\n%r0 = vm.buffer.alloc %i8:9, %i10\n%r1 = vm.const.ref.rodata 0\n"
    tell = "%i1 = vm.cmp.nz.ref %r0\n%i2 = vm.cmp.nz.ref %r1\n%i3 = vm.cmp.nz.ref %r2\n%i4 = vm.cmp.eq.ref %r2, %r1\n"
    end = "vm.discard.refs %r0, %r1, %r2, %r3\nvm.return %i1, %i2, %i3, %i4"
    conditions = tuple((c,) for c in CONDITIONS)
    indices = tuple((i,) for i in INDICES)
    yield case(
        "select.ref", "i", "iiii", f"{two}%r2 = vm.select.ref %i0 ? %r0 : %r1 -> !vm.buffer\n{tell}{end}", conditions
    )
    yield case(
        "select.ref",
        "i",
        "iiii",
        f"{two}%r2 = vm.select.ref %i0 ? %R0 : %R1 -> !vm.opaque\n{tell}{end}",
        conditions,
        ".moved",
    )
    yield case(
        "select.ref",
        "i",
        "iiii",
        f"{two}%r2 = vm.select.ref %i0 ? %r0 : %r3 -> !vm.list<i32>\n{tell}{end}",
        conditions,
        ".mismatch",
    )
    yield case(
        "switch.ref",
        "i",
        "iiii",
        f"{two}%r2 = vm.switch.ref %i0[%r0, %r1, %r3] else %r1 -> !vm.buffer\n{tell}{end}",
        indices,
    )
    yield case(
        "switch.ref",
        "i",
        "iiii",
        f"{two}%r2 = vm.switch.ref %i0[%r0, %r1] else %R1 -> !vm.opaque\n{tell}{end}",
        indices,
        ".moved",
    )
    yield case(
        "switch.ref",
        "i",
        "iiii",
        f"{two}%r2 = vm.switch.ref %i0[%r3, %r0] else %r3 -> !vm.list<i32>\n{tell}{end}",
        indices,
        ".mismatch",
    )
    for name, source in (("", "%r1"), (".moved", "%R1"), (".null", "%r3")):
        yield case("assign.ref", "", "iiii", f"{two}%r2 = vm.assign.ref {source}\n{tell}{end}", ((),), name)
        yield case(
            "cast.any.ref",
            "",
            "iiii",
            f"{two}%r2 = vm.cast.any.ref {source} : !vm.ref<?> -> !vm.buffer\n{tell}{end}",
            ((),),
            name,
        )
    yield case(
        "cast.any.ref",
        "",
        "iiii",
        f"{two}%r2 = vm.cast.any.ref %r1 : !vm.ref<?> -> !vm.list<i32>\n{tell}{end}",
        ((),),
        ".mismatch",
    )
    compared = "%i{n} = vm.cmp.{op}.ref {a}, {b}"
    lines = [
        compared.format(n=n + 1, op=op, a=a, b=b)
        for op in ("eq",)
        for n, (a, b) in enumerate([("%r0", "%r0"), ("%r0", "%r1"), ("%r2", "%r3"), ("%r0", "%r3")])
    ]
    yield case("cmp.eq.ref", "", "iiii", two + "\n".join(lines) + f"\n{end}", ((),))
    yield case("cmp.ne.ref", "", "iiii", two + "\n".join(lines).replace("cmp.eq", "cmp.ne") + f"\n{end}", ((),))
    yield case("cmp.nz.ref", "", "iiii", f"{two}{tell}{end}", ((),))
    yield case("discard.refs", "", "iiii", f"{two}vm.discard.refs %r0, %R1\n{tell}{end}", ((),))
    for event in ("trace", "print"):
        yield case(event, "i", "iiii", f'{two}vm.{event} "event"(%i0, %r0, %R1, %i8:9)\n{tell}{end}', conditions)


def control() -> Iterator[Case]:
    conditions = tuple((c,) for c in CONDITIONS)
    yield case(
        "br", "ii", "ii", "vm.br ^bb1(%i0->%i2, %i1->%i0, %i2->%i1)\n^bb1:\nvm.return %i0, %i1", pair([1, 2], [3, 4])
    )
    swapped = "vm.br ^bb1(%i0->%i1, %i1->%i0)\n^bb1:\nvm.return %i0, %i1"
    yield case("br", "ii", "ii", swapped, pair([1, 2], [3, 4]), ".in_order")
    refs = "%r0 = vm.const.ref.rodata 0\nvm.br ^bb1(%R0->%r1, %r1->%r2)\n^bb1:\n%i0 = vm.cmp.nz.ref %r0\n%i1 = vm.cmp.nz.ref %r1\n%i2 = vm.cmp.nz.ref %r2\nvm.discard.refs %r1, %r2\nvm.return %i0, %i1, %i2"
    yield case("br", "", "iii", refs, ((),), ".refs")
    edges = "^bb1:\n%i1 = vm.const.i32 1\nvm.return %i1, %i2\n^bb2:\n%i1 = vm.const.i32 2\nvm.return %i1, %i2"
    yield case("cond_br", "i", "ii", f"vm.cond_br %i0, ^bb1(%i0->%i2), ^bb2()\n{edges}", conditions)
    yield case(
        "br_table",
        "i",
        "ii",
        f"vm.br_table %i0 {{ default: ^bb2(%i0->%i2), 0: ^bb1(), 1: ^bb2(), 2: ^bb1(%i0->%i2) }}\n{edges}",
        tuple((i,) for i in INDICES),
    )
    yield case(
        "br_table",
        "i",
        "ii",
        f"vm.br_table %i0 {{ default: ^bb2(%i0->%i2) }}\n{edges}",
        tuple((i,) for i in INDICES),
        ".empty",
    )
    yield case("break", "i", "i", "vm.break ^bb1(%i0->%i2)\n^bb1:\nvm.return %i2", conditions)
    yield case("cond_break", "i", "i", "vm.cond_break %i0, ^bb1(%i0->%i2)\n^bb1:\nvm.return %i2", conditions)
    yield case("yield", "i", "i", "vm.yield ^bb1(%i0->%i2)\n^bb1:\nvm.return %i2", conditions)
    codes = tuple((c,) for c in (*range(19), 31, 32, 64, 99, 2**31, 2**32 - 1))
    yield case("fail", "i", "i", 'vm.fail %i0, "message"\n^bb1:\nvm.return %i0', codes)
    yield case("return", "iI", "Ii", "vm.return %i2:3, %i0", pair(FEW["i"], FEW["I"]))
    yield case("return", "", "", "vm.return", ((),), ".nothing")


def calls() -> Iterator[Case]:
    values = pair(FEW["i"], FEW["I"])
    yield case("call", "iI", "I", "%i2:3 = vm.call @other.add(%i0, %i2:3)\nvm.return %i2:3", values, ".import")
    yield case("call", "iI", "Ii", "%i4:5, %i6 = vm.call @return(%i0, %i2:3)\nvm.return %i4:5, %i6", values)
    yield case("call", "", "", "vm.call @absent.function()\nvm.return", ((),), ".unresolved")
    same = "%r0 = vm.const.ref.rodata 0\n%r1 = vm.call @other.same({source})\n%i0 = vm.cmp.nz.ref %r0\n%i1 = vm.cmp.eq.ref %r0, %r1\nvm.discard.refs %r0, %r1\nvm.return %i0, %i1"
    yield case("call", "", "ii", same.format(source="%r0"), ((),), ".refs")
    yield case("call", "", "ii", same.format(source="%R0"), ((),), ".refs_moved")
    yield case(
        "call.variadic",
        "iI",
        "I",
        "%i2:3 = vm.call.variadic @other.add segments[65535, 65535](%i0, %i2:3)\nvm.return %i2:3",
        values,
    )
    yield case(
        "call.yieldable",
        "iI",
        "Ii",
        "vm.call.yieldable @return(%i0, %i2:3) -> ^bb1(%i4:5, %i6)\n^bb1:\nvm.return %i4:5, %i6",
        values,
    )
    yield case(
        "call.yieldable",
        "iI",
        "I",
        "vm.call.yieldable @other.add(%i0, %i2:3) -> ^bb1(%i4:5)\n^bb1:\nvm.return %i4:5",
        values,
        ".import",
    )
    yield case(
        "call.variadic.yieldable",
        "iI",
        "I",
        "vm.call.variadic.yieldable @other.add segments[65535, 65535](%i0, %i2:3) -> ^bb1(%i4:5)\n^bb1:\nvm.return %i4:5",
        values,
    )
    yield case(
        "import.resolved",
        "",
        "ii",
        "%i0 = vm.import.resolved @absent.function\n%i1 = vm.import.resolved @other.add\nvm.return %i0, %i1",
        ((),),
    )
