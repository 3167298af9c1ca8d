"""JAX's call for random bits of a shape that is known when the program runs, `stablehlo.dynamic_rng_bit_generator`.

The bits are those that `rng_bit_generator` has for that shape: each element computes the block that it is in and takes
its word of it. Threefry, whose order depends on which sizes are even, is not done so.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, StringAttr, TensorType, i64
from xdsl.ir import Operation, SSAValue

from tiree.dialects.stablehlo_attrs import RngAlgorithmAttr
from tiree.input.expansions.build import Build, element_of
from tiree.input.expansions.random_bits import U32, U64, as_element, joined, philox, words_of
from tiree.input.lowering.bits import bit_width
from tiree.input.lowering.context import Unsupported, ranked_type
from tiree.input.lowering.scalar import inherent

TARGET = "stablehlo.dynamic_rng_bit_generator"


def _carried(build: Build, sum: SSAValue, low: SSAValue, high: SSAValue) -> SSAValue:
    """The upper half of a counter whose lower half `low` became `sum`."""
    return build.select(build.compare("LT", sum, low), build.add_(high, build.constant(U64, 1)), high)


def _words(build: Build, key: SSAValue, counter: tuple[SSAValue, SSAValue], count: SSAValue, wide: bool) -> SSAValue:
    """`count` (rank 0) words of 32 or 64 bits, four or two of each block."""
    low, high = counter
    type = TensorType(U64, [DYNAMIC_INDEX])
    place = build.value("dynamic_iota", [build.reshape(count, [1])], type, {"iota_dimension": IntegerAttr(0, i64)})
    block = build.add_(build.binary("shift_right_logical", place, build.constant(U64, 1 if wide else 2)), low)
    upper = _carried(build, block, low, high)
    words = philox(build, [*words_of(build, block), *words_of(build, upper)], words_of(build, key))
    if wide:
        words = [joined(build, words[0], words[1]), joined(build, words[2], words[3])]
    lane = build.convert(build.binary("and", place, build.constant(U64, len(words) - 1)), U32)
    found = words[0]
    for number, word in enumerate(words[1:], 1):
        found = build.select(build.compare("EQ", lane, build.constant(U32, number)), word, found)
    return found


def _call(build: Build, op: Operation) -> Sequence[SSAValue] | None:
    name, algorithm = inherent(op, "call_target_name"), inherent(op, "rng_algorithm")
    if not isinstance(name, StringAttr) or name.data != TARGET:
        return None
    if len(op.operands) != 2 or len(op.results) != 2 or not isinstance(algorithm, RngAlgorithmAttr):
        raise Unsupported(f"to target '{TARGET}' of another form")
    given, type = ranked_type(op.operands[0]), ranked_type(op.results[1])
    size = given.get_shape()[0] if len(given.get_shape()) == 1 else 0
    if algorithm.data == "THREE_FRY" or given.element_type != U64 or size not in (2, 3):
        raise Unsupported(f"to target '{TARGET}' with {algorithm.data} and a state of type {given}")
    state = [build.reshape(build.slice(op.operands[0], [place], [place + 1]), []) for place in range(size)]
    width = bit_width(type.element_type)
    low, high = (state[1], state[2]) if size == 3 else (state[1], state[0])
    count = build.reduce(build.convert(op.operands[1], U64), [0], "multiply", 1)
    flat = as_element(build, _words(build, state[0], (low, high), count, width == 64), type.element_type, width)
    shift = 1 if width == 64 else 2
    more = build.add_(count, build.constant(U64, (1 << shift) - 1))
    after = build.add_(low, build.binary("shift_right_logical", more, build.constant(U64, shift)))
    rest = [after] if size == 2 else [after, _carried(build, after, low, high)]
    new_state = build.concatenate([build.reshape(word, [1]) for word in (state[0], *rest)], 0)
    shaped = build.value("dynamic_reshape", [flat, op.operands[1]], TensorType(element_of(flat), type.get_shape()))
    return [new_state, shaped]


EXPANSIONS = {"stablehlo.custom_call": _call}
