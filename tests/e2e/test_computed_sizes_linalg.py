"""Sizes that disagree in linalg and tensor programs, in loops, branches and blocks: both sizes are named."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree
from tiree.runtime.errors import StatusError

PROGRAM = """
func.func @ext(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a) -> (tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %s = arith.subi %d, %c1 : index
    %y = tensor.extract_slice %x[%n] [%s] [1] : tensor<?xf32> to tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
func.func @gen(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a) -> (tensor<?xf32>) {
    %e = tensor.empty(%n) : tensor<?xf32>
    %y = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
        ins(%x, %b : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
func.func @expd(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: index) -> tensor<2x?xf32> {
  %c0 = arith.constant 0 : index
  %c = arith.cmpi slt, %n, %c0 : index
  %r = scf.if %c -> (tensor<2x?xf32>) {
    %y = tensor.expand_shape %a [[0, 1]] output_shape [2, %n] : tensor<?xf32> into tensor<2x?xf32>
    scf.yield %y : tensor<2x?xf32>
  } else {
    %y = tensor.expand_shape %b [[0, 1]] output_shape [2, %n] : tensor<?xf32> into tensor<2x?xf32>
    scf.yield %y : tensor<2x?xf32>
  }
  return %r : tensor<2x?xf32>
}
func.func @ins(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c = arith.cmpi sgt, %n, %c0 : index
  cf.cond_br %c, ^bb1(%a : tensor<?xf32>), ^bb2(%b : tensor<?xf32>)
^bb1(%x: tensor<?xf32>):
  %d = tensor.dim %b, %c0 : tensor<?xf32>
  %y = tensor.insert_slice %b into %x[%n] [%d] [1] : tensor<?xf32> into tensor<?xf32>
  cf.br ^bb2(%y : tensor<?xf32>)
^bb2(%z: tensor<?xf32>):
  %w = arith.addf %z, %a : tensor<?xf32>
  return %w : tensor<?xf32>
}
func.func @asm(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %m = util.assume.int %n<umin = 16, umax = 4096, udiv = 16> : index
  %y = tensor.extract_slice %a[0] [%m] [1] : tensor<?xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}
"""
CASES = {
    "ext": [
        (
            5,
            5,
            2,
            "the box ends behind its tensor in dimension 0: dimension 0 of operand 1 (%x) must be at least",
            6,
            5,
        ),
        (
            5,
            5,
            -1,
            "an offset is negative in dimension 0: argument 3 must be at least 0 for tensor.extract_slice",
            0,
            -1,
        ),
    ],
    "gen": [
        (5, 4, 5, "argument 2 (%b): dimension 0 must equal dimension 0 of operand 1 for linalg.generic at", 5, 4),
        (5, 5, 4, "dimension 0 of operand 3 must equal dimension 0 of operand 1 for linalg.generic at", 5, 4),
    ],
    "expd": [(5, 5, 2, "argument 2 (%b): dimension 0 must equal 2 * argument 3 for tensor.expand_shape at", 4, 5)],
    "ins": [
        (
            5,
            4,
            2,
            "the box ends behind its tensor in dimension 0: dimension 0 of operand 2 (%x) must be at least",
            6,
            5,
        ),
        (5, 4, -2, "argument 1 (%a): dimension 0 must equal dimension 0 of operand 1 (%z) for arith.addf at", 4, 5),
    ],
    "asm": [
        (50, 4, 17, "argument 3 must be a multiple of 16 for util.assume.int at", 16, 17),
        (50, 4, 8, "argument 3 must be at least 16 for util.assume.int at", 16, 8),
        (50, 4, 10000, "argument 3 must be at most 4096 for util.assume.int at", 4096, 10000),
        (50, 4, 64, "must be at least the end of the box for tensor.extract_slice at", 64, 50),
    ],
}


@pytest.fixture(scope="module")
def module() -> bytes:
    return tiree.compile(PROGRAM)


@pytest.mark.parametrize("device", iree.DRIVERS)
def test_both_sizes_are_named(module: bytes, device: str) -> None:
    loaded = rt.load(module, device)
    for name, calls in CASES.items():
        for a, b, number, said, expected, have in calls:
            text = f"@{name}: .*{re.escape(said)}.* expected {expected} but have {have}$"
            with pytest.raises(StatusError, match=re.escape(said)) as caught:
                getattr(loaded, name)(np.ones(a, np.float32), np.ones(b, np.float32), number)
            assert caught.value.code_name == "INVALID_ARGUMENT"
            assert re.search(text, str(caught.value)), caught.value


def test_sizes_that_agree_pass(module: bytes) -> None:
    loaded = rt.load(module)
    a, b = np.arange(6, dtype=np.float32), np.ones(6, np.float32)
    np.testing.assert_array_equal(loaded.ext(a, b, 0), a[:3])
    np.testing.assert_array_equal(loaded.gen(a, b, 6), a + 3)
    np.testing.assert_array_equal(loaded.expd(a, b, 3), b.reshape(2, 3))
    np.testing.assert_array_equal(loaded.ins(a, b[:2], 1), a + np.array([0, 1, 1, 3, 4, 5]))
    np.testing.assert_array_equal(loaded.asm(np.ones(40, np.float32), b, 32), np.ones(32))
