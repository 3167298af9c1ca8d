"""Base classes of the StableHLO and CHLO ops; see `dialects/stablehlo.py`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute, Operation
from xdsl.irdl import traits_def
from xdsl.traits import Pure

_PURE = traits_def(Pure())
_EFFECT = traits_def()


class StableHLOOp(Operation):
    """Base of all ops here. `PROPERTIES` lists inherent attributes, required and optional ones alike."""

    PROPERTIES: ClassVar[tuple[str, ...]] = ()
    traits = _EFFECT

    def inherent(self, name: str) -> Attribute | None:
        """A property by name; older text keeps properties in the attribute dictionary, so that is asked too."""
        attr = self.properties.get(name)
        return self.attributes.get(name) if attr is None else attr


class PureOp(StableHLOOp):
    """An op without effects."""

    traits = _PURE


class ElementwiseOp(PureOp):
    """An op that acts element by element on operands and a result of one shape."""


class UnaryOp(ElementwiseOp):
    PROPERTIES = ("result_accuracy",)


class BinaryOp(ElementwiseOp):
    pass
