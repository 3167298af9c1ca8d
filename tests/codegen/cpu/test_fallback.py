"""The scalar fallback where nothing else applies, and the errors of dispatches that no strategy can run."""

import numpy as np
import pytest
from tiree.support.errors import CompileError

from tests.codegen.cpu.checks import check, close
from tests.codegen.cpu.dispatches import Dispatch, affine, generic, random_array

RNG = np.random.default_rng(23)


def test_results_written_through_a_map_that_skips() -> None:
    """out[2 * i] += in[i]: elements in between keep their initial value."""
    t, o = "7xf32", "13xf32"
    text = generic(
        "%r0", [affine(1, 0), affine(1, "d0 * 2")], "p", [("%in0", t)], [("%in1", o)], "%y0 = arith.addf %a0, %o0 : f32"
    )
    x, y = random_array(RNG, t), random_array(RNG, o)
    wanted = y.copy()
    wanted[::2] += x
    check(Dispatch([t, o], [o], text), [x, y], [wanted], strategy="scalar-fallback", fallback=False)


def test_such_a_result_can_be_read_again() -> None:
    t, o = "6xf32", "12xf32"
    text = "%c = arith.constant 1.0 : f32\n%e = tensor.empty() : tensor<12xf32>\n"
    text += f"%f = linalg.fill ins(%c : f32) outs(%e : tensor<{o}>) -> tensor<{o}>\n"
    text += generic(
        "%s",
        [affine(1, 0), affine(1, "d0 * 2 + 1")],
        "p",
        [("%in0", t)],
        [("%f", o)],
        "%y0 = arith.mulf %a0, %o0 : f32",
    )
    text += generic("%r0", [affine(1, 0)] * 2, "p", [("%s", o)], [("%e", o)], "%y0 = arith.negf %a0 : f32")
    x = random_array(RNG, t)
    wanted = np.full(12, -1, np.float32)
    wanted[1::2] = -x
    check(Dispatch([t], [o], text), [x], [wanted], strategy="scalar-fallback", fallback=False)


def test_scratch_beyond_the_stack_is_workgroup_memory() -> None:
    """A row of 9000 floats does not fit on a kernel's stack."""
    t, o = "2x9000xf32", "2xf32"
    text = (
        "%c = arith.constant 0.0 : f32\n%z = tensor.empty() : tensor<2x9000xf32>\n%e = tensor.empty() : tensor<2xf32>\n"
    )
    text += f"%f = linalg.fill ins(%c : f32) outs(%e : tensor<{o}>) -> tensor<{o}>\n"
    whole, rows = affine(2, 0, 1), affine(2, 0)
    text += generic("%x", [whole] * 2, "pp", [("%in0", t)], [("%z", t)], "%y0 = math.exp %a0 : f32")
    text += generic("%s", [whole, rows], "pr", [("%x", t)], [("%f", o)], "%y0 = arith.addf %a0, %o0 : f32")
    reads = [("%x", t), ("%s", o)]
    text += generic("%r0", [whole, rows, whole], "pp", reads, [("%z", t)], "%y0 = arith.divf %a0, %a1 : f32")
    x = random_array(RNG, t)
    d = Dispatch([t], [t], text)
    wanted = np.exp(x.astype(np.float64))
    for strategy in ("row-group", "scalar-fallback"):
        (out,) = d.run(x, strategy=strategy)
        assert "tiree.workgroup_memory" in d.kernel_text
        close(out, (wanted / wanted.sum(1, keepdims=True)).astype(np.float32), 10)


def test_scratch_that_would_not_fit_is_recomputed() -> None:
    """1 - x / max(x) over 600 KB: the maximum is kept, the quotients are not."""
    t = "300x500xf32"
    text = (
        f"%c = arith.constant 0xFF800000 : f32\n%z = tensor.empty() : tensor<{t}>\n%e = tensor.empty() : tensor<f32>\n"
    )
    text += "%f = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>\n"
    whole, nothing = affine(2, 0, 1), affine(2)
    text += generic("%x", [whole] * 2, "pp", [("%in0", t)], [("%z", t)], "%y0 = math.exp %a0 : f32")
    text += generic("%m", [whole, nothing], "rr", [("%x", t)], [("%f", "f32")], "%y0 = arith.maximumf %a0, %o0 : f32")
    reads = [("%x", t), ("%m", "f32")]
    text += generic("%r0", [whole, nothing, whole], "pp", reads, [("%z", t)], "%y0 = arith.divf %a0, %a1 : f32")
    x = random_array(RNG, t)
    wanted = np.exp(x.astype(np.float64))
    check(Dispatch([t], [t], text), [x], [(wanted / wanted.max()).astype(np.float32)], cpus=["host"], scale=10)


def test_an_unknown_op_is_named() -> None:
    text = '%r0 = "tosa.sub"(%in0, %in0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>'
    with pytest.raises(CompileError, match=r"no lowering for tosa\.sub in dispatch kernel"):
        Dispatch(["4xf32"], ["4xf32"], text).lower()


def test_dynamic_shapes_are_refused() -> None:
    text = '%d = "tensor.cast"(%in0) : (tensor<4xf32>) -> tensor<?xf32>\n'
    text += '%e = "math.exp"(%d) <{fastmath = #arith.fastmath<none>}> : (tensor<?xf32>) -> tensor<?xf32>\n'
    text += '%r0 = "tensor.cast"(%e) : (tensor<?xf32>) -> tensor<4xf32>'
    with pytest.raises(CompileError, match="dynamic shape"):
        Dispatch(["4xf32"], ["4xf32"], text).lower()


def test_a_strategy_asked_for_by_name_must_match() -> None:
    text = "%r0 = tensor.cast %in0 : tensor<4xf32> to tensor<4xf32>"
    with pytest.raises(CompileError, match="no codegen strategy named 'fast'"):
        Dispatch(["4xf32"], ["4xf32"], text).lower("fast")
    with pytest.raises(CompileError, match="strategy row-group cannot run it"):
        Dispatch(["4xf32"], ["4xf32"], text).lower("row-group")
