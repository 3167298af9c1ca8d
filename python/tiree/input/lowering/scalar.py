"""The scalar builder of `tiree.scalars`, under the name that the lowerings use."""

from tiree.scalars.builder import (
    ScalarAttr,
    ScalarBuilder,
    constant_op,
    encoded,
    float_width,
    inherent,
    integer_width,
    is_double,
    number_attribute,
    scalar_attribute,
    widened,
)

__all__ = [
    "ScalarAttr",
    "ScalarBuilder",
    "constant_op",
    "encoded",
    "float_width",
    "inherent",
    "integer_width",
    "is_double",
    "number_attribute",
    "scalar_attribute",
    "widened",
]
