"""Base classes of the StableHLO and CHLO ops; see `dialects/stablehlo.py`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute, Operation
from xdsl.irdl import traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tiree.dialects.stablehlo_counts import BINARY, COUNTS, ONE_EACH, UNARY, Counts, wrong_count

_PURE = traits_def(Pure())
_EFFECT = traits_def()


class StableHLOOp(Operation):
    """Base of all ops here. `PROPERTIES` lists inherent attributes, required and optional ones alike."""

    PROPERTIES: ClassVar[tuple[str, ...]] = ()
    COUNTS: ClassVar[Counts | None] = None
    """For ops that are not in the table of counts."""
    traits = _EFFECT

    def verify_(self) -> None:
        """Counts only; attributes and types are checked where the op is lowered."""
        counts = COUNTS.get(self.name.removeprefix("stablehlo."), self.COUNTS)
        if counts is not None:
            wrong = wrong_count(counts, (len(self.operands), len(self.results), len(self.regions)))
            if wrong:
                raise VerifyException(wrong)
        if self.name in ONE_EACH and len(self.operands) != len(self.results):
            raise VerifyException(
                f"it has {len(self.operands)} operands, needs as many as results: {len(self.results)}"
            )

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
    COUNTS = UNARY
    PROPERTIES = ("result_accuracy",)


class BinaryOp(ElementwiseOp):
    COUNTS = BINARY
