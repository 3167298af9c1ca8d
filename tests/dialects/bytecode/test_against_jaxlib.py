"""A module reads the same from bytecode of every version, from portable artifacts of every version, and from text."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tiree
from dialects.bytecode.bytecode_writer import CORPUS, Writer, network, shown
from tiree.dialects import read_module

ARTIFACTS = ("0.9.0", "0.9.3", "0.10.0", "0.11.0", "0.12.0", "0.13.0", "0.14.0", "0.15.0", "0.16.0", "0.17.0",
             "0.18.0", "0.19.0", "0.20.0", *(f"1.{minor}.0" for minor in range(18)))  # fmt: skip
"""Every minor version of StableHLO that the writer can aim at."""


def corpus() -> str:
    return (CORPUS / "stablehlo.mlir").read_text()


@pytest.fixture(scope="module")
def jax_program() -> Writer:
    jax, function, example = network()
    return Writer(module=jax.jit(function).lower(example).compiler_ir("stablehlo"))


@pytest.mark.parametrize("version", range(7))
def test_every_version_of_the_encoding(jax_program: Writer, version: int) -> None:
    assert shown(jax_program.bytecode(version)) == shown(jax_program.text())


@pytest.mark.parametrize("name", ["stablehlo", "chlo", "arith", "func", "scf", "cf"])
def test_the_corpus(name: str) -> None:
    writer = Writer((CORPUS / f"{name}.mlir").read_text())
    for version in (0, 4, 5, 6):
        assert shown(writer.bytecode(version)) == shown(writer.text()), version


@pytest.mark.parametrize("version", ARTIFACTS)
def test_portable_artifacts_of_every_version(jax_program: Writer, version: str) -> None:
    """jaxlib upgrades them too: the result is the same, op by op."""
    artifact = jax_program.portable(version)
    assert artifact[5:20] == f"StableHLO_v{version}"[:15].encode()
    assert shown(artifact) == shown(jax_program.upgraded(artifact))


def as_text(artifact: bytes, folder: Path) -> str:
    """VHLO's text, as iree-opt writes it."""
    tool = Path(sys.executable).with_name("iree-opt")
    if not tool.exists():
        pytest.skip("iree-opt writes the text")
    source = folder / "artifact.mlirbc"
    source.write_bytes(artifact)
    text = subprocess.run([str(tool), str(source)], capture_output=True, text=True, check=True).stdout
    assert "vhlo.func_v1" in text
    return text


@pytest.mark.parametrize("version", ["0.9.0", "0.17.0", "1.0.0", "1.9.0", "1.13.0"])
def test_text_of_portable_artifacts(jax_program: Writer, version: str, tmp_path: Path) -> None:
    """Says the same as the bytecode."""
    artifact = jax_program.portable(version)
    assert shown(as_text(artifact, tmp_path), locations=False) == shown(artifact, locations=False)


def test_text_of_portable_artifacts_of_all_ops(tmp_path: Path) -> None:
    artifact = Writer(corpus().replace("{foo} ", "")).portable("1.13.0")
    assert shown(as_text(artifact, tmp_path), locations=False) == shown(artifact, locations=False)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('%0 = "vhlo.abs_v1"(%a) : (!vhlo.tensor_v1<!vhlo.f99_v1>) -> !vhlo.f32_v1', "!vhlo.f99 is not known"),
        ('%0 = "vhlo.sneeze_v1"(%a) : (!vhlo.f32_v1) -> !vhlo.f32_v1', "vhlo.sneeze_v1 is of a StableHLO newer than"),
        ('"vhlo.fft_v1"() <{fft_type = #vhlo<fft_type_v1 SLOW>}> : () -> ()', "<fft_type SLOW> is not known"),
        ('"vhlo.fft_v1"() <{fft_type = #vhlo.bool_v1<maybe>}> : () -> ()', "maybe"),
        ('"vhlo.dot_v1"() <{precision_config = #vhlo.array_v1<[}> : () -> ()', "expected an attribute"),
    ],
)
def test_text_of_vhlo_that_is_wrong(line: str, message: str) -> None:
    text = f"vhlo.func_v1 @f(%a: !vhlo.f32_v1) -> () {{\n  {line}\n}} {{}}\n"
    with pytest.raises(tiree.CompileError, match=message):
        read_module(text)


