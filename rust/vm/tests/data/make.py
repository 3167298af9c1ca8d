"""Makes the module files of this folder, and what IREE's tools say about them.

Usage: python rust/vm/tests/data/make.py   (needs iree-base-runtime, flatbuffers and tiree; the results are committed)

- every_instruction.vmfb: one function per instruction, written straight from isa/instructions.txt;
- ops.vmfb: one function per instruction that has only number registers; arguments in, result out;
- digest.vmfb: a small module with checksums;
- external.vmfb: a module by Tiree's compiler with constants behind its tables;
- broken/*.vmfb and broken.txt: modules that must not load, and why;
- *.vmfb from ../asm/*.vmasm by iree-as-module;
- *.txt and *.json beside each: the text of iree-dump-module.
"""

import itertools
import subprocess
import sys
import sysconfig
import zlib
from collections.abc import Sequence
from pathlib import Path

import flatbuffers

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
sys.path.insert(0, str(ROOT / "isa"))
import generate  # noqa: E402

BIN = Path(sysconfig.get_path("scripts"))
TYPES = ["f32", "f64", "i32", "i64", "!vm.buffer", "!vm.list<i32>", "!vm.opaque"]
IMPORTS = [("other.plain", "0irI_Ir", 1), ("other.maybe", "0v_v", 2), ("other.spans", "0iCiIDCrD_f", 1)]
RODATA = [b"hello", b"\x00\x01\x02\xff", b"a`b\n"]


class Module:
    """Builds the FlatBuffer of a module; see the container's schema for the field numbers."""

    def __init__(self) -> None:
        self.b = flatbuffers.Builder(4096)

    def table(self, *fields: tuple[int, str, object]) -> int:
        """`fields` are (slot, kind, value) with kind one of ref, u32, i32, u64, u8."""
        self.b.StartObject(max((slot for slot, _, _ in fields), default=-1) + 1)
        for slot, kind, value in fields:
            if kind == "ref":
                self.b.PrependUOffsetTRelativeSlot(slot, value, 0)
            else:
                add = {
                    "u32": self.b.PrependUint32Slot,
                    "i32": self.b.PrependInt32Slot,
                    "u64": self.b.PrependUint64Slot,
                    "u8": self.b.PrependUint8Slot,
                }[kind]
                add(slot, value, 0)
        return self.b.EndObject()

    def vector(self, offsets: list[int]) -> int:
        self.b.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.b.PrependUOffsetTRelative(offset)
        return self.b.EndVector()

    def data(self, data: bytes, alignment: int = 16) -> int:
        self.b.StartVector(1, len(data), alignment)
        self.b.head -= len(data)
        self.b.Bytes[self.b.head : self.b.head + len(data)] = data
        return self.b.EndVector()

    def text(self, text: str) -> int:
        return self.b.CreateString(text)

    def attrs(self, attrs: Sequence[tuple[str, str]]) -> int:
        return self.vector([self.table((0, "ref", self.text(k)), (1, "ref", self.text(v))) for k, v in attrs])

    def signature(self, cconv: str, attrs: Sequence[tuple[str, str]] = ()) -> int:
        fields = [(0, "ref", self.text(cconv))]
        if attrs:
            fields.append((1, "ref", self.attrs(attrs)))
        return self.table(*fields)

    def rodata(self, data: bytes) -> int:
        compression = self.table()
        return self.table((0, "u8", 1), (1, "ref", compression), (2, "ref", self.data(data)))

    def descriptors(self, functions: list[dict]) -> int:
        self.b.StartVector(20, len(functions), 4)
        for f in reversed(functions):
            self.b.Prep(4, 20)
            self.b.PrependUint16(f["refs"])
            self.b.PrependUint16(f["i32s"])
            self.b.PrependUint16(f["blocks"])
            self.b.PrependUint16(0)
            self.b.PrependUint32(f["requirements"])
            self.b.PrependUint32(f["length"])
            self.b.PrependUint32(f["offset"])
        return self.b.EndVector()


