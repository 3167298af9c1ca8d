"""ONNX files: compiled straight, and written as text by tiree-import-onnx."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import tiree
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from tiree.tools import import_onnx


def _constant(name: str, values: object, dtype: type) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, dtype), name)


def _network() -> onnx.ModelProto:
    """A convolution, a pool, and a product behind a reshape whose shape is computed from the batch."""
    rng = np.random.default_rng(0)
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c"], pads=[1, 1, 1, 1], name="first"),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Shape", ["p"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"], axis=0),
        helper.make_node("Unsqueeze", ["n", "axes"], ["u"]),
        helper.make_node("Concat", ["u", "rest"], ["shape"], axis=0),
        helper.make_node("Reshape", ["p", "shape"], ["f"]),
        helper.make_node("Gemm", ["f", "w2", ""], ["y0"], transB=1),
        helper.make_node("Softmax", ["y0"], ["y"], axis=1),
    ]
    constants = [
        _constant("w1", rng.standard_normal((4, 1, 3, 3)) * 0.3, np.float32),
        _constant("b1", rng.standard_normal(4), np.float32),
        _constant("w2", rng.standard_normal((5, 4 * 4 * 4)) * 0.1, np.float32),
        _constant("zero", 0, np.int64),
        _constant("axes", [0], np.int64),
        _constant("rest", [-1], np.int64),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 1, 8, 8])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 5])]
    graph = helper.make_graph(nodes, "net", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _branches() -> onnx.ModelProto:
    """A branch that depends on an input, and a loop that collects."""

    def graph(name: str, op: str) -> onnx.GraphProto:
        output = helper.make_tensor_value_info("z", TensorProto.FLOAT, [3])
        return helper.make_graph([helper.make_node(op, ["x", "one"], ["z"])], name, [], [output])

    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=graph("t", "Add"), else_branch=graph("e", "Sub"))]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [3]),
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])]
    made = helper.make_graph(nodes, "choose", inputs, outputs, [_constant("one", 1, np.float32)])
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.mark.parametrize("external", [False, True])
def test_a_model_is_compiled_straight(tmp_path: Path, external: bool) -> None:
    model, path = _network(), tmp_path / "net.onnx"
    reference = ReferenceEvaluator(model)
    onnx.save(model, path, save_as_external_data=external, location="weights.bin", size_threshold=0)
    module = tiree.load(tiree.compile(path), device="local-sync")
    for batch in (1, 3):
        x = np.random.default_rng(batch).random((batch, 1, 8, 8), np.float32)
        np.testing.assert_allclose(np.asarray(module.net(x=x)), reference.run(None, {"x": x})[0], 1e-5)


def test_branches_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "choose.onnx"
    onnx.save(_branches(), path)
    module = tiree.load(tiree.compile(path), device="local-sync")
    x = np.array([1, 2, 3], np.float32)
    for condition in (True, False):
        wanted = x + 1 if condition else x - 1
        np.testing.assert_array_equal(np.asarray(module.choose(x, np.array(condition))), wanted)


@pytest.mark.parametrize("make", [_network, _branches])
def test_the_text_is_read_by_both_compilers(tmp_path: Path, make: object) -> None:
    assert callable(make)
    path, text = tmp_path / "m.onnx", tmp_path / "m.mlir"
    onnx.save(make(), path)
    assert import_onnx.main([str(path), "-o", str(text)]) == 0
    assert tiree.compile(text, flags=["--iree-input-type=onnx"])
    compiler = str(Path(sys.executable).with_name("iree-compile"))
    command = [compiler, "--iree-input-type=onnx", "--compile-to=input", str(text), "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_refusals_name_the_node(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])
    y = helper.make_tensor_value_info("y", TensorProto.INT64, None)
    graph = helper.make_graph([helper.make_node("NonZero", ["x"], ["y"], name="places")], "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    with pytest.raises(tiree.CompileError, match=r'm\.onnx: places": error: onnx\.NonZero is not supported'):
        tiree.compile(path)


def test_what_is_no_model_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"\x08\x07\x12\x07pytorch")
    with pytest.raises(tiree.CompileError, match="this is no ONNX model that can be read: it has no graph"):
        tiree.compile(path)


def test_without_the_package_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(_branches(), path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.setitem(sys.modules, "onnx.shape_inference", None)
    with pytest.raises(tiree.CompileError, match=r"needs the onnx package(.|\n)*pip install tiree\[onnx\]"):
        tiree.compile(path)
