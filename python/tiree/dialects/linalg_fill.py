"""`linalg.fill` of xDSL, made to take complex scalars as MLIR's does: xDSL verifies floats and integers only.

The class stays xDSL's own, so that passes may match it with `isinstance` whatever built the op.
"""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat, ComplexType, IntegerType
from xdsl.dialects.linalg.ops import FillOp
from xdsl.utils.exceptions import VerifyException

__all__ = ["FillOp"]


def _verify(self: FillOp) -> None:
    for value in self.inputs:
        if not isinstance(value.type, (AnyFloat, IntegerType, ComplexType)):
            raise VerifyException(f"linalg.fill with a value of type {value.type}, which is no number")


FillOp.verify_ = _verify
