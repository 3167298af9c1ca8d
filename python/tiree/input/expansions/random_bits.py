"""`rng_bit_generator`: the counter-based generators Threefry-2x32 (20 rounds) and Philox-4x32 (10 rounds).

Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (SC 2011). How a shape is filled and how the state goes on is
as XLA has it, bit for bit: Threefry makes two words for each pair of places along one dimension, Philox four for each
block of four elements in row-major order; narrow types keep the low bits of a word, 64-bit ones take two. `DEFAULT` is
Philox.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, IntegerType, Signedness, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects.stablehlo_attrs import RngAlgorithmAttr
from tiree.input.expansions.build import Build, element_of, shape_of
from tiree.input.lowering.bits import bit_width
from tiree.input.lowering.context import Unsupported, ranked_type
from tiree.input.lowering.scalar import inherent

U32 = IntegerType(32, Signedness.UNSIGNED)
U64 = IntegerType(64, Signedness.UNSIGNED)
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)


def words_of(build: Build, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The low and the high half of 64-bit integers."""
    high = build.binary("shift_right_logical", x, build.constant(U64, 32))
    return build.convert(x, U32), build.convert(high, U32)


def joined(build: Build, low: SSAValue, high: SSAValue) -> SSAValue:
    """64-bit integers of two halves."""
    shifted = build.binary("shift_left", build.convert(high, U64), build.constant(U64, 32))
    return build.binary("or", build.convert(low, U64), shifted)


