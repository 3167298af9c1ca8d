"""What iree-compile 3.13 makes (llvm-cpu, embedded ELF) runs in Tiree's runtime, on both devices, with right values,
and both dump-module tools print the same of it.

`PROGRAMS` is the table: each row a name, the text, how its functions are called, and flags of iree-compile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree.runtime as rt
from programs import Bundle, TextProgram, bundles, text_programs
from programs import models as model_makers
from programs.bundle import check
from proofs import iree_reference as iree

pytestmark = iree.needs_iree


@dataclass(frozen=True)
class Program:
    """`runs` gives (function, inputs, expected results, rtol, atol) for each call; it may need JAX, so it is lazy."""

    name: str
    text: Callable[[], str]
    runs: Callable[[], list[tuple[str, Sequence[Any], Sequence[Any], float, float]]]
    flags: tuple[str, ...] = ()


def _model(model: model_makers.Model, suffix: str = "", *flags: str) -> Program:
    def runs() -> list[tuple[str, Sequence[Any], Sequence[Any], float, float]]:
        return [("main", model.inputs, model.expected, model.rtol, model.atol)]

    return Program(f"{model.name}{suffix}", lambda: model.text, runs, flags)


def _text(program: TextProgram) -> Program:
    def runs() -> list[tuple[str, Sequence[Any], Sequence[Any], float, float]]:
        return [(name, inputs, want, program.rtol, program.atol) for name, inputs, want in program.runs]

    return Program(program.name, lambda: program.text, runs)


BUNDLES = {bundle.name: bundle for bundle in bundles()}
# Bundles that iree-compile takes and that are not too slow there; what it computes differently is marked in the case.
CHOSEN = (
    "integers_int8", "integers_int64", "integers_uint16", "floats_float16", "floats_bfloat16", "functions_float32",
    "iota", "pads", "shapes",
)  # fmt: skip

DYNAMIC = TextProgram(
    "dynamic_dimensions",
    """
module @m {
  func.func @double(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %0 = stablehlo.add %x, %x : tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
  func.func @row_sums(%x: tensor<?x?xf32>) -> tensor<?xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1]
      : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}
""",
    (
        (
            "double",
            (np.arange(15, dtype=np.float32).reshape(5, 3),),
            (2 * np.arange(15, dtype=np.float32).reshape(5, 3),),
        ),
        ("row_sums", (np.ones((4, 7), np.float32),), (np.full(4, 7, np.float32),)),
    ),
)  # fmt: skip

STATE = TextProgram(
    "mutable_global",
    """
module @m {
  util.global private mutable @count = dense<0> : tensor<i32>
  func.func @next() -> tensor<i32> {
    %0 = util.global.load @count : tensor<i32>
    %1 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %0, %1 : tensor<i32>
    util.global.store %2, @count : tensor<i32>
    return %2 : tensor<i32>
  }
}
""",
    (("next", (), (np.int32(1),)),),
)

_REFUSED = ("affine_mod_rotate", "identity_custom_call", "integer_power", "total_order", "divisions_in_kernels")
"""Text programs that iree-compile refuses or computes differently; the programs say how."""

PROGRAMS = [
    *(_model(model) for model in model_makers.models()),
    *(_text(program) for program in (*text_programs(), DYNAMIC, STATE) if program.name not in _REFUSED),
    _model(model_makers.mlp(), "_O3", "--iree-opt-level=O3"),
    _model(model_makers.mlp(), "_data_tiling", "--iree-opt-data-tiling"),
    _model(model_makers.mlp(4), "_ukernels", "--iree-llvmcpu-enable-ukernels=all"),
    _model(model_makers.mlp(), "_one_shot", "--iree-hal-memoization=false"),
    _model(model_makers.cnn(), "_direct", "--iree-hal-indirect-command-buffers=false"),
    _model(model_makers.cnn(), "_unlinked", "--iree-hal-link-executables=false"),
    _model(model_makers.cnn(), "_generic", "--iree-llvmcpu-target-cpu=generic"),
    _model(model_makers.newton(), "_plain", "--iree-vm-emit-polyglot-zip=false", "--iree-hal-executable-debug-level=0"),
    _model(model_makers.nested_if(), "_small", "--iree-vm-bytecode-module-strip-source-map",
           "--iree-vm-bytecode-module-strip-debug-ops", "--iree-llvmcpu-debug-symbols=false"),
    _model(model_makers.lstm(), "_concurrent", "--iree-stream-partitioning-favor=max-concurrency"),
]  # fmt: skip


def call(module: bytes, function: str, inputs: Sequence[Any], device: str) -> list[np.ndarray]:
    results = getattr(rt.load(module, device=device), function)(*inputs)
    return [np.asarray(r) for r in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_program(program: Program, tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="texts and values come from JAX")
    module = (iree.compile_with_tool if program.flags else iree.compile_text)(program.text(), *program.flags)
    iree.same_dump(module, tmp_path)
    for device in iree.DRIVERS:
        for function, inputs, want, rtol, atol in program.runs():
            check(call(module, function, inputs, device), want, rtol, atol)


@pytest.mark.parametrize("name", CHOSEN)
def test_bundle(name: str, tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="texts and values come from JAX")
    bundle: Bundle = BUNDLES[name]
    module = iree.compile_text(bundle.text)
    iree.same_dump(module, tmp_path)
    wrong = []
    for device in iree.DRIVERS:
        results = bundle.split(call(module, "main", bundle.inputs, device))
        for case, got, want in zip(bundle.cases, results, bundle.expected, strict=True):
            try:
                check(got, want, case.rtol, case.atol)
            except AssertionError as error:
                if not case.differs:
                    wrong.append(f"{device}, {case.name}: {error}")
    assert not wrong, "\n".join(wrong)


def test_arguments_stay_as_they_are() -> None:
    """IREE's kernels may write into arguments (a convolution into its initial values): never into the caller's."""
    (program,) = [program for program in text_programs() if program.name == "linalg_named"]
    (run,) = [run for run in program.runs if run[0] == "conv"]
    image, kernel, initial = (_aligned(value) for value in run[1])
    before = initial.copy()
    module = iree.compile_text(program.text)
    for device in iree.DRIVERS:
        for _ in range(2):
            check(call(module, "conv", (image, kernel, initial), device), run[2], program.rtol, program.atol)
        np.testing.assert_array_equal(initial, before)


def _aligned(value: np.ndarray) -> np.ndarray:
    """A copy at a 64-byte boundary, which a runtime could take without another copy."""
    memory = np.zeros(value.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    placed = memory[start : start + value.nbytes].view(value.dtype).reshape(value.shape)
    placed[...] = value
    return placed
