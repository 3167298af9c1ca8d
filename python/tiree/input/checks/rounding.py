"""Rounding modes of arith casts: numbers are rounded to the nearest, ties to even; other modes are refused."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from tiree.dialects.arith_flags import ROUNDING_MODES
from tiree.input.checks.values import need
from tiree.support.typed import is_integer_attr


def _cast(op: Operation) -> None:
    mode = op.properties.get("roundingmode")
    if is_integer_attr(mode):
        number = mode.value.data
        name = ROUNDING_MODES[number] if 0 <= number < len(ROUNDING_MODES) else str(number)
        need(number == 0, f"rounding mode {name} is not supported; casts round to_nearest_even")


CHECKS: dict[str, Callable[[Operation], None]] = {"arith.truncf": _cast, "arith.convertf": _cast}
