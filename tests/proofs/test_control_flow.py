"""Branches, loops and calls of every shape give the values that reading them step by step gives.

Fixed cases for what is easy to get wrong, then random programs (`pytest --hypothesis-profile=search` looks for more).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from hypothesis import given, settings
from proofs.random_control_flow import Program, programs
from tiree.support.errors import CompileError

CI_EXAMPLES = 12
X = np.arange(4, dtype=np.float32)
Y = np.full(4, 3, np.float32)


def check(text: str, inputs: Sequence[Any], wanted: Sequence[Any], function: str = "main") -> None:
    """Compiles `text` and compares what `function` gives on both devices."""
    module = tiree.compile(text)
    for device in ("local-sync", "local-task"):
        found = getattr(rt.load(module, device=device), function)(*inputs)
        results = [] if found is None else list(found) if isinstance(found, tuple) else [found]
        assert len(results) == len(wanted)
        for got, want in zip(results, wanted, strict=True):
            got, want = np.asarray(got), np.asarray(want)
            assert got.shape == want.shape
            if want.dtype.kind == "f":
                largest = max(1.0, float(np.max(np.abs(want))) if want.size else 1.0)
                np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * largest)
            else:
                np.testing.assert_array_equal(got, want)


SWITCH = """func.func @main(%i: i32, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, i32) {
  cf.switch %i : i32, [
    default: ^other(%x, %y, %i : tensor<4xf32>, tensor<4xf32>, i32),
    0: ^zero(%y : tensor<4xf32>),
    -5: ^same,
    7: ^other(%y, %y, %i : tensor<4xf32>, tensor<4xf32>, i32)
  ]
^other(%p: tensor<4xf32>, %q: tensor<4xf32>, %n: i32):
  %0 = arith.addf %p, %q : tensor<4xf32>
  return %0, %n : tensor<4xf32>, i32
^zero(%r: tensor<4xf32>):
  %1 = arith.mulf %r, %r : tensor<4xf32>
  cf.br ^other(%1, %r, %i : tensor<4xf32>, tensor<4xf32>, i32)
^same:
  %2 = arith.subf %x, %y : tensor<4xf32>
  return %2, %i : tensor<4xf32>, i32
}
"""


@pytest.mark.parametrize(("selector", "wanted"), [(0, Y * Y + Y), (-5, X - Y), (7, Y + Y), (1, X + Y)])
def test_switch_passes_each_edge_its_own_values(selector: int, wanted: np.ndarray) -> None:
    check(SWITCH, (selector, X, Y), (wanted, selector))


@pytest.mark.parametrize(("type", "case"), [("i8", -1), ("i16", -300), ("i64", 1 << 40), ("i1", 1)])
def test_switch_on_every_width(type: str, case: int) -> None:
    text = f"""func.func @main(%i: {type}) -> i32 {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %twice = arith.xori %i, %i : {type}
  %same = arith.addi %twice, %i : {type}
  cf.switch %same : {type}, [default: ^out(%zero : i32), {case}: ^out(%one : i32)]
^out(%r: i32):
  return %r : i32
}}
"""
    check(text, (case,), (1,))
    check(text, (0,), (0,))


GRAPHS: dict[str, tuple[str, tuple[Any, ...], tuple[Any, ...]]] = {
    "both_edges_to_one_block": (
        """func.func @main(%p: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  cf.cond_br %p, ^d(%x, %x : tensor<4xf32>, tensor<4xf32>), ^d(%y, %x : tensor<4xf32>, tensor<4xf32>)
^d(%a: tensor<4xf32>, %b: tensor<4xf32>):
  %c = arith.addf %a, %b : tensor<4xf32>
  return %a, %c : tensor<4xf32>, tensor<4xf32>
}""",
        (False, X, Y),
        (Y, X + Y),
    ),
    "unreachable_blocks": (
        """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.addf %x, %x : tensor<4xf32>
  return %c : tensor<4xf32>
