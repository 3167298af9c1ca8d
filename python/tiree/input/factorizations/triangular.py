"""Triangular systems: `stablehlo.triangular_solve`, and what the custom call `trsm` of JAX asks for."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation

from tiree.dialects.stablehlo_attrs import TransposeAttr
from tiree.input.factorizations.arrays import Array, Slice
from tiree.input.factorizations.batches import Shape, ceil_div, element_of, from_kernel, to_kernel
from tiree.input.factorizations.blocked import TILE, Part
from tiree.input.factorizations.kernel import LoopKernel, Num, Value
from tiree.input.lowering.context import Lowering, Size
from tiree.input.lowering.dims import product, refine, require_equal, sizes_of
from tiree.input.lowering.scalar import inherent
from tiree.support.typed import is_integer_attr

Matrix = Array | Part | Slice

NARROW = 8
"""Fewer right-hand sides than this are solved one by one, with vectors along the matrix."""


@dataclass(frozen=True)
class System:
    """op(a) x = b, or x op(a) = b where not `left`; op is the transpose (`adjoint`: its conjugate) or nothing."""

    left: bool = True
    lower: bool = True
    unit: bool = False
    transpose: bool = False
    adjoint: bool = False

    @property
    def forward(self) -> bool:
        """Whether the unknowns are found from the first to the last."""
        return (self.lower != self.transpose) == self.left


def element(system: System, a: Matrix, i: Num, j: Num) -> Num:
    """Element i, j of op(a)."""
    if not system.transpose:
        return a[i, j]
    return a[j, i].conj() if system.adjoint else a[j, i]


def solve_in_place(
    k: LoopKernel, system: System, a: Matrix, x: Matrix, sides: tuple[Num | int, Num | int] | None = None
) -> None:
    """Replaces the right-hand sides in `x` by the solutions, or some of them."""
    n = a.shape[0]
    width = x.shape[1] if system.left else x.shape[0]
    if system.left and (isinstance(width, Num) or width >= NARROW):
        _solve_rows(k, system, a, x, n, sides or (0, width))
        return
    with k.loop(*(sides or (0, width))) as c:
        _solve_one(k, system, a, x, n, c)


def _order(k: LoopKernel, system: System, n: Num | int):
    return k.loop(0, n) if system.forward else k.loop_down(0, n)


def _done(system: System, i: Num, n: Num | int) -> tuple[Num | int, Num | int]:
    """The unknowns that are found before number i."""
    return (0, i) if system.forward else (i + 1, n)


def _left(system: System, i: Num, n: Num | int) -> tuple[Num | int, Num | int]:
    """The unknowns that are found after number i."""
    return (i + 1, n) if system.forward else (0, i)


def _solve_rows(
    k: LoopKernel, system: System, a: Matrix, x: Matrix, n: Num | int, sides: tuple[Num | int, Num | int]
) -> None:
    """Several right-hand sides at once, vectors along them."""
    with _order(k, system, n) as i:
        with k.loop(*_done(system, i, n)) as j:
            factor = element(system, a, i, j)
            with k.loop(*sides) as c:
                x[i, c] = x[i, c] - factor * x[j, c]
        if not system.unit:
            pivot = element(system, a, i, i)
            with k.loop(*sides) as c:
                x[i, c] = x[i, c] / pivot


def _solve_one(k: LoopKernel, system: System, a: Matrix, x: Matrix, n: Num | int, c: Num) -> None:
    """One right-hand side: column `c` of x, or row `c` where not `left`. Vectors run along rows of `a`."""

    def at(i: Num) -> tuple[Num, Num]:
        return (i, c) if system.left else (c, i)

    def factor(i: Num, j: Num) -> Num:
        """What unknown j has in the equation of unknown i."""
        return element(system, a, i, j) if system.left else element(system, a, j, i)

    with _order(k, system, n) as i:
        if system.left != system.transpose:
            rest = k.sum(*_done(system, i, n), lambda j: factor(i, j) * x[at(j)], complex=a.is_complex)
            x[at(i)] = x[at(i)] - rest
        if not system.unit:
            x[at(i)] = x[at(i)] / factor(i, i)
        if system.left == system.transpose:
            found = x[at(i)]
            with k.loop(*_left(system, i, n)) as j:
                x[at(j)] = x[at(j)] - factor(j, i) * found


def solve(lowering: Lowering, system: System, a: Value, b: Value, shape: tuple[Size, Size, Size]) -> Value:
    """The solutions, of `shape`: matrices, rows, columns. There is at least one element, as far as sizes are known."""
    count, rows, columns = shape
    if not isinstance(rows, int) or not isinstance(columns, int):
        return _solve_sized(lowering, system, (a, b), shape)
    width = columns if system.left else rows
    if width >= 2 * TILE:
        return _solve_tiles(lowering, system, (a, b), (count, rows, columns), width)
    k = LoopKernel(lowering, count, element_of(a))
    matrix, sides = k.input(a), k.input(b)
    x = k.output([rows, columns], complex=sides.is_complex)
    k.copy(sides, x)
    solve_in_place(k, system, matrix, x)
    return k.run()[0]


def _solve_sized(
    lowering: Lowering, system: System, operands: tuple[Value, Value], shape: tuple[Size, Size, Size]
) -> Value:
    """As `solve`, of sizes that are known when the program runs: `TILE` right-hand sides a workgroup."""
    a, b = operands
    count, *matrix_shape = shape
    width = shape[2] if system.left else shape[1]
    tiles = ceil_div(lowering, width, TILE)
    k = LoopKernel(lowering, product(lowering, [count, tiles]), element_of(a))
    number, low = k.workgroup.quotient(k.extent(tiles)), k.workgroup.remainder(k.extent(tiles)) * TILE
    high = (low + TILE).least(k.extent(width))
    matrix, given = k.sized_input(a, number), k.sized_input(b, number)
    x = k.sized_output(matrix_shape, complex=given.is_complex, part=(count, number))
    rows, columns = ((0, x.shape[0]), (low, high)) if system.left else ((low, high), (0, x.shape[1]))
    with k.loop(*rows) as i, k.loop(*columns) as j:
        x[i, j] = given[i, j]
    solve_in_place(k, system, matrix, x, (low, high))
    return k.run()[0]


def _solve_tiles(lowering: Lowering, system: System, operands: tuple[Value, Value], shape: Shape, width: int) -> Value:
    """As `solve`, some right-hand sides a workgroup."""
    a, b = operands
    tiles = -(-width // TILE)
    k = LoopKernel(lowering, product(lowering, [shape[0], tiles]), element_of(a))
    number, low = k.workgroup.quotient(tiles), k.workgroup.remainder(tiles) * TILE
    high = (low + TILE).least(width)
    matrix, given = Part(k.whole_input(a), number), Part(k.whole_input(b), number)
    x = Part(k.shared_output(shape, element_of(a), complex=given.is_complex), number)
    rows, columns = ((0, shape[1]), (low, high)) if system.left else ((low, high), (0, shape[2]))
    with k.loop(*rows) as i, k.loop(*columns) as j:
        x[i, j] = given[i, j]
    solve_in_place(k, system, matrix, x, (low, high))
    return k.run()[0]


def lower_solve(lowering: Lowering, op: Operation, system: System) -> None:
    """Sets the result of `op`, whose operands are a and b."""
    sizes = refine(lowering, op, sizes_of(lowering, op.operands[1]), op.results[0].type)
    *batch, rows, columns = sizes
    given = sizes_of(lowering, op.operands[0])
    for one, other in zip(given, [*batch, *[rows if system.left else columns] * 2], strict=True):
        require_equal(lowering, op, one, other)
    if 0 in sizes:
        lowering.set(op.results[0], lowering.values[op.operands[1]])
        return
    a, b = (to_kernel(lowering, operand, 2) for operand in op.operands[:2])
    found = solve(lowering, system, a, b, (product(lowering, batch), rows, columns))
    from_kernel(lowering, op.results[0], found, sizes)


def _flag(op: Operation, name: str) -> bool:
    attr = inherent(op, name)
    return is_integer_attr(attr) and bool(attr.value.data)


def _triangular_solve(lowering: Lowering, op: Operation) -> None:
    attr = inherent(op, "transpose_a")
    kind = attr.data if isinstance(attr, TransposeAttr) else "NO_TRANSPOSE"
    system = System(
        left=_flag(op, "left_side"),
        lower=_flag(op, "lower"),
        unit=_flag(op, "unit_diagonal"),
        transpose=kind in ("TRANSPOSE", "ADJOINT"),
        adjoint=kind == "ADJOINT",
    )
    lower_solve(lowering, op, system)


HANDLERS = {"stablehlo.triangular_solve": _triangular_solve}
