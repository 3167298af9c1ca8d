"""The custom calls that have a meaning here: how many operands and results each has, of which types and sizes.

Nothing else says it: to StableHLO any operands and results go with any target.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DictionaryAttr, StringAttr
from xdsl.ir import Operation, SSAValue

from tiree.input.checks.values import Wrong, element, fits, integers, kind, need, need_scalar, shape, tensor, text
from tiree.input.lapack import Call, Tensor, call_of, derived
from tiree.scalars.builder import inherent
from tiree.support.typed import is_complex_type, is_integer_attr, is_tensor_type

_UNARY = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erf_inv", "erfc", "sinh", "square", "tan",
)  # fmt: skip


def _count(op: Operation, operands: int, results: int, more: int = 0) -> None:
    for have, wanted, what in ((op.operands, operands, "operand"), (op.results, results, "result")):
        upto = f" to {wanted + more}" if more and what == "operand" else ""
        fitting = wanted <= len(have) <= wanted + (more if what == "operand" else 0)
        need(fitting, f"it has {len(have)} {what}s; needs {wanted}{upto}")


def _need_tensors(op: Operation) -> None:
    for values, what in ((op.operands, "operand"), (op.results, "result")):
        for number, value in enumerate(values, 1):
            need(is_tensor_type(value.type), f"its {what} {number} is {value.type}; needs a ranked tensor")


# LAPACK.


def _shape_operands(op: Operation) -> int:
    """How many operands behind the others hold the shapes of results."""
    return len(op.results) if inherent(op, "indices_of_shape_operands") is not None else 0


def _settings(op: Operation) -> Mapping[str, object]:
    for name in ("mhlo.backend_config", "backend_config"):
        attr = inherent(op, name)
        if isinstance(attr, DictionaryAttr):
            return attr.data
    return {}


def _letter(op: Operation, name: str) -> str:
    attr = _settings(op).get(name)
    return chr(attr.value.data & 0xFF) if is_integer_attr(attr) else ""


def _lapack(op: Operation, call: Call) -> None:
    routine = call.routine
    _count(op, len(routine.operands), len(routine.results), _shape_operands(op))
    _need_tensors(op)
    sizes: dict[str, int] = {}
    batch: list[int] | None = None
    for values, wanted, what in ((op.operands, routine.operands, "operand"), (op.results, routine.results, "result")):
        for number, (value, one) in enumerate(zip(values, wanted, strict=False), 1):
            place = f"its {what} {number} is {tensor(value)}"
            need(element(value) == call.types[one.kind], f"{place}; needs elements of type {call.types[one.kind]}")
            before = len(shape(value)) - len(one.sizes)
            need(before >= 0, f"{place}; needs at least {len(one.sizes)} dimensions")
            leading = list(shape(value)[:before])
            batch = leading if batch is None else batch
            same = len(batch) == len(leading) and all(map(fits, batch, leading))
            need(same, f"{place}, with the leading dimensions {text(leading)}; those of operand 1 are {text(batch)}")
            _bind(sizes, one, shape(value)[before:], place)
    for name, letters in routine.letters.items():
        found = _letter(op, name)
        need(not found or found in letters, f"its {name} is {found!r}; needs one of {', '.join(letters)}")
    if call.name in _RELATIONS:
        _RELATIONS[call.name](op, sizes)


def _bind(sizes: dict[str, int], one: Tensor, extents: Sequence[int], place: str) -> None:
    """Remembers the sizes that have names, and compares those that are known."""
    for dim, (name, size) in enumerate(zip(one.sizes, extents, strict=True), -len(extents)):
        if name == "_":
            continue
        known = sizes.get(name, derived(name, sizes))
        if known is None or known == DYNAMIC_INDEX:
            sizes[name] = size
        else:
            need(fits(size, known), f"{place}; dimension {dim} must be {known}")


def _at_most(sizes: Mapping[str, int], small: str, *large: str, what: str) -> None:
    for name in large:
        known = DYNAMIC_INDEX not in (sizes[small], sizes[name])
        need(not known or sizes[small] <= sizes[name], f"it has {sizes[small]} {what}, and only {sizes[name]} fit")


def _orgqr(op: Operation, sizes: Mapping[str, int]) -> None:
    del op
    _at_most(sizes, "n", "m", what="columns")
    _at_most(sizes, "r", "n", what="reflectors")


def _ormqr(op: Operation, sizes: Mapping[str, int]) -> None:
    attr = _settings(op).get("left")
    left = not is_integer_attr(attr) or attr.value.data != 0
    side, what = (sizes["m"], "rows") if left else (sizes["n"], "columns")
    need(fits(sizes["p"], side), f"operand 3 has {side} {what}; the reflectors in operand 1 have {sizes['p']} elements")
    _at_most(sizes, "r", "p", "q", what="reflectors")


def _trsm(op: Operation, sizes: Mapping[str, int]) -> None:
    side, what = (sizes["m"], "rows") if _letter(op, "side") != "R" else (sizes["n"], "columns")
    need(fits(sizes["a"], side), f"operand 2 has {side} {what}; the triangular matrices have {sizes['a']}")


def _svd(op: Operation, sizes: Mapping[str, int]) -> None:
    mode, smaller = _letter(op, "mode"), derived("k", sizes)
    m, n = sizes["m"], sizes["n"]
    for number, have, whole in ((3, shape(op.results[2])[-1], m), (4, shape(op.results[3])[-2], n)):
        wanted = {"A": (whole,), "S": (smaller,)}.get(mode, (whole, smaller))
        fitting = any(size is None or fits(have, size) for size in wanted)
        need(fitting, f"result {number} has {have} vectors in mode {mode}; needs {wanted[0]}")


_RELATIONS: dict[str, Callable[[Operation, Mapping[str, int]], None]] = {
    "orgqr": _orgqr,
    "ungqr": _orgqr,
    "ormqr": _ormqr,
    "unmqr": _ormqr,
    "trsm": _trsm,
    "gesdd": _svd,
    "gesvd": _svd,
}
"""What else holds between the sizes of a routine."""


# Functions.


def _unary(op: Operation) -> None:
    _count(op, 1, 1)
    _need_tensors(op)
    given, made = op.operands[0], op.results[0]
    square = kind(given) in ("i", "f") or is_complex_type(element(given))
    need(square, f"its operand is {tensor(given)}; needs elements that are numbers")
    same = element(given) == element(made) and len(shape(given)) == len(shape(made))
    fitting = same and all(map(fits, shape(given), shape(made)))
    need(fitting, f"its operand and result must have one type; they are {tensor(given)} and {tensor(made)}")


def _need_lines(op: Operation, given: SSAValue, what: str) -> None:
    """Results that are pieces of lines of `given`, and their places."""
    rank = len(shape(given))
    need(rank > 0, f"{what} is {tensor(given)}; needs at least one dimension")
    values, places = op.results
    need(element(values) == element(given), f"its first result is {tensor(values)}; {what} is {tensor(given)}")
    need(kind(places) == "i", f"its second result is {tensor(places)}; needs integers")
    for result in (values, places):
        fitting = len(shape(result)) == rank and all(map(fits, shape(result)[:-1], shape(given)[:-1]))
        need(fitting, f"its result is {tensor(result)}; {what} is {tensor(given)}")
        known = DYNAMIC_INDEX in (shape(result)[-1], shape(given)[-1]) or shape(result)[-1] <= shape(given)[-1]
        need(known, f"its result is {tensor(result)}, with more elements a line than {tensor(given)}")


def _top_k(op: Operation) -> None:
    _count(op, 1, 2)
    _need_tensors(op)
    _need_lines(op, op.operands[0], "its operand")


def _dynamic_top_k(op: Operation) -> None:
    _count(op, 2, 2, _shape_operands(op) + 2)
    _need_tensors(op)
    need_scalar(op.operands[1], "k", "i")
    _need_lines(op, op.operands[0], "its operand")


def _approximate(op: Operation) -> None:
    """Values and what goes along with them, then one number for each of both that stands for padding."""
    _need_tensors(op)
    count = len(op.results)
    need(count > 0, "it has no results")
    need(len(op.operands) >= 2 * count, f"it has {len(op.operands)} operands; {count} results need {2 * count}")
    first = op.operands[0]
    for number, (value, start, result) in enumerate(
        zip(op.operands[:count], op.operands[count : 2 * count], op.results, strict=True), 1
    ):
        same = len(shape(value)) == len(shape(first)) > 0 and all(map(fits, shape(value), shape(first)))
        need(same, f"its operand {number} is {tensor(value)}; operand 1 is {tensor(first)}")
        need(element(result) == element(value), f"its result {number} is {tensor(result)}; needs {element(value)}")
        need(len(shape(result)) == len(shape(first)), f"its result {number} is {tensor(result)}, of another rank")
        need(not shape(start) and element(start) == element(value), f"its operand {count + number} is {tensor(start)}")


def _dynamic_approximate(op: Operation) -> None:
    _approximate(op)
    if len(op.operands) > 2 * len(op.results):
        need_scalar(op.operands[2 * len(op.results)], "k", "i")


def _assertion(op: Operation) -> None:
    need(len(op.operands) > 0, "it has no operands; needs a condition")
    need(not op.results, f"it has {len(op.results)} results; needs none")
    _need_tensors(op)
    need_scalar(op.operands[0], "its condition", "b")
    for value in op.operands[1:]:
        need_scalar(value, "a size that its message names", "i")


def _dynamic_window(op: Operation) -> None:
    _need_tensors(op)
    count = len(op.results)
    need(count > 0, "it has no results")
    # A lowering of its own says what else it needs.
    need(len(op.operands) == 2 * count + 5, f"it has {len(op.operands)} operands; {count} results need {2 * count + 5}")
    rank = len(shape(op.operands[0]))
    for number, value in enumerate(op.operands[:count], 1):
        same = len(shape(value)) == rank and all(map(fits, shape(value), shape(op.operands[0])))
        need(same, f"its operand {number} is {tensor(value)}; operand 1 is {tensor(op.operands[0])}")
        start, result = op.operands[count + number - 1], op.results[number - 1]
        need(not shape(start) and element(start) == element(value), f"its operand {count + number} is {tensor(start)}")
        fitting = element(result) == element(value) and len(shape(result)) == rank
        need(fitting, f"its result {number} is {tensor(result)}; its operand {number} is {tensor(value)}")
    for number, value in enumerate(op.operands[2 * count :], 2 * count + 1):
        wanted = [rank, 2] if number == len(op.operands) else [rank]
        fitting = kind(value) == "i" and len(shape(value)) == len(wanted) and all(map(fits, shape(value), wanted))
        need(fitting, f"its operand {number} is {tensor(value)}; needs integers of shape {text(wanted)}")


_FUNCTIONS: dict[str, Callable[[Operation], None]] = {
    **{f"mhlo.{name}": _unary for name in _UNARY},
    "mhlo.topk": _top_k,
    "ApproxTopK": _approximate,
    "PartialReduce": _approximate,
    "shape_assertion": _assertion,
    "stablehlo.dynamic_approx_top_k": _dynamic_approximate,
    "stablehlo.dynamic_reduce_window": _dynamic_window,
    "stablehlo.dynamic_top_k": _dynamic_top_k,
}


def check_target(op: Operation) -> None:
    """Raises `Wrong` where operands, results or settings are none that the target of the call takes."""
    target = inherent(op, "call_target_name")
    name = target.data if isinstance(target, StringAttr) else ""
    call = call_of(name)
    if call is None and name not in _FUNCTIONS:
        return
    try:
        if call is not None:
            _lapack(op, call)
        else:
            _FUNCTIONS[name](op)
        _check_shape_operands(op)
    except Wrong as wrong:
        raise Wrong(f"the call to {name} is wrong: {wrong}") from None


def _check_shape_operands(op: Operation) -> None:
    if inherent(op, "indices_of_shape_operands") is None:
        return
    for place in integers(op, "indices_of_shape_operands", len(op.results)):
        fitting = 0 <= place < len(op.operands) and kind(op.operands[place]) == "i"
        need(fitting, f"indices_of_shape_operands names operand {place}, which is no shape")
        given = op.operands[place]
        need(len(shape(given)) == 1, f"its operand {place + 1} is {tensor(given)}; needs to hold a shape")
