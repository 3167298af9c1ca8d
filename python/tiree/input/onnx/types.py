"""Element types by ONNX's numbers."""

from __future__ import annotations

from xdsl.ir import Attribute

from tiree.dialects.torch_onnx import ELEMENTS, NAMES
from tiree.input.lowering.context import Unsupported


def element_of_number(number: int) -> Attribute:
    """The element type of a `TensorProto.DataType`. Raises `Unsupported` for strings and complex numbers."""
    found = ELEMENTS.get(number)
    if found is None:
        raise Unsupported(f"with elements of type {NAMES.get(number, number)}")
    return found