def finish(name: str, functions: list[dict], *, imports=IMPORTS, rodata=RODATA, types=TYPES, state=(64, 4), attrs=()):
    """A whole module; `functions` have code, cconv, blocks, i32s, refs, requirements, optional export and attrs."""
    m = Module()
    code = bytearray()
    for f in functions:
        code += bytes(-len(code) % 8)
        f["offset"], f["length"] = len(code), len(f["code"])
        code += f["code"]
    code += bytes(-len(code) % 8)
    exports = [(f["export"], i) for i, f in enumerate(functions) if f.get("export")]
    export_tables = [m.table((0, "ref", m.text(n)), (1, "i32", i)) for n, i in exports]
    import_tables = [
        m.table((0, "ref", m.text(n)), (1, "ref", m.signature(c)), (2, "u32", flags)) for n, c, flags in imports
    ]
    fields = [
        (0, "ref", m.text(name)),
        (1, "u32", 3),
        (2, "u32", 15),
        (4, "ref", m.vector([m.table((0, "ref", m.text(t))) for t in types])),
        (5, "ref", m.vector([m.table((0, "ref", m.text("other")), (1, "u32", 2), (2, "u32", 2))])),
        (6, "ref", m.vector(import_tables)),
        (7, "ref", m.vector(export_tables)),
        (8, "ref", m.vector([m.signature(f["cconv"], f.get("attrs", [])) for f in functions])),
        (9, "ref", m.vector([m.rodata(r) for r in rodata])),
        (11, "ref", m.table((0, "i32", state[0]), (1, "i32", state[1]))),
        (12, "ref", m.descriptors(functions)),
        (13, "u32", 17 << 16),
        (14, "ref", m.data(bytes(code), 16)),
    ]
    if attrs:
        fields.insert(3, (3, "ref", m.attrs(list(attrs))))
    m.b.FinishSizePrefixed(m.table(*fields), b"IREE")
    return bytes(m.b.Output())


REF = 0x8000
MOVE = 0x4000


def u16(value: int) -> bytes:
    return value.to_bytes(2, "little")


def u32(value: int) -> bytes:
    return value.to_bytes(4, "little")


class Function:
    """Encodes one instruction between two blocks, with registers that differ from operand to operand."""

    def __init__(self, moves: bool) -> None:
        self.code = bytearray(b"\x79")
        self.next_i32, self.next_ref, self.moves = itertools.count(1), itertools.count(0), moves
        self.holes: list[int] = []

    def pad(self) -> None:
        if len(self.code) % 2:
            self.code.append(0)

    def reg(self, kind: str, result: bool) -> int:
        if kind in "if":
            return next(self.next_i32)
        if kind in "IF":
            at = next(self.next_i32)
            at += at % 2
            self.next_i32 = itertools.count(at + 2)
            return at
        return REF | (MOVE if kind == "m" and self.moves and not result else 0) | next(self.next_ref)

    def regs(self, kinds: str) -> None:
        self.pad()
        self.code += u16(len(kinds))
        for kind in kinds:
            self.code += u16(self.reg(kind, False))

    def remap(self) -> None:
        self.pad()
        pairs = [(1, 2), (REF | (MOVE if self.moves else 0), REF | 1)] if self.moves else []
        self.code += u16(len(pairs)) + b"".join(u16(s) + u16(t) for s, t in pairs)

    def pc(self) -> None:
        self.holes.append(len(self.code))
        self.code += bytes(4)

    def operand(self, mnemonic: str, kind: str, result: bool) -> None:
        if kind in ("i", "I", "f", "F", "r", "m"):
            self.code += u16(self.reg(kind, result))
        elif kind.startswith("#"):
            values = {"#i32": u32(0xFFFFFFF6), "#i64": (1234567890123).to_bytes(8, "little"), "#f32": u32(0x3FC00000)}
            values |= {"#f64": (0xC004000000000000).to_bytes(8, "little"), "#u16": u16(2)}
            self.code += values[kind]
        elif kind == "glob":
            self.code += u32(1 if mnemonic.endswith("ref") else 8)
        elif kind == "rod":
            self.code += u32(1)
        elif kind == "type":
            self.code += u32(4)
        elif kind == "func":
            index = 2 if "variadic" in mnemonic else 0
            self.code += u32(0x80000000 | index)
        elif kind == "seg":
            self.pad()
            self.code += u16(3) + u16(0xFFFF) + u16(2) + u16(1)
        elif kind == "pc":
            self.pc()
        elif kind == "remap":
            self.remap()
        elif kind == "cases":
            for _ in range(2):
                self.pc()
                self.remap()
        elif kind == "str":
            self.code += u16(7) + b"say 'x'"
        elif kind == "[*]":
            self.regs(self.any_list(mnemonic, result))
        else:
            self.regs(kind[1] * 3)

    @staticmethod
    def any_list(mnemonic: str, result: bool) -> str:
        if mnemonic.startswith("call"):
            if "variadic" in mnemonic:
                return "f" if result else "iiIiIr"
            return "Ir" if result else "irI"
        return {"return": "", "discard.refs": "rr"}.get(mnemonic, "iIr")

    def finish(self, terminator: bool) -> tuple[bytes, int]:
        if not terminator:
            self.code += b"\x5a"
            self.regs("")
        if not self.holes and not terminator:
            return bytes(self.code), 1
        for hole in self.holes:
            self.code[hole : hole + 4] = u32(len(self.code))
        self.code += b"\x79\x5a"
        self.regs("")
        return bytes(self.code), 2


