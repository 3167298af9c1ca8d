"""Writes of several values at once: vectors for neighbouring places of stride 2 are woven into contiguous stores.

Such pairs are the real and imaginary parts of complex numbers. Every other value goes where `Evaluator.store` puts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, SSAValue

from tiree.codegen.common.builder import Buffer
from tiree.codegen.common.linear import LANE, Lin
from tiree.codegen.common.reading import shuffle

if TYPE_CHECKING:
    from tiree.codegen.common.body import Value
    from tiree.codegen.common.evaluate import Evaluator


@dataclass(frozen=True)
class Write:
    """A value for an address; its lanes may be any distance apart."""

    buffer: Buffer
    address: Lin
    value: Value
    element: Attribute
    mask: SSAValue | None


def write_all(ev: Evaluator, writes: Sequence[Write]) -> None:
    """All writes, which concern different places."""
    upper = {(w.buffer, w.address): n for n, w in enumerate(writes) if _is_strided(ev, w.address)}
    woven: set[int] = set()
    for number, write in enumerate(writes):
        partner = upper.get((write.buffer, write.address + 1)) if (write.buffer, write.address) in upper else None
        if number in woven or partner is None or partner in woven or writes[partner].mask is not write.mask:
            continue
        woven |= {number, partner}
        _weave(ev, write, writes[partner])
    for number, write in enumerate(writes):
        if number not in woven:
            ev.store(write.buffer, write.address, write.value, write.element, write.mask)


def _is_strided(ev: Evaluator, address: Lin) -> bool:
    """Whether lanes are two elements apart."""
    kinds = {sym.kind: coefficient for sym, coefficient in address.terms if sym.kind is LANE or sym.kind == "vector"}
    return ev.width > 1 and kinds == {LANE: 2}


def _weave(ev: Evaluator, even: Write, odd: Write) -> None:
    width = ev.width
    a, b = (ev.b.broadcast(ev.to_storage(one.value, one.element), width) for one in (even, odd))
    uniform, _ = ev.b.uniform_part(even.address)
    for half in (0, 1):
        first = half * width // 2
        lanes = [first + n // 2 + (width if n % 2 else 0) for n in range(width)]
        mask = even.mask
        if mask is not None:
            mask = shuffle(ev, mask, mask, [first + n // 2 for n in range(width)])
        ev.b.store_vector(even.buffer, uniform + half * width, shuffle(ev, a, b, lanes), mask)
