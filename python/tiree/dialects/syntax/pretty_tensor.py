"""Short forms of tensor ops that xDSL does not read: `insert` with several indices, `generate`, `gather`, `scatter`,
and `splat` with sizes."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, IndexType, TensorType, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects.syntax.reader import CustomReader, Reader
from tiree.support.typed import is_tensor_type


def _indices(reader: Reader, position: int) -> list[SSAValue]:
    """`[%i, %j, ...]`, perhaps empty."""
    reader.want("[", " before the indices")
    names = reader.operand_names()
    reader.want("]", " after the indices")
    return reader.resolve_all(names, [IndexType()] * len(names), position)


def _tensor_type(reader: Reader) -> TensorType[Attribute]:
    reader.want(":", " and the type of the tensor")
    at = reader.skip()
    type = reader.read_type()
    return type if is_tensor_type(type) else reader.fail(f"expected a tensor type, not {type}", at)


def _read_extract(reader: Reader, name: str, position: int) -> Operation:
    """`%t[%i, ...] {..} : type`."""
    source = reader.want_percent()
    indices = _indices(reader, position)
    attributes = reader.read_dictionary() if reader.at("{") else {}
    type = _tensor_type(reader)
    operands = [reader.resolve(source, type, position), *indices]
    return reader.build(name, position, operands, [type.element_type], {}, attributes)


def _read_insert(reader: Reader, name: str, position: int) -> Operation:
    """`%x into %t[%i, ...] {..} : type`."""
    scalar = reader.want_percent()
    reader.want_word("into")
    target = reader.want_percent()
    indices = _indices(reader, position)
    attributes = reader.read_dictionary() if reader.at("{") else {}
    type = _tensor_type(reader)
    values = reader.resolve_all([scalar, target], [type.element_type, type], position)
    return reader.build(name, position, [*values, *indices], [type], {}, attributes)


def _read_splat(reader: Reader, name: str, position: int) -> Operation:
    """`%x[%sizes] {..} : type`."""
    scalar = reader.want_percent()
    sizes = _indices(reader, position) if reader.at("[") else []
    attributes = reader.read_dictionary() if reader.at("{") else {}
    type = _tensor_type(reader)
    return reader.build(
        name, position, [reader.resolve(scalar, type.element_type, position), *sizes], [type], {}, attributes
    )


def _read_generate(reader: Reader, name: str, position: int) -> Operation:
    """`%sizes {body} {..} : type`."""
    names = reader.operand_names()
    sizes = reader.resolve_all(names, [IndexType()] * len(names), position)
    region = reader.read_region()
    attributes = reader.read_dictionary() if reader.at("{") else {}
    return reader.build(name, position, sizes, [_tensor_type(reader)], {}, attributes, [region])


def _read_indexed(reader: Reader, name: str, position: int) -> Operation:
    """`%t[%i] gather_dims([..]) unique {..} : type`, or `%s into %t[%i] scatter_dims([..])`."""
    operands = [reader.want_percent()]
    if name == "tensor.scatter":
        reader.want_word("into")
        operands.append(reader.want_percent())
    reader.want("[", " before the indices")
    operands.append(reader.want_percent())
    reader.want("]", " after the indices")
    word = reader.want_word("gather_dims", "scatter_dims")
    reader.want("(")
    properties: dict[str, Attribute] = {word: DenseArrayBase.from_list(i64, reader.integers())}
    reader.want(")")
    if reader.take_word("unique"):
        properties["unique"] = UnitAttr()
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the type of the operation")
    inputs, outputs = reader.read_function_type()
    values = reader.resolve_all(operands, inputs, position)
    return reader.build(name, position, values, outputs, properties, attributes)


READERS: dict[str, CustomReader] = {
    "tensor.extract": _read_extract,
    "tensor.insert": _read_insert,
    "tensor.splat": _read_splat,
    "tensor.generate": _read_generate,
    "tensor.gather": _read_indexed,
    "tensor.scatter": _read_indexed,
}
