"""Long constants that are left in the file read as short ones do, with the right places in errors, in little memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tiree.dialects import read_module
from tiree.dialects.syntax import long_text
from tiree.support.errors import CompileError
from tiree.support.locations import location_of
from tiree.support.sources import open_source

FLOATS = (np.arange(24, dtype=np.float32) - 7).reshape(4, 6) / 8


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Constants of 16 characters are long, and windows of 32 bytes cut through everything."""
    monkeypatch.setattr(long_text, "SHORTEST", 16)
    monkeypatch.setattr(long_text, "_WINDOW", 32)
    monkeypatch.setattr(long_text.Piece.chunks, "__defaults__", (0, 32))


def rows(array: np.ndarray, separator: str = ", ") -> str:
    if array.ndim == 0:
        return str(array.item()).lower()
    return f"[{separator.join(rows(part, separator) for part in array)}]"


def module(*constants: str) -> bytes:
    lines = "".join(f'  %{i} = "stablehlo.constant"() <{{value = {c}}}> : () -> {c.rpartition(" : ")[2]}\n'
                    for i, c in enumerate(constants))  # fmt: skip
    return f"func.func @f() {{\n{lines}  return\n}}\n".encode()


CONSTANTS = [
    (f'dense<"0x{FLOATS.tobytes().hex()}"> : tensor<4x6xf32>', FLOATS),
    (f"dense<{rows(FLOATS)}> : tensor<4x6xf32>", FLOATS),
    (f"dense<{rows(FLOATS.reshape(2, 2, 6, 1))}> : tensor<2x2x6x1xf32>", FLOATS.reshape(2, 2, 6, 1)),
    (f"dense<{rows(np.arange(-12, 12), ',')}> : tensor<24xi64>", np.arange(-12, 12)),
    (f"dense<{rows(FLOATS > 0)}> : tensor<4x6xi1>", FLOATS > 0),
    ("dense<[0x7FC00000, 1.0, 0xFF800000, 2.5e-1]> : tensor<4xf32>", np.array([np.nan, 1, -np.inf, 0.25], np.float32)),
    (f"dense<{rows(np.full(20, 2**64 - 1, np.uint64))}> : tensor<20xui64>", np.full(20, 2**64 - 1, np.uint64)),
    ("dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f32>>", np.array([1 + 2j, 3 - 4j], np.complex64)),
    ("dense<" + rows(FLOATS).replace("], ", "],\n\t") + "> : tensor<4x6xf32>", FLOATS),
]


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("mapped", [False, True])
def test_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mapped: bool) -> None:
    text = module(*(text for text, _ in CONSTANTS))
    if mapped:
        monkeypatch.setattr("tiree.support.sources._MAPPED_FROM", 1)
        (tmp_path / "m.mlir").write_bytes(text)
        source = open_source(str(tmp_path / "m.mlir"))
        assert not isinstance(source, bytes)
    else:
        source = text
    assert len(long_text.cut_constants(source).pieces) == len(CONSTANTS)
    found = [op for op in read_module(source).walk() if op.name == "stablehlo.constant"]
    for op, (_, wanted) in zip(found, CONSTANTS, strict=True):
        value = op.properties["value"]
        if "complex" in str(value.type):
            assert bytes(value.buffer) == wanted.tobytes()
        else:
            np.testing.assert_array_equal(value.to_numpy(), wanted, strict=True)


@pytest.mark.usefixtures("short")
def test_resources() -> None:
    blob = "0x04000000" + FLOATS.tobytes().hex()
    text = (
        "func.func @f() {\n  %0 = stablehlo.constant dense_resource<w> : tensor<4x6xf32>\n"
        "  %1 = stablehlo.constant dense_resource<w> : tensor<24xf32>\n  return\n}\n"
        f'{{-#\n  dialect_resources: {{\n    builtin: {{\n      w: "{blob}"\n    }}\n  }}\n#-}}\n'
    )
    assert len(long_text.cut_constants(text.encode()).pieces) == 1
    found = [op for op in read_module(text).walk() if op.name == "stablehlo.constant"]
    np.testing.assert_array_equal(found[0].properties["value"].to_numpy(), FLOATS)
    np.testing.assert_array_equal(found[1].properties["value"].to_numpy(), FLOATS.reshape(-1))