def every_instruction() -> bytes:
    table = generate.read_table()
    functions = []
    for row in table.rows:
        # iree-dump-module 3.13 refuses cast.ui64.f32 and skips the type of switch.ref, so their text would not agree.
        if row.mnemonic.startswith("Prefix") or row.mnemonic in ("Block", "cast.ui64.f32", "switch.ref"):
            continue
        for moves in (False, True):
            f = Function(moves)
            if row.set in table.prefixes:
                f.code.append(table.prefixes[row.set])
            f.code.append(row.opcode)
            for _, kind, result in row.operands:
                f.operand(row.mnemonic, kind, result)
            code, blocks = f.finish(row.terminator)
            entry = {"code": code, "cconv": "0v_v", "blocks": blocks, "i32s": 24, "refs": 8, "requirements": 15}
            if not moves:
                entry |= {"export": row.mnemonic, "attrs": [("note", row.meaning)]}
            functions.append(entry)
    return finish("every", functions, attrs=[("made.by", "make.py"), ("empty", "")])


def one_op(row: generate.Row, prefix: bytes) -> dict:
    """A function that applies `row` to its arguments."""
    code = bytearray(b"\x79" + prefix + bytes([row.opcode]))
    cell = 0
    for _, kind, _ in row.operands:
        if kind in "IF":
            cell += cell % 2
        code += u16(cell)
        cell += 2 if kind in "IF" else 1
    result = code[-2:]
    code += b"\x5a" + bytes((len(code) + 1) % 2) + u16(1) + result
    inputs = "".join(kind for _, kind, result in row.operands if not result)
    cconv = f"0{inputs}_{row.operands[-1][1]}"
    return {"code": bytes(code), "cconv": cconv, "blocks": 1, "i32s": cell, "refs": 0, "requirements": 3}


def ops() -> bytes:
    table = generate.read_table()
    functions = []
    for row in table.rows:
        scalar = row.operands and all(kind in ("i", "I", "f", "F") for _, kind, _ in row.operands)
        # Single zero constants and instructions that read module state have nothing to compute on.
        if scalar and row.operands[-1][2] and len(row.operands) > 1 and not row.mnemonic.startswith("global"):
            prefix = bytes([table.prefixes[row.set]]) if row.set in table.prefixes else b""
            functions.append(one_op(row, prefix) | {"export": row.mnemonic})
    return finish("ops", functions, imports=[], rodata=[], types=["i32"], state=(0, 0))


NOP = "79 5a 0000"


def simple(code: str, **fields) -> dict:
    """A function of the given bytes; one block, four cells and two references unless told otherwise."""
    function = {"code": bytes.fromhex(code), "cconv": "0v_v", "blocks": 1, "i32s": 4, "refs": 2, "requirements": 0}
    return function | {"export": "f"} | fields


