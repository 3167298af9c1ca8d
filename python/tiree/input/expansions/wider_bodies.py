"""Reductions whose body computes in a wider type than their inputs have: the inputs are converted first."""

from __future__ import annotations

from xdsl.ir import Operation

from tiree.input.expansions.build import Build, element_of


def _convert_inputs(build: Build, op: Operation) -> None:
    """Gives inputs and initial values the types of the body's arguments, which `checks` has compared."""
    block = op.regions[0].blocks.first
    for index, argument in enumerate(block.args if block is not None else ()):
        if element_of(op.operands[index]) != element_of(argument):
            op.operands[index] = build.convert(op.operands[index], element_of(argument))


EXPANSIONS = {"stablehlo.reduce": _convert_inputs, "stablehlo.reduce_window": _convert_inputs}