@pytest.mark.usefixtures("short")
def test_places_behind_a_constant() -> None:
    lines = rows(FLOATS).replace("], ", "],\n")
    text = f"func.func @é() {{ %0 = stablehlo.constant dense<{lines}> : tensor<4x6xf32> %1 = stablehlo.constant dense<1> : tensor<i32>\n  return\n}}\n"  # noqa: E501
    module = read_module(text)
    places = [location_of(op) for op in module.walk()]
    wanted = []
    for name in ("func.func", "stablehlo.constant dense<[", "stablehlo.constant dense<1>", "return"):
        before = text[: text.index(name)]
        wanted.append(f"<input>:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}")
    assert places[1:] == wanted


BROKEN = [
    ('dense<"0x000000000000000000g0000000000000"> : tensor<4xf32>', "something else than hex digits"),
    ('dense<"0x00000000000000000000000000000000000"> : tensor<4xf32>', "not an even number of hex digits"),
    ('dense<"0x000000000000000000000000"> : tensor<4xf32>', "needs 16 bytes"),
    ("dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<4xf32>", "as many elements as the shape"),
    ("dense<[[1.0, 2.0, 3.0], [4.0, 5.0]]> : tensor<5xf32>", "as many elements as the shape"),
    ("dense<[1.0, 2.0, , 4.0, 5.0]> : tensor<5xf32>", "expected a number"),
    ("dense<[1.0, 2.0, cat, 4.0, 5.0]> : tensor<5xf32>", "expected a number of type f32, got 'cat'"),
    ("dense<[1.0, 2.0, %x, 4.0, 5.0]> : tensor<5xf32>", "expected numbers"),
    ("dense<[1, 2, 300, 4, 5, 6, 7, 8]> : tensor<8xi8>", "300 is out of range for i8"),
]


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(("text", "message"), BROKEN)
def test_constants_that_do_not_fit(text: str, message: str) -> None:
    with pytest.raises(CompileError, match=message) as caught:
        read_module(module(text))
    assert caught.value.diagnostics[0].location.startswith("<input>:2:")


@pytest.mark.usefixtures("short")
def test_what_only_looks_like_a_constant() -> None:
    inside = 'func.func @f() attributes {note = "dense<[1, 2, 3, 4, 5, 6, 7]>"} {\n  return\n}\n'
    note = read_module(inside).body.block.first_op
    assert note is not None
    assert str(note.attributes["note"]) == '"dense<[1, 2, 3, 4, 5, 6, 7]>"'
    read_module("// dense<[1, 2, 3, 4, 5, 6, 7, 8]> is a comment\nfunc.func @f() {\n  return\n}\n")
    with pytest.raises(CompileError, match="a constant of 24 characters stands where no constant can be read"):
        read_module("func.func @f() attributes {note = #foo.bar<dense<[1, 2, 3, 4, 5, 6, 7, 8]>>} {\n  return\n}\n")


MEASURE = """
import resource, sys
from tiree.dialects import read_module
from tiree.support.sources import open_source
read_module("func.func @f() { %0 = stablehlo.constant dense<1.0> : tensor<f32>\\n return }\\n")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
module = read_module(open_source(sys.argv[1]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is in other units elsewhere")
@pytest.mark.parametrize("form", ["hex", "list"])
def test_memory(tmp_path: Path, form: str) -> None:
    """Reading takes little more than the constant itself: 16 MB as 32 MB of digits, 1 MB as 5 MB of numbers."""
    values = np.resize(FLOATS, (1 << 22) if form == "hex" else (1 << 18))
    body = f'"0x{values.tobytes().hex()}"' if form == "hex" else rows(values)
    (tmp_path / "m.mlir").write_bytes(module(f"dense<{body}> : tensor<{values.size}xf32>"))
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(tmp_path / "m.mlir")], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) * 1024 < 1.5 * values.nbytes + (24 << 20)
