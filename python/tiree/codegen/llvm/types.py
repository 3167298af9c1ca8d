"""How MLIR scalar and 1-D vector types look in LLVM.

`index` is i64. f16 and bf16 are carried as i16: LLVM would call the runtime library for their arithmetic on most
targets, so `convert.py` widens them to f32 explicitly and memory, selects and shuffles move plain integers.
May assume nothing about ops.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
)
from xdsl.ir import Attribute

from tiree.support.errors import CompileError
from tiree.support.typed import is_integer_type, is_vector_type


@dataclass(frozen=True)
class LType:
    """A scalar (`lanes` 0) or vector type. `kind` is `i`, `f` (f32, f64), `h` (f16) or `b` (bf16)."""

    kind: str
    bits: int
    lanes: int = 0

    @cached_property
    def elem(self) -> str:
        """The LLVM type of one element."""
        if self.kind == "f":
            return "float" if self.bits == 32 else "double"
        return f"i{self.bits}"

    @cached_property
    def text(self) -> str:
        return f"<{self.lanes} x {self.elem}>" if self.lanes else self.elem

    @cached_property
    def memory_elem(self) -> str:
        """The LLVM type of one element in memory: `i1` takes a byte."""
        return "i8" if self.bits == 1 else self.elem

    @cached_property
    def memory_text(self) -> str:
        return f"<{self.lanes} x {self.memory_elem}>" if self.lanes else self.memory_elem

    @property
    def bytes(self) -> int:
        """Bytes of one element in memory."""
        return max(1, self.bits // 8)

    @cached_property
    def mangled(self) -> str:
        """The suffix of an overloaded intrinsic's name, as in `llvm.fma.v8f32`."""
        elem = f"f{self.bits}" if self.kind == "f" else f"i{self.bits}"
        return f"v{self.lanes}{elem}" if self.lanes else elem

    @property
    def is_small_float(self) -> bool:
        return self.kind in "hb"

    def with_elem(self, kind: str, bits: int) -> LType:
        return ltype(kind, bits, self.lanes)

    @property
    def scalar(self) -> LType:
        return ltype(self.kind, self.bits)

    def vector(self, lanes: int) -> LType:
        return ltype(self.kind, self.bits, lanes)


_INTERNED: dict[tuple[str, int, int], LType] = {}


def ltype(kind: str, bits: int, lanes: int = 0) -> LType:
    """The one `LType` of these fields: its cached texts are then computed once in a process."""
    key = (kind, bits, lanes)
    found = _INTERNED.get(key)
    if found is None:
        found = _INTERNED[key] = LType(kind, bits, lanes)
    return found


I1 = ltype("i", 1)
I8 = ltype("i", 8)
I16 = ltype("i", 16)
I32 = ltype("i", 32)
I64 = ltype("i", 64)
F32 = ltype("f", 32)
F64 = ltype("f", 64)


def lower_type(type: Attribute) -> LType:
    """The `LType` of an MLIR scalar or 1-D vector type. Raises `CompileError` for any other type."""
    if is_vector_type(type):
        shape = type.get_shape()
        if len(shape) != 1 or type.get_num_scalable_dims():
            raise CompileError(f"type {type} is not a fixed 1-D vector; kernels hold scalars and 1-D vectors")
        scalar = lower_type(type.element_type)
        return ltype(scalar.kind, scalar.bits, shape[0])
    if is_integer_type(type):
        return ltype("i", type.width.data)
    if isinstance(type, IndexType):
        return I64
    if isinstance(type, Float32Type):
        return F32
    if isinstance(type, Float64Type):
        return F64
    if isinstance(type, Float16Type):
        return ltype("h", 16)
    if isinstance(type, BFloat16Type):
        return ltype("b", 16)
    raise CompileError(f"type {type} has no form in LLVM; kernels hold integers, index, f16, bf16, f32 and f64")