# name, what loading it must say (start of the status, then a part of it), functions, other parts of the module
BROKEN = [
    ("no_block", "INVALID_ARGUMENT", "is not in a block", [simple("5a00 0000")], {}),
    ("block_in_block", "INVALID_ARGUMENT", "is a block while still in a block", [simple("79 79 5a00 0000")], {}),
    ("no_terminator", "INVALID_ARGUMENT", "missing terminator", [simple("79 0c 0000")], {}),
    ("block_count", "INVALID_ARGUMENT", "invalid descriptor block count 3; found 1", [simple(NOP, blocks=3)], {}),
    ("bad_target", "INVALID_ARGUMENT", "branch target 00000001 is not a block", [simple("79 56 01000000 0000")], {}),
    ("overrun", "OUT_OF_RANGE", "bytecode data overrun", [simple("79 0d 0500")], {}),
    ("opcode", "INVALID_ARGUMENT", "unrecognized opcode 192", [simple("79 c0")], {}),
    ("ext_opcode", "INVALID_ARGUMENT", "unhandled ext", [simple("79 e0 3f", requirements=3)], {}),
    ("feature", "INVALID_ARGUMENT", "[EXT_F32]", [simple("79 e0 04 0000 5a00 0000")], {}),
    ("i32_range", "OUT_OF_RANGE", "register ordinal 4 out of range 4", [simple("79 0c 0400 5a 0000")], {}),
    ("i32_is_ref", "INVALID_ARGUMENT", "reference register", [simple("79 0c 0080 5a 0000")], {}),
    ("i64_odd", "INVALID_ARGUMENT", "is not even", [simple("79 0e 0100 5a 0000")], {}),
    ("i64_range", "OUT_OF_RANGE", "register ordinal", [simple("79 0e 0400 5a 0000")], {}),
    ("ref_range", "OUT_OF_RANGE", "register ordinal 2 out of range 2", [simple("79 10 0280 5a 0000")], {}),
    ("ref_is_i32", "INVALID_ARGUMENT", "value register", [simple("79 10 0000 5a 0000")], {}),
    ("move", "INVALID_ARGUMENT", "cannot be moved", [simple("79 55 00c0 0000 5a00 0000")], {}),
    ("type", "OUT_OF_RANGE", "type ordinal 9", [simple("79 82 0080 09000000 0180 5a 0000")], {}),
    ("global", "OUT_OF_RANGE", "global byte offset 61", [simple("79 00 3d000000 0000 5a 0000")], {}),
    ("global_ref", "OUT_OF_RANGE", "global ref ordinal 4", [simple("79 08 04000000 04000000 0080 5a 0000")], {}),
    ("rodata", "OUT_OF_RANGE", "rodata ref ordinal 3", [simple("79 11 03000000 0080 5a 0000")], {}),
    ("callee", "INVALID_ARGUMENT", "function ordinal 9", [simple("79 58 09000000 0000 0000 5a00 0000")], {}),
    ("import", "INVALID_ARGUMENT", "import ordinal 9", [simple("79 58 09000080 0000 0000 5a00 0000")], {}),
    ("variadic_internal", "FAILED_PRECONDITION", "variadic", [simple("79 59 00000000 0000 0000 0000 5a00 0000")], {}),
    ("too_few_operands", "OUT_OF_RANGE", "underflow", [simple("79 58 00000080 0000 0000 5a00 0000")], {}),
    ("return_too_few", "OUT_OF_RANGE", "underflow", [simple(NOP, cconv="0v_i")], {}),
    ("return_bank", "INVALID_ARGUMENT", "value register", [simple("79 5a 0100 0000", cconv="0v_r")], {}),
    ("remap_banks", "INVALID_ARGUMENT", "remap", [simple("79 56 00000000 0100 0000 0080")], {}),
    ("cconv_version", "UNIMPLEMENTED", "cconv version 1", [simple(NOP, cconv="1v_v")], {}),
    ("cconv_letter", "INVALID_ARGUMENT", "'x'", [simple(NOP, cconv="0x_v")], {}),
    ("cconv_span", "INVALID_ARGUMENT", "variadic arguments", [simple(NOP, cconv="0CiD_v")], {}),
    ("argument_storage", "INVALID_ARGUMENT", "insufficient register storage", [simple(NOP, cconv="0IIi_v")], {}),
    ("too_many_registers", "RESOURCE_EXHAUSTED", "too many registers", [simple(NOP, i32s=0x7000)], {}),
    ("requirements", "INVALID_ARGUMENT", "0x100", [simple(NOP, requirements=0x100)], {}),
    ("unknown_type", "NOT_FOUND", "no type registered with name '!my.type'", [simple(NOP)], {"types": ["!my.type"]}),
    ("two_stray_bytes", "INVALID_ARGUMENT", "is not in a block", [simple(NOP + "0c0000")], {}),
]


