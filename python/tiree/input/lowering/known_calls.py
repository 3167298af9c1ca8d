"""Custom calls whose targets name a function that XLA knows: top-k on a dimension, and CHLO's functions by older names.

JAX emits `ApproxTopK`; its exported programs have `mhlo.erf`, `mhlo.topk` and others for CHLO's ops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.dialects import chlo
from tiree.input.lowering.context import Lowering, Unsupported, signless, tensor_type
from tiree.input.lowering.elementwise import lower_elementwise
from tiree.input.lowering.reduce import emit_region
from tiree.input.lowering.scalar import ScalarBuilder, inherent
from tiree.input.lowering.sort import positions, sort_values, stable, top_k
from tiree.support.typed import is_integer_attr


def _setting(op: Operation, dictionary: str, name: str) -> int | None:
    """An integer of a dictionary attribute of the call."""
    attr = inherent(op, dictionary)
    found: Attribute | None = attr.data.get(name) if isinstance(attr, DictionaryAttr) else None
    return found.value.data if is_integer_attr(found) else None


def _approx_top_k(lowering: Lowering, op: Operation) -> None:
    """The first elements along a dimension in the order of a comparator, exact: the recall that is asked is a minimum.

    Operands are arrays that move together, then their initial values; the results say how many elements are wanted.
    """
    count = len(op.results)
    dim = _setting(op, "mhlo.backend_config", "reduction_dim")
    if dim is None or len(op.operands) != 2 * count:
        raise Unsupported("to target 'ApproxTopK' without reduction_dim, or with other than two operands a result")
    block = lowering.callee(op, "called_computations")
    shape = tensor_type(op.operands[0]).get_shape()

    def less(s: ScalarBuilder, a: Sequence[SSAValue], b: Sequence[SSAValue]) -> SSAValue:
        return emit_region(lowering, s, block, [value for pair in zip(a, b, strict=True) for value in pair])[0]

    values = [lowering.get(operand) for operand in op.operands[:count]]
    ordered = sort_values(lowering, [*values, positions(lowering, shape, dim)], dim, stable(less))
    for old, new in zip(op.results, ordered[:count], strict=True):
        sizes = tensor_type(old).get_shape()
        if any(wanted > size for wanted, size in zip(sizes, shape, strict=True)):
            raise Unsupported(f"to target 'ApproxTopK' from {op.operands[0].type} to {old.type}")
        type = signless(old.type)
        lowering.set(old, new if new.type == type else lowering.slice(new, [0] * len(sizes), sizes))


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
    "ApproxTopK": _approx_top_k,
    "mhlo.topk": _as_chlo("chlo.top_k"),
    **{f"mhlo.{function}": _as_chlo(f"chlo.{function}") for function in _FUNCTIONS},
}
"""How a call is lowered, by its target."""
