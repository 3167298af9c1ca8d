"""Ops that a pass before the lowering refuses: they stay, and the lowering reports them together with its own."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from tiree.input.lowering.context import Unsupported

_REFUSED = "tiree.refused"
"""Why an op has no lowering."""


def refuse(op: Operation, reason: str) -> None:
    """Lets the lowering report `op` as one that is not supported."""
    op.attributes[_REFUSED] = StringAttr(reason)


def reason_of(op: Operation) -> str:
    """Why an op is refused; empty for one that is not."""
    reason = op.attributes.get(_REFUSED)
    return reason.data if isinstance(reason, StringAttr) else ""


def check_refused(op: Operation) -> None:
    """Raises `Unsupported` for an op that `refuse` was called on."""
    reason = reason_of(op)
    if reason:
        raise Unsupported(reason)