def broken() -> None:
    folder = HERE / "broken"
    folder.mkdir(exist_ok=True)
    lines = []
    for name, code, text, functions, parts in BROKEN:
        (folder / f"{name}.vmfb").write_bytes(finish("broken", functions, **parts))
        lines.append(f"{name} | {code} | {text}\n")
    (HERE / "broken.txt").write_text("".join(lines))


def with_digest() -> bytes:
    """A module with the checksums that Tiree's compiler writes (rust/vm/src/archive/digest.rs says what they mean)."""
    functions = [simple("79 0d 2a000000 0000 5a 00 0100 0000", cconv="0v_i", export="answer")]
    digits, code = "00000000", functions[0]["code"]
    padded = code + bytes(-len(code) % 8)
    digest = f"bc:{zlib.crc32(padded):08x},r0:{zlib.crc32(RODATA[0]):08x},fb:{digits}"
    attrs = [("tiree.version", "0.1.0"), ("tiree.digest", digest)]
    data = finish("digested", functions, imports=[], rodata=RODATA[:1], types=["i32"], state=(0, 0), attrs=attrs)
    at = data.index(digest.encode()) + len(digest) - len(digits)
    return data[:at] + f"{zlib.crc32(data[4:]):08x}".encode() + data[at + len(digits) :]


def dump(path: Path) -> None:
    for suffix, flags in ((".txt", []), (".json", ["--output=flatbuffer-json"])):
        text = subprocess.run([BIN / "iree-dump-module", *flags, path], check=True, capture_output=True).stdout
        path.with_suffix(suffix).write_bytes(text)


EXTERNAL = """
"builtin.module"() ({
  "util.global"() <{sym_name = "data", sym_visibility = "private", type = !util.buffer}> : () -> ()
  "util.initializer"() <{function_type = () -> ()}> ({
    %0 = "util.buffer.constant"() <{alignment = 64 : index, value = dense<7> : tensor<5000xi8>}> : () -> !util.buffer
    "util.global.store"(%0) <{global = @data}> : (!util.buffer) -> ()
    "util.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
"""


def external() -> bytes:
    from tiree.dialects import get_context, read_module
    from tiree.support.options import CompileOptions
    from tiree.vm import emit_archive, vm_passes

    options, context = CompileOptions(vm_emit_polyglot_zip=False, vm_strip_source_map=True), get_context()
    module = read_module(EXTERNAL, context)
    for step in vm_passes(options):
        step.apply(context, module)
    return emit_archive(module, options)


def main() -> None:
    every = HERE / "every_instruction.vmfb"
    every.write_bytes(every_instruction())
    (HERE / "ops.vmfb").write_bytes(ops())
    broken()
    (HERE / "digest.vmfb").write_bytes(with_digest())
    (HERE / "external.vmfb").write_bytes(external())
    made = [every]
    for source in sorted((HERE.parent / "asm").glob("*.vmasm")):
        target = HERE / source.with_suffix(".vmfb").name
        subprocess.run([BIN / "iree-as-module", f"--output={target}", source], check=True)
        target.chmod(0o644)
        made.append(target)
    for path in made:
        dump(path)


if __name__ == "__main__":
    main()
