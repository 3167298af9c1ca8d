"""One file for several CPUs: it runs in both runtimes, and every phase of its way is one that IREE's tools take."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree
from tiree.compiler.api import compile_str
from tiree.runtime.errors import StatusError

CPUS = "--iree-llvmcpu-target-cpu=x86-64-v4,x86-64-v3,generic"
TRIPLE = "--iree-llvmcpu-target-triple=x86_64"
PROGRAM = """
func.func @main(%a: tensor<33x48xf32>, %b: tensor<48x70xf32>) -> tensor<33x70xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<33x48xf32>, tensor<48x70xf32>) -> tensor<33x70xf32>
  %1 = stablehlo.tanh %0 : tensor<33x70xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<33x70xf32>, tensor<f32>) -> tensor<33xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<33xf32>) -> tensor<33x70xf32>
  %4 = stablehlo.subtract %1, %3 : tensor<33x70xf32>
  return %4 : tensor<33x70xf32>
}
"""
DYNAMIC = """
func.func @main(%a: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %0 = stablehlo.exponential %a : tensor<?x48xf32>
  %1 = stablehlo.add %0, %0 : tensor<?x48xf32>
  return %1 : tensor<?x48xf32>
}
"""
_RANDOM = np.random.default_rng(3)
A, B = (_RANDOM.standard_normal(shape).astype(np.float32) for shape in ((33, 48), (48, 70)))
PHASES = ("executable-sources", "hal")


def expected() -> np.ndarray:
    product = np.tanh(A.astype(np.float64) @ B.astype(np.float64))
    return product - product.sum(axis=1, keepdims=True)


def check(results: object) -> None:
    (got,) = results if isinstance(results, list | tuple) else [results]
    np.testing.assert_allclose(np.asarray(got), expected(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("driver", iree.DRIVERS)
def test_ours(driver: str) -> None:
    check(rt.load(tiree.compile(PROGRAM, flags=[CPUS, TRIPLE]), device=driver).main(A, B))


@pytest.mark.parametrize("flags", [[], ["--iree-hal-link-executables=false"], ["--iree-hal-memoization=false"]])
@iree.needs_iree
def test_theirs(flags: list[str]) -> None:
    module = bytes(tiree.compile(PROGRAM, flags=[CPUS, TRIPLE, *flags]))
    for driver in iree.DRIVERS:
        check(iree.call(module, "main", [A, B], driver))


@iree.needs_iree
def test_dynamic_sizes() -> None:
    module = tiree.compile(DYNAMIC, flags=[CPUS, TRIPLE])
    for rows in (0, 1, 37):
        x = _RANDOM.standard_normal((rows, 48)).astype(np.float32)
        for got in (
            rt.load(module, device="local-task").main(x),
            iree.call(bytes(module), "main", [x], "local-sync")[0],
        ):
            np.testing.assert_allclose(np.asarray(got), 2 * np.exp(x.astype(np.float64)), rtol=1e-5)


def at_phase(phase: str) -> str:
    text = compile_str(PROGRAM, extra_args=[CPUS, TRIPLE, f"--compile-to={phase}"], output_generic_mlir=True)
    assert text is not None
    return text.decode()


@iree.needs_iree
def test_iree_carries_every_phase_on() -> None:
    texts = {phase: at_phase(phase) for phase in PHASES}
    iree.accept(list(texts.values()))
    assert texts["executable-sources"].count('"hal.executable.condition"') == 2
    for phase, text in texts.items():
        check(iree.call(iree.compile_text(text, compile_from=phase), "main", [A, B], "local-sync"))


@pytest.mark.parametrize("key", ["no-such-feature", "avx512cd"])
@pytest.mark.parametrize("memoize", ["true", "false"])
@iree.needs_iree
def test_the_host_asks_where_an_image_cannot(key: str, memoize: str) -> None:
    """Conditions of another kind: one image for each variant, and the initializer chooses."""
    text = at_phase("executable-sources")
    text = text.replace('key = "avx512cd"', f'key = "{key}"')
    text = text.replace('category = "hal.cpu", key = "f16c"', 'category = "hal.dispatch", key = "no-such-key"')
    assert text.count(f'key = "{key}"') == text.count("no-such-key") == 1
    flags = [CPUS, TRIPLE, "--compile-from=executable-sources", f"--iree-hal-memoization={memoize}"]
    flags.append("--iree-llvmcpu-debug-symbols=false")
    module = compile_str(text, extra_args=flags)
    assert module is not None
    assert module.count(b"iree_hal_executable_library_query\0") == 3
    for driver in iree.DRIVERS:
        check(rt.load(module, device=driver).main(A, B))
        check(iree.call(module, "main", [A, B], driver))


def test_a_device_that_runs_no_variant_is_told_so() -> None:
    text = at_phase("executable-sources").replace('category = "hal.cpu"', 'category = "no.such"')
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if '"hal.executable.variant"' in line]
    # Without the last variant, which asks nothing.
    last = next(number for number, line in enumerate(lines) if number > starts[-1] and line.startswith("    })"))
    module = compile_str(
        "\n".join(lines[: starts[-1]] + lines[last + 1 :]),
        extra_args=[CPUS, TRIPLE, "--compile-from=executable-sources"],
    )
    assert module is not None
    with pytest.raises(
        RuntimeError,
        match=r"does not support any variant of executable .* available: .* x86-64-v4, which needs .*avx512bw.*; ",
    ):
        rt.load(module, device="local-sync")


def test_a_machine_that_none_of_the_variants_is_for_is_told_what_they_need() -> None:
    flags = ["--iree-llvmcpu-target-cpu=x86-64-v2+xop,x86-64-v3+fma4", TRIPLE]  # what CPUs no longer have
    module = tiree.compile(PROGRAM, flags=flags)
    with pytest.raises(StatusError) as caught:
        rt.load(bytes(module), device="local-sync")
    message = caught.value.status
    assert re.search(r"runs none of the variants .*, which need (.* )?fma4.*; or .*xop; it has .*sse4.2 ", message)
    assert "`generic` or this CPU among the names in --iree-llvmcpu-target-cpu=" in message


def test_the_report_names_the_variants(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    tiree.compile(PROGRAM, flags=[CPUS, TRIPLE, f"--tiree-report={path}"])
    report = json.loads(path.read_text())
    (variants,) = report["variants"].values()
    assert [variant["cpu"] for variant in variants] == ["x86-64-v4", "x86-64-v3", "generic"]
    assert [variant["asks"] for variant in variants][1:] == [["fma", "f16c", "avx2"], []]
    assert all(variant["strategies"] for variant in variants)
    tiree.compile(PROGRAM, flags=[CPUS, TRIPLE, f"--tiree-report={tmp_path / 'report.txt'}"])
    assert "  x86-64-v3, asks for fma, f16c, avx2\n  generic\n" in (tmp_path / "report.txt").read_text()
