"""Dispatches that a program writes itself, with loops over the elements of tensors: what runs and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from tiree.support.errors import CompileError

PROGRAM = """
util.func public @main(%a: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {{
  %r:2 = flow.dispatch.workgroups(%a) : (tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) =
    (%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<3x5xf32>>,
     %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<3x5xf32>>,
     %copy: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<3x5xf32>>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %zero = arith.constant 0.0 : f32
    %id = flow.dispatch.workgroup.id[0] : index
    %count = flow.dispatch.workgroup.count[0] : index
    %row = iree_tensor_ext.dispatch.tensor.load %in, offsets = [%id, 0], sizes = [1, 5], strides = [1, 1]
      : !iree_tensor_ext.dispatch.tensor<readonly:tensor<3x5xf32>> -> tensor<5xf32>
    %new = tensor.empty() : tensor<5xf32>
    %sums:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%t = %new, %sum = %zero) -> (tensor<5xf32>, f32) {{
      %x = tensor.extract %row[%i] : tensor<5xf32>
      %next = arith.addf %sum, %x : f32
      %late = arith.cmpi sge, %i, %c3 : index
      %t1 = scf.if %late -> (tensor<5xf32>) {{
        %less = arith.subf %zero, %next : f32
        %u = tensor.insert %less into %t[%i] : tensor<5xf32>
        scf.yield %u : tensor<5xf32>
      }} else {{
        %u = tensor.insert %next into %t[%i] : tensor<5xf32>
        scf.yield %u : tensor<5xf32>
      }}
      {body}
      scf.yield {state}, %next : tensor<5xf32>, f32
    }}
    iree_tensor_ext.dispatch.tensor.store %sums#0, %out, offsets = [%id, 0], sizes = [1, 5], strides = [1, 1]
      : tensor<5xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<3x5xf32>>
    iree_tensor_ext.dispatch.tensor.store %sums#0, %copy, offsets = [%id, 0], sizes = [1, 5], strides = [1, 1]
      : tensor<5xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<3x5xf32>>
    flow.return
  }} count() -> (index, index, index) {{
    %three = arith.constant 3 : index
    %one = arith.constant 1 : index
    flow.return %three, %one, %one : index, index, index
  }}
  util.return %r#0, %r#1 : tensor<3x5xf32>, tensor<3x5xf32>
}}
"""


def test_loops_of_a_program() -> None:
    loaded: Any = rt.load(tiree.compile(PROGRAM.format(body="", state="%t1")))
    a = np.arange(15, dtype=np.float32).reshape(3, 5)
    want = np.cumsum(a, axis=1) * np.array([1, 1, 1, -1, -1], np.float32)
    for got in loaded.main(a):
        np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (
            "%z = tensor.extract %t[%i] : tensor<5xf32>\n%y = tensor.insert %z into %t1[%c0] : tensor<5xf32>",
            "tensor.extract of a tensor that was changed since",
        ),
        ("%y = tensor.insert %x into %row[%i] : tensor<5xf32>", "tensor.insert into a tensor that was loaded"),
        ("%y = linalg.fill ins(%x : f32) outs(%t1 : tensor<5xf32>) -> tensor<5xf32>", "no lowering for linalg"),
    ],
)
def test_refusals_say_where(body: str, what: str) -> None:
    with pytest.raises(CompileError, match=what) as caught:
        tiree.compile(PROGRAM.format(body=body, state="%y"))
    assert "dispatch" in str(caught.value)