def test_portable_artifacts_of_all_ops() -> None:
    writer = Writer(corpus().replace("{foo} ", ""))
    artifact = writer.portable()
    assert shown(artifact) == shown(writer.upgraded(artifact))
    with pytest.raises(Exception, match=r".*"):
        writer.portable("1.99.0")


ATTRIBUTES = [
    "dense<[1, -2, 3]> : tensor<3xi4>", "dense<-1> : tensor<3xi4>", "dense<[3, 1]> : tensor<2xui2>",
    "dense<true> : tensor<1xi1>", "dense<[true, false]> : tensor<2xi1>", "dense<true> : tensor<20xi1>",
    "dense<false> : tensor<20xi1>", "dense<[true, false, false, true, true, true, false, true, true]> : tensor<9xi1>",
    "dense<[true, true, true, true, true, true, true, true]> : tensor<8xi1>", "dense<> : tensor<0xf32>",
    "dense<false> : tensor<i1>", "dense<false> : tensor<3x2xi1>",
    "dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>", "dense<[1, 2]> : vector<2xi32>",
    "dense<0x7FC00001> : tensor<2xf32>", "dense<[1.5, -2.5]> : tensor<2xbf16>", "array<i1: true, false>",
    "array<i8: 1, -1>", "array<f32: 1.5>", "array<i64>", "@a::@b::@c", "@a", "3 : si8", "200 : ui8", "-128 : i8",
    "true", "1 : index", "-1 : index", "-5 : i4", "18446744073709551615 : ui64", "-1 : i128",
    "170141183460469231731687303715884105727 : i128", "1.0 : f64", "0x7FC00000 : f32", "0xFF800000 : f32", "1.5 : bf16",
    "-0.0 : f16", "[1 : i32, \"a\", unit, [], {}]", "{a = 1 : i64, \"b c\" = \"\\22\\\\\\0A\"}",
    "f32", "tensor<?x3xf32>", "tensor<*xi32>", "vector<4xf32>", "memref<4x3xf32>",
    "memref<4x3xf32, strided<[3, 1], offset: ?>>",
    "memref<4xf32, 1>", "memref<*xf32>", "() -> ()", "(f32, tensor<2xi8>) -> (i1, index)", "tuple<f32, tuple<i1>>",
    "complex<f64>", "none", "i37", "si16", "ui1", "f80", "f128", "tf32", "f8E5M2", "f8E4M3", "f8E4M3FN", "f8E5M2FNUZ",
    "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E3M4", "f8E8M0FNU", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN",
    "affine_map<(d0, d1)[s0] -> (d0 + s0 * 2 - d1 floordiv 3, d1 mod 4, 7, d0 ceildiv 2)>", "affine_map<() -> ()>",
    "affine_map<(d0, d1) -> (d1, d0)>", "affine_map<(d0, d1, d2) -> (d2)>",
    "affine_set<(d0, d1) : (d0 - 4 >= 0, d1 == 0)>", "strided<[2, ?], offset: ?>",
    "#stablehlo<comparison_direction GE>", "#stablehlo<precision HIGHEST>",
    "#stablehlo<rng_distribution NORMAL>", "#stablehlo<transpose ADJOINT>", "#stablehlo<fft_type IRFFT>",
    "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>", "#stablehlo.channel_handle<handle = 3, type = 1>",
    "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>",
    "#stablehlo.result_accuracy<atol = 1.0e-5, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>",
    "tensor<?xf32, #stablehlo.bounds<16>>", "!stablehlo.token", "#chlo<comparison_type FLOAT>",
    "#stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, "
    "lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, "
    "allow_imprecise_accumulation = false>",
]  # fmt: skip


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_an_attribute(attribute: str) -> None:
    writer = Writer(f"module attributes {{test.a = {attribute}}} {{\n}}\n")
    wanted = shown(writer.text())
    assert shown(writer.bytecode()) == wanted
    assert shown(writer.bytecode(0)) == wanted


