"""Derives the tables of runtime and compiler and the reference pages from `instructions.txt` and `imports.txt`.

Usage: python isa/generate.py [--check]

`OUTPUTS` lists what is written; all of it is committed. With --check nothing is written and the exit code is 1 when a
file is not what the tables say.
"""

import argparse
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import imports
import reference

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "isa" / "instructions.txt"

# Kind in the table -> variant of `OperandKind` in Rust.
KINDS = {
    "i": "I32",
    "I": "I64",
    "f": "F32",
    "F": "F64",
    "r": "Ref",
    "m": "RefMove",
    "#i32": "ImmI32",
    "#i64": "ImmI64",
    "#f32": "ImmF32",
    "#f64": "ImmF64",
    "#u16": "ImmU16",
    "glob": "Global",
    "rod": "Rodata",
    "func": "Func",
    "type": "Type",
    "pc": "Pc",
    "str": "Str",
    "[i]": "ListI32",
    "[I]": "ListI64",
    "[f]": "ListF32",
    "[F]": "ListF64",
    "[r]": "ListRef",
    "[*]": "ListAny",
    "seg": "Segments",
    "remap": "Remap",
    "cases": "Cases",
}


@dataclass(frozen=True)
class Row:
    """One line of the table; `operands` are (name, kind, is a result), `forms` the ways to write them."""

    set: str
    opcode: int
    mnemonic: str
    terminator: bool
    operands: tuple[tuple[str, str, bool], ...]
    forms: tuple[str, ...]
    meaning: str


@dataclass(frozen=True)
class Table:
    """The whole table; `features` maps a set or feature name to its bit, `prefixes` a set to its prefix byte."""

    version: tuple[int, int]
    features: dict[str, int]
    prefixes: dict[str, int]
    rows: list[Row]


def parse_operand(text: str) -> tuple[str, str, bool]:
    name, _, kind = text.removeprefix(">").partition(":")
    if kind not in KINDS:
        raise SystemExit(f"{TABLE}: operand '{text}' has no known kind")
    return name, kind, text.startswith(">")


def parse_forms(text: str, operands: tuple[tuple[str, str, bool], ...], where: str) -> tuple[str, ...]:
    """The text column; `-` becomes the inputs in order. Every input that is not implied must occur."""
    if text == "-":
        return (", ".join(f"{{{name}}}" for name, _, result in operands if not result),)
    names = {name for name, _, _ in operands}
    inputs = {name for name, kind, result in operands if not result and kind != "#u16"}
    forms = tuple(form.strip() for form in text.split(" / "))
    for number, form in enumerate(forms):
        used = set(re.findall(r"\{(\w+)\}", form))
        if used - names or (number == 0 and inputs - used):
            raise SystemExit(f"{where}: '{form}' does not fit the operands: {sorted(used ^ inputs)}")
    return forms


def read_table(path: Path = TABLE) -> Table:
    """Reads the table; raises SystemExit naming the line that is wrong."""
    version, features, prefixes, rows = (0, 0), {}, {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        words = line.split()
        if words[0] == "version":
            major, minor = words[1].split(".")
            version = (int(major), int(minor))
        elif words[0] == "feature":
            features[words[1]] = int(words[2])
            if len(words) > 3:
                prefixes[words[1]] = int(words[3], 16)
        else:
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) != 7:
                raise SystemExit(f"{path}:{number}: {len(cells)} columns, 7 are needed")
            operands = tuple(parse_operand(text) for text in cells[4].split())
            forms = parse_forms(cells[5], operands, f"{path}:{number}")
            rows.append(Row(cells[0], int(cells[1], 16), cells[2], cells[3] == "T", operands, forms, cells[6]))
    return Table(version, features, prefixes, rows)


def variant(mnemonic: str) -> str:
    """`cmp.lt.i32.s` -> `CmpLtI32S`."""
    return "".join(part[0].upper() + part[1:] for part in re.split(r"[._]", mnemonic))


