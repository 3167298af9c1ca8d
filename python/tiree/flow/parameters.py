"""Parameters of a program as the flow stage sees them: which there are, and the bytes that their types take."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from tiree.dialects import util
from tiree.dialects.dense import element_byte_size, element_count
from tiree.dialects.flow_parameters import FlowParameterAttr
from tiree.support.typed import is_complex_type, is_integer_type, is_tensor_type


def parameters_of(module: ModuleOp) -> Iterator[tuple[Operation, FlowParameterAttr]]:
    """Every parameter with the global that starts as it, or the constant in a function, as other compilers write it."""
    for op in module.walk():
        name = "initial_value" if isinstance(op, util.GlobalOp) else "value"
        if isinstance(op, util.GlobalOp) or op.name == "flow.tensor.constant":
            value = op.properties.get(name)
            if isinstance(value, FlowParameterAttr):
                yield op, value


def scope_of(parameter: FlowParameterAttr) -> str:
    return parameter.scope_name or ""


def element_bytes(type: Attribute) -> int | None:
    """Bytes of an element in a file; None for types that have no agreed form there, such as `i4`."""
    if is_complex_type(type):
        part = element_bytes(type.element_type)
        return None if part is None else 2 * part
    if is_integer_type(type) and type.width.data not in (1, 8, 16, 32, 64):
        return None
    if type.name == "index" or type.name.startswith(("f6E", "f4E")):
        return None
    try:
        return element_byte_size(type)
    except TypeError:
        return None


def byte_length(type: Attribute) -> int | None:
    """Bytes of a tensor in a file; None where they are not known."""
    if not is_tensor_type(type) or any(size < 0 for size in type.get_shape()):
        return None
    width = element_bytes(type.element_type)
    return None if width is None else width * element_count(type)
