"""Graphs of ONNX operators in text: values, types at the border, sizes that are known late, refusals."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tiree
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tests.onnx.node_tests import import_text

_ELEMENTS = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "si8": np.int8, "si16": np.int16, "si32": np.int32, "si64": np.int64,
    "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
}  # fmt: skip


def _load(text: str) -> object:
    return tiree.load(tiree.compile(text, flags=["--iree-input-type=onnx"]), device="local-sync")


def _function(name: str, lines: list[str], element: str) -> str:
    type = f"!torch.vtensor<[3],{element}>"
    body = "\n  ".join(lines).replace("$", type)
    return (
        f"func.func @{name}(%x: {type}) -> {type} attributes {{torch.onnx_meta.opset_version = 17 : si64}} {{\n"
        f"  {body}\n  return %r : {type}\n}}\n"
    )


@pytest.mark.parametrize("element", list(_ELEMENTS))
def test_sums_and_differences_keep_their_sign(element: str) -> None:
    dtype = np.dtype(_ELEMENTS[element])
    constant = 'torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<E>} : () -> !torch.vtensor<[],E>'
    constant = constant.replace("E", element)
    if dtype.kind not in "iu":
        constant = constant.replace("dense<1>", "dense<1.0>")

    def step(op: str, result: str, a: str, b: str) -> str:
        types = ", ".join(f"!torch.vtensor<[],{element}>" if one == "%c" else "$" for one in (a, b))
        return f'{result} = torch.operator "onnx.{op}"({a}, {b}) : ({types}) -> $'

    forms = [
        (first, second, order, swapped)
        for first in ("Add", "Sub")
        for second in ("Add", "Sub")
        for order in ("xc", "cx")
        for swapped in (False, True)
    ]
    text = ""
    for number, (first, second, order, swapped) in enumerate(forms):
        inner = step(first, "%a", f"%{order[0]}", f"%{order[1]}")
        outer = step(second, "%r", *(("%a", "%x") if swapped else ("%x", "%a")))
        text += _function(f"f{number}", [f"%c = {constant}", inner, outer], element)
    module = _load(text)
    x, c = np.array([5, 0, 7]).astype(dtype), np.ones((), dtype)
    operations = {"Add": np.add, "Sub": np.subtract}
    for number, (first, second, order, swapped) in enumerate(forms):
        operands = {"x": x, "c": c}
        a = operations[first](operands[order[0]], operands[order[1]]).astype(dtype)
        wanted = operations[second](*((a, x) if swapped else (x, a))).astype(dtype)
        found = np.asarray(getattr(module, f"f{number}")(x))
        np.testing.assert_array_equal(found, wanted, err_msg=f"{first} {second} {order} {swapped}")


_COORDINATES = ("half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "align_corners", "asymmetric")
_SCALES = ([1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 0.6, 1.7], [1.0, 1.0, 3.0, 0.5])


def _resizes(nodes: list[dict[str, object]], scales: list[float]) -> object:
    """A model that resizes its operand in several ways."""
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 5, 6])]
    factor = numpy_helper.from_array(np.array(scales, np.float32), "scales")
    made = [helper.make_node("Resize", ["x", "", "scales"], [f"y{i}"], **node) for i, node in enumerate(nodes)]
    outputs = [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, None) for i in range(len(nodes))]
    graph = helper.make_graph(made, "resize", inputs, outputs, [factor])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


def _compared(model: object, *arguments: np.ndarray, tolerance: float = 1e-5) -> None:
    wanted = ReferenceEvaluator(model).run(None, dict(zip("xyz", arguments, strict=False)))
    results = getattr(_load(import_text(model)), model.graph.name)(*arguments)
    found = results if isinstance(results, tuple | list) else [results]
    for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
        np.testing.assert_allclose(np.asarray(one), other, tolerance, tolerance, err_msg=f"result {number}")


@pytest.mark.parametrize("scales", _SCALES)
def test_resize_to_the_nearest_in_every_mode(scales: list[float]) -> None:
    nodes: list[dict[str, object]] = [
        {"mode": "nearest", "coordinate_transformation_mode": where, "nearest_mode": rounding}
        for where in _COORDINATES
        for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    ]
    x = np.arange(60, dtype=np.float32).reshape(1, 2, 5, 6)
    _compared(_resizes(nodes, scales), x)


@pytest.mark.parametrize("scales", _SCALES[1:])
def test_resize_by_interpolation_in_every_mode(scales: list[float]) -> None:
    nodes: list[dict[str, object]] = [
        {"mode": mode, "coordinate_transformation_mode": where, **more}
        for where in _COORDINATES
        for mode, more in (
            ("linear", {}),
            ("linear", {"antialias": 1}),
            ("linear", {"exclude_outside": 1}),
            ("cubic", {}),
            ("cubic", {"antialias": 1}),
            ("cubic", {"exclude_outside": 1, "cubic_coeff_a": -0.5}),
        )
    ]
    _compared(_resizes(nodes, scales), np.random.default_rng(0).random((1, 2, 5, 6), np.float32), tolerance=1e-4)


_TEXT = """
func.func @net(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,4],f32>
    attributes {torch.onnx_meta.opset_version = 17 : si64} {
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<3x4xf32>}
    : () -> !torch.vtensor<[3,4],f32>
  %b = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>}
    : () -> !torch.vtensor<[4],f32>
  %0 = torch.operator "onnx.Gemm"(%x, %w, %b) : (!torch.vtensor<[?,3],f32>, !torch.vtensor<[3,4],f32>,
    !torch.vtensor<[4],f32>) -> !torch.vtensor<[?,4],f32>
  %1 = torch.operator "onnx.Relu"(%0) : (!torch.vtensor<[?,4],f32>) -> !torch.vtensor<[?,4],f32>
  %2 = torch.operator "onnx.Softmax"(%1) {torch.onnx.axis = 1 : si64}
    : (!torch.vtensor<[?,4],f32>) -> !torch.vtensor<[?,4],f32>
  return %2 : !torch.vtensor<[?,4],f32>
}
"""


_OLD = """
func.func @broadcast(%a: !torch.vtensor<[2,3,4],f32>, %b: !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,3,4],f32>
    attributes {torch.onnx_meta.opset_version = 6 : si64} {
  %r = torch.operator "onnx.Add"(%a, %b) {torch.onnx.broadcast = 1 : si64, torch.onnx.axis = 1 : si64}
    : (!torch.vtensor<[2,3,4],f32>, !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,3,4],f32>
  return %r : !torch.vtensor<[2,3,4],f32>
}
func.func @attributes(%a: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[1,3],f32>
    attributes {torch.onnx_meta.opset_version = 10 : si64} {
  %r = torch.operator "onnx.ReduceSum"(%a) {torch.onnx.axes = [0 : si64], torch.onnx.keepdims = 0 : si64}
    : (!torch.vtensor<[2,3],f32>) -> !torch.vtensor<[3],f32>
  %c = torch.operator "onnx.Clip"(%r) {torch.onnx.max = 6.0 : f32}
    : (!torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
  %u = torch.operator "onnx.Unsqueeze"(%c) {torch.onnx.axes = [0 : si64]}
    : (!torch.vtensor<[3],f32>) -> !torch.vtensor<[1,3],f32>
  return %u : !torch.vtensor<[1,3],f32>
}
func.func @flattened(%a: !torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[2,3,4],f32>
    attributes {torch.onnx_meta.opset_version = 12 : si64} {
  %r = torch.operator "onnx.Softmax"(%a) : (!torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[2,3,4],f32>
  return %r : !torch.vtensor<[2,3,4],f32>
}
"""


def test_operators_of_older_opsets_mean_what_they_meant() -> None:
    module = _load(_OLD)
    a, b = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.array([1, 2, 3], np.float32)
    np.testing.assert_array_equal(np.asarray(module.broadcast(a, b)), a + b[:, None])
    x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    np.testing.assert_array_equal(np.asarray(module.attributes(x)), [[5, 6, 6]])
    powers = np.exp(a - a.max((1, 2), keepdims=True))
    np.testing.assert_allclose(np.asarray(module.flattened(a)), powers / powers.sum((1, 2), keepdims=True), 1e-5)


def test_sizes_that_are_known_late() -> None:
    module = _load(_TEXT)
    for rows in (1, 5):
        x = np.random.default_rng(rows).random((rows, 3), np.float32)
        line = np.maximum(x @ np.full((3, 4), 0.5, np.float32) + np.arange(4, dtype=np.float32), 0)
        powers = np.exp(line - line.max(1, keepdims=True))
        np.testing.assert_allclose(np.asarray(module.net(x)), powers / powers.sum(1, keepdims=True), 1e-5)


def test_all_refusals_come_at_once_with_their_places() -> None:
    text = _function(
        "f",
        [
            '%a = torch.operator "onnx.Nothing"(%x) : ($) -> $',
            '%b = torch.operator "onnx.Celu"(%a) : ($) -> $',
            '%r = torch.operator "onnx.NonZero"(%b) : ($) -> $',
        ],
        "f32",
    )
    with pytest.raises(tiree.CompileError) as caught:
        tiree.compile(text)
    report = str(caught.value)
    assert "<input>:2:8: error: onnx.Nothing is not supported" in report
    assert "<input>:4:8: error: onnx.NonZero is not supported" in report
    assert "onnx.Celu" not in report
    assert report.endswith("docs/reference/onnx.md lists the operators that are")


def test_the_input_type_says_what_may_be_there() -> None:
    text = _function("f", ['%r = torch.operator "onnx.Neg"(%x) : ($) -> $'], "f32")
    for name in ("auto", "onnx"):
        tiree.compile(text, flags=[f"--iree-input-type={name}"])
    with pytest.raises(tiree.CompileError, match=r"torch\.operator is not allowed by input type 'stablehlo'"):
        tiree.compile(text, flags=["--iree-input-type=stablehlo"])