def rust(table: Table) -> str:
    """The text of table.rs."""
    lines = [
        "// Made by isa/generate.py from isa/instructions.txt; do not edit.",
        "",
        "use super::{Instruction, OpSet, Operand, OperandKind as K};",
        "",
        "/// Major version of the bytecode that this table describes.",
        f"pub const VERSION_MAJOR: u32 = {table.version[0]};",
        "/// Minor version of the bytecode that this table describes.",
        f"pub const VERSION_MINOR: u32 = {table.version[1]};",
        "",
        "/// Every instruction; the number is the row in [`INSTRUCTIONS`].",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]",
        "#[repr(u16)]",
        "pub enum Op {",
    ]
    for number, row in enumerate(table.rows):
        lines += [f"    /// {escape_doc(row.meaning)}", f"    {variant(row.mnemonic)} = {number},"]
    lines += [
        "}",
        "",
        "const fn op(name: &'static str, kind: K, result: bool) -> Operand {",
        "    Operand { name, kind, result }",
        "}",
        "",
        "/// The rows in order of [`Op`].",
        "#[rustfmt::skip]",
        f"pub static INSTRUCTIONS: [Instruction; {len(table.rows)}] = [",
    ]
    for row in table.rows:
        operands = ", ".join(f'op("{n}", K::{KINDS[k]}, {str(r).lower()})' for n, k, r in row.operands)
        fields = [
            f"op: Op::{variant(row.mnemonic)}",
            f"set: OpSet::{variant(row.set)}",
            f"opcode: 0x{row.opcode:02X}",
            f'mnemonic: "{row.mnemonic}"',
            f"terminator: {str(row.terminator).lower()}",
            f"operands: &[{operands}]",
            "forms: &[" + ", ".join(f'"{form}"' for form in row.forms) + "]",
        ]
        lines.append(f"    Instruction {{ {', '.join(fields)} }},")
    return "\n".join(lines) + "\n];\n"


def escape_doc(text: str) -> str:
    return re.sub(r"([\[\]<>*])", r"\\\1", text)


PYTHON_HEAD = '''"""The instructions of the VM: bytes, operand kinds, feature bit, terminator.

Made by isa/generate.py from isa/instructions.txt; do not edit. The head of that file says what the kinds mean.
"""

from dataclasses import dataclass

BYTECODE_VERSION = ({major}, {minor})
FEATURES = {features!r}
PREFIXES = {prefixes!r}


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand: `kind` as in isa/instructions.txt; `result` when the instruction writes it."""

    name: str
    kind: str
    result: bool


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; `encoding` is its opcode with prefix, `feature` the bit a function needs or 0."""

    mnemonic: str
    encoding: bytes
    operands: tuple[Operand, ...]
    feature: int
    terminator: bool

    @property
    def kinds(self) -> list[str]:
        """Operand kinds in encoding order."""
        return [operand.kind for operand in self.operands]


# mnemonic, opcode with prefix, operands in encoding order (> marks results), ends a block
_ROWS: tuple[tuple[str, str, str, bool], ...] = (
'''

PYTHON_TAIL = ''')


def _operand(text: str) -> Operand:
    name, _, kind = text.removeprefix(">").partition(":")
    return Operand(name, kind, text.startswith(">"))


def _instruction(mnemonic: str, encoding: str, operands: str, terminator: bool) -> Instruction:
    code = bytes.fromhex(encoding)
    feature = next((FEATURES[set_] for set_, prefix in PREFIXES.items() if len(code) == 2 and code[0] == prefix), 0)
    return Instruction(mnemonic, code, tuple(map(_operand, operands.split())), feature, terminator)


INSTRUCTIONS: dict[str, Instruction] = {row[0]: _instruction(*row) for row in _ROWS}
"""Every instruction by its mnemonic (without `vm.`)."""
'''


def python(table: Table) -> str:
    """The text of python/tiree/dialects/vm_isa.py."""
    head = PYTHON_HEAD.format(
        major=table.version[0], minor=table.version[1], features=table.features, prefixes=table.prefixes
    ).replace("'", '"')
    lines = []
    for row in table.rows:
        prefix = f"{table.prefixes[row.set]:02X}" if row.set in table.prefixes else ""
        operands = " ".join(f"{'>' if r else ''}{n}:{k}" for n, k, r in row.operands)
        lines.append(f'    ("{row.mnemonic}", "{prefix}{row.opcode:02X}", "{operands}", {row.terminator}),\n')
    return head + "".join(lines) + PYTHON_TAIL


OUTPUTS: dict[str, Callable[[Table, imports.Imports], str]] = {
    "rust/vm/src/isa/table.rs": lambda table, _: rust(table),
    "rust/hal/src/import_table.rs": lambda _, rows: imports.rust(rows),
    "python/tiree/dialects/vm_isa.py": lambda table, _: python(table),
    "python/tiree/vm/import_rows.py": lambda _, rows: imports.python(rows),
    "docs/reference/instructions.md": lambda table, _: reference.instructions(table),
    "docs/reference/imports.md": lambda _, rows: reference.imports(rows),
}
"""What is written: paths in the repository, and their text."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the files are fresh")
    args = parser.parse_args()
    table, rows = read_table(), imports.read_imports()
    stale = False
    for name, make in OUTPUTS.items():
        path, text = ROOT / name, make(table, rows)
        if path.exists() and path.read_text() == text:
            continue
        if args.check:
            print(f"{name} is not what the tables in isa/ say; run: python isa/generate.py")
            stale = True
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