^dead(%a: tensor<4xf32>):
  %d = arith.mulf %a, %late : tensor<4xf32>
  %late = arith.mulf %d, %c : tensor<4xf32>
  cf.br ^dead(%d : tensor<4xf32>)
}""",
        (X,),
        (X + X,),
    ),
    "critical_edge_of_a_loop": (
        """func.func @main(%n: i32, %x: tensor<4xf32>) -> (tensor<4xf32>, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  cf.br ^l(%c0, %x : i32, tensor<4xf32>)
^l(%i: i32, %p: tensor<4xf32>):
  %d = arith.addf %p, %x : tensor<4xf32>
  %j = arith.addi %i, %c1 : i32
  %t = arith.cmpi slt, %j, %n : i32
  cf.cond_br %t, ^l(%j, %d : i32, tensor<4xf32>), ^out(%p, %d : tensor<4xf32>, tensor<4xf32>)
^out(%q: tensor<4xf32>, %r: tensor<4xf32>):
  %e = arith.subf %r, %q : tensor<4xf32>
  return %e, %j : tensor<4xf32>, i32
}""",
        (3, X),
        (X, 3),
    ),
    "values_used_in_later_blocks": (
        """func.func @main(%n: i32, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  cf.br ^l(%c0, %x, %y : i32, tensor<4xf32>, tensor<4xf32>)
^out:
  return %q, %d : tensor<4xf32>, tensor<4xf32>
^l(%i: i32, %p: tensor<4xf32>, %q: tensor<4xf32>):
  %d = arith.addf %p, %q : tensor<4xf32>
  %j = arith.addi %i, %c1 : i32
  %t = arith.cmpi slt, %j, %n : i32
  cf.cond_br %t, ^l(%j, %q, %d : i32, tensor<4xf32>, tensor<4xf32>), ^out
}""",
        (3, np.ones(4, np.float32), np.ones(4, np.float32)),
        (np.full(4, 3, np.float32), np.full(4, 5, np.float32)),
    ),
    "recursion": (
        """func.func @main(%n: i32, %x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : i32
  %done = arith.cmpi eq, %n, %zero : i32
  %r = scf.if %done -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    %a = func.call @twice(%n, %x) : (i32, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func private @twice(%n: i32, %x: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant 1 : i32
  %m = arith.subi %n, %one : i32
  %b = arith.addf %x, %x : tensor<4xf32>
  %a = func.call @main(%m, %b) : (i32, tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}""",
        (3, X),
        (X * 8,),
    ),
    "results_twice_and_arguments_as_they_came": (
        """func.func @main(%x: tensor<4xf32>, %n: i64)
    -> (tensor<4xf32>, tensor<4xf32>, i64, tensor<4xf32>, tensor<2x2xf32>) {
  %a = arith.addf %x, %x : tensor<4xf32>
  %b = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %a, %x, %n, %a, %b : tensor<4xf32>, tensor<4xf32>, i64, tensor<4xf32>, tensor<2x2xf32>
}""",
        (X, 1 << 40),
        (X * 2, X, 1 << 40, X * 2, (X * 2).reshape(2, 2)),
    ),
    "nothing": ("func.func @main() {\n  return\n}", (), ()),
    "elements_written_in_a_loop": (
        """func.func @main(%t: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %t) -> tensor<4xf32> {
    %j = arith.subi %c3, %i : index
    %x = tensor.extract %t[%j] : tensor<4xf32>
    %b = tensor.insert %x into %a[%i] : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r, %t : tensor<4xf32>, tensor<4xf32>
}""",
        (X,),
        (X[::-1], X),
    ),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(name: str) -> None:
    check(*GRAPHS[name])


def test_endless_loops_compile() -> None:
    text = """func.func @endless(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^l(%x : tensor<4xf32>)
^l(%p: tensor<4xf32>):
  %c = arith.addf %p, %x : tensor<4xf32>
  cf.br ^l(%c : tensor<4xf32>)
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
"""
    check(text, (X,), (X,))


COLLIDING = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = arith.constant dense<[1.0, 2.0, 3.0, 5.0]> : tensor<4xf32>
  %c = arith.addf %x, %k : tensor<4xf32>
  return %c : tensor<4xf32>
}
func.func VISIBILITY @NAME(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %z = arith.constant 0 : i32
  %p = arith.cmpi sgt, %n, %z : i32
  cf.cond_br %p, ^a, ^b(%x : tensor<4xf32>)
^a:
  %c = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %d = arith.mulf %c, %x : tensor<4xf32>
  cf.br ^b(%d : tensor<4xf32>)
^b(%r : tensor<4xf32>):
  return %r : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = arith.constant 1 : i32
  %d = func.call @NAME(%x, %n) : (tensor<4xf32>, i32) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
"""


@pytest.mark.parametrize(
    ("visibility", "name"),
    [
        ("private", "__init"),
        ("private", "__deinit"),
        ("public", "f_dispatch_0"),
        ("public", "__device_0"),
        ("public", "__main_memoize_result_0"),
        ("public", "__constants"),
        ("public", "module_linked"),
        ("public", "_f"),
        ("public", "hal.device.allocator"),
        ("private", "hal.fence.create"),
        ("public", '"a b/\\C3\\A9\\22"'),
    ],
)
def test_names_that_the_compiler_uses_too(visibility: str, name: str) -> None:
    wanted = (X + np.array([1, 2, 3, 5], np.float32)) * X
    check(COLLIDING.replace("NAME", name).replace("VISIBILITY", visibility), (X,), (wanted,))


@pytest.mark.parametrize("name", ["__init", "__deinit"])
def test_names_that_the_vm_calls_are_refused(name: str) -> None:
    with pytest.raises(CompileError, match=rf"<input>:6:1: error: function @{name}: this name is reserved"):
        tiree.compile(COLLIDING.replace("NAME", name).replace("VISIBILITY", "public"))


@settings(max_examples=max(CI_EXAMPLES, settings().max_examples if settings().max_examples > 100 else 0))
@given(programs())
def test_random_programs(program: Program) -> None:
    check(program.text, program.inputs, program.results)
