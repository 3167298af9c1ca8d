"""Kernels as bytecode: right in every operation, in both runtimes, beside machine code, and the same bytes anywhere."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from programs import Bundle, bundles
from programs.bundle import check
from programs.models import transformer_block
from proofs import iree_reference as iree
from tiree.compiler.api import compile_str

VMVX = "--iree-hal-local-target-device-backends=vmvx"
BOTH = "--iree-hal-local-target-device-backends=llvm-cpu,vmvx"
NAMES = ("floats_float16", "floats_float32", "functions_float64", "integers_int8", "conversions", "dots")
PROGRAM = """
func.func @main(%a: tensor<5x24xf32>, %b: tensor<24x7xf32>) -> tensor<5x7xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<5x24xf32>, tensor<24x7xf32>) -> tensor<5x7xf32>
  %1 = stablehlo.tanh %0 : tensor<5x7xf32>
  return %1 : tensor<5x7xf32>
}
"""
DYNAMIC = """
func.func @main(%a: tensor<?x48xf32>, %w: tensor<48x20xf32>) -> tensor<?x20xf32> {
  %0 = stablehlo.exponential %a : tensor<?x48xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0]
      : (tensor<?x48xf32>, tensor<48x20xf32>) -> tensor<?x20xf32>
  return %1 : tensor<?x20xf32>
}
"""
_RANDOM = np.random.default_rng(1)
A, B = (_RANDOM.standard_normal(shape).astype(np.float32) for shape in ((5, 24), (24, 7)))


def right(got: object) -> None:
    np.testing.assert_allclose(np.asarray(got), np.tanh(A.astype(np.float64) @ B), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bundle", [b for b in bundles() if b.name in NAMES], ids=lambda bundle: bundle.name)
def test_values(bundle: Bundle) -> None:
    pytest.importorskip("jax", reason="values come from JAX")
    results = rt.load(tiree.compile(bundle.text, flags=[VMVX]), device="local-sync").main(*bundle.inputs)
    results = results if isinstance(results, tuple) else (results,)
    parts = bundle.split([np.asarray(one) for one in results])
    for case, got, want in zip(bundle.cases, parts, bundle.expected, strict=True):
        check(got, want, case.rtol, case.atol)


@pytest.mark.parametrize("flags", [[VMVX], ["--iree-hal-target-backends=vmvx"], [BOTH]])
@iree.needs_iree
def test_both_runtimes(flags: list[str]) -> None:
    module = bytes(tiree.compile(PROGRAM, flags=flags))
    for driver in iree.DRIVERS:
        right(rt.load(module, device=driver).main(A, B))
        (got,) = iree.call(module, "main", [A, B], driver)
        right(got)


@iree.needs_iree
def test_dynamic_sizes() -> None:
    module = tiree.compile(DYNAMIC, flags=[VMVX])
    w = _RANDOM.standard_normal((48, 20)).astype(np.float32)
    for rows in (0, 1, 13):
        x = _RANDOM.standard_normal((rows, 48)).astype(np.float32)
        got = [
            rt.load(module, device="local-task").main(x, w),
            iree.call(bytes(module), "main", [x, w], "local-sync")[0],
        ]
        for one in got:
            np.testing.assert_allclose(np.asarray(one), np.exp(x.astype(np.float64)) @ w, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_extrema_of_small_floats(dtype: str) -> None:
    """The running value of a reduction is f32 in a register while its element still has the small type."""
    text = f"""func.func @main(%a: tensor<7x9x{dtype}>) -> (tensor<7x{dtype}>, tensor<7x9x{dtype}>) {{
      %low = stablehlo.constant dense<0xFF80> : tensor<{dtype}>
      %m = stablehlo.reduce(%a init: %low) applies stablehlo.maximum across dimensions = [1]
        : (tensor<7x9x{dtype}>, tensor<{dtype}>) -> tensor<7x{dtype}>
      %b = stablehlo.minimum %a, %a : tensor<7x9x{dtype}>
      return %m, %b : tensor<7x{dtype}>, tensor<7x9x{dtype}>
    }}""".replace("0xFF80", "0xFC00" if dtype == "f16" else "0xFF80")
    a = _RANDOM.standard_normal((7, 9)).astype(np.float16 if dtype == "f16" else ml_dtypes.bfloat16)
    largest, same = rt.load(tiree.compile(text, flags=[VMVX]), device="local-sync").main(a)
    np.testing.assert_array_equal(np.asarray(largest).astype(np.float32), a.max(1).astype(np.float32))
    np.testing.assert_array_equal(np.asarray(same).astype(np.float32), a.astype(np.float32))


def test_the_bytes_do_not_know_the_machine() -> None:
    """Nothing of this machine's CPU is in the file; a flag of CPUs changes nothing but the record of flags."""
    plain = bytes(tiree.compile(PROGRAM, flags=[VMVX]))
    assert plain == bytes(tiree.compile(PROGRAM, flags=[VMVX]))
    assert b"x86_64" not in plain
    assert b"ELF" not in plain


