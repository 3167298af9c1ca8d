"""`tiree-codegen-split-complex`: dispatches on complex numbers become dispatches on pairs of floats.

In: dispatch functions with MLIR's `complex` dialect in the bodies of their structured ops. Out: the same functions on
real tensors. In memory a complex tensor is a real one with a last dimension of 2; a complex value is two tensors, each
loaded and stored with stride 2. Whatever moves elements is done twice, and a `linalg.generic` has two operands and two
results where it had one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import linalg
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, TensorType
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tiree.codegen.common.analyze import fail
from tiree.codegen.cpu.complex_words import as_words, moves_words
from tiree.codegen.cpu.select_strategies import cpu_variants, is_kernel_form, kernels
from tiree.dialects.arith import ConstantOp
from tiree.dialects.dense import DenseAttr
from tiree.dialects.hal_executable import InterfaceBindingSubspanOp
from tiree.dialects.iree_tensor_ext import DispatchTensorType, index_array, segment_sizes
from tiree.scalars.builder import ScalarBuilder
from tiree.scalars.complex_dialect import ON_PAIRS
from tiree.support.typed import ints_of, is_array_attr, is_complex_type, is_float_attr, is_tensor_type

Pair = tuple[SSAValue, SSAValue]


def holds_complex(type: Attribute) -> bool:
    """Whether values of `type` are complex numbers or tensors of them."""
    if isinstance(type, DispatchTensorType):
        type = type.bound_type
    return is_complex_type(type.element_type if is_tensor_type(type) else type)


def part_of(type: Attribute) -> Attribute:
    """The type of the real parts of a complex `type`; a real one as it is."""
    if is_complex_type(type):
        return type.element_type
    if is_tensor_type(type) and is_complex_type(type.element_type):
        return TensorType(type.element_type.element_type, type.shape, type.encoding)
    return type


def split_complex(function: Operation) -> None:
    """Rewrites a dispatch function in place. Raises `CompileError` for complex ops that are none of the above."""
    if moves_words(function):
        as_words(function)
    elif any(holds_complex(value.type) for op in function.walk() for value in (*op.results, *op.operands)):
        _Splitting().run(function.regions[0].block)


class _Splitting:
    """`pairs` has the two values of each complex one, `values` what stands for others that were rewritten."""

    def __init__(self) -> None:
        self.pairs: dict[SSAValue, Pair] = {}
        self.values: dict[SSAValue, SSAValue] = {}
        self.block = Block()
        self.handlers: dict[str, Callable[[Operation], None]] = {
            "hal.interface.binding.subspan": self.subspan,
            "iree_tensor_ext.dispatch.tensor.load": self.load,
            "iree_tensor_ext.dispatch.tensor.store": self.store,
            "arith.constant": self.constant,
            "complex.constant": self.number,
            "complex.create": self.create,
            "complex.re": self.real,
            "complex.im": self.imaginary,
            "linalg.generic": self.generic,
            "linalg.yield": self.terminator,
            "scf.yield": self.terminator,
            "scf.if": self.control,
            "scf.for": self.control,
        }

    def run(self, block: Block) -> None:
        """Rebuilds `block`: all its ops move to a new one, changed where they have to."""
        ops = list(block.ops)
        for op in ops:
            self.visit(op)
        for op in reversed(ops):
            if op.parent is block:
                op.detach()
                op.drop_all_references()
        made = list(self.block.ops)
        for op in made:
            op.detach()
        block.add_ops(made)

    def get(self, value: SSAValue) -> SSAValue:
        return self.values.get(value, value)

    def both(self, value: SSAValue) -> Sequence[SSAValue]:
        """The values that stand for `value`, one or two."""
        return self.pairs[value] if holds_complex(value.type) else (self.get(value),)

    def add(self, op: Operation, like: Operation) -> Sequence[SSAValue]:
        op.location = like.location
        self.block.add_op(op)
        return op.results

    def visit(self, op: Operation) -> None:
        concerned = any(holds_complex(value.type) for inner in op.walk() for value in (*inner.operands, *inner.results))
        if not concerned:
            op.detach()
            for number, operand in enumerate(op.operands):
                op.operands[number] = self.get(operand)
            for inner in op.walk():
                for number, operand in enumerate(inner.operands):
                    if operand in self.values:
                        inner.operands[number] = self.values[operand]
            self.block.add_op(op)
            return
        handler = self.handlers.get(op.name)
        if handler is not None:
            handler(op)
        elif op.name in ON_PAIRS and not any(is_tensor_type(result.type) for result in op.results):
            builder = ScalarBuilder(self.block, op.location)
            self._name(op.results, ON_PAIRS[op.name](builder, [self.pairs[value] for value in op.operands]))
        elif op.name.startswith(("complex.", "math.")) or not op.results:
            raise fail(op, f"codegen has no lowering for {op.name} on complex numbers")
        else:
            self.twice(op)

    def twice(self, op: Operation) -> None:
        """An op that moves elements, on each part."""
        found: list[Sequence[SSAValue]] = []
        for part in (0, 1):
            regions = [self._moved(region, part) for region in op.regions]
            new = type(op).create(
                operands=[self.pairs[v][part] if holds_complex(v.type) else self.get(v) for v in op.operands],
                result_types=[part_of(result.type) for result in op.results],
                properties=op.properties,
                regions=regions,
            )
            found.append(self.add(new, op))
        for result, real, imaginary in zip(op.results, *found, strict=True):
            self.pairs[result] = (real, imaginary)

    def _moved(self, region: Region, part: int) -> Region:
        """The region of a fill or pad, which yields an argument or a value from outside."""
        old = region.block
        block = Block(arg_types=[part_of(arg.type) for arg in old.args])
        last = old.last_op
        assert last is not None
        yielded: list[SSAValue] = []
        for value in last.operands:
            if value.owner is old:
                yielded.append(block.args[old.args.index(value)])
            else:
                yielded.append(self.pairs[value][part])
        block.add_op(type(last).create(operands=yielded))
        return Region(block)

    # Borders.

    def subspan(self, op: Operation) -> None:
        assert isinstance(op, InterfaceBindingSubspanOp)
        bound = op.result.type
        assert isinstance(bound, DispatchTensorType)
        tensor = bound.tensor_type
        assert is_complex_type(tensor.element_type)
        inner = TensorType(tensor.element_type.element_type, [*tensor.get_shape(), 2])
        new = InterfaceBindingSubspanOp.create(
            operands=[self.get(v) for v in op.operands],
            result_types=[DispatchTensorType.of(bound.access.data, inner)],
            properties=op.properties,
        )
        self.values[op.result] = self.add(new, op)[0]

    def _slice(self, op: Operation, part: int) -> dict[str, Attribute]:
        """The properties of an access, with the last dimension at `part` and dropped."""
        found = dict(op.properties)
        for name, last in (("static_offsets", part), ("static_sizes", 1), ("static_strides", 1)):
            found[name] = index_array((*ints_of(op.properties[name]), last))
        return found

    def load(self, op: Operation) -> None:
        found = [
            self.add(
                type(op).create(
                    operands=[self.get(v) for v in op.operands],
                    result_types=[part_of(op.results[0].type)],
                    properties=self._slice(op, part),
                ),
                op,
            )[0]
            for part in (0, 1)
        ]
        self.pairs[op.results[0]] = (found[0], found[1])

    def store(self, op: Operation) -> None:
        value, *others = op.operands
        for part in (0, 1):
            operands = [self.pairs[value][part], *(self.get(v) for v in others)]
            self.add(type(op).create(operands=operands, properties=self._slice(op, part)), op)

    # Values.

    def constant(self, op: Operation) -> None:
        import numpy as np

        value, type = op.properties["value"], part_of(op.results[0].type)
        if not isinstance(value, DenseAttr) or not is_tensor_type(type):
            raise fail(op, f"{op.name} of {value} is not a dense constant")
        both = np.frombuffer(value.buffer, np.float32 if type.element_type.name == "f32" else np.float64)
        parts = [
            DenseAttr.from_buffer(type, np.ascontiguousarray(both[part::2]).view(np.uint8), value.is_splat)
            for part in (0, 1)
        ]
        self.pairs[op.results[0]] = self._constants(parts, op)

    def number(self, op: Operation) -> None:
        value = op.properties["value"]
        assert is_array_attr(value)
        self.pairs[op.results[0]] = self._constants([part for part in value.data if is_float_attr(part)], op)

    def _constants(self, parts: Sequence[Attribute], op: Operation) -> Pair:
        real, imaginary = (
            self.add(
                ConstantOp.create(
                    result_types=[part_of(op.results[0].type)],
                    properties={"value": part},
                ),
                op,
            )[0]
            for part in parts
        )
        return real, imaginary

    def create(self, op: Operation) -> None:
        self.pairs[op.results[0]] = (self.get(op.operands[0]), self.get(op.operands[1]))

    def real(self, op: Operation) -> None:
        self.values[op.results[0]] = self.pairs[op.operands[0]][0]

    def imaginary(self, op: Operation) -> None:
        self.values[op.results[0]] = self.pairs[op.operands[0]][1]

    # Bodies.

    def generic(self, op: Operation) -> None:
        assert isinstance(op, linalg.ops.GenericOp)
        operands: list[SSAValue] = []
        maps: list[Attribute] = []
        counts: list[int] = []
        for value, map in zip(op.operands, op.indexing_maps.data, strict=True):
            found = self.both(value)
            operands += found
            maps += [map] * len(found)
            counts.append(len(found))
        inputs = sum(counts[: len(op.inputs)])
        types = [type for result in op.results for type in self._types(result.type)]
        new = linalg.ops.GenericOp.create(
            operands=operands,
            result_types=types,
            properties={
                **op.properties,
                "indexing_maps": ArrayAttr(maps),
                "operandSegmentSizes": segment_sizes(inputs, len(operands) - inputs),
            },
            regions=[self._region(op.regions[0])],
        )
        self._results(op, self.add(new, op))

    def _types(self, type: Attribute) -> list[Attribute]:
        return [part_of(type)] * (2 if holds_complex(type) else 1)

    def _results(self, op: Operation, made: Sequence[SSAValue]) -> None:
        self._name(op.results, made)

    def _name(self, old: Sequence[SSAValue], made: Sequence[SSAValue]) -> None:
        """Says what stands for old values: one or two of `made` for each."""
        given = iter(made)
        for value in old:
            if holds_complex(value.type):
                self.pairs[value] = (next(given), next(given))
            else:
                self.values[value] = next(given)

    def _region(self, region: Region) -> Region:
        """A body of one block, rebuilt."""
        if not region.blocks:
            return Region()
        old = region.block
        block = Block(arg_types=[type for arg in old.args for type in self._types(arg.type)])
        self._name(old.args, block.args)
        outer, self.block = self.block, block
        for op in list(old.ops):
            self.visit(op)
        self.block = outer
        return Region(block)

    def terminator(self, op: Operation) -> None:
        operands = [new for value in op.operands for new in self.both(value)]
        self.add((YieldOp if op.name == "linalg.yield" else type(op)).create(operands=operands), op)

    def control(self, op: Operation) -> None:
        """A branch or a loop."""
        new = type(op).create(
            operands=[new for value in op.operands for new in self.both(value)],
            result_types=[type for result in op.results for type in self._types(result.type)],
            properties=op.properties,
            regions=[self._region(region) for region in op.regions],
        )
        self._results(op, self.add(new, op))


@dataclass(frozen=True)
class SplitComplex(ModulePass):
    """Splits the complex numbers of every dispatch that is not lowered yet."""

    name = "tiree-codegen-split-complex"

    backend: str = "llvm-cpu"
    """Which variants are treated."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for variant, inner, _ in cpu_variants(op, self.backend):
            for _, function in kernels(variant, inner):
                if not is_kernel_form(function):
                    split_complex(function)
