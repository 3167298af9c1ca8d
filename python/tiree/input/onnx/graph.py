"""`GraphConversion`: walks a function of ONNX operators and makes StableHLO in their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.dialects.func import CallOp, ReturnOp
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiree.dialects import torch
from tiree.input.expansions.build import element_of, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.onnx.build import Array, OnnxBuild
from tiree.input.onnx.node import Conversion, Node
from tiree.support.typed import is_integer_type, is_tensor_type

_SMALL = 1 << 12
"""Constants of more elements are computed later, by what computes all constants."""


class Silent(Unsupported):
    """Of an operator of which a part is refused already."""


class Reports:
    """What is refused: the operators by what is said of them."""

    def __init__(self) -> None:
        self.found: dict[str, list[Operation]] = {}

    def add(self, op: Operation, reason: str = "") -> None:
        name = op.operator if isinstance(op, torch.OperatorOp) else op.name
        self.found.setdefault(f"{name} {reason}".strip(), []).append(op)


class GraphConversion:
    """One function. `values` says what stands for an old value: None for what is left out, nothing after a refusal."""

    def __init__(self, table: Mapping[str, Conversion], folds: Mapping[str, object], reports: Reports, version: int):
        self.table = table
        self.folds = folds
        self.reports = reports
        self.version = version
        self.values: dict[SSAValue, SSAValue | None] = {}
        self._numbers: dict[SSAValue, Array | None] = {}

    # Blocks.

    def convert_block(self, old: Block, new: Block) -> Sequence[SSAValue]:
        """Makes the operations of `old` at the end of `new`; the (old) values that its last one gives back."""
        for op in list(old.ops):
            if isinstance(op, (ReturnOp, torch.OperatorTerminatorOp)):
                return op.operands
            self._convert(op, new)
        return ()

    def converted(self, values: Sequence[SSAValue]) -> list[SSAValue] | None:
        """What stands for old values; None after a refusal of any of them, or of what they come from."""
        found = [self.values.get(value) for value in values]
        return None if None in found else [value for value in found if value is not None]

    def _convert(self, op: Operation, block: Block) -> None:
        if isinstance(op, torch.TorchOp) and op.name.startswith("torch.constant."):
            if isinstance(op, torch.ConstantNoneOp):
                self.values[op.results[0]] = None
            return
        build = OnnxBuild(op)
        with build.inside(block):
            try:
                self._results(op, build)
            except Silent:
                pass
            except Unsupported as reason:
                self.reports.add(op, str(reason))

    def _results(self, op: Operation, build: OnnxBuild) -> None:
        if isinstance(op, torch.OperatorOp):
            conversion = self.table.get(op.operator)
            if conversion is None:
                raise Unsupported("")
            if not all(operand in self.values for operand in op.operands):
                return  # Something before is refused already.
            values = self._folded(op, build)
            if values is None:
                operands = [self.values[operand] for operand in op.operands]
                made = conversion(Node(op, operands, self.version, self, build))
                values = [made] if isinstance(made, SSAValue) else list(made)
        elif isinstance(op, CallOp):
            values = self._call(op, build)
        elif any(isinstance(value.type, torch.VTensorType) for value in (*op.operands, *op.results)):
            raise Unsupported("among operators of ONNX")
        else:
            raise Unsupported("in a function of ONNX operators")
        for result, value in zip(op.results, [*values, *[None] * len(op.results)], strict=False):
            if value is not None:
                self.values[result] = self._as_declared(result.type, value, build)

    def _call(self, op: CallOp, build: OnnxBuild) -> list[SSAValue | None]:
        operands = self.converted(op.operands)
        types = [plain_type(result.type) for result in op.results]
        if operands is None:
            return []
        wanted = [plain_type(operand.type) for operand in op.operands]
        operands = [cast(build, value, type) for value, type in zip(operands, wanted, strict=True)]
        call = CallOp.create(operands=operands, result_types=types, properties=op.properties)
        build.add(call)
        return list(call.results)

    def _as_declared(self, type: Attribute, value: SSAValue, build: OnnxBuild) -> SSAValue:
        """`value` with the sizes that the text knows besides. Raises `Unsupported` where both disagree."""
        declared = torch.tensor_of(type) if isinstance(type, torch.VTensorType) else None
        if declared is None or value.type == declared:
            return value
        shape, own = declared.get_shape(), shape_of(value)
        if not shape and declared.element_type == element_of(value):
            return value  # The importer writes rank 0 where it knows no rank.
        fits = len(shape) == len(own) and all(
            a == b or DYNAMIC_INDEX in (a, b) for a, b in zip(shape, own, strict=True)
        )
        if not fits or declared.element_type != element_of(value):
            raise Unsupported(f"whose result is {type}, but {value.type} by its operands,")
        exact = [b if a == DYNAMIC_INDEX else a for a, b in zip(shape, own, strict=True)]
        return cast(build, value, TensorType(declared.element_type, exact))

    # Constants.

    def numbers(self, value: SSAValue) -> Array | None:
        """The elements of an old value that is known now."""
        if value not in self._numbers:
            self._numbers[value] = None
            owner = value.owner
            if isinstance(owner, torch.OperatorOp):
                from tiree.input.onnx.fold import evaluate

                for result, found in zip(owner.results, evaluate(self, owner), strict=False):
                    self._numbers[result] = found
        return self._numbers[value]

    def _folded(self, op: torch.OperatorOp, build: OnnxBuild) -> list[SSAValue | None] | None:
        """Constants for an operator that computes sizes or indices from constants."""
        if op.operator not in self.folds or not _is_small(op):
            return None
        found = [self.numbers(result) for result in op.results]
        arrays = [array for array in found if array is not None]
        if len(arrays) < len(found):
            return None
        elements = [_element(result.type) for result in op.results]
        return [build.array(array, element) for array, element in zip(arrays, elements, strict=True) if element]


def _element(type: Attribute) -> Attribute | None:
    found = plain_type(type)
    return found.element_type if is_tensor_type(found) else None


def _is_small(op: Operation) -> bool:
    for result in op.results:
        type = plain_type(result.type)
        if not is_tensor_type(type) or not is_integer_type(type.element_type):
            return False
        if type.element_type.width.data < 8 or np.prod(np.maximum(type.get_shape(), 0), dtype=np.int64) > _SMALL:
            return False
    return True


def plain_type(type: Attribute) -> Attribute:
    """The builtin type of a torch one. Raises `Unsupported` for one that has none."""
    if not isinstance(type, torch.VTensorType):
        if type.name.startswith("torch."):
            raise Unsupported(f"with a value of type {type}")
        return type
    found = torch.tensor_of(type)
    if found is None:
        raise Unsupported(f"with a value of type {type}")
    return found


def unranked(type: Attribute, value: SSAValue) -> bool:
    """Whether a type says rank 0 of a value that has another, which stands for no known rank."""
    return is_tensor_type(type) and not type.get_shape() and bool(shape_of(value))


def cast(build: OnnxBuild, value: SSAValue, type: Attribute) -> SSAValue:
    """`value` with more or fewer sizes known."""
    if value.type == type:
        return value
    if not is_tensor_type(type) or len(type.get_shape()) != len(shape_of(value)):
        raise Unsupported(f"with a value of type {value.type} where {type} is needed")
    if DYNAMIC_INDEX in type.get_shape() and DYNAMIC_INDEX not in shape_of(value):
        op = CastOp(value, type)
        build.add(op)
        return op.results[0]
    return build.reshape(
        value,
        [
            own if size == DYNAMIC_INDEX else size
            for size, own in zip(type.get_shape(), build.sizes(value), strict=True)
        ],
    )
