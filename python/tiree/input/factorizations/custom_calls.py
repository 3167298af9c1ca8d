"""The custom calls by which JAX asks for linear algebra on CPUs (`lapack_<type><routine>_ffi`), done by loop kernels.

LAPACK's matrices lie column by column; a call whose layouts say otherwise would mean a transposed matrix, and is
refused. Without layouts matrices are meant by index. Results are LAPACK's in form, and in value up to
rounding; where LAPACK leaves a choice (signs of vectors, order of complex eigenvalues) they may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DictionaryAttr, StringAttr
from xdsl.ir import Operation, OpResult, SSAValue

from tiree.dialects.dense import DenseAttr
from tiree.input.factorizations import (
    cholesky,
    lu,
    qr,
    real_eigenvectors,
    real_schur,
    schur,
    svd,
    symmetric,
    triangular,
    tridiagonal,
)
from tiree.input.factorizations.batches import any_matrices, from_kernel, matrices, to_kernel, zeros_of
from tiree.input.factorizations.kernel import Value
from tiree.input.lapack import Call, call_of
from tiree.input.lowering import control_flow
from tiree.input.lowering.context import Lowering, Size, Unsupported, ranked_type
from tiree.input.lowering.dims import refine, require_equal, sizes_of, sizes_of_new
from tiree.input.lowering.scalar import inherent
from tiree.input.lowering.shape_values import shape_of
from tiree.input.lowering.structural import ints_property
from tiree.support.typed import is_array_attr, is_integer_attr


def _settings(op: Operation) -> DictionaryAttr:
    for name in ("mhlo.backend_config", "backend_config"):
        attr = inherent(op, name)
        if isinstance(attr, DictionaryAttr):
            return attr
    return DictionaryAttr({})


def setting(op: Operation, name: str) -> str:
    """A letter that LAPACK takes, such as `uplo`. Raises `Unsupported` where it is missing."""
    attr = _settings(op).data.get(name)
    if not is_integer_attr(attr):
        raise Unsupported(f"without the attribute {name!r}")
    return chr(attr.value.data & 0xFF)


def number_setting(op: Operation, name: str) -> int:
    attr = _settings(op).data.get(name)
    if not is_integer_attr(attr):
        raise Unsupported(f"without the attribute {name!r}")
    return attr.value.data


def set_results(lowering: Lowering, op: Operation, values: Sequence[Value | None], inner: int = 2) -> None:
    """Sets the results; None for one that nobody can use, which becomes zero. `inner` is the number of dimensions
    behind those of the batch in the first operand."""
    given = sizes_of(lowering, op.operands[0])
    batch = given[: len(given) - inner]
    for old, value in zip(op.results, values, strict=True):
        if value is None:
            lowering.set(old, _zeros(lowering, op, old))
            continue
        part = sizes_of_new(lowering, value[0] if isinstance(value, tuple) else value)
        own = len(ranked_type(old).get_shape()) - len(batch)
        from_kernel(lowering, old, value, refine(lowering, op, [*batch, *part[1 : 1 + own]], old.type))


def _zeros(lowering: Lowering, op: Operation, old: OpResult) -> SSAValue:
    return zeros_of(lowering, ranked_type(old).element_type, _sizes_of_result(lowering, op, old))


def _sizes_of_result(lowering: Lowering, op: Operation, old: OpResult) -> Sequence[Size]:
    """What the operand that holds the shape of a result says. Raises `Unsupported` where there is none."""
    shape = ranked_type(old).get_shape()
    if DYNAMIC_INDEX not in shape:
        return shape
    if "indices_of_shape_operands" not in (*op.properties, *op.attributes):
        raise Unsupported(f"with the dynamic shape {old.type} and without indices_of_shape_operands")
    place = ints_property(op, "indices_of_shape_operands")[old.index]
    return refine(lowering, op, shape_of(lowering, op, op.operands[place]), old.type)


def is_empty(op: Operation) -> bool:
    """Whether there is nothing to factor."""
    return 0 in ranked_type(op.operands[0]).get_shape()


def _empty(lowering: Lowering, op: Operation) -> None:
    """Results for matrices without elements: zeros, and ones where a square result is an orthogonal matrix."""
    for old in op.results:
        lowering.set(old, _zeros(lowering, op, old))


def _potrf(lowering: Lowering, op: Operation) -> None:
    a = to_kernel(lowering, op.operands[0], 2)
    lower = setting(op, "uplo") == "L"
    set_results(lowering, op, cholesky.factor(lowering, a, lower, any_matrices(lowering, op.operands[0]), nans=False))


def _getrf(lowering: Lowering, op: Operation) -> None:
    a = to_kernel(lowering, op.operands[0], 2)
    set_results(lowering, op, lu.factor(lowering, a, any_matrices(lowering, op.operands[0])))


def _geqrf(lowering: Lowering, op: Operation) -> None:
    a = to_kernel(lowering, op.operands[0], 2)
    set_results(lowering, op, qr.factor(lowering, a, matrices(lowering, op.operands[0])))


def _geqp3(lowering: Lowering, op: Operation) -> None:
    free = lowering.splat(op.operands[1])
    if not is_integer_attr(free) or free.value.data != 0:
        raise Unsupported("with columns that are to be first")
    a = to_kernel(lowering, op.operands[0], 2)
    set_results(lowering, op, qr.factor_pivoted(lowering, a, matrices(lowering, op.operands[0])))


def _orgqr(lowering: Lowering, op: Operation) -> None:
    a, taus = to_kernel(lowering, op.operands[0], 2), to_kernel(lowering, op.operands[1], 1)
    count, _, _ = any_matrices(lowering, op.operands[0])
    rows, columns = ranked_type(op.results[0]).get_shape()[-2:]
    if DYNAMIC_INDEX in (rows, columns):
        raise Unsupported(f"on {op.results[0].type}, matrices whose rows or columns are known only when it runs,")
    set_results(lowering, op, [qr.form_q(lowering, a, taus, (count, rows, columns))])


def _trsm(lowering: Lowering, op: Operation) -> None:
    kind = setting(op, "trans_x")
    system = triangular.System(
        left=setting(op, "side") == "L",
        lower=setting(op, "uplo") == "L",
        unit=setting(op, "diag") == "U",
        transpose=kind in "TC",
        adjoint=kind == "C",
    )
    triangular.lower_solve(lowering, op, system)


def _syevd(lowering: Lowering, op: Operation) -> None:
    a = to_kernel(lowering, op.operands[0], 2)
    lower, vectors = setting(op, "uplo") == "L", setting(op, "mode") == "V"
    set_results(lowering, op, symmetric.decompose(lowering, a, lower, vectors, matrices(lowering, op.operands[0])))


def _gesdd(lowering: Lowering, op: Operation) -> None:
    mode = setting(op, "mode")
    if mode not in "NSA":
        raise Unsupported(f"with mode {mode!r}")
    a = to_kernel(lowering, op.operands[0], 2)
    values, info, *vectors = svd.decompose(lowering, a, mode, matrices(lowering, op.operands[0]))
    left, right = vectors or (None, None)
    set_results(lowering, op, [None, values, left, right, info])


def _gehrd(lowering: Lowering, op: Operation) -> None:
    a, shape = to_kernel(lowering, op.operands[0], 2), matrices(lowering, op.operands[0])
    if (number_setting(op, "low"), number_setting(op, "high")) != (1, shape[1]):
        raise Unsupported("of a part of the matrix")
    set_results(lowering, op, schur.hessenberg(lowering, a, shape))


def _gees(lowering: Lowering, op: Operation) -> None:
    if setting(op, "sort") != "N":
        raise Unsupported("with sorted eigenvalues")
    a = to_kernel(lowering, op.operands[0], 2)
    if len(op.results) == 6:
        form, vectors, real, imaginary, info = real_schur.schur(lowering, a, matrices(lowering, op.operands[0]))
        set_results(lowering, op, [form, vectors, real, imaginary, None, info])
        return
    info, form, vectors, values = schur.schur(lowering, a, matrices(lowering, op.operands[0]))
    set_results(lowering, op, [form, vectors, values, None, info])


def _geev(lowering: Lowering, op: Operation) -> None:
    a = to_kernel(lowering, op.operands[0], 2)
    left, right = setting(op, "compute_left") == "V", setting(op, "compute_right") == "V"
    find = schur.eigenvectors if isinstance(a, tuple) else real_eigenvectors.eigenvectors
    info, values, *vectors = find(lowering, a, left, right, matrices(lowering, op.operands[0]))
    found = iter(vectors)
    sides = [next(found) if wanted else None for wanted in (left, right)]
    assert isinstance(values, tuple)
    parts: list[Value] = [values[0], values[1]] if len(op.results) == 5 else [values]
    set_results(lowering, op, [*parts, *sides, info])


def _ormqr(lowering: Lowering, op: Operation) -> None:
    a, taus = to_kernel(lowering, op.operands[0], 2), to_kernel(lowering, op.operands[1], 1)
    c = to_kernel(lowering, op.operands[2], 2)
    left, adjoint = number_setting(op, "left") != 0, number_setting(op, "transpose") != 0
    set_results(lowering, op, [qr.multiply(lowering, a, taus, c, left, adjoint, matrices(lowering, op.operands[2]))])


def _sytrd(lowering: Lowering, op: Operation) -> None:
    a, shape = to_kernel(lowering, op.operands[0], 2), matrices(lowering, op.operands[0])
    if shape[1] == 1:
        real = to_kernel(lowering, op.operands[0], 2)
        set_results(lowering, op, [a, real[0] if isinstance(real, tuple) else real, None, None, None])
        return
    set_results(lowering, op, tridiagonal.form(lowering, a, setting(op, "uplo") == "L", shape))


def _gtsv(lowering: Lowering, op: Operation) -> None:
    bands = [to_kernel(lowering, operand, 1) for operand in op.operands[:3]]
    b = to_kernel(lowering, op.operands[3], 2)
    solutions, info = tridiagonal.solve(lowering, bands, b, matrices(lowering, op.operands[3]))
    set_results(lowering, op, [None, None, None, solutions, info], inner=1)


ROUTINES: dict[str, Callable[[Lowering, Operation], None]] = {
    "potrf": _potrf,
    "getrf": _getrf,
    "geqrf": _geqrf,
    "geqp3": _geqp3,
    "orgqr": _orgqr,
    "ungqr": _orgqr,
    "trsm": _trsm,
    "ormqr": _ormqr,
    "unmqr": _ormqr,
    "sytrd": _sytrd,
    "hetrd": _sytrd,
    "gtsv": _gtsv,
    "gehrd": _gehrd,
    "gees": _gees,
    "geev": _geev,
    "gesdd": _gesdd,
    "gesvd": _gesdd,
    "syevd": _syevd,
    "heevd": _syevd,
}
"""What is done for each routine."""


def _need_columns(op: Operation) -> None:
    """Raises `Unsupported` where a matrix is said to lie row by row, or in no order that LAPACK reads."""
    for name, values in (("operand_layouts", op.operands), ("result_layouts", op.results)):
        layouts = inherent(op, name)
        shapes = [ranked_type(value).get_shape() for value in values]
        most = max((len(shape) for shape in shapes), default=0)
        for layout, shape in zip(layouts.data if is_array_attr(layouts) else (), shapes, strict=False):
            if not isinstance(layout, DenseAttr) or len(shape) < most or most < 2 or 1 in shape[-2:]:
                continue
            order = [int(dim) for dim in layout.to_numpy().reshape(-1).tolist()]
            if order != [most - 2, most - 1, *range(most - 3, -1, -1)]:
                raise Unsupported(f"with matrices in the order {order}")


_OF_ANY_SIZE = ("potrf", "getrf", "trsm")
"""Routines whose matrices may have rows and columns that are known only when the program runs."""


def _require_sizes(lowering: Lowering, op: Operation, call: Call) -> None:
    """Sizes that must be equal and are known only when the program runs are compared then. `checks` has compared the
    others."""
    known: dict[str, Size] = {}
    for value, wanted in zip(op.operands, call.routine.operands, strict=False):
        sizes = sizes_of(lowering, value)
        before = len(sizes) - len(wanted.sizes)
        if call.name not in _OF_ANY_SIZE and DYNAMIC_INDEX in ranked_type(value).get_shape()[before:]:
            raise Unsupported(f"on {value.type}, matrices whose rows or columns are known only when the program runs,")
        names = [*(f"leading {dim}" for dim in range(before)), *wanted.sizes]
        for name, size in zip(names, sizes, strict=True):
            known[name] = require_equal(lowering, op, known[name], size) if name in known else size


def _custom_call(lowering: Lowering, op: Operation) -> None:
    target = inherent(op, "call_target_name")
    call = call_of(target.data) if isinstance(target, StringAttr) else None
    if call is None:
        control_flow.HANDLERS[op.name](lowering, op)
        return
    routine = ROUTINES[call.name]
    _need_columns(op)
    _require_sizes(lowering, op, call)
    if is_empty(op) and routine is not _trsm:
        _empty(lowering, op)
    else:
        routine(lowering, op)


HANDLERS = {"stablehlo.custom_call": _custom_call}
