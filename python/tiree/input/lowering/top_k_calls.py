"""Custom calls for the greatest elements of lines, `ApproxTopK` and `PartialReduce`: exact here, as on every CPU."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.input.lowering.context import Lowering, Unsupported, ranked_type, tensor_type
from tiree.input.lowering.dims import is_dynamic
from tiree.input.lowering.dynamic_sort import sorted_call, top_k_call
from tiree.input.lowering.reduce import emit_region
from tiree.input.lowering.scalar import ScalarBuilder, inherent
from tiree.input.lowering.sort import Less, positions, sort_values, stable
from tiree.support.typed import is_integer_attr


def _settings(op: Operation) -> dict[str, Attribute]:
    for name in ("mhlo.backend_config", "mhlo.attributes", "backend_config"):
        attr = inherent(op, name)
        if isinstance(attr, DictionaryAttr):
            return dict(attr.data)
    return {}


def _less(lowering: Lowering, op: Operation) -> Less:
    """The comparison that the call names; its arguments come in pairs, and may be fewer than there are operands."""
    block = lowering.callee(op, "called_computations")

    def less(s: ScalarBuilder, a: Sequence[SSAValue], b: Sequence[SSAValue]) -> SSAValue:
        pairs = [value for pair in zip(a, b, strict=True) for value in pair]
        return emit_region(lowering, s, block, pairs[: len(block.args)])[0]

    return less


def _set(lowering: Lowering, op: Operation, values: Sequence[SSAValue]) -> None:
    for old, new in zip(op.results, values, strict=False):
        sizes = tensor_type(old).get_shape()
        whole = tensor_type(new).get_shape()
        if any(size > full for size, full in zip(sizes, whole, strict=True)):
            raise Unsupported(f"for {list(sizes)} of {list(whole)} elements")
        lowering.set(old, new if list(sizes) == list(whole) else lowering.slice(new, [0] * len(sizes), sizes))


_DYNAMIC = "stablehlo.dynamic_approx_top_k"


def _is_dynamic_call(op: Operation) -> bool:
    """Whether the operand after all that are sorted says how many of each line are wanted."""
    return getattr(inherent(op, "call_target_name"), "data", "") == _DYNAMIC


def approx_top_k(lowering: Lowering, op: Operation) -> None:
    """Operands: values and what goes along with them, then what padding would be. All of them are sorted."""
    dim = _settings(op).get("reduction_dim")
    if not is_integer_attr(dim):
        raise Unsupported("without the attribute 'reduction_dim'")
    values = [lowering.get(operand) for operand in op.operands[: len(op.results)]]
    along = dim.value.data % max(len(ranked_type(values[0]).get_shape()), 1)
    late = op.operands[2 * len(values)] if len(op.operands) > 2 * len(values) and _is_dynamic_call(op) else None
    if late is not None or any(is_dynamic(value.type) for value in (*values, *op.results)):
        sorted_call(lowering, op, values, along, _less(lowering, op), late)
        return
    line = positions(lowering, tensor_type(values[0]).get_shape(), along)
    _set(lowering, op, sort_values(lowering, [*values, line], along, stable(_less(lowering, op))))


TARGETS = {
    "ApproxTopK": approx_top_k,
    "PartialReduce": approx_top_k,
    _DYNAMIC: approx_top_k,
    "stablehlo.dynamic_top_k": top_k_call,
}
"""By the name of the target."""
