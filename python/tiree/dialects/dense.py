"""`DenseAttr`: constant tensors as buffers.

xDSL's own dense attribute copies the data into `bytes` and expands splats; here a constant is a view of memory that
somebody else owns (the input file's mmap, a numpy array, a blob), plus a flag when one element stands for all. Bytes
are row-major and little-endian; `i1` takes one byte an element (0 or 1); types below one byte (`i2`, `i4`) also take
one byte an element here and are packed when they are stored. numpy is imported only where a caller asks for an array.
"""

from __future__ import annotations

import hashlib
import struct
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, BuiltinAttribute, Data, TypedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.printer import Printer

if TYPE_CHECKING:
    import numpy as np


def element_byte_size(element_type: Attribute) -> int:
    """Bytes that one element takes in memory; sub-byte integers and `i1` take one.

    Raises `TypeError` for a type that has no memory layout.
    """
    match element_type:
        case IntegerType():
            return max(1, (element_type.width.data + 7) // 8)
        case IndexType() | Float64Type():
            return 8
        case Float32Type():
            return 4
        case Float16Type() | BFloat16Type():
            return 2
        case ComplexType():
            return 2 * element_byte_size(element_type.element_type)
        case _:
            if element_type.name.startswith(("f8", "f6", "f4")):
                return 1
            raise TypeError(f"type {element_type} has no memory layout")


def numpy_dtype_name(element_type: Attribute) -> str:
    """The numpy (or ml_dtypes) name of an element type, `ui8` -> `uint8`, `bf16` -> `bfloat16`."""
    match element_type:
        case IntegerType():
            width = element_type.width.data
            if width == 1:
                return "bool"
            bits = max(8, 1 << (width - 1).bit_length())
            return f"uint{bits}" if element_type.signedness.data is Signedness.UNSIGNED else f"int{bits}"
        case IndexType():
            return "int64"
        case Float64Type():
            return "float64"
        case Float32Type():
            return "float32"
        case Float16Type():
            return "float16"
        case BFloat16Type():
            return "bfloat16"
        case ComplexType():
            return "complex64" if element_byte_size(element_type) == 8 else "complex128"
        case _:
            raise TypeError(f"type {element_type} has no numpy dtype")


_SAMPLES, _SAMPLE_BYTES = 16, 4096


class DenseData:
    """The memory behind a constant. Equality is by content; the hash is computed once, on demand."""

    __slots__ = ("__dict__", "buffer", "splat")

    def __init__(self, buffer: Any, splat: bool) -> None:
        view = memoryview(buffer)
        self.buffer = view.cast("B") if view.nbytes else memoryview(b"")
        self.splat = splat

    @cached_property
    def digest(self) -> bytes:
        """Of all bytes, or of `_SAMPLES` parts of many: what is equal in those is compared whole."""
        hashed = hashlib.blake2b(digest_size=16)
        size = self.buffer.nbytes
        if size <= _SAMPLES * _SAMPLE_BYTES:
            hashed.update(self.buffer)
        else:
            step = (size - _SAMPLE_BYTES) // (_SAMPLES - 1)
            for number in range(_SAMPLES):
                hashed.update(self.buffer[number * step : number * step + _SAMPLE_BYTES])
        return hashed.digest()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, DenseData)
            and self.splat == other.splat
            and self.buffer.nbytes == other.buffer.nbytes
            and (self.buffer.nbytes < 64 or self.digest == other.digest)
            and self.buffer == other.buffer
        )

    def __hash__(self) -> int:
        return hash((self.splat, bytes(self.buffer) if self.buffer.nbytes < 64 else self.digest))

    def __repr__(self) -> str:
        return f"DenseData({self.buffer.nbytes} bytes{', splat' if self.splat else ''})"


@irdl_attr_definition
class DenseDataAttr(Data[DenseData]):
    """Holds `DenseData` inside an xDSL attribute; printed only as part of a `DenseAttr`."""

    name = "tiree.dense_data"

    @classmethod
    def parse_parameter(cls, parser: Any) -> DenseData:
        raise parser.raise_error("dense data is written as dense<...>")

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(repr(self.data))


