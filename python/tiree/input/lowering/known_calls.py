"""Custom calls to `mhlo.erf`, `mhlo.topk` and others, which exported JAX programs have for CHLO's ops."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from tiree.dialects import chlo
from tiree.input.lowering.context import Lowering, Unsupported
from tiree.input.lowering.elementwise import lower_elementwise
from tiree.input.lowering.scalar import inherent
from tiree.input.lowering.sort import top_k
from tiree.support.typed import is_integer_attr


def _setting(op: Operation, dictionary: str, name: str) -> int | None:
    """An integer of a dictionary attribute of the call."""
    attr = inherent(op, dictionary)
    found: Attribute | None = attr.data.get(name) if isinstance(attr, DictionaryAttr) else None
    return found.value.data if is_integer_attr(found) else None


def _as_chlo(name: str) -> Callable[[Lowering, Operation], None]:
    def lower(lowering: Lowering, op: Operation) -> None:
        properties: dict[str, Attribute] = {}
        if name == "chlo.top_k":
            k = _setting(op, "mhlo.attributes", "k")
            if k is None or _setting(op, "mhlo.attributes", "largest") == 0:
                raise Unsupported("to target 'mhlo.topk' without k, or of the smallest elements")
            properties["k"] = IntegerAttr(k, 64)
        types = [result.type for result in op.results]
        same = chlo.OPS[name].create(operands=op.operands, result_types=types, properties=properties)
        handler = top_k if name == "chlo.top_k" else lower_elementwise
        handler(lowering, same)
        for old, new in zip(op.results, same.results, strict=True):
            lowering.set(old, lowering.values[new])
        same.drop_all_references()

    return lower


_FUNCTIONS = (
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cosh",
    "sinh",
    "tan",
    "erf",
    "erf_inv",
    "erfc",
    "square",
)

KNOWN_CALLS: dict[str, Callable[[Lowering, Operation], None]] = {
    "mhlo.topk": _as_chlo("chlo.top_k"),
    **{f"mhlo.{function}": _as_chlo(f"chlo.{function}") for function in _FUNCTIONS},
}
"""How a call is lowered, by its target."""
