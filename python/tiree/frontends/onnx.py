"""ONNX models as modules in the `torch` dialect, in the forms that `iree-import-onnx` writes.

Needs the `onnx` package, which is imported when a model is read. Weights stay numpy arrays. What has no name in the
model is named by its operator and number; operators are located by these names, arguments by those of the inputs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    NameLoc,
    Signedness,
    StringAttr,
    TensorType,
    UnknownLoc,
    f32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tiree.dialects import torch
from tiree.dialects.dense import DenseAttr
from tiree.dialects.torch_onnx import ELEMENTS, NAMES, signed
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.sources import Data

SI64 = IntegerType(64, Signedness.SIGNED)


def read_model(source: Data, name: str, **settings: Any) -> ModuleOp:
    """The module of a model of those bytes, which is in file `name` if there is one: weights may lie beside it.

    Args:
        settings: `data_dir`, where weights lie; `opset_version`, which older models are brought to; `data_prop`,
            whether shapes are inferred through computations of shapes.

    Raises:
        CompileError: without the onnx package, or for what is no model.
    """
    onnx = _package(name)
    model = _loaded(onnx, source, name, **settings)
    return _Importer(onnx, model, name).module()


def _package(name: str) -> Any:
    try:
        for part in ("shape_inference", "inliner", "version_converter", "numpy_helper", "external_data_helper"):
            import_module(f"onnx.{part}")
        return import_module("onnx")
    except ImportError:
        hint = "pip install tiree[onnx], or convert it elsewhere with iree-import-onnx"
        message = "reading an ONNX model needs the onnx package, which is not installed"
        raise CompileError(Diagnostic(message, name, hint)) from None


def _loaded(
    onnx: Any, source: Data, name: str, data_dir: str = "", opset_version: int = 0, data_prop: bool = True
) -> Any:
    try:
        model = onnx.load_model_from_string(bytes(source))
        if not model.graph.node and not model.graph.output:
            raise ValueError("it has no graph")
        folder = data_dir or os.path.dirname(os.path.abspath(name))
        onnx.external_data_helper.load_external_data_for_model(model, folder)
        if opset_version and opset_version > _opset(model):
            model = onnx.version_converter.convert_version(model, opset_version)
        model = onnx.inliner.inline_local_functions(model)
    except Exception as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise CompileError(Diagnostic(f"this is no ONNX model that can be read: {reason[0][:200]}", name)) from None
    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=data_prop)
    except Exception:
        return model  # Larger than 2 GB, or inconsistent: sizes are found by the conversion, which says what is wrong.


def _opset(model: Any) -> int:
    found = [one.version for one in model.opset_import if one.domain in ("", "ai.onnx")]
    return found[0] if found else 1


class _Importer:
    """One model. `values` are the tensors by name; an empty name is an operand that is left out."""

    def __init__(self, onnx: Any, model: Any, name: str) -> None:
        self.onnx, self.model, self.name = onnx, model, name
        self.types: dict[str, torch.VTensorType] = {}
        self.values: dict[str, SSAValue] = {}
        self.count = 0

    def module(self) -> ModuleOp:
        graph = self.model.graph
        self._learn(graph)
        known = {tensor.name for tensor in graph.initializer}
        inputs = [value for value in graph.input if value.name not in known]
        block = Block(arg_types=[self._type(value.name) for value in inputs])
        for value, argument in zip(inputs, block.args, strict=True):
            argument.location = NameLoc(StringAttr(value.name), UnknownLoc())
            self.values[value.name] = argument
        self._nodes(graph, block)
        results = [self._value(output.name, block) for output in graph.output]
        block.add_op(ReturnOp(*results))
        type = FunctionType.from_lists([arg.type for arg in block.args], [value.type for value in results])
        function = FuncOp(graph.name or "main_graph", type, Region(block))
        function.attributes.update(self._meta())
        return ModuleOp([function])

    def _meta(self) -> dict[str, Attribute]:
        model = self.model
        numbers = {"ir_version": model.ir_version, "opset_version": _opset(model)}
        texts = {"producer_name": model.producer_name, "producer_version": model.producer_version}
        found: dict[str, Attribute] = {key: IntegerAttr(number, SI64) for key, number in numbers.items()}
        found.update((key, StringAttr(text)) for key, text in texts.items())
        return {f"torch.onnx_meta.{key}": value for key, value in found.items()}

    # Types.

    def _learn(self, graph: Any) -> None:
        """The types that a graph says of its values."""
        for value in (*graph.input, *graph.value_info, *graph.output):
            kind = value.type.WhichOneof("value")
            if kind == "tensor_type":
                self.types[value.name] = self._tensor_type(value.type.tensor_type)
            elif kind is not None:
                what = kind.removesuffix("_type").replace("_", " ")
                raise self._error(f"value {value.name} is a {what}; only tensors can be compiled")

    def _tensor_type(self, type: Any) -> torch.VTensorType:
        element = self._element(type.elem_type)
        if not type.HasField("shape"):
            return torch.vtensor(None, element)
        sizes = [dim.dim_value if dim.HasField("dim_value") else DYNAMIC_INDEX for dim in type.shape.dim]
        return torch.vtensor(sizes, element)

    def _element(self, number: int) -> Attribute:
        found = ELEMENTS.get(number)
        if found is None:
            raise self._error(f"elements of type {NAMES.get(number, number)} cannot be compiled")
        return signed(found)

    def _type(self, name: str) -> torch.VTensorType:
        return self.types.get(name) or torch.vtensor(None, None)

    def _error(self, message: str) -> CompileError:
        return CompileError(Diagnostic(message, self.name))

    # Operators.

    def _nodes(self, graph: Any, block: Block) -> None:
        """All of a graph, its constants in front."""
        for tensor in graph.initializer:
            attr = self._tensor(tensor)
            op = self._operator("Constant", tensor.name, [], [_type_of(attr)], {"value": attr})
            block.add_op(op)
            self.values[tensor.name] = op.results[0]
        for node in graph.node:
            self._node(node, block)

    def _node(self, node: Any, block: Block) -> None:
        self.count += 1
        operands = [self._value(name, block) for name in node.input]
        regions = [self._region(one.g) for one in sorted(node.attribute, key=lambda one: one.name) if one.HasField("g")]
        attributes = {one.name: self._attribute(one) for one in node.attribute if not one.HasField("g")}
        while node.output and not node.output[-1]:
            del node.output[-1]
        types = [self._type(name) for name in node.output]
        if node.op_type == "Constant" and isinstance(value := attributes.get("value"), DenseAttr):
            types = [_type_of(value)]
        place = node.name or f"{node.op_type}_{self.count}"
        op = self._operator(node.op_type, place, operands, types, attributes, regions)
        block.add_op(op)
        self.values.update((name, result) for name, result in zip(node.output, op.results, strict=True) if name)

    def _operator(
        self,
        name: str,
        place: str,
        operands: Sequence[SSAValue],
        types: Sequence[Attribute],
        attributes: Mapping[str, Attribute],
        regions: Sequence[Region] = (),
    ) -> Operation:
        return torch.OperatorOp.create(
            operands=operands,
            result_types=types,
            properties={"name": StringAttr(f"onnx.{name}")},
            attributes={f"torch.onnx.{key}": value for key, value in attributes.items()},
            regions=regions,
            location=NameLoc(StringAttr(f"{self.name}: {place}"), UnknownLoc()),
        )

    def _value(self, name: str, block: Block) -> SSAValue:
        if not name:
            op = torch.ConstantNoneOp.create(result_types=[torch.NoneType()])
            block.add_op(op)
            return op.results[0]
        found = self.values.get(name)
        if found is None:
            raise self._error(f"value {name} is used, but nothing before gives it")
        return found

    def _region(self, graph: Any) -> Region:
        """The body of a loop or a branch, which sees the values around it."""
        self._learn(graph)
        outer = dict(self.values)
        block = Block(arg_types=[self._type(value.name) for value in graph.input])
        self.values.update((value.name, argument) for value, argument in zip(graph.input, block.args, strict=True))
        self._nodes(graph, block)
        results = [self._value(output.name, block) for output in graph.output]
        block.add_op(torch.OperatorTerminatorOp.create(operands=results))
        self.values = outer
        return Region(block)

    # Attributes.

    def _attribute(self, one: Any) -> Attribute:
        kinds = self.onnx.AttributeProto
        match one.type:
            case kinds.FLOAT:
                return FloatAttr(one.f, f32)
            case kinds.INT:
                return IntegerAttr(one.i, SI64)
            case kinds.STRING:
                return StringAttr(one.s.decode("utf-8", "replace"))
            case kinds.TENSOR:
                return self._tensor(one.t)
            case kinds.FLOATS:
                return ArrayAttr([FloatAttr(number, f32) for number in one.floats])
            case kinds.INTS:
                return ArrayAttr([IntegerAttr(number, SI64) for number in one.ints])
            case kinds.STRINGS:
                return ArrayAttr([StringAttr(text.decode("utf-8", "replace")) for text in one.strings])
            case kind:
                raise self._error(f"attribute {one.name} is of the kind {kinds.AttributeType.Name(kind)}")

    def _tensor(self, tensor: Any) -> DenseAttr:
        element = self._element(tensor.data_type)
        array = self.onnx.numpy_helper.to_array(tensor)
        return DenseAttr.from_numpy(array, TensorType(element, array.shape))


def _type_of(attr: DenseAttr) -> torch.VTensorType:
    return torch.vtensor(attr.shape, attr.element_type)
