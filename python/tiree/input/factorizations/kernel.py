"""`LoopKernel`: a dispatch written as a program of loops over the elements of small arrays, one workgroup a matrix.

An algorithm is Python code that runs once and leaves `scf.for`, `scf.if`, `tensor.extract` and `tensor.insert` in the
body of a `flow.dispatch.workgroups`. Arrays and variables are cells with a current value; what a loop or a branch
changes is carried through it without the algorithm saying so. Each state of an array is read only until the next one
is made, so that both compilers keep it in one place in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from math import prod

from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, IndexType, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tiree.dialects import flow
from tiree.dialects.arith import ConstantOp
from tiree.dialects.iree_tensor_ext import (
    DispatchTensorLoadOp,
    DispatchTensorStoreOp,
    DispatchTensorType,
    TensorAccess,
    WorkloadOrdinalOp,
    index_array,
    segment_sizes,
)
from tiree.dialects.util_values import OptimizationBarrierOp
from tiree.input.factorizations.arrays import Array, Cell, Slice, Var
from tiree.input.factorizations.numbers import Num
from tiree.input.lowering.context import Lowering, Size, ranked_type
from tiree.input.lowering.dims import same_size, sizes_of_new
from tiree.input.lowering.dynamic_movement import dynamic_type
from tiree.input.lowering.scalar import ScalarAttr, ScalarBuilder, scalar_attribute
from tiree.support.typed import is_float_attr, is_integer_attr, is_tensor_type

INDEX = IndexType()
SMALL_SCRATCH = 4096
"""Bytes of scratch that an array may have on the stack; larger ones are results that nobody reads."""

Value = SSAValue | tuple[SSAValue, SSAValue]
"""A tensor, or the two of a complex one."""


class _Code(ScalarBuilder):
    """Emits where the kernel is; constants go to the front of the dispatch."""

    def __init__(self, kernel: LoopKernel) -> None:
        super().__init__(kernel.block, kernel.lowering.location)
        self.front: list[Operation] = []
        self.known: dict[tuple[Attribute, str], SSAValue] = {}

    def attribute(self, attr: ScalarAttr) -> SSAValue:
        assert is_integer_attr(attr) or is_float_attr(attr)
        key = (attr.type, repr(attr.value.data))
        if key not in self.known:
            op = ConstantOp.create(result_types=[attr.type], properties={"value": attr})
            op.location = self.location
            self.front.append(op)
            self.known[key] = op.results[0]
        return self.known[key]


class LoopKernel:
    """Builds one dispatch over a grid of `count` workgroups, each with its own part of every tensor.

    `element` is the type of the parts of numbers.
    """

    def __init__(self, lowering: Lowering, count: Size, element: AnyFloat) -> None:
        self.lowering = lowering
        self.count = count
        self.element = element
        self.block = Block()
        self.code = _Code(self)
        self.cells: list[Cell] = []
        self._arguments: list[SSAValue] = []
        self._workload: list[tuple[SSAValue, SSAValue]] = []
        """Sizes that are known when the program runs: of the host, and what they are here."""
        self._loads: list[tuple[SSAValue, SSAValue]] = []
        self._results: list[tuple[Array, bool]] = []
        self._shared: list[tuple[Array, Sequence[Size]]] = []
        """New arrays that all workgroups write parts of."""
        self._changed: list[tuple[Array, list[int]]] = []
        """Tensors that are changed in place, with the numbers of their arguments."""
        self._number = self.code.add(flow.DispatchWorkgroupIDOp(0)).results[0]

    # Numbers.

    def number(self, value: int | float, type: Attribute | None = None) -> Num:
        return Num(self, self.code.attribute(scalar_attribute(type or self.element, value)))

    def index(self, value: Num | int) -> Num:
        return value if isinstance(value, Num) else self.number(value, INDEX)

    def indices(self, at: tuple[Num | int, ...] | Num | int) -> list[SSAValue]:
        return [self.index(one).re for one in (at if isinstance(at, tuple) else (at,))]

    def where(self, condition: Num, a: Num | float, b: Num | float) -> Num:
        """`a` where the condition holds, else `b`; one of them is a `Num`."""
        model = a if isinstance(a, Num) else b
        assert isinstance(model, Num)
        left, right = (x if isinstance(x, Num) else self.number(x, model.type) for x in (a, b))
        re = self.code.select(condition.re, left.re, right.re)
        if left.im is None and right.im is None:
            return Num(self, re)
        return Num(self, re, self.code.select(condition.re, left.imag.re, right.imag.re))

    @staticmethod
    def least(a: Num | int, b: Num | int) -> Num | int:
        """The smaller of two sizes."""
        if isinstance(a, int):
            return b.least(a) if isinstance(b, Num) else min(a, b)
        return a.least(b)

    def hypot(self, a: Num, b: Num) -> Num:
        """The square root of the sum of squares of two non-negative numbers, without overflow on the way."""
        large, small = self.where(a >= b, a, b), self.where(a >= b, b, a)
        none = large.eq(0.0)
        ratio = small / self.where(none, 1.0, large)
        root = large * (ratio * ratio + 1.0).sqrt()
        return self.where(none | ~(a + b < float("inf")), a + b, root)

    def complex(self, re: Num, im: Num) -> Num:
        return Num(self, re.re, im.re)

    # Arrays and variables.

    def input(self, value: Value) -> Array:
        """The part of a tensor whose first dimension is the grid's, not to be written to."""
        parts = value if isinstance(value, tuple) else (value,)
        return Array(self, [self._load(part) for part in parts])

    def scalar_input(self, value: SSAValue) -> Num:
        """An index of the host that every workgroup reads."""
        bound = self.block.insert_arg(value.type, len(self._arguments))
        self._arguments.append(value)
        return Num(self, bound)

    def whole_input(self, value: Value) -> Array:
        """A tensor that every workgroup reads all of."""
        states: list[SSAValue] = []
        for part in value if isinstance(value, tuple) else (value,):
            bound, dims = self._bind(part, TensorAccess.READ_ONLY)
            states.append(self.code.add(DispatchTensorLoadOp.whole(bound, dims)).results[0])
        return Array(self, states)

    def sized_input(self, value: Value, number: Num | None = None) -> Slice:
        """As `input`, of a tensor with any sizes; matrix `number` of it, or that of the workgroup."""
        sizes = sizes_of_new(self.lowering, value[0] if isinstance(value, tuple) else value)
        return self._slice(self.whole_input(value), sizes[1:], number)

    def sized_output(
        self,
        shape: Sequence[Size],
        element: Attribute | None = None,
        complex: bool = False,
        part: tuple[Size, Num] | None = None,
    ) -> Slice:
        """As `output`, with any sizes; behind those of `output` among the results. `part` says how many there are and
        which of them, where that is not the workgroup's."""
        count, number = part or (self.count, None)
        return self._slice(self.shared_output([count, *shape], element, complex), shape, number)

    def _slice(self, array: Array, sizes: Sequence[Size], number: Num | None) -> Slice:
        return Slice(array, self.workgroup if number is None else number, [self.extent(size) for size in sizes])

    def changed_input(self, value: Value) -> Array:
        """A tensor that is changed in place, by each workgroup in parts that no other one reads or writes.

        Its last state is a result of the dispatch, behind all others. Whether the memory has to be copied
        before is found out later.
        """
        states: list[SSAValue] = []
        numbers: list[int] = []
        for part in value if isinstance(value, tuple) else (value,):
            numbers.append(len(self._arguments))
            bound, dims = self._bind(part, TensorAccess.READ_WRITE)
            states.append(self.code.add(DispatchTensorLoadOp.whole(bound, dims)).results[0])
        array = Array(self, states)
        self._changed.append((array, numbers))
        return array

    def _bind(self, value: SSAValue, access: TensorAccess) -> tuple[SSAValue, list[SSAValue]]:
        """An argument for a tensor, with its sizes as they are here."""
        type = DispatchTensorType.of(access, ranked_type(value))
        bound = self.block.insert_arg(type, len(self._arguments))
        self._arguments.append(value)
        sizes = sizes_of_new(self.lowering, value)
        return self._tied(bound, ranked_type(value), sizes)

    def _tied(self, bound: SSAValue, type: TensorType, sizes: Sequence[Size]) -> tuple[SSAValue, list[SSAValue]]:
        dims = [self.index(self.extent(size)).re for size in _varying(type, sizes)]
        if not dims:
            return bound, dims
        return self.code.add(flow.DispatchTieShapeOp(bound, dims)).results[0], dims

    def extent(self, size: Size) -> Num | int:
        """A size of the host, as it is here."""
        if isinstance(size, int):
            return size
        for known, inside in self._workload:
            if same_size(known, size):
                return Num(self, inside)
        bound = self.block.insert_arg(INDEX, len(self._arguments))
        self._arguments.append(size)
        ordinal = WorkloadOrdinalOp(bound, len(self._workload))
        ordinal.location = self.code.location
        self.code.front.append(ordinal)
        self._workload.append((size, ordinal.result))
        return Num(self, ordinal.result)

    @property
    def workgroup(self) -> Num:
        """The number of this workgroup."""
        return Num(self, self._number)

    def _load(self, value: SSAValue) -> SSAValue:
        for known, loaded in self._loads:
            if known is value:
                return loaded
        type = ranked_type(value)
        shape = list(type.get_shape())
        bound, dims = self._bind(value, TensorAccess.READ_ONLY)
        load = DispatchTensorLoadOp.create(
            operands=[bound, *dims, self._number],
            result_types=[TensorType(type.element_type, shape[1:])],
            properties={"operandSegmentSizes": segment_sizes(1, len(dims), 1, 0, 0), **_part(shape)},
        )
        loaded = self.code.add(load).results[0]
        self._loads.append((value, loaded))
        return loaded

    def output(self, shape: Sequence[int], element: Attribute | None = None, complex: bool = False) -> Array:
        """A new array of undefined contents whose last state is a result of the dispatch."""
        array = self._new(shape, element, complex)
        self._results.append((array, True))
        return array

    def shared_output(self, shape: Sequence[Size], element: Attribute | None = None, complex: bool = False) -> Array:
        """A new array that all workgroups write, each other parts; a result of the dispatch behind those of `output`.

        What a workgroup wrote it may read again, but nothing of the others.
        """
        array = self._new(shape, element, complex)
        self._shared.append((array, shape))
        return array

    def scratch(
        self, shape: Sequence[int], element: Attribute | None = None, complex: bool = False, stack: int = SMALL_SCRATCH
    ) -> Array:
        """A new array of undefined contents for use on the way; of up to `stack` bytes on the stack."""
        array = self._new(shape, element, complex)
        if 8 * prod(shape) > stack:
            self._results.append((array, False))
        return array

    def _new(self, shape: Sequence[Size], element: Attribute | None, complex: bool) -> Array:
        type = dynamic_type(element or self.element, shape)
        dims = [self.index(self.extent(size)).re for size in _varying(type, shape)]
        empties = [tensor.EmptyOp.create(operands=dims, result_types=[type]) for _ in range(1 + complex)]
        return Array(self, [self.code.add(empty).results[0] for empty in empties])

    def var(self, value: Num | int | float) -> Var:
        """A variable; plain numbers are floats of the kernel's type."""
        number = value if isinstance(value, Num) else self.number(value)
        return Var(self, [number.re] if number.im is None else [number.re, number.im])

    def complex_var(self, value: Num | float) -> Var:
        number = value if isinstance(value, Num) else self.number(value)
        return Var(self, [number.re, number.imag.re])

    # Control flow.

    @contextmanager
    def _inside(self, block: Block) -> Generator[None]:
        outer, self.code.block = self.code.block, block
        count = len(self.cells)
        yield
        del self.cells[count:]
        self.code.block = outer

    @contextmanager
    def loop(self, low: Num | int, high: Num | int, step: int = 1) -> Generator[Num]:
        """A loop over `low <= i < high`."""
        before = [(cell, cell.states) for cell in self.cells]
        inits = [state for _, states in before for state in states]
        block = Block(arg_types=[INDEX, *(state.type for state in inits)])
        arguments = iter(block.args[1:])
        for cell, states in before:
            cell.states = [next(arguments) for _ in states]
        with self._inside(block):
            yield Num(self, block.args[0])
        ends = [state for cell, _ in before for state in cell.states]
        changed = [n for n, (end, argument) in enumerate(zip(ends, block.args[1:], strict=True)) if end is not argument]
        for number in reversed(range(len(inits))):
            if number not in changed:
                argument = block.args[1 + number]
                argument.replace_all_uses_with(inits[number])
                block.erase_arg(argument)
        block.add_op(scf.YieldOp(*[ends[n] for n in changed]))
        bounds = [self.index(bound).re for bound in (low, high, step)]
        op = scf.ForOp.create(
            operands=[*bounds, *(inits[n] for n in changed)],
            result_types=[inits[n].type for n in changed],
            regions=[Region(block)],
        )
        self.code.add(op)
        results = list(inits)
        for number, result in zip(changed, op.results, strict=True):
            results[number] = result
        self._restore(before, results)

    @staticmethod
    def _restore(cells: Sequence[tuple[Cell, Sequence[SSAValue]]], values: Sequence[SSAValue]) -> None:
        left = iter(values)
        for cell, states in cells:
            cell.states = [next(left) for _ in states]

    @contextmanager
    def loop_down(self, low: Num | int, high: Num | int) -> Generator[Num]:
        """A loop from `high - 1` down to `low`."""
        low, high = self.index(low), self.index(high)
        with self.loop(0, high - low) as count:
            yield high - 1 - count

    @contextmanager
    def when(self, condition: Num) -> Generator[None]:
        """What is done only where the condition holds."""
        before = [(cell, cell.states) for cell in self.cells]
        inits = [state for _, states in before for state in states]
        block = Block()
        with self._inside(block):
            yield
        ends = [state for cell, _ in before for state in cell.states]
        changed = [n for n, (end, init) in enumerate(zip(ends, inits, strict=True)) if end is not init]
        block.add_op(scf.YieldOp(*[ends[n] for n in changed]))
        other = Block([scf.YieldOp(*[inits[n] for n in changed])])
        op = scf.IfOp.create(
            operands=[condition.re],
            result_types=[inits[n].type for n in changed],
            regions=[Region(block), Region(other) if changed else Region()],
        )
        self.code.add(op)
        results = list(inits)
        for number, result in zip(changed, op.results, strict=True):
            results[number] = result
        self._restore(before, results)

    def sum(
        self,
        low: Num | int,
        high: Num | int,
        term: Callable[[Num], Num],
        start: Num | float = 0.0,
        complex: bool = False,
    ) -> Num:
        """start + the terms of `low <= i < high`, in any order; `complex` where one of them is."""
        total = self.complex_var(start) if complex else self.var(start)
        with self.loop(low, high) as i:
            total.set(total.get().plus_in_any_order(term(i)))
        self.drop(total)
        return total.get()

    def drop(self, *cells: Cell) -> None:
        """Says that variables do not change any more: loops need not carry them."""
        for cell in cells:
            self.cells.remove(cell)

    def copy(self, source: Array | Slice, target: Array | Slice) -> None:
        """All elements of an array of two dimensions (or one)."""
        if len(source.shape) == 1:
            with self.loop(0, source.shape[0]) as i:
                target[i] = source[i]
            return
        with self.loop(0, source.shape[0]) as i, self.loop(0, source.shape[1]) as j:
            target[i, j] = source[i, j]

    # The end.

    def run(self) -> list[Value]:
        """Emits the dispatch; gives the outputs, with the grid as their first dimension, then what is shared, then what
        was changed."""
        types: list[TensorType] = []
        sizes: list[Sequence[Size]] = []
        for state in (state for array, _ in self._results for state in array.states):
            sizes.append([self.count, *ranked_type(state).get_shape()])
            self._store(state, sizes[-1], types)
        for state, whole in ((state, shape) for array, shape in self._shared for state in array.states):
            sizes.append(whole)
            self._store_whole(state, whole, types)
        changed = [pair for array, numbers in self._changed for pair in zip(array.states, numbers, strict=True)]
        for state, number in changed:
            sizes.append(sizes_of_new(self.lowering, self._arguments[number]))
            bound, dims = self._tied(self.block.args[number], ranked_type(state), sizes[-1])
            self.code.add(DispatchTensorStoreOp.whole(state, bound, dims))
            types.append(ranked_type(state))
        self.code.add(flow.ReturnOp())
        dispatch = self._dispatch(types, sizes)
        if changed:
            places = [*[-1] * (len(types) - len(changed)), *(number for _, number in changed)]
            dispatch.properties["tied_operands"] = flow.tied_operands_of(places)
        self.lowering.emit_op(dispatch)
        for result, known in zip(dispatch.results, sizes, strict=True):
            self.lowering.shapes.note(result, known)
        return self._found(dispatch.results)

    def _dispatch(self, types: Sequence[TensorType], sizes: Sequence[Sequence[Size]]) -> flow.DispatchWorkgroupsOp:
        count = self._count_region()
        for op in reversed(self.code.front):
            assert self.block.first_op is not None
            self.block.insert_op_before(op, self.block.first_op)
        known = [(one, sizes_of_new(self.lowering, one)) for one in self._arguments]
        given = [size for one, all_sizes in known for size in _varying(one.type, all_sizes)]
        made = [size for type, all_sizes in zip(types, sizes, strict=True) for size in _varying(type, all_sizes)]
        dispatch = flow.DispatchWorkgroupsOp.of(self._arguments, types, Region(self.block), count)
        if self._workload:
            dims = [self.lowering.index_of(size) for size in (*given, *made)]
            dispatch.operands = [*(size for size, _ in self._workload), *self._arguments, *dims]
            counts = len(self._workload), len(self._arguments), len(given), len(made)
            dispatch.properties["operandSegmentSizes"] = segment_sizes(*counts)
        return dispatch

    def _found(self, all_results: Sequence[SSAValue]) -> list[Value]:
        results = iter(all_results)
        found: list[Value] = []
        for array, wanted in self._results:
            parts = [next(results) for _ in array.states]
            if wanted:
                found.append((parts[0], parts[1]) if array.is_complex else parts[0])
                continue
            for part in parts:
                # A result that nobody reads is dropped by iree-compile, and its memory then is the stack's.
                self._keep(part)
        for array in (*(array for array, _ in self._shared), *(array for array, _ in self._changed)):
            parts = [next(results) for _ in array.states]
            found.append((parts[0], parts[1]) if array.is_complex else parts[0])
        return found

    def _keep(self, value: SSAValue) -> None:
        self.lowering.emit(OptimizationBarrierOp.create(operands=[value], result_types=[value.type]))

    def run_shared(self) -> list[SSAValue]:
        """`run`, where there are only shared and changed arrays of real numbers."""
        return [value for value in self.run() if isinstance(value, SSAValue)]

    def _store(self, state: SSAValue, sizes: Sequence[Size], types: list[TensorType]) -> None:
        whole = dynamic_type(ranked_type(state).element_type, sizes)
        types.append(whole)
        type = DispatchTensorType.of(TensorAccess.WRITE_ONLY, whole)
        bound, dims = self._tied(self.block.insert_arg(type, len(self.block.args)), whole, sizes)
        self.code.add(
            DispatchTensorStoreOp.create(
                operands=[state, bound, *dims, self._number],
                properties={"operandSegmentSizes": segment_sizes(1, 1, len(dims), 1, 0, 0), **_part(whole.get_shape())},
            )
        )

    def _store_whole(self, state: SSAValue, sizes: Sequence[Size], types: list[TensorType]) -> None:
        type = ranked_type(state)
        types.append(type)
        bound_type = DispatchTensorType.of(TensorAccess.WRITE_ONLY, type)
        bound, dims = self._tied(self.block.insert_arg(bound_type, len(self.block.args)), type, sizes)
        self.code.add(DispatchTensorStoreOp.whole(state, bound, dims))

    def _count_region(self) -> Region:
        number = self.extent(self.count)
        block = Block(arg_types=[INDEX] * len(self._workload))
        one = ConstantOp.index(1)
        if isinstance(self.count, int):
            count = ConstantOp.index(self.count)
            block.add_ops([count, one, flow.ReturnOp([count.result, one.result, one.result])])
            return Region(block)
        assert isinstance(number, Num)
        place = [inside for _, inside in self._workload].index(number.re)
        block.add_ops([one, flow.ReturnOp([block.args[place], one.result, one.result])])
        return Region(block)


def _varying(type: Attribute, sizes: Sequence[Size]) -> list[Size]:
    """The sizes of the `?` dimensions of a tensor; none of anything else."""
    if not is_tensor_type(type):
        return []
    return [size for size, extent in zip(sizes, type.get_shape(), strict=True) if extent == DYNAMIC_INDEX]


def _part(shape: Sequence[int]) -> dict[str, Attribute]:
    """The part of one workgroup, of a tensor of this shape."""
    rank = len(shape)
    return {
        "static_offsets": index_array((DYNAMIC_INDEX, *[0] * (rank - 1))),
        "static_sizes": index_array((1, *shape[1:])),
        "static_strides": index_array((1,) * rank),
    }
