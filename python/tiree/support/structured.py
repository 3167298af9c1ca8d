"""What holds for every `linalg.generic` and xDSL does not check: its body yields an element for each output."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from tiree.support.typed import operands_of


def verify_generic(op: Operation) -> None:
    """Raises `VerifyException` for a body that ends with anything else."""
    body = op.regions[0].blocks.first
    last = body.last_op if body is not None else None
    yielded = operands_of(last) if last is not None and last.name == "linalg.yield" else ()
    outputs = body.args[len(body.args) - len(yielded) :] if body is not None else ()
    if [value.type for value in yielded] != [argument.type for argument in outputs] or len(yielded) < len(op.results):
        raise VerifyException("the body of linalg.generic does not yield one element for each output")