@irdl_attr_definition
class DenseAttr(TypedAttribute, BuiltinAttribute):
    """A constant tensor or vector: MLIR's `dense<...>` and `dense_resource<...>`."""

    name = "tiree.dense"
    type: TensorType | VectorType = param_def()
    data: DenseDataAttr = param_def()

    @staticmethod
    def from_buffer(type: TensorType | VectorType, buffer: Any, splat: bool = False) -> DenseAttr:
        """`buffer` holds all elements, or exactly one when `splat`. Raises `ValueError` when the size is wrong."""
        data = DenseData(buffer, splat)
        count = 1 if splat else element_count(type)
        needed = count * element_byte_size(type.get_element_type())
        if data.buffer.nbytes != needed:
            raise ValueError(f"constant of type {type} needs {needed} bytes, got {data.buffer.nbytes}")
        return DenseAttr(type, DenseDataAttr(data))

    @staticmethod
    def from_numpy(array: np.ndarray, type: TensorType | VectorType) -> DenseAttr:
        """A view of `array` (copied only if it is not contiguous or not little-endian)."""
        import numpy as np

        array = np.ascontiguousarray(array)
        if array.dtype.byteorder == ">":
            array = array.astype(array.dtype.newbyteorder("<"))
        return DenseAttr.from_buffer(type, array.reshape(-1).view(np.uint8))

    @classmethod
    def get_type_index(cls) -> int:
        return 0

    @property
    def is_splat(self) -> bool:
        return self.data.data.splat

    @property
    def buffer(self) -> memoryview:
        """The elements' bytes; one element's when `is_splat`."""
        return self.data.data.buffer

    @property
    def element_type(self) -> Attribute:
        return self.type.get_element_type()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.type.get_shape()

    def splat_value(self) -> int | float:
        """The Python number of a splat of an integer or of a 16/32/64-bit float. Raises `ValueError` otherwise."""
        if not self.is_splat:
            raise ValueError("not a splat")
        return decode_scalar(self.element_type, bytes(self.buffer))

    def to_numpy(self) -> np.ndarray:
        """An array of the type's shape; read-only view of the memory (broadcast when `is_splat`)."""
        import numpy as np

        name = numpy_dtype_name(self.element_type)
        if name == "bfloat16":
            import ml_dtypes

            dtype = np.dtype(ml_dtypes.bfloat16)
        else:
            dtype = np.dtype(name)
        flat = np.frombuffer(self.buffer, dtype)
        return np.broadcast_to(flat.reshape(()), self.shape) if self.is_splat else flat.reshape(self.shape)

    def print_without_type(self, printer: Printer) -> None:
        from tiree.dialects.syntax.dense_text import print_dense

        print_dense(printer, self)

    def print_builtin(self, printer: Printer) -> None:
        self.print_without_type(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.type)


def element_count(type: TensorType | VectorType) -> int:
    count = 1
    for size in type.get_shape():
        count *= size
    return count


def decode_scalar(element_type: Attribute, raw: bytes) -> int | float:
    """The value of one element from its little-endian bytes."""
    match element_type:
        case IntegerType() | IndexType():
            unsigned = isinstance(element_type, IntegerType) and (
                element_type.signedness.data is Signedness.UNSIGNED or element_type.width.data == 1
            )
            return int.from_bytes(raw, "little", signed=not unsigned)
        case Float64Type():
            return struct.unpack("<d", raw)[0]
        case Float32Type():
            return struct.unpack("<f", raw)[0]
        case Float16Type():
            return struct.unpack("<e", raw)[0]
        case BFloat16Type():
            return struct.unpack("<f", b"\0\0" + raw)[0]
        case _:
            raise ValueError(f"no scalar value for element type {element_type}")


def encode_scalar(element_type: Attribute, value: int | float) -> bytes:
    """Little-endian bytes of one element. Integers wrap to the width; floats round to nearest even.

    A complex number has `value` as its real part.
    """
    match element_type:
        case IntegerType() | IndexType():
            if isinstance(element_type, IntegerType) and element_type.width.data == 1:
                return bytes([int(value) & 1])
            size = element_byte_size(element_type)
            return (int(value) & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
        case Float64Type():
            return struct.pack("<d", value)
        case Float32Type():
            return struct.pack("<f", value)
        case Float16Type():
            return struct.pack("<e", value)
        case BFloat16Type():
            from tiree.dialects.syntax.floats import round_to_bf16

            return struct.pack("<H", round_to_bf16(value))
        case ComplexType():
            part = element_type.element_type
            return encode_scalar(part, value) + encode_scalar(part, 0)
        case _:
            from tiree.dialects.syntax.small_floats import small_float

            format = small_float(element_type)
            if format is None:
                raise ValueError(f"no scalar encoding for element type {element_type}")
            return bytes([format.bits(value)])