LOCATIONS = [
    "unknown", '"a.py":3:4', '"name"', '"name"("a.py":3:4)', 'callsite("f"("a.py":3:4) at "b.py":1:2)',
    'fused["a.py":3:4, "b"]', 'fused<"metadata">["a.py":3:4]', '"a.py":3:4 to 5:6', '"a.py":3:4 to :6',
]  # fmt: skip


@pytest.mark.parametrize("location", LOCATIONS)
def test_a_location(location: str) -> None:
    text = f"func.func @f(%a: i32 loc({location})) -> i32 {{\n  return %a : i32 loc({location})\n}} loc({location})\n"
    writer = Writer(f"module {{\n{text}}} loc({location})\n")
    assert shown(writer.bytecode()) == shown(writer.text())


def test_uses_before_definitions_and_orders_of_uses() -> None:
    """Blocks that are not in the order of dominance, and values with many uses."""
    text = """func.func @f(%c: i1, %x: i32) -> i32 {
  cf.br ^last
^middle:
  %2 = arith.addi %1, %0 : i32
  %3 = arith.addi %2, %1 : i32
  %4 = arith.muli %3, %x : i32
  return %4 : i32
^last:
  %0 = arith.constant 1 : i32
  %1 = arith.addi %x, %x : i32
  cf.cond_br %c, ^middle, ^last
}
"""
    writer = Writer(text)
    for version in (0, 3, 6):
        assert shown(writer.bytecode(version)) == shown(writer.text())


def test_the_same_artifact(jax_program: Writer, tmp_path: Path) -> None:
    """From text, bytecode and a portable artifact of now, by API, tool and standard input: the same bytes."""
    flags = ["--iree-llvmcpu-target-cpu=generic"]
    wanted = tiree.compile(jax_program.text(), flags=flags)
    for source in (
        jax_program.bytecode(),
        jax_program.bytecode(0),
        jax_program.portable(),
        jax_program.portable("1.0.0"),
    ):
        assert tiree.compile(source, flags=flags) == wanted
    path = tmp_path / "m.mlirbc"
    path.write_bytes(jax_program.portable())
    command = [sys.executable, "-m", "tiree.tools.compile", *flags, "-"]
    done = subprocess.run(command, input=path.read_bytes(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == wanted
    assert tiree.compile(path, flags=flags) == wanted


def test_an_exported_program_runs() -> None:
    import numpy as np

    jax, function, example = network()
    exported = jax.export.export(jax.jit(function))(example)
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    for program in (exported, exported.mlir_module_serialized):
        found = tiree.load(tiree.compile(program)).main(x)
        for one, other in zip(found, jax.jit(function)(x), strict=True):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=2e-5, atol=1e-6)


@pytest.mark.skipif("STABLEHLO" not in os.environ, reason="STABLEHLO names no clone of StableHLO's repository")
def test_the_artifacts_that_stablehlo_keeps() -> None:
    """One of every version with every op. Those that are newer than jaxlib's StableHLO only have to be read."""
    paths = sorted(Path(os.environ["STABLEHLO"]).glob("stablehlo/tests/vhlo/stablehlo_legalize_to_vhlo.*.bc"))
    assert len(paths) > 30
    writer = Writer("module {\n}\n")
    compared = 0
    for path in paths:
        artifact = path.read_bytes()
        found = shown(artifact)
        try:
            wanted = writer.upgraded(artifact)
        except ValueError:
            assert found.count("func.func") > 200
            continue
        assert found == shown(wanted), path.name
        compared += 1
    assert compared >= 29