def test_machine_code_is_taken_where_it_runs() -> None:
    """An image for another architecture first: the bytecode runs."""
    flags = [BOTH, "--iree-llvmcpu-target-triple=riscv64-unknown-linux-gnu"]
    right(rt.load(tiree.compile(PROGRAM, flags=flags), device="local-sync").main(A, B))


def test_bytecode_is_taken_where_no_cpu_fits() -> None:
    flags = [BOTH, "--iree-llvmcpu-target-triple=x86_64", "--iree-llvmcpu-target-cpu=x86-64-v4,x86-64-v3"]
    text = compile_str(PROGRAM, extra_args=[*flags, "--compile-to=executable-targets"], output_generic_mlir=True)
    assert text is not None
    # One image for both CPUs; the host asks for what the lower one needs.
    assert text.count(b"hal.executable.binary") == 2
    assert [text.count(f'key = "{key}"'.encode()) for key in ("avx2", "avx512bw")] == [1, 0]
    text = text.replace(b'key = "avx2"', b'key = "no-such-feature"')
    module = compile_str(text, extra_args=[*flags, "--compile-from=executable-targets"])
    assert module is not None
    right(rt.load(module, device="local-sync").main(A, B))


@iree.needs_iree
def test_phases_are_what_iree_reads() -> None:
    texts: dict[str, str] = {}
    for phase in ("executable-sources", "executable-targets", "hal"):
        text = compile_str(PROGRAM, extra_args=[VMVX, f"--compile-to={phase}"], output_generic_mlir=True)
        assert text is not None
        texts[phase] = text.decode()
    iree.accept([texts["executable-sources"], texts["hal"]])
    for phase in ("executable-sources", "hal"):
        right(iree.call(iree.compile_text(texts[phase], compile_from=phase), "main", [A, B], "local-sync")[0])


def test_a_device_of_bytecode_beside_one_of_machine_code() -> None:
    text = """
func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = arith.addf %a, %a : tensor<64xf32>
  %1 = flow.tensor.transfer %0 : tensor<64xf32> to #hal.device.promise<@b>
  %2 = arith.mulf %1, %1 : tensor<64xf32>
  %3 = flow.tensor.transfer %2 : tensor<64xf32> to #hal.device.promise<@a>
  return %3 : tensor<64xf32>
}"""
    second = '#hal.device.target<"local", {ordinal = 1 : index}, [#hal.executable.target<"vmvx", "vmvx-bytecode-fb">]>'
    flags = ["--iree-hal-target-device=a=local[0]", f"--iree-hal-target-device=b={second}"]
    module = tiree.compile(text, flags=flags)
    x = _RANDOM.standard_normal(64).astype(np.float32)
    np.testing.assert_array_equal(np.asarray(rt.load(module, device=["local-task", "local-sync"]).main(x)), 4 * x * x)


@pytest.mark.parametrize(
    "flag", [VMVX, "--iree-llvmcpu-target-cpu=generic,x86-64-v2,x86-64-v3,x86-64-v4"], ids=["vmvx", "CPUs"]
)
@iree.needs_iree
def test_a_transformer(flag: str) -> None:
    pytest.importorskip("jax", reason="values come from JAX")
    model = transformer_block()
    module = bytes(tiree.compile(model.text, flags=[flag, "--iree-llvmcpu-target-triple=x86_64"]))
    (want,) = model.expected
    for got in (
        rt.load(module, device="local-task").main(*model.inputs),
        *iree.call(module, "main", model.inputs, "local-task"),
    ):
        np.testing.assert_allclose(np.asarray(got), want, rtol=model.rtol, atol=model.atol)


def test_names_are_bundles() -> None:
    assert set(NAMES) <= {bundle.name for bundle in bundles()}
