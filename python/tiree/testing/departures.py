"""Where execution differs from IREE 3.13 on purpose, or where that release has no defined behaviour.

The reference interpreter notes the name of each that a program runs into; such a program is not compared with IREE.
docs/reference/vm_semantics.md has the same list with examples; a test holds the two together, and shows each difference
on the released tool.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Departure:
    """`instructions` names those concerned; `iree` says what the release does, `tiree` what this runtime does."""

    instructions: str
    iree: str
    tiree: str


DEPARTURES: dict[str, Departure] = {
    "division": Departure(
        "div.i*, rem.i*", "x / 0 and MIN / -1 kill the process (SIGFPE)", "INVALID_ARGUMENT, with the place"
    ),
    "wrapping range": Departure(
        "buffer.*",
        "offset and length wrap around 2^64 before they are checked: foreign memory is read and written",
        "OUT_OF_RANGE",
    ),
    "wrapping global": Departure(
        "global.*.indirect.*",
        "the offset wraps around 2^32 before it is checked: foreign memory is read and written",
        "OUT_OF_RANGE",
    ),
    "last global": Departure(
        "global.*.indirect.f64", "only the first 4 of the 8 bytes must lie inside", "OUT_OF_RANGE unless all 8 do"
    ),
    "switch.i64": Departure(
        "switch.i64",
        "a picked value (not the default) loses its high word: the low one is sign-extended",
        "the whole value",
    ),
    "opaque": Departure(
        "global.*.ref, select.ref, switch.ref, cast.any.ref",
        "type !vm.opaque admits only null: INVALID_ARGUMENT for any object",
        "admits every object, as it does for list elements",
    ),
    "list conversion": Departure(
        "list.get.*, list.set.*", "between whole numbers and floats the value becomes 0", "converted by value"
    ),
    "list onto itself": Departure(
        "list.get.ref",
        "an element moved out of a list of anything onto the register of that list ends the list first: freed memory "
        "is written",
        "the element is moved, then the list let go",
    ),
    "list size": Departure(
        "list.alloc, list.reserve, list.resize",
        "up to 2^32-1 elements are allocated and written",
        "RESOURCE_EXHAUSTED beyond 2^26; as the capacity of a new list only a hint",
    ),
    "negative length": Departure(
        "buffer.alloc", "RESOURCE_EXHAUSTED: read as a huge length", "INVALID_ARGUMENT: the length is negative"
    ),
    "status code": Departure(
        "fail",
        "codes are cut to 5 bits: 32 is no failure but ends the call without results; 17 waits for ever; 19 to 31 "
        "have no name",
        "cut to 5 bits, UNKNOWN for 0 and for codes without a name; 17 is DEFERRED",
    ),
    "yield": Departure(
        "yield", "a synchronous call never returns", "goes on; an asynchronous one is resumed by its caller"
    ),
}
"""By name."""
