"""Elements and regions of programs in loop kernels: what is in memory, and scalar code made of a region."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import TensorType, i1, i8
from xdsl.ir import Attribute, Block, SSAValue

from tiree.dialects import flow
from tiree.input.factorizations.kernel import Array, LoopKernel, Num
from tiree.input.lowering.context import Lowering, Splat, identity, signless, tensor_type
from tiree.input.lowering.reduce import emit_region
from tiree.input.lowering.scalar import ScalarAttr, ScalarBuilder
from tiree.support.typed import is_complex_type


class Elements:
    """The elements of an array as the region sees them: complex ones are pairs in memory, `i1` ones bytes."""

    def __init__(self, array: Array, element: Attribute) -> None:
        self.array = array
        self.element = element

    def read(self, at: Sequence[Num | int]) -> SSAValue:
        code = self.array.kernel.code
        if is_complex_type(self.element):
            return code.create(self.array[(*at, 0)].re, self.array[(*at, 1)].re)
        value = self.array[tuple(at)].re
        return code.cast(arith.TruncIOp, value, i1) if self.element == i1 else value

    def write(self, at: Sequence[Num | int], value: SSAValue) -> None:
        kernel = self.array.kernel
        if is_complex_type(self.element):
            for part, number in enumerate(kernel.code.parts(value)):
                self.array[(*at, part)] = Num(kernel, number)
            return
        if self.element == i1:
            value = kernel.code.cast(arith.ExtUIOp, value, i8)
        self.array[tuple(at)] = Num(kernel, value)


def in_memory(lowering: Lowering, value: SSAValue) -> SSAValue:
    """`value` with elements that a loop kernel has: pairs of floats and bytes for complex numbers and booleans."""
    type = tensor_type(value)
    if is_complex_type(type.element_type):
        pairs = TensorType(type.element_type.element_type, [*type.get_shape(), 2])
        return lowering.emit(flow.TensorBitCastOp.of(value, pairs))
    if type.element_type == i1:
        return lowering.parallel(
            [(value, identity(len(type.get_shape())))],
            TensorType(i8, type.get_shape()),
            lambda s, args: s.cast(arith.ExtUIOp, args[0], i8),
        )
    return value


def from_memory(lowering: Lowering, value: SSAValue, type: TensorType) -> SSAValue:
    """What `in_memory` made of a tensor of `type`, back."""
    if is_complex_type(type.element_type):
        return lowering.emit(flow.TensorBitCastOp.of(value, type))
    if type.element_type == i1:
        return lowering.parallel(
            [(value, identity(len(type.get_shape())))],
            type,
            lambda s, args: s.cast(arith.TruncIOp, args[0], i1),
        )
    return value


def filled(lowering: Lowering, old: SSAValue) -> SSAValue:
    """The new value of `old`; one element repeated is filled in when it is needed, not kept in the module."""
    value = lowering.values[old]
    if isinstance(value, Splat) and value.sizes is None:
        return lowering.fill(value.scalar, value.type)
    return lowering.get(old)


def new_type(old: SSAValue) -> TensorType:
    return tensor_type(signless(old.type))


def with_parts(element: Attribute, shape: Sequence[int]) -> list[int]:
    """The shape in memory of a tensor of `element`."""
    return [*shape, 2] if is_complex_type(element) else list(shape)


def stored_element(element: Attribute) -> Attribute:
    """The type in memory of an element, or of its parts."""
    if is_complex_type(element):
        return element.element_type
    return i8 if element == i1 else element


class Body(ScalarBuilder):
    """Emits a region where the kernel is; what it reads from outside becomes an operand of the kernel."""

    def __init__(
        self, kernel: LoopKernel, block: Block | None = None, captured: Sequence[SSAValue] | None = None
    ) -> None:
        super().__init__(kernel.block, kernel.lowering.location)
        self.kernel = kernel
        self.region = block
        if captured is None:
            captured = [] if block is None else captured_tensors(kernel.lowering, block)
        self.inputs = {value: kernel.whole_input(value).states[0] for value in captured}

    def extract(self, source: SSAValue, indices: list[SSAValue]) -> SSAValue:
        return super().extract(self.inputs.get(source, source), indices)

    def attribute(self, attr: ScalarAttr) -> SSAValue:
        """Constants stand at the front of the kernel, where every use sees them."""
        return super().attribute(attr) if is_complex_type(attr.type) else self.kernel.code.attribute(attr)

    def emit(self, arguments: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """The values that the region gives for `arguments`."""
        assert self.region is not None
        self.block = self.kernel.code.block
        return emit_region(self.kernel.lowering, self, self.region, arguments)


def captured_tensors(lowering: Lowering, block: Block) -> list[SSAValue]:
    """The new tensors that a region reads from outside."""
    found: dict[SSAValue, None] = {}
    for op in block.ops:
        for value in op.operands:
            owner = value.owner
            outside = owner is not block and (isinstance(owner, Block) or owner.parent is not block)
            if outside and lowering.splat(value) is None:
                found[lowering.get(value)] = None
    return list(found)
