"""The tables of instructions and imports: what derives from them is fresh, shipped rows do not change in a version."""

import hashlib
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tiree.dialects import vm_isa as isa
from tiree.vm.imports import import_decl

ROOT = Path(__file__).resolve().parents[2]

# Changing, removing or adding a row changes what bytes mean, what text reads as, or the names of Python's encoder.
# Bump `version` in isa/instructions.txt, then add its digest here. A digest that was shipped is never edited.
SHIPPED = {
    (17, 0): "aa03b42d484cdf06f0d45bdda66fd16d68071c8e8d5513523ec6a29bcd2a5f08",
}

# Explanations may be worded better within a version, and their digest with them: see that none says something else.
MEANINGS = "90d21d0e1cc7069e27fbd687598fbecabf98930dd06e5faf3bfccb56021fb902"
IMPORT_MEANINGS = "6a525fa5f414f8f396cf502a5bce3af491babbf81b681522c91222f203daba65"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("isa_generate", ROOT / "isa" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["isa_generate"] = module
    spec.loader.exec_module(module)
    return module


def digest(fields: object) -> str:
    return hashlib.sha256(repr(fields).encode()).hexdigest()


def rows_digest(table) -> str:
    """SHA-256 of all that an instruction is: opcode, mnemonic, names and kinds of operands, terminator, text."""
    rows = [(row.set, row.opcode, row.mnemonic, row.terminator, row.operands, row.forms) for row in table.rows]
    return digest((table.features, table.prefixes, rows))


# The same for imports: module versions, and digests of all but the explanations.
SHIPPED_IMPORTS = {
    ("hal", 7): "02219d465f3e3a89e4358b403e4aaa1d0734791b1c6e8c47413dfe220a4d4aad",
    ("io_parameters", 0): "d5f1f8b7b1acc23d42c3e58213dd7073bdab458ec532b9a8e2dfe281270dab51",
    ("hal_inline", 0): "f6fc8f3a5cc8df18c50fe7e31eb2295bb4bd13a7f09397b8648e514a838e05d5",
    ("hal_loader", 1): "819d234f7ebd312633d55b9ae88319dc5624216e7dad686978441c5c9b28c0ef",
    ("vmvx", 0): "564b6938fbabf48d6ee114db18c081011abd928b4f3c40eaa40aea73afa936e0",
    ("check", 0): "e4fde5e432e2c661d5f8c7dbebb52796008dd1df5376467d7c842ba10677322a",
}


def imports_digest(table, module: str) -> str:
    """SHA-256 of names, signatures with the names of arguments, and flags: pure, yield, the least version."""
    rows = [
        (row.name, row.cconv, row.signature, row.arguments, row.results, row.flags)
        for row in table.rows
        if row.module == module
    ]
    return digest(sorted(rows))


def test_shipped_imports_are_pinned(generate):
    table = generate.imports.read_imports()
    for module, version in table.versions.items():
        have = imports_digest(table, module)
        assert SHIPPED_IMPORTS.get((module, version)) == have, f"rows of {module} changed: bump its version"


def test_explanations_are_those_of_the_version(generate):
    meanings = [(row.mnemonic, row.meaning) for row in generate.read_table().rows]
    assert digest(meanings) == MEANINGS, "does any row mean something else? Then bump the version"
    meanings = [(row.module, row.name, row.meaning) for row in generate.imports.read_imports().rows]
    assert digest(meanings) == IMPORT_MEANINGS, "does any row mean something else? Then bump the version of its module"


@pytest.mark.parametrize(
    ("row", "changed"),
    [
        ("| shl.i32 ", (r"amount:i", "amount:I")),
        ("| shl.i32 ", (r"amount:i", "count:i")),
        ("| shl.i32 ", (r"\| - \| left", "| {operand} by {amount} | left")),
        ("| shl.i32 ", (r"\| 3A \|", "| FE |")),
    ],
)
def test_a_changed_row_is_noticed(generate, tmp_path: Path, row: str, changed: tuple[str, str]):
    lines = (ROOT / "isa" / "instructions.txt").read_text().splitlines()
    (at,) = [number for number, line in enumerate(lines) if row in line]
    new = re.sub(*changed, lines[at])
    assert new != lines[at]
    path = tmp_path / "instructions.txt"
    path.write_text("\n".join([*lines[:at], new, *lines[at + 1 :]]))
    assert rows_digest(generate.read_table(path)) != rows_digest(generate.read_table())


@pytest.mark.parametrize("new", ["", " pure @5", " yield"])
def test_a_changed_import_is_noticed(generate, tmp_path: Path, new: str):
    text = (ROOT / "isa" / "imports.txt").read_text()
    changed = re.sub(r"(?m)^(hal\.buffer\.length\(.*) pure( \|)", rf"\1{new}\2", text)
    assert changed != text
    path = tmp_path / "imports.txt"
    path.write_text(changed)
    tables = [generate.imports.read_imports(p) for p in (path, ROOT / "isa" / "imports.txt")]
    assert imports_digest(tables[0], "hal") != imports_digest(tables[1], "hal")


def test_every_import_is_there_once(generate):
    rows = generate.imports.read_imports().rows
    assert len({(row.module, row.name) for row in rows}) == len(rows) == 119
    assert all(row.meaning for row in rows)


def test_the_compiler_reads_the_same_calling_conventions(generate):
    for row in generate.imports.read_imports().rows:
        declared = import_decl(f"{row.module}.{row.name}")
        assert declared.cconv == row.cconv
        assert [(a.name, a.types, a.variadic) for a in declared.arguments] == list(row.arguments)


def test_the_pages_name_every_row(generate):
    table = generate.read_table()
    page = (ROOT / "docs" / "reference" / "instructions.md").read_text()
    assert all(row.mnemonic in page for row in table.rows)


def test_derived_files_are_fresh(generate, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    assert generate.main() == 0, capsys.readouterr().out


def test_shipped_rows_are_pinned(generate):
    table = generate.read_table()
    assert SHIPPED.get(table.version) == rows_digest(table), "rows changed: bump the version and add its digest"


def test_every_row_is_there_once(generate):
    table = generate.read_table()
    assert len(table.rows) == 267
    assert len({(row.set, row.opcode) for row in table.rows}) == 267
    assert len({row.mnemonic for row in table.rows}) == 267
    assert all(row.meaning for row in table.rows)


def test_python_table_reads_back(generate):
    table = generate.read_table()
    assert table.version == isa.BYTECODE_VERSION
    for row in table.rows:
        instruction = isa.INSTRUCTIONS[row.mnemonic]
        prefix = bytes([table.prefixes[row.set]]) if row.set in table.prefixes else b""
        assert instruction.encoding == prefix + bytes([row.opcode])
        assert [(o.name, o.kind, o.result) for o in instruction.operands] == list(row.operands)
        assert instruction.feature == table.features.get(row.set, 0)
        assert instruction.terminator == row.terminator


def test_known_encodings():
    # Bytes of a module that iree-as-module 3.13 assembled: Block, const.i32 5 -> i1, add.i32 i0 i1 -> i0.
    code = bytes.fromhex("79 0d05000000 0100 22 0000 0100 0000")
    assert code[0:1] == isa.INSTRUCTIONS["Block"].encoding
    assert code[1:2] == isa.INSTRUCTIONS["const.i32"].encoding
    assert code[8:9] == isa.INSTRUCTIONS["add.i32"].encoding
    assert isa.INSTRUCTIONS["add.f32"].encoding == b"\xe0\x0a"
    assert isa.INSTRUCTIONS["cond_br"].kinds == ["i", "pc", "remap", "pc", "remap"]
