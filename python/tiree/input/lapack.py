"""What calls of LAPACK's routines are given and give: types and sizes, by `lapack_<s, d, c or z><routine>_ffi`.

A batch of any dimensions may stand before the sizes of each operand and result, the same before all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX, ComplexType, Float32Type, Float64Type, i32
from xdsl.ir import Attribute

_NAME = re.compile(r"lapack_([sdcz])([a-z0-9]+)_ffi")

Sizes = Sequence[str]
"""Names of sizes, each the same wherever it stands: `k` is the smaller of `m` and `n`, `_` is judged elsewhere."""


class Tensor(NamedTuple):
    kind: str
    """T for the type of the call, R for its real parts, C for complex numbers of these, I for i32."""
    sizes: Sizes


class Routine(NamedTuple):
    operands: Sequence[Tensor]
    results: Sequence[Tensor]
    letters: Mapping[str, str]
    """The letters that a setting may have."""


def _tensors(text: str) -> list[Tensor]:
    """`T:n,n I:` is a matrix and a number."""
    pairs = (part.partition(":") for part in text.split())
    return [Tensor(kind, sizes.split(",") if sizes else []) for kind, _, sizes in pairs]


def _routine(operands: str, results: str, **letters: str) -> Routine:
    return Routine(_tensors(operands), _tensors(results), letters)


_REAL = {
    "potrf": _routine("T:n,n", "T:n,n I:", uplo="LU"),
    "getrf": _routine("T:m,n", "T:m,n I:k I:"),
    "geqrf": _routine("T:m,n", "T:m,n T:k"),
    "geqp3": _routine("T:m,n I:n", "T:m,n I:n T:k"),
    "orgqr": _routine("T:m,n T:r", "T:m,n"),
    "ormqr": _routine("T:p,q T:r T:m,n", "T:m,n"),
    "trsm": _routine("T:a,a T:m,n", "T:m,n", side="LR", uplo="LU", trans_x="NTC", diag="NU"),
    "syevd": _routine("T:n,n", "T:n,n R:n I:", uplo="LU", mode="NV"),
    "sytrd": _routine("T:n,n", "T:n,n R:n R:n-1 T:n-1 I:", uplo="LU"),
    "gesdd": _routine("T:m,n", "T:m,n R:k T:m,_ T:_,n I:", mode="NSA"),
    "gesvd": _routine("T:m,n", "T:m,n R:k T:m,_ T:_,n I:", mode="NSA"),
    "gehrd": _routine("T:n,n", "T:n,n T:n-1 I:"),
    "gees": _routine("T:n,n", "T:n,n T:n,n T:n T:n I: I:", mode="NV", sort="N"),
    "geev": _routine("T:n,n", "T:n T:n C:n,n C:n,n I:", compute_left="NV", compute_right="NV"),
    "gtsv": _routine("T:n T:n T:n T:n,r", "T:n T:n T:n T:n,r I:"),
}
_COMPLEX = {
    **{name: _REAL[name] for name in ("potrf", "getrf", "geqrf", "geqp3", "trsm", "gesdd", "gesvd", "gehrd", "gtsv")},
    "ungqr": _REAL["orgqr"],
    "unmqr": _REAL["ormqr"],
    "heevd": _REAL["syevd"],
    "hetrd": _REAL["sytrd"],
    "gees": _routine("T:n,n", "T:n,n T:n,n T:n I: I:", mode="NV", sort="N"),
    "geev": _routine("T:n,n", "T:n T:n,n T:n,n I:", compute_left="NV", compute_right="NV"),
}
_PARTS: dict[str, Float32Type | Float64Type] = {
    "s": Float32Type(), "c": Float32Type(), "d": Float64Type(), "z": Float64Type(),
}  # fmt: skip


class Call(NamedTuple):
    """A routine in the type of a call."""

    name: str
    routine: Routine
    types: Mapping[str, Attribute]
    """The element types by their letters in the table."""


def call_of(target: str) -> Call | None:
    """What a target of custom calls asks for; None for what is no routine of LAPACK that is known."""
    match = _NAME.fullmatch(target)
    if match is None:
        return None
    letter, name = match.groups()
    routine = (_COMPLEX if letter in "cz" else _REAL).get(name)
    if routine is None:
        return None
    real = _PARTS[letter]
    whole = ComplexType(real)
    return Call(name, routine, {"T": whole if letter in "cz" else real, "R": real, "C": whole, "I": i32})


def derived(name: str, known: Mapping[str, int]) -> int | None:
    """A size that follows from others; None for one that does not."""
    if name == "k" and "m" in known and "n" in known:
        sizes = known["m"], known["n"]
        # What is known of one of them bounds the smaller, and does not say it.
        return DYNAMIC_INDEX if DYNAMIC_INDEX in sizes else min(sizes)
    if name == "n-1" and "n" in known:
        return DYNAMIC_INDEX if known["n"] == DYNAMIC_INDEX else max(known["n"] - 1, 0)
    return None
