"""What xDSL's `tensor` dialect lacks: reshapes between a scalar tensor and one of any rank with sizes 1.

MLIR writes these with an empty reassociation (`tensor<f32>` into `tensor<1x1xf32>`); xDSL's verifier refuses them.
"""

from __future__ import annotations

from xdsl.dialects import tensor
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ShapedType
from xdsl.dialects.utils.reshape_ops_utils import verify_reshape_like_types
from xdsl.ir import Dialect
from xdsl.utils.exceptions import VerifyException


def _verify_reshape(
    collapsed_type: ShapedType, expanded_type: ShapedType, reassociation: ArrayAttr[ArrayAttr[IntegerAttr]]
) -> None:
    if collapsed_type.get_shape() or len(reassociation):
        verify_reshape_like_types(collapsed_type, expanded_type, reassociation)
    elif any(size != 1 for size in expanded_type.get_shape()):
        raise VerifyException(f"a scalar tensor can only be reshaped to sizes of 1, not to {expanded_type}")


# xDSL's ops call the function by the name under which their module imported it.
tensor.verify_reshape_like_types = _verify_reshape  # pyright: ignore[reportPrivateImportUsage]: replaced on purpose

TensorExt = Dialect("tensor", [], [])
"""Registered over xDSL's `Tensor`."""
