"""Operations of kernels that no MLIR dialect has a target-independent form for."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, StringAttr, VectorType
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tiree.support.typed import is_memref_type, vector_type


@irdl_op_definition
class PairDotOp(IRDLOperation):
    """`kernel.pair_dot`: lane i is `acc[i] + a[2i] * b[2i] + a[2i+1] * b[2i+1]`.

    Factors are i16, sums i32, which wrap around.
    """

    name = "kernel.pair_dot"
    acc = operand_def(VectorType)
    a = operand_def(VectorType)
    b = operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(Pure())
    assembly_format = "$acc `,` $a `,` $b attr-dict `:` type($acc) `,` type($a) `,` type($b) `->` type($result)"

    def __init__(self, acc: SSAValue, a: SSAValue, b: SSAValue) -> None:
        super().__init__(operands=[acc, a, b], result_types=[acc.type])

    def verify_(self) -> None:
        acc, a = vector_type(self.acc), vector_type(self.a)
        if a != self.b.type or acc != self.result.type:
            raise VerifyException("kernel.pair_dot needs factors of one type and a sum of the result's type")
        if a.get_shape() != (2 * acc.get_shape()[0],):
            raise VerifyException(f"kernel.pair_dot needs two factors per lane, got {a} for {acc}")
        if (str(a.element_type), str(acc.element_type)) != ("i16", "i32"):
            raise VerifyException(f"kernel.pair_dot adds products of i16 to i32, got {a} and {acc}")


@irdl_op_definition
class CallOp(IRDLOperation):
    """`kernel.call`: calls function `callee` of the LLVM module `code`, which becomes part of the kernel.

    A memref is passed as the pointer to its first element, an index as 64 bits. The function returns nothing.
    """

    name = "kernel.call"
    arguments = var_operand_def()
    callee = prop_def(StringAttr)
    code = prop_def(StringAttr)

    def __init__(self, callee: str, code: str, arguments: Sequence[SSAValue]) -> None:
        super().__init__(operands=[arguments], properties={"callee": StringAttr(callee), "code": StringAttr(code)})

    def verify_(self) -> None:
        for value in self.arguments:
            if not is_memref_type(value.type) and not isinstance(value.type, IndexType):
                raise VerifyException(f"kernel.call passes memrefs and indices, not {value.type}")


Kernel = Dialect("kernel", [PairDotOp, CallOp], [])
