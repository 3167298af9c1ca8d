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


def _convert_updates(build: Build, op: Operation) -> None:
    """The same for a scatter: its arguments are the inputs', then the updates'; the indices between them stay."""
    block, count = op.regions[0].blocks.first, len(op.results)
    for index, argument in enumerate(block.args if block is not None else ()):
        place = index if index < count else index + 1
        if element_of(op.operands[place]) != element_of(argument):
            op.operands[place] = build.convert(op.operands[place], element_of(argument))


def _convert_source(build: Build, op: Operation) -> None:
    """The same for what a select_and_scatter adds up; what it selects by stays."""
    block = op.regions[1].blocks.first
    for place in (1, 2):
        if block is not None and element_of(op.operands[place]) != element_of(block.args[0]):
            op.operands[place] = build.convert(op.operands[place], element_of(block.args[0]))


EXPANSIONS = {
    "stablehlo.reduce": _convert_inputs,
    "stablehlo.reduce_window": _convert_inputs,
    "stablehlo.scatter": _convert_updates,
    "stablehlo.select_and_scatter": _convert_source,
}