def _threefry(build: Build, counter: SSAValue, key: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Two words for each 64-bit counter."""

    def rotated(x: SSAValue, distance: int) -> SSAValue:
        left = build.binary("shift_left", x, build.constant(U32, distance))
        return build.binary("or", left, build.binary("shift_right_logical", x, build.constant(U32, 32 - distance)))

    keys = [*words_of(build, key)]
    keys.append(build.binary("xor", build.binary("xor", keys[0], keys[1]), build.constant(U32, _PARITY)))
    a, b = words_of(build, counter)
    a, b = build.add_(a, keys[0]), build.add_(b, keys[1])
    for group in range(5):
        for distance in _ROTATIONS[group % 2]:
            a = build.add_(a, b)
            b = build.binary("xor", a, rotated(b, distance))
        a = build.add_(a, keys[(group + 1) % 3])
        b = build.add_(b, build.add_(keys[(group + 2) % 3], build.constant(U32, group + 1)))
    return a, b


def philox(build: Build, words: Sequence[SSAValue], key: Sequence[SSAValue]) -> list[SSAValue]:
    """Four words for each counter of four words."""
    state, key = list(words), list(key)
    factors = [build.constant(U32, factor) for factor in _MULTIPLIERS]
    for number in range(10):
        if number:
            key = [build.add_(word, build.constant(U32, step)) for word, step in zip(key, _WEYL, strict=True)]
        high = [
            build.value("chlo.mulhi", [state[2 * i], _like(build, factors[i], state[2 * i])], state[2 * i].type)
            for i in (0, 1)
        ]
        low = [build.multiply(state[2 * i], factors[i]) for i in (0, 1)]
        mixed = [build.binary("xor", build.binary("xor", high[1 - i], state[2 * i + 1]), key[i]) for i in (0, 1)]
        state = [mixed[0], low[1], mixed[1], low[0]]
    return state


def _like(build: Build, scalar: SSAValue, value: SSAValue) -> SSAValue:
    return scalar if not shape_of(value) else build.broadcast(scalar, [], value)


def philox_blocks(build: Build, key: SSAValue, low: SSAValue, high: SSAValue, count: int) -> list[SSAValue]:
    """The four words of `count` blocks, from a counter of 128 bits on; all given are rank 0."""
    number = build.iota(TensorType(U64, [count]), 0)
    counter = build.add_(number, low)
    carried = build.compare("LT", counter, low)
    upper = build.select(carried, build.add_(high, build.constant(U64, 1)), high)
    return philox(build, [*words_of(build, counter), *words_of(build, upper)], words_of(build, key))


def philox_of_unknown(
    build: Build, key: SSAValue, counter: tuple[SSAValue, SSAValue], count: SSAValue, wide: bool
) -> SSAValue:
    """`count` (rank 0) words of 32 or 64 bits: each element has a block of its own."""
    length = build.reshape(count, [1])
    number = build.value(
        "dynamic_iota", [length], TensorType(U64, [DYNAMIC_INDEX]), {"iota_dimension": IntegerAttr(0, i64)}
    )
    low, high = counter
    place = build.add_(number, low)
    upper = build.select(build.compare("LT", place, low), build.add_(high, build.constant(U64, 1)), high)
    words = philox(build, [*words_of(build, place), *words_of(build, upper)], words_of(build, key))
    return joined(build, words[0], words[1]) if wide else words[0]


def interleaved(build: Build, parts: Sequence[SSAValue], shape: Sequence[int]) -> SSAValue:
    """Vectors merged element by element, cut to the size of `shape` and brought into it."""
    (length,) = shape_of(parts[0])
    columns = [build.reshape(part, [length, 1]) for part in parts]
    whole = build.reshape(build.concatenate(columns, 1), [length * len(parts)])
    if prod(shape) != length * len(parts):
        whole = build.slice(whole, [0], [prod(shape)])
    return build.reshape(whole, shape)


def philox_numbers(
    build: Build, key: SSAValue, counter: tuple[SSAValue, SSAValue], shape: Sequence[int], wide: bool
) -> tuple[SSAValue, int]:
    """Words of 32 or 64 bits in a shape, and how many blocks they took."""
    elements = prod(shape)
    blocks = -(-elements * (2 if wide else 1) // 4)
    words = philox_blocks(build, key, *counter, blocks)
    if wide:
        words = [joined(build, words[0], words[1]), joined(build, words[2], words[3])]
    return interleaved(build, words, shape), blocks


def _threefry_numbers(
    build: Build, key: SSAValue, state: SSAValue, shape: tuple[int, ...], wide: bool
) -> tuple[SSAValue, int]:
    """Words of 32 or 64 bits in a shape, and how many counters they took."""
    if wide:
        counter = build.add_(_positions(build, shape), state)
        return joined(build, *_threefry(build, counter, key)), prod(shape)
    if not shape:
        counter = build.add_(_positions(build, (1,)), state)
        return build.reshape(_threefry(build, counter, key)[0], []), 1
    # Pairs lie along the first even dimension, or else along the longest.
    split = next((dim for dim, size in enumerate(shape) if size % 2 == 0), shape.index(max(shape)))
    half = (*shape[:split], -(-shape[split] // 2), *shape[split + 1 :])
    counter = build.add_(_positions(build, half), state)
    spread = [*half[: split + 1], 1, *half[split + 1 :]]
    words = [build.reshape(word, spread) for word in _threefry(build, counter, key)]
    padded = [*half[:split], 2 * half[split], *half[split + 1 :]]
    value = build.reshape(build.concatenate(words, split + 1), padded)
    if padded[split] != shape[split]:
        value = build.slice(value, [0] * len(shape), shape)
    return value, prod(half)


def _positions(build: Build, shape: tuple[int, ...]) -> SSAValue:
    """The place of each element in row-major order."""
    flat = build.iota(TensorType(U64, [prod(shape)]), 0)
    return build.reshape(flat, shape)


def _rng_bit_generator(build: Build, op: Operation) -> Sequence[SSAValue]:
    attr = inherent(op, "rng_algorithm")
    type, given = ranked_type(op.results[1]), ranked_type(op.operands[0])
    if not isinstance(attr, RngAlgorithmAttr):
        raise Unsupported("without rng_algorithm")
    if DYNAMIC_INDEX in type.get_shape():
        raise Unsupported(f"with the dynamic shape {type}")
    size = given.get_shape()[0] if len(given.get_shape()) == 1 else 0
    threefry = attr.data == "THREE_FRY"
    if given.element_type != U64 or size not in ((2,) if threefry else (2, 3)):
        raise Unsupported(f"with a state of type {given}")
    state = [build.reshape(build.slice(op.operands[0], [place], [place + 1]), []) for place in range(size)]
    width = bit_width(type.element_type)
    wide = width == 64
    if threefry:
        bits, count = _threefry_numbers(build, state[0], state[1], type.get_shape(), wide)
        rest = [build.add_(state[1], build.constant(U64, count))]
    else:
        # A state of two words has its key for the upper half of the counter, too.
        low, high = (state[1], state[2]) if size == 3 else (state[1], state[0])
        bits, count = philox_numbers(build, state[0], (low, high), type.get_shape(), wide)
        after = build.add_(low, build.constant(U64, count))
        rest = [after]
        if size == 3:
            carried = build.compare("LT", after, low)
            rest.append(build.select(carried, build.add_(high, build.constant(U64, 1)), high))
    new_state = build.concatenate([build.reshape(word, [1]) for word in (state[0], *rest)], 0)
    return [new_state, as_element(build, bits, type.element_type, width)]


def as_element(build: Build, bits: SSAValue, element: Attribute, width: int) -> SSAValue:
    """Words as elements with these (low) bits."""
    narrow = build.convert(bits, IntegerType(width, Signedness.UNSIGNED))
    if element_of(narrow) == element:
        return narrow
    return build.value("bitcast_convert", [narrow], TensorType(element, shape_of(bits)))


EXPANSIONS = {"stablehlo.rng_bit_generator": _rng_bit_generator}
