"""Reductions whose body computes in a wider type than their inputs have: the inputs are converted first.

Sums and products of f16 and bf16 are of that kind, whatever their body says, and so are bodies that add on the way, as
that of a cumulative logsumexp: with each step rounded, a sum of ones in f16 would stop at 2048.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, i1
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tiree.dialects.dense import DenseAttr
from tiree.input.expansions.build import Build, element_of, of_element, shape_of

_F32 = Float32Type()
_GROWING = ("stablehlo.add", "stablehlo.multiply")
_COMPUTING = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("add", "subtract", "multiply", "maximum", "minimum", "abs", "negate", "compare", "select"),
        *("exponential", "exponential_minus_one", "log", "log_plus_one", "return"),
    )
)
"""Ops of bodies that mean the same in f32, but for its rounding."""
_RENAMING = ("stablehlo.reshape", "stablehlo.broadcast_in_dim")
"""Ops that change nothing on rank-0 tensors."""


def _accumulate(build: Build, op: Operation) -> Sequence[SSAValue] | None:
    """Gives inputs and initial values the types of the body's arguments, which `checks` has compared; sums and
    products of 16-bit floats become some of f32, rounded once."""
    block = op.regions[0].blocks.first
    if block is None:
        return None
    growing, count = _growing(block), len(op.results)
    for index, argument in enumerate(block.args):
        kind = _F32 if index % count in growing else element_of(argument)
        op.operands[index] = _converted(build, op.operands[index], kind)
    if not growing:
        return None
    for value in [value for values in growing.values() for value in values]:
        Rewriter.replace_value_with_new_type(value, of_element(value, _F32))
    types = [of_element(old, _F32) if index in growing else old.type for index, old in enumerate(op.results)]
    wide = build.make(op.name, op.operands, types, op.properties, [op.detach_region(op.regions[0])])
    return [build.convert(new, element_of(old)) for new, old in zip(wide, op.results, strict=True)]


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


def _converted(build: Build, value: SSAValue, element: Attribute) -> SSAValue:
    """`value` with another element type; a constant stays one, since what a reduction begins with decides
    its form."""
    source = value
    while isinstance(source.owner, Operation) and source.owner.name in _RENAMING:
        source = source.owner.operands[0]
    owner = source.owner
    if isinstance(owner, Operation) and owner.name == "stablehlo.constant" and not shape_of(value):
        constant = owner.properties["value"]
        if isinstance(constant, DenseAttr) and constant.is_splat and element == _F32 and _is_narrow(value):
            return build.constant(element, constant.splat_value())
    return build.convert(value, element)


def _is_narrow(value: SSAValue) -> bool:
    return isinstance(element_of(value), Float16Type | BFloat16Type)


def _growing(block: Block) -> dict[int, list[SSAValue]]:
    """The results that become wider, each with the values of the body that belong to it: sums and products of 16-bit
    floats that meet the other results nowhere, and a lone result that is computed from additions."""
    last, count = block.last_op, len(block.args) // 2
    found: dict[int, list[SSAValue]] = {}
    for index, value in enumerate(last.operands if last is not None else ()):
        step, pair = value.owner, (block.args[index], block.args[count + index])
        alone = _is_narrow(value) and all(one.has_one_use() for one in (value, *pair))
        if alone and isinstance(step, Operation) and step.name in _GROWING and set(step.operands) == set(pair):
            found[index] = [*pair, value]
    if not found and count == 1 and _adds(block):
        made = [result for op in block.ops for result in op.results if _is_narrow(result)]
        found[0] = [*block.args, *made]
    return found


def _adds(block: Block) -> bool:
    """Whether a body computes one 16-bit float, with additions or multiplications among what it does."""
    if not all(map(_is_narrow, block.args)) or not all(op.name in _COMPUTING for op in block.ops):
        return False
    values = [result for op in block.ops for result in op.results]
    # Of a value from outside the type stays what it is.
    own = {*block.args, *values}
    if not all(operand in own for op in block.ops for operand in op.operands):
        return False
    known = all(element_of(value) in (element_of(block.args[0]), i1) and not shape_of(value) for value in values)
    return known and any(op.name in _GROWING for op in block.ops)


EXPANSIONS = {
    "stablehlo.reduce": _accumulate,
    "stablehlo.reduce_window": _accumulate,
    "stablehlo.scatter": _convert_updates,
    "stablehlo.select_and_scatter": _convert_source,
}
