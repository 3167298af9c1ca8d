"""The suites of programs that this package draws: some for each op and element type, and any number at random."""

from __future__ import annotations

import importlib
import random
from collections.abc import Sequence

import numpy as np

from tiree.testing.choices import RandomChoices
from tiree.testing.conformance.case import Case, Skip, Work
from tiree.testing.conformance.comparison import Array, difference

_EACH = 2


class DrawnPrograms:
    """Programs by op, element type and number; numbers are the same on every machine."""

    def __init__(self, *, count: int = 0, seed: int = 0) -> None:
        self._count, self._seed = count, seed
        self.name = "random" if count else "programs"
        self.title = "random" if count else "programs"

    def missing(self) -> str | None:
        """Needs jax, the oracle."""
        for module in ("jax", "ml_dtypes"):
            try:
                importlib.import_module(module)
            except ImportError:
                return f"{module} is not installed"
        return None

    def cases(self) -> list[Case]:
        """For `programs` some of every op and element type, for `random` ops and types by chance."""
        from tiree.testing.conformance.draws import DRAWS

        pairs = [(op, element) for op, entry in DRAWS.items() for element in entry.elements]
        if not self._count:
            listed = [_case(op, element, number) for op, element in pairs for number in range(_EACH)]
            return listed + [_case(op, element, 0) for op, element in _other_pairs()]
        chosen = random.Random(self._seed)
        return [
            _case(*pairs[int(chosen.random() * len(pairs))], 1000 + self._seed * 1_000_000 + at)
            for at in range(self._count)
        ]


def _other_pairs() -> list[tuple[str, str]]:
    """Ops on types that their drawers do not name. Where XLA has no such program, there is nothing to judge."""
    from tiree.testing.conformance.draws import DRAWS
    from tiree.testing.conformance.draws.program import DTYPES

    elements = [element for element in DTYPES if element not in _BEYOND_XLA]
    pairs = [(op, element) for op, entry in DRAWS.items() for element in elements if element not in entry.elements]
    return [(op, element) for op, element in pairs if not _misjudged(op, element)]


_BEYOND_XLA = frozenset({"i2", "ui2", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN"})
"""Types on which XLA for the CPU ends its process, or writes where it must not."""


def _misjudged(op: str, element: str) -> bool:
    """What XLA takes and computes otherwise than it is specified."""
    from tiree.testing.conformance.draws.program import FLOATS, is_float

    if "next_after" in op:
        # Steps of a wider type for small floats; integers have none.
        return element not in FLOATS
    if element == "f8E8M0FNU":
        # Zero is the smallest number there, and each step of a function is rounded to a power of two.
        return (
            op.startswith("chlo.") or op.endswith(("iota", "atan2", "rng_bit_generator", ".constant")) or "reduce" in op
        )
    if op == "stablehlo.popcnt" and element == "i4":
        # Bits of a byte.
        return True
    if "batch_norm" in op:
        # Sums of 16 bits and fewer.
        return element not in ("f32", "f64")
    # Numbers of an integer type come out.
    return op == "stablehlo.rng_bit_generator" and (is_float(element) or element == "i4")


def _case(op: str, element: str, number: int) -> Case:
    return Case(f"{op}/{element}/{number}", op, lambda: work_of(op, element, number))


def work_of(op: str, element: str, number: int) -> Work:
    """The program of an op, an element type and a number, with XLA's results. Raises `Skip`."""
    from tiree.testing.conformance.draws import DRAWS, Draw

    entry = DRAWS[op]
    try:
        drawn = entry.draw(Draw(RandomChoices(number)), op, element)
    except Exception as error:
        if element in entry.elements:
            raise
        raise Skip("no such program") from error
    known = _SAME.get(op)
    other = DRAWS[known].draw(Draw(RandomChoices(number)), known, element).text if known else drawn.known
    return judged_by_xla(drawn.text, drawn.arguments, other or drawn.text, sums=not _is_exact(op, element))


_EXACT = frozenset({
    "abs", "add", "bitcast_convert", "ceil", "clamp", "convert", "divide", "floor", "maximum", "minimum", "multiply",
    "negate", "next_after", "reduce_precision", "remainder", "round_nearest_afz", "round_nearest_even", "select",
    "sign", "sqrt", "subtract",
})  # fmt: skip


def _is_exact(op: str, element: str) -> bool:
    """Whether each result is that of one operation which IEEE 754 rounds: right by itself, however large others are."""
    return op.split(".")[1].removeprefix("broadcast_") in _EXACT and not element.startswith("complex")


_SAME = {"stablehlo.dynamic_conv": "stablehlo.convolution"}
"""Ops that XLA does not take, and ones that the same decisions make the same program of."""


def judged_by_xla(text: str, arguments: Sequence[Array], known: str, *, sums: bool = True) -> Work:
    """A program whose results are to be those that XLA has for `known`; whether any of them is a sum. Raises `Skip`
    where XLA does not take it."""
    from tiree.testing.conformance.xla import run

    wanted = run(known, arguments)
    if len(wanted) == 0:
        raise Skip("it has no results")

    def check(results: Sequence[Array]) -> str | None:
        for index, (right, got) in enumerate(zip(wanted, results, strict=True)):
            wrong = difference(right, got, sums=sums)
            if wrong is not None:
                return f"result {index}: {wrong}"
        return None

    return Work(text, "main", [carried(argument) for argument in arguments], check)


def carried(argument: Array) -> Array:
    """An argument as callers pass it: bytes where buffers have no name for its type."""
    return argument.view(np.int8) if argument.dtype.name in _BYTES else argument


_BYTES = frozenset(
    {"float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"}
)
