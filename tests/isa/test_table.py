"""The tables of instructions and imports: what derives from them is fresh, shipped rows do not change in a version."""

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tiree.dialects import vm_isa as isa
from tiree.vm.imports import import_decl

ROOT = Path(__file__).resolve().parents[2]

# Changing, removing or adding a row changes what bytes mean: bump `version` in isa/instructions.txt, then add its
# digest here. A digest that was shipped is never edited.
SHIPPED = {
    (17, 0): "c114af07812cd2a295bee8eada36ed034d242d660ead53c547e4d0f3704c36c5",
}


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("isa_generate", ROOT / "isa" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["isa_generate"] = module
    spec.loader.exec_module(module)
    return module


def rows_digest(table) -> str:
    """SHA-256 of what bytes mean to a decoder: opcode, mnemonic, operands, terminator; not of the explanations."""
    rows = [
        (row.set, row.opcode, row.mnemonic, row.terminator, tuple((kind, result) for _, kind, result in row.operands))
        for row in table.rows
    ]
    return hashlib.sha256(repr((table.features, table.prefixes, rows)).encode()).hexdigest()


# The same for imports: module versions, and digests of names and calling conventions.
SHIPPED_IMPORTS = {
    ("hal", 7): "4de0e7ced00306c1ae67273510dcc59e263dab31cf61843da374c2078c797959",
    ("io_parameters", 0): "1a2c8b751532a7709d451d62708bec3d7ce4cf363b06d20a26d7de65a1bc8312",
    ("hal_inline", 0): "e0ba78bc7e5757fc55c76ebbbbf0b8f14be7c55238728a6fa36d9d63a455397d",
    ("hal_loader", 1): "5dc19b86c40432fd22b1519e9fa27baf975e9b19aacb7f88a74809585b999de4",
    ("vmvx", 0): "d9708200c0b803192639f66e7ff04061d6763a9422a6db6bae6cb67cf388c538",
    ("check", 0): "0474b018cc3c7ece79e193275bff88c3e150eb81a6f115aeaefe0e63ce001538",
}


def test_shipped_imports_are_pinned(generate):
    table = generate.imports.read_imports()
    for module, version in table.versions.items():
        rows = [(row.name, row.cconv) for row in table.rows if row.module == module]
        digest = hashlib.sha256(repr(sorted(rows)).encode()).hexdigest()
        assert SHIPPED_IMPORTS.get((module, version)) == digest, f"rows of {module} changed: bump its version"


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
