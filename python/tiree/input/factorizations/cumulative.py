"""Cumulative windows of any region: `cumsum` and its kin on complex numbers, `cumlogsumexp`, several operands.

A window as long as the dimension, over a tensor padded by one less on one side, is carried from one element to the
next instead of being read again for each. Long lines are cut into blocks that run at the same time: each is carried on
its own, then what the blocks before it gave is combined into it. That the region is associative, and that the initial
value changes nothing, is what the specification asks of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiree.input.factorizations.elements import (
    Body,
    Elements,
    from_memory,
    in_memory,
    new_type,
    stored_element,
    with_parts,
)
from tiree.input.factorizations.kernel import Array, LoopKernel, Num
from tiree.input.lowering.context import Lowering, tensor_type
from tiree.input.lowering.dims import concerns_dynamic
from tiree.input.lowering.reduce import Windows, reduce_windows, windows_of
from tiree.input.lowering.structural import reshape
from tiree.support.typed import is_complex_type, is_float_attr, is_integer_attr

SHORT = 16
"""Windows up to this length are read again for each result: that fuses with what is around."""
WIDE = 4
"""From so many neighbours on the loop over them is the innermost one."""
LONG = 1 << 14
"""Elements that are worth a workgroup."""
BLOCKS = 32
"""The most blocks that a line is cut into."""

_KNOWN = frozenset(
    f"stablehlo.{name}" for name in ("add", "multiply", "maximum", "minimum", "and", "or", "xor", "subtract")
)
"""Regions of one such op on real numbers are known to code generation."""


@dataclass(frozen=True)
class Lines:
    """Lines of `size` elements, `inner` apart, in a tensor of outer x size x inner; from the end where `backwards`."""

    outer: int
    size: int
    inner: int
    backwards: bool

    @property
    def flat(self) -> tuple[int, int, int]:
        return self.outer, self.size, self.inner


def lines_of(lowering: Lowering, windows: Windows) -> Lines | None:
    """The lines of a cumulative window that is to be carried here."""
    types = [value.type for value in windows.inputs]
    shape = tensor_type(types[0]).get_shape()
    rank = len(shape)
    if any(tensor_type(type).get_shape() != shape for type in types) or 0 in shape:
        return None
    if any(one != 1 for ones in (windows.strides, windows.base, windows.dilations) for one in ones):
        return None
    moved = [d for d in range(rank) if windows.window[d] != 1]
    if len(moved) != 1:
        return None
    (dim,) = moved
    size, padding = shape[dim], list(windows.padding)
    wanted = [[0] * (2 * rank) for _ in range(2)]
    wanted[0][2 * dim] = wanted[1][2 * dim + 1] = size - 1
    if windows.window[dim] != size or size <= SHORT or padding not in wanted or not _is_monoid(lowering, windows):
        return None
    return Lines(prod(shape[:dim]), size, prod(shape[dim + 1 :]), padding == wanted[1])


def _is_monoid(lowering: Lowering, windows: Windows) -> bool:
    """Whether the region may be carried, and has no form of its own in code generation."""
    ops = list(windows.block.ops)
    if len(ops) != 2 or ops[0].name not in _KNOWN:
        return True
    element = new_type(windows.inputs[0]).element_type
    return is_complex_type(element) and _starts_neutral(lowering, ops[0].name, windows.inits[0])


def _starts_neutral(lowering: Lowering, name: str, init: SSAValue) -> bool:
    scalar = lowering.splat(init)
    if scalar is None or is_integer_attr(scalar) or is_float_attr(scalar):
        return False
    wanted = {"stablehlo.add": 0.0, "stablehlo.multiply": 1.0}.get(name)
    return scalar.real.data == wanted and scalar.imag.data == 0.0


def carry_windows(lowering: Lowering, op: Operation, windows: Windows, lines: Lines) -> None:
    """Sets the results of `op`."""
    types = [new_type(result) for result in op.results]
    inputs = [in_memory(lowering, lowering.get(value)) for value in windows.inputs]
    inits = [in_memory(lowering, lowering.get(value)) for value in windows.inits]
    elements = [type.element_type for type in types]
    carried = _Carried(lowering, lines, elements, windows.block)
    flat = [reshape(lowering, v, with_parts(e, lines.flat)) for v, e in zip(inputs, elements, strict=True)]
    results = carried.wide(flat, inits) if lines.inner >= WIDE else carried.narrow(flat, inits)
    for old, new, type in zip(op.results, results, types, strict=True):
        lowering.set(
            old, from_memory(lowering, reshape(lowering, new, with_parts(type.element_type, type.get_shape())), type)
        )


def _reduce_window(lowering: Lowering, op: Operation) -> None:
    windows = windows_of(op)
    lines = None if concerns_dynamic(op) else lines_of(lowering, windows)
    if lines is None:
        reduce_windows(lowering, op, windows)
    else:
        carry_windows(lowering, op, windows, lines)


class _Carried:
    """Builds the kernels."""

    def __init__(self, lowering: Lowering, lines: Lines, elements: Sequence[Attribute], block: Block) -> None:
        self.lowering = lowering
        self.lines = lines
        self.elements = elements
        self.block = block

    def _kernel(self, count: int) -> tuple[LoopKernel, Body]:
        k = LoopKernel(self.lowering, count, Float32Type())
        return k, Body(k, self.block)

    def _seen(self, arrays: Sequence[Array]) -> list[Elements]:
        return [Elements(array, element) for array, element in zip(arrays, self.elements, strict=True)]

    def _outputs(self, k: LoopKernel, shape: Sequence[int]) -> list[Elements]:
        """New arrays that all workgroups write parts of."""
        return self._seen([k.shared_output(with_parts(e, shape), stored_element(e)) for e in self.elements])

    def _place(self, i: Num) -> Num:
        """Element number `i` of a line, in the order in which they are carried."""
        return self.lines.size - 1 - i if self.lines.backwards else i

    def _combine(self, region: Body, before: Sequence[SSAValue], value: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return region.emit([*value, *before] if self.lines.backwards else [*before, *value])

    def wide(self, inputs: Sequence[SSAValue], inits: Sequence[SSAValue]) -> list[SSAValue]:
        """Lines side by side: each row of them is the one before it combined with the next of the input."""
        outer, size, inner = self.lines.flat
        parts = max(1, min(inner // 64, -(-outer * size * inner // LONG), 64) // min(outer, 64))
        chunk = -(-inner // parts)
        k, region = self._kernel(outer * parts)
        source, init = self._seen([k.whole_input(v) for v in inputs]), self._seen([k.whole_input(v) for v in inits])
        result = self._outputs(k, self.lines.flat)
        o, low = k.workgroup.quotient(parts), k.workgroup.remainder(parts) * chunk
        high = (low + chunk).least(inner)
        start = [one.read(()) for one in init]
        with k.loop(low, high) as c:
            at = (o, self._place(k.index(0)), c)
            self._write(result, at, self._combine(region, start, [one.read(at) for one in source]))
        with k.loop(1, size) as i, k.loop(low, high) as c:
            at = (o, self._place(i), c)
            before = [one.read((o, self._place(i - 1), c)) for one in result]
            self._write(result, at, self._combine(region, before, [one.read(at) for one in source]))
        return k.run_shared()

    @staticmethod
    def _write(result: Sequence[Elements], at: Sequence[Num | int], values: Sequence[SSAValue]) -> None:
        for one, value in zip(result, values, strict=True):
            one.write(at, value)

    def narrow(self, inputs: Sequence[SSAValue], inits: Sequence[SSAValue]) -> list[SSAValue]:
        """Each line on its own, long ones in blocks."""
        outer, size, inner = self.lines.flat
        lines = outer * inner
        blocks = max(1, min(BLOCKS // lines, size // LONG))
        group = max(1, min(-(-lines // 64), LONG // size)) if blocks == 1 else 1
        chunk = -(-size // blocks)
        k, region = self._kernel(-(-lines // group) * blocks)
        source, init = self._seen([k.whole_input(v) for v in inputs]), self._seen([k.whole_input(v) for v in inits])
        result = self._outputs(k, self.lines.flat)
        block, first = k.workgroup.remainder(blocks) * chunk, k.workgroup.quotient(blocks) * group
        with k.loop(first, (first + group).least(lines)) as line:
            o, c = line.quotient(inner), line.remainder(inner)
            values = _Values(k, self.elements, [one.read(()) for one in init])
            with k.loop(block, (block + chunk).least(size)) as i:
                at = (o, self._place(i), c)
                values.set(self._combine(region, values.get(), [one.read(at) for one in source]))
                self._write(result, at, values.get())
        results = k.run_shared()
        return results if blocks == 1 else self._joined(results, blocks, chunk)

    def _joined(self, results: Sequence[SSAValue], blocks: int, chunk: int) -> list[SSAValue]:
        """Combines into each block what those before it gave."""
        outer, size, inner = self.lines.flat
        lines = outer * inner
        k, region = self._kernel(1)
        local = self._seen([k.whole_input(value) for value in results])
        ends = self._outputs(k, (blocks, outer, inner))
        with k.loop(0, lines) as line:
            o, c = line.quotient(inner), line.remainder(inner)
            first = [one.read((o, self._place(k.index(chunk - 1)), c)) for one in local]
            values = _Values(k, self.elements, first)
            self._write(ends, (0, o, c), first)
            with k.loop(1, blocks - 1) as b:
                end = [one.read((o, self._place((b + 1) * chunk - 1), c)) for one in local]
                values.set(self._combine(region, values.get(), end))
                self._write(ends, (b, o, c), values.get())
        before = k.run_shared()
        k, region = self._kernel(lines * (blocks - 1))
        ends = self._seen([k.whole_input(value) for value in before])
        whole = self._seen([k.changed_input(value) for value in results])
        line, block = k.workgroup.quotient(blocks - 1), k.workgroup.remainder(blocks - 1)
        o, c = line.quotient(inner), line.remainder(inner)
        given = [one.read((block, o, c)) for one in ends]
        with k.loop((block + 1) * chunk, ((block + 2) * chunk).least(size)) as i:
            at = (o, self._place(i), c)
            self._write(whole, at, self._combine(region, given, [one.read(at) for one in whole]))
        return k.run_shared()


class _Values:
    """Variables of any element types; a complex one is two."""

    def __init__(self, k: LoopKernel, elements: Sequence[Attribute], values: Sequence[SSAValue]) -> None:
        self.k = k
        self.complex = [is_complex_type(element) for element in elements]
        self.vars = [k.var(Num(k, part)) for part in self._parts(values)]

    def _parts(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        found: list[SSAValue] = []
        for value, pair in zip(values, self.complex, strict=True):
            found += self.k.code.parts(value) if pair else [value]
        return found

    def set(self, values: Sequence[SSAValue]) -> None:
        for var, part in zip(self.vars, self._parts(values), strict=True):
            var.set(Num(self.k, part))

    def get(self) -> list[SSAValue]:
        parts = iter(var.get().re for var in self.vars)
        return [self.k.code.create(next(parts), next(parts)) if pair else next(parts) for pair in self.complex]


HANDLERS = {"stablehlo.reduce_window": _reduce_window}
