"""Random graphs against ONNX's reference evaluator. TIREE_ONNX_GRAPHS=N runs N of them."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import onnx
import pytest
import tiree
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tests.onnx.node_tests import import_text

_UNARY = ("Relu", "Tanh", "Sigmoid", "Abs", "Neg", "Softplus", "Erf", "Sin", "Floor", "Elu", "Softsign", "Mish")
_BINARY = ("Add", "Sub", "Mul", "Max", "Min")
_REDUCTIONS = ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceLogSumExp")
_MOST = 400


class _Graph:
    """A graph that grows; `shapes` are its values."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.shapes: dict[str, tuple[int, ...]] = {"x": (2, 3, 4), "y": (3, 1), "z": (4,)}
        self.inputs = dict(self.shapes)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, op: str, inputs: list[str], shape: tuple[int, ...], **attributes: object) -> None:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        self.shapes[name] = shape

    def constant(self, values: object) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def pick(self, least: int = 0) -> str:
        names = [name for name, shape in self.shapes.items() if len(shape) >= least]
        return str(self.rng.choice(names[-6:]))

    def axis(self, name: str) -> int:
        return int(self.rng.integers(len(self.shapes[name])))


def _unary(graph: _Graph) -> None:
    name = graph.pick()
    graph.add(str(graph.rng.choice(_UNARY)), [name], graph.shapes[name])


def _binary(graph: _Graph) -> None:
    a, b = graph.pick(), graph.pick()
    try:
        shape = np.broadcast_shapes(graph.shapes[a], graph.shapes[b])
    except ValueError:
        return
    if np.prod(shape) <= _MOST:
        graph.add(str(graph.rng.choice(_BINARY)), [a, b], shape)


def _transpose(graph: _Graph) -> None:
    name = graph.pick()
    order = [int(dim) for dim in graph.rng.permutation(len(graph.shapes[name]))]
    graph.add("Transpose", [name], tuple(graph.shapes[name][dim] for dim in order), perm=order)


def _reshape(graph: _Graph) -> None:
    name = graph.pick(1)
    shape = graph.shapes[name]
    merged = (int(np.prod(shape[:-1])), shape[-1]) if graph.rng.random() < 0.5 else (-1,)
    graph.add("Reshape", [name, graph.constant(merged)], tuple(np.zeros(shape).reshape(merged).shape))


def _concat(graph: _Graph) -> None:
    name = graph.pick(1)
    axis = graph.axis(name)
    shape = list(graph.shapes[name])
    shape[axis] *= 2
    if np.prod(shape) <= _MOST:
        graph.add("Concat", [name, name], tuple(shape), axis=axis)


def _slice(graph: _Graph) -> None:
    name = graph.pick(1)
    axis = graph.axis(name)
    shape = list(graph.shapes[name])
    start, step = int(graph.rng.integers(shape[axis])), int(graph.rng.choice([1, 2, -1, -2]))
    end = 2**40 if step > 0 else -(2**40)
    part = range(shape[axis])[start::step]
    shape[axis] = len(part)
    graph.add("Slice", [name, *map(graph.constant, ([start], [end], [axis], [step]))], tuple(shape))


def _reduce(graph: _Graph) -> None:
    name = graph.pick(1)
    axis, kept = graph.axis(name), int(graph.rng.integers(2))
    shape = np.sum(np.zeros(graph.shapes[name]), axis=axis, keepdims=bool(kept)).shape
    graph.add(str(graph.rng.choice(_REDUCTIONS)), [name, graph.constant([axis])], shape, keepdims=kept)


def _along(graph: _Graph) -> None:
    name = graph.pick(1)
    op = str(graph.rng.choice(["Softmax", "LogSoftmax", "LpNormalization"]))
    graph.add(op, [name], graph.shapes[name], axis=graph.axis(name))


def _gather(graph: _Graph) -> None:
    name = graph.pick(1)
    axis, shape = graph.axis(name), graph.shapes[name]
    indices = graph.rng.integers(-shape[axis], shape[axis], 3)
    graph.add("Gather", [name, graph.constant(indices)], (*shape[:axis], 3, *shape[axis + 1 :]), axis=axis)


def _matmul(graph: _Graph) -> None:
    name = graph.pick(2)
    shape = graph.shapes[name]
    graph.add("Transpose", [name], (*shape[:-2], shape[-1], shape[-2]),
              perm=[*range(len(shape) - 2), len(shape) - 1, len(shape) - 2])  # fmt: skip
    graph.add("MatMul", [name, f"v{len(graph.nodes) - 1}"], (*shape[:-1], shape[-2]))


def _pad(graph: _Graph) -> None:
    name = graph.pick(1)
    shape = graph.shapes[name]
    pads = [int(n) for n in graph.rng.integers(0, 2, 2 * len(shape))]
    padded = tuple(np.pad(np.zeros(shape), list(zip(pads[: len(shape)], pads[len(shape) :], strict=True))).shape)
    if np.prod(padded) <= _MOST:
        mode = str(graph.rng.choice(["constant", "edge"]))
        graph.add("Pad", [name, graph.constant(pads)], padded, mode=mode)


_STEPS: tuple[Callable[[_Graph], None], ...] = (
    _unary, _binary, _binary, _transpose, _reshape, _concat, _slice, _reduce, _along, _gather, _matmul, _pad,
)  # fmt: skip


def _model(seed: int, size: int) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    graph = _Graph(seed)
    while len(graph.nodes) < size:
        _STEPS[graph.rng.integers(len(_STEPS))](graph)
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in graph.inputs.items()]
    last = list(graph.shapes)[-4:]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, graph.shapes[name]) for name in last]
    made = helper.make_graph(graph.nodes, "random", inputs, outputs, graph.constants)
    values = {name: graph.rng.standard_normal(shape).astype(np.float32) for name, shape in graph.inputs.items()}
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), values


@pytest.mark.parametrize("seed", range(int(os.environ.get("TIREE_ONNX_GRAPHS", "2"))))
def test_random_graph(seed: int) -> None:
    model, values = _model(seed, 15)
    with np.errstate(all="ignore"):
        wanted = ReferenceEvaluator(model).run(None, values)
    results = tiree.load(tiree.compile(import_text(model)), device="local-sync").random(*values.values())
    for number, (found, other) in enumerate(zip(results, wanted, strict=True)):
        largest = np.abs(other[np.isfinite(other)]).max(initial=1)
        np.testing.assert_allclose(np.asarray(found), other, 1e-4, 1e-5 * largest, err_msg=f"result {number}")
