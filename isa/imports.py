"""Reads `imports.txt`, and derives from it what the compiler and the runtime know of imports."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).resolve().parent / "imports.txt"
_LETTERS = {"i32": "i", "i64": "I", "f32": "f", "f64": "F"}


@dataclass(frozen=True)
class Row:
    """One line: `signature` is its text without the module, `arguments` are (name, type names, is a span)."""

    module: str
    name: str
    signature: str
    arguments: tuple[tuple[str, tuple[str, ...], bool], ...]
    results: tuple[str, ...]
    flags: tuple[str, ...]
    meaning: str

    @property
    def cconv(self) -> str:
        """The calling convention, such as `0rIii_r`."""
        spans = [
            f"C{letters}D" if is_span else letters
            for _, types, is_span in self.arguments
            for letters in ["".join(_LETTERS.get(t, "r") for t in types)]
        ]
        results = "".join(_LETTERS.get(t, "r") for t in self.results)
        return f"0{''.join(spans) or 'v'}_{results or 'v'}"


@dataclass(frozen=True)
class Imports:
    """The whole table."""

    versions: dict[str, int]
    rows: list[Row]


RUST_HEAD = """// Made by isa/generate.py from isa/imports.txt; do not edit.

use tiree_vm::NativeExport;

/// The row of `table` called `name` as an export. Compiling fails when there is none.
pub const fn native_export(table: &[(&'static str, &'static str)], name: &str) -> NativeExport {
    let mut row = 0;
    loop {
        if same(table[row].0, name) {
            return NativeExport { name: table[row].0, cconv: table[row].1 };
        }
        row += 1;
    }
}

const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() && at < right.len() && left[at] == right[at] {
        at += 1;
    }
    at == left.len() && at == right.len()
}
"""


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.strip("()").split(",") if part.strip())


def _arguments(text: str) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
    found = re.findall(r"(\w+): (\([^)]*\)|[\w.]*\w)(\.\.\.)?", text)
    return tuple((name, _names(types), bool(dots)) for name, types, dots in found)


def read_imports(path: Path = TABLE) -> Imports:
    """Reads the table; raises SystemExit naming the line that is wrong."""
    versions, rows = {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("version "):
            _, module, version = line.split()
            versions[module] = int(version)
            continue
        signature, bar, meaning = (part.strip() for part in line.partition(" | "))
        # Arguments may hold parentheses, so the last one that belongs to them is searched from the arrow back.
        head, arrow, tail = signature.partition(" -> ")
        close = head.rindex(")") if ")" in head else -1
        opening = head.find("(")
        module, dot, name = head[:opening].partition(".")
        if not bar or not meaning or close < 0 or not dot or module not in versions:
            raise SystemExit(f"{path}:{number}: expected 'module.name(argument: type, ...) -> type | meaning'")
        results, flags = (), head[close + 1 :].split()
        if arrow:
            end = tail.index(")") + 1 if tail.startswith("(") else len(tail.split()[0])
            results, flags = _names(tail[:end]), tail[end:].split()
        text = signature.removeprefix(f"{module}.")
        rows.append(Row(module, name, text, _arguments(head[opening + 1 : close]), results, tuple(flags), meaning))
    return Imports(versions, rows)


def python(table: Imports) -> str:
    """The text of python/tiree/vm/import_rows.py."""
    lines = [
        '"""Functions that compiled modules may import, by module: the rows that `tiree.vm.imports` reads.',
        "",
        "Made by isa/generate.py from isa/imports.txt; do not edit. The head of that file says how a row reads.",
        '"""',
        "",
        "# ruff: noqa: E501",
        "",
        "MODULES: dict[str, tuple[str, ...]] = {",
    ]
    for module in table.versions:
        lines.append(f'    "{module}": (')
        lines += [f'        "{row.signature}",' for row in table.rows if row.module == module]
        lines.append("    ),")
    lines += ["}", "", f"VERSIONS = {table.versions!r}".replace("'", '"'), ""]
    return "\n".join(lines)


def rust(table: Imports) -> str:
    """The text of rust/hal/src/import_table.rs."""
    lines = [RUST_HEAD]
    for module, version in table.versions.items():
        upper = module.upper()
        rows = sorted((row.name, row.cconv) for row in table.rows if row.module == module)
        lines += [
            f"/// Version of the module `{module}`.",
            f"pub const {upper}_VERSION: u32 = {version};",
            f"/// Exports of the module `{module}`: name and calling convention.",
            "#[rustfmt::skip]",
            f"pub const {upper}: [(&str, &str); {len(rows)}] = [",
            *(f'    ("{name}", "{cconv}"),' for name, cconv in rows),
            "];",
            "",
        ]
    return "\n".join(lines)
