"""Damaged files end in one error that names the byte, never in a traceback, and never run on.

`TIREE_FUZZ_BYTECODE=N` makes N mutations of each seed instead of 150.
"""

from __future__ import annotations

import os
import random
import time

import pytest
from dialects.bytecode.bytecode_writer import CORPUS, Writer, network
from tiree.dialects import print_module, read_module
from tiree.pipeline import verify_module
from tiree.support.errors import CompileError

ROUNDS = int(os.environ.get("TIREE_FUZZ_BYTECODE", "150"))


@pytest.fixture(scope="module")
def seeds() -> dict[str, bytes]:
    jax, function, example = network()
    writer = Writer(module=jax.jit(function).lower(example).compiler_ir("stablehlo"))
    blocks = Writer((CORPUS / "cf.mlir").read_text())
    return {
        "newest": writer.bytecode(),
        "oldest": writer.bytecode(0),
        "portable": writer.portable(),
        "old portable": writer.portable("0.9.0"),
        "blocks": blocks.bytecode(3),
    }


def mutated(data: bytes, rng: random.Random) -> bytes:
    """`data` cut, with bits flipped, bytes replaced, inserted, or copied over others."""
    found = bytearray(data)
    at, other = rng.randrange(len(found)), rng.randrange(len(found))
    match rng.randrange(6):
        case 0:
            del found[at:]
        case 1:
            for _ in range(rng.choice((1, 1, 2, 4))):
                found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
        case 2:
            for _ in range(rng.choice((1, 2, 8))):
                found[rng.randrange(len(found))] = rng.randrange(256)
        case 3:
            found[at : at + rng.randrange(9)] = bytes(rng.choice((0, 255, 1)) for _ in range(rng.randrange(10)))
        case 4:
            size = rng.randrange(1, 17)
            found[at : at + size] = found[other : other + size]
        case _:
            found[at:at] = bytes([rng.randrange(256)])
    return bytes(found)


@pytest.mark.parametrize("name", ["newest", "oldest", "portable", "old portable", "blocks"])
def test_mutations(seeds: dict[str, bytes], name: str) -> None:
    rng = random.Random(name)
    refused = 0
    for number in range(ROUNDS):
        data = mutated(seeds[name], rng)
        start = time.process_time()
        try:
            module = read_module(data, filename="damaged.mlirbc")
            verify_module(module)
            print_module(module)
        except CompileError:
            refused += 1
        except Exception as error:
            raise AssertionError(f"mutation {number} of {name}: {data.hex()}") from error
        assert time.process_time() - start < 20, f"mutation {number} of {name} takes long: {data.hex()}"
    assert refused > ROUNDS // 2


def test_every_truncation_is_refused_with_its_byte(seeds: dict[str, bytes]) -> None:
    data = seeds["newest"]
    for size in range(4, len(data), max(1, len(data) // 29)):
        with pytest.raises(
            CompileError, match=r"^cut\.mlirbc: error: this MLIR bytecode.* cannot be read at byte \d+: "
        ):
            read_module(data[:size], filename="cut.mlirbc")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"ML\xefR", "at byte 4: the data ends where a number is expected"),
        (b"ML\xefR\x0fMLIR\0", r"at byte 4: the encoding has version 7, newer than 6"),
        (b"ML\xefR\x0dMLIR23", "cannot be read at byte 11: the data ends in the middle"),
        (b"ML\xefR\x0dMLIR23\0", r"\(written by MLIR23\).* the section of strings is missing"),
        (b"ML\xefR\x0dX\0\x7f\x01", "there is no section 127"),
        (b"ML\xefR\x0dX\0\x00\xff", "strings of 127 bytes is longer than the 0 that are left"),
        (b"ML\xefR\x0dX\0\x00\0\xff\xff\xff\xff\xff\xff\xff\xff", "is longer than the 0 that are left"),
    ],
)
def test_headers(data: bytes, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        read_module(data, filename="m.mlirbc")


def test_an_unknown_operation_is_reported_as_of_text() -> None:
    text = '"builtin.module"() ({\n  "other.op"() {a = 1 : i32} : () -> () loc("a.py":3:4)\n}) : () -> ()\n'
    ir = pytest.importorskip("jaxlib.mlir.ir", reason="bytecode is written by jaxlib's MLIR")
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        writer = Writer(module=ir.Module.parse(text))
    for version in (4, 6):
        with pytest.raises(CompileError, match=r"a\.py:3:4: error: unknown operation 'other\.op': there is no dialect"):
            read_module(writer.bytecode(version), filename="m.mlirbc")


def test_an_operation_of_a_newer_stablehlo_is_named() -> None:
    writer = Writer(
        "func.func @f(%a: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = stablehlo.abs %a : tensor<f32>\n  return %0 : tensor<f32>\n}\n"
    )
    artifact = writer.portable()
    assert artifact.count(b"abs_v1") == 1
    with pytest.raises(CompileError, match=r"vhlo\.abs_v9.* is of a StableHLO newer than"):
        read_module(artifact.replace(b"abs_v1", b"abs_v9"), filename="m.mlirbc")
