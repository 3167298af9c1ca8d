"""The reference pages that derive from the tables: docs/reference/instructions.md and docs/reference/imports.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from generate import Row, Table
    from imports import Imports

SETS = {
    "core": "Core",
    "ext_f32": "f32 (prefix `E0`, feature `EXT_F32`)",
    "ext_f64": "f64 (prefix `E1`, feature `EXT_F64`)",
}

HEAD = """# Instructions

Made by `python isa/generate.py` from [isa/instructions.txt](../../isa/instructions.txt); do not edit.

Bytecode version {major}.{minor}, as in IREE 3.13: {count} rows. A shipped row never changes its bytes: another bytecode
version would be needed, and a test holds the rows to it.
[Semantics](vm_semantics.md) has the edge cases, [assembly](assembly.md) the text around the instructions.

## How they are encoded

Everything is little-endian and packed. An instruction is its opcode byte, for two sets behind a prefix byte, and then
its operands in the order of the column *operands*.

| kind | bytes |
|---|---|
| `i` `f` | u16 register of an i32 or f32 |
| `I` `F` | u16 register of an i64 or f64: the even register n, which holds the low half, and n+1 |
| `r` | u16 reference register, bit 15 set |
| `m` | the same, and bit 14 may be set: the reference is moved out of the register |
| `#i32` `#i64` `#f32` `#f64` `#u16` | immediate |
| `glob` | u32 byte offset into the module's data, or number of a reference slot |
| `rod` `func` `type` | u32 number of a rodata segment, function (bit 31: import), type |
| `pc` | u32 offset of a `Block` from the start of the function |
| `str` | u16 length and that many bytes of UTF-8 |
| `[i]` ... `[*]` | zero byte up to an even offset, u16 count, u16 registers (`*`: as the calling convention says) |
| `seg` | the same of u16 counts: 65535 for a plain argument, else the number of tuples in the span |
| `remap` | the same of pairs (u16 source, u16 target), assigned in order; a 64-bit value takes two pairs |
| `cases` | as many times as the operand before says: `pc`, `remap` |

`>` marks results. In the column *text*, names in braces stand for operands; results come in front: `%i0 = vm.add.i32
%i1, %i2`. Registers are `%i0`, `%i2:3` (64 bits), `%r0`, and `%R0` where the reference is moved.
"""


def _operands(row: Row) -> str:
    return " ".join(f"{'>' if result else ''}{name}:{kind}" for name, kind, result in row.operands)


def _text(row: Row) -> str:
    if row.mnemonic in ("Block", "PrefixExtF32", "PrefixExtF64"):
        return ""
    form = row.forms[0]
    results = [f"{{{name}}}" for name, _, result in row.operands if result and f"{{{name}}}" not in form]
    return f"{', '.join(results)}{' = ' if results else ''}vm.{row.mnemonic} {form}".strip()


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def instructions(table: Table) -> str:
    """The page of all instructions."""
    parts = [HEAD.format(major=table.version[0], minor=table.version[1], count=len(table.rows))]
    for name, title in SETS.items():
        parts.append(f"\n## {title}\n\n| opcode | text | operands | meaning |\n|---|---|---|---|\n")
        for row in table.rows:
            if row.set != name:
                continue
            ends = " Ends the block." if row.terminator else ""
            text = f"`{_text(row)}`" if _text(row) else f"({row.mnemonic})"
            operands = f"`{_operands(row)}`" if row.operands else ""
            parts.append(f"| `{row.opcode:02X}` | {text} | {operands} | {_cell(row.meaning)}.{ends} |\n")
    return "".join(parts)


IMPORTS_HEAD = """# Imports

Made by `python isa/generate.py` from [isa/imports.txt](../../isa/imports.txt); do not edit.

The functions that the runtime's modules offer to bytecode, with the calling conventions that are compared byte for byte
when a module is loaded. `i` i32, `I` i64, `f` f32, `F` f64, `r` reference, `C...D` a span of any number of tuples, `v`
nothing. `str` and `buffer` are `!vm.buffer`. Most references to fences and buffers may be null; a null fence is
reached.
"""


def imports(table: Imports) -> str:
    """The page of all imports."""
    parts = [IMPORTS_HEAD]
    for module, version in table.versions.items():
        parts.append(
            f"\n## {module} (version {version})\n\n| function | calling convention | meaning |\n|---|---|---|\n"
        )
        for row in table.rows:
            if row.module == module:
                note = {"yield": " May suspend.", "pure": ""}
                notes = "".join(note.get(flag, "") for flag in row.flags)
                meaning = row.meaning.replace("|", "\\|").replace("*", "\\*")
                signature = row.signature
                for flag in row.flags:
                    signature = signature.removesuffix(f" {flag}")
                parts.append(f"| `{signature}` | `{row.cconv}` | {meaning}.{notes} |\n")
    return "".join(parts)
