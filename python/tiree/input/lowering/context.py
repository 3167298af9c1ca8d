"""`Lowering`: the state of converting one function, and helpers that emit the tensor-level operations.

Conversion rebuilds a function: old operations are walked in program order, new ones are appended to `block`, and
`values` says what stands for each old value. A constant that is one element repeated is kept as `Splat` until somebody
needs a tensor: elementwise consumers put the scalar into their bodies instead. Constants that are needed as values are
collected and placed at the start of the function, once each.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    UNKNOWN_LOC,
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    NoneAttr,
    Signedness,
    TensorType,
    i8,
    i64,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, TypedAttribute
from xdsl.ir.affine import AffineExpr, AffineMap

from tiree.dialects.arith import ConstantOp
from tiree.dialects.dense import DenseAttr, decode_scalar, element_byte_size
from tiree.dialects.iree_tensor_ext import segment_sizes
from tiree.dialects.linalg_fill import FillOp
from tiree.dialects.syntax.small_floats import small_float
from tiree.input.lowering.loop_sizes import sizes_of_loops
from tiree.input.lowering.scalar import (
    ScalarAttr,
    ScalarBuilder,
    constant_op,
    encoded,
    number_attribute,
    scalar_attribute,
)
from tiree.support.errors import SUPPORTED_OPS, Diagnostic
from tiree.support.locations import location_of
from tiree.support.typed import is_complex_type, is_float_attr, is_integer_attr, is_integer_type, is_tensor_type

PARALLEL = IteratorTypeAttr.parallel()
REDUCTION = IteratorTypeAttr.reduction()


class Unsupported(Exception):
    """An op, or a form of it, that cannot be lowered; the message says which form."""


def _on_its_own(*asked: object) -> Unsupported:
    """For what needs the walk over a function, where ops are made general one by one."""
    del asked
    return Unsupported("with a region or a call, on its own")


Size: TypeAlias = "int | SSAValue"
"""A dimension's size: a number, or an `index` value."""


@dataclass(frozen=True)
class Splat:
    """A tensor that holds the constant `scalar` everywhere; `sizes` are given where the type has `?`."""

    scalar: ScalarAttr
    type: TensorType
    sizes: tuple[Size, ...] | None = None


Value: TypeAlias = "SSAValue | Splat"


@lru_cache(maxsize=4096)
def signless(type: Attribute) -> Attribute:
    """`type` with unsigned integers made signless and small floats bytes, in tensors too."""
    if small_float(type) is not None:
        return i8
    if is_integer_type(type) and type.signedness.data is not Signedness.SIGNLESS:
        return IntegerType(type.width.data)
    if is_tensor_type(type):
        element = signless(type.element_type)
        if element is not type.element_type:
            return TensorType(element, type.shape, type.encoding)
    return type


def tensor_type(value: SSAValue | Attribute) -> TensorType:
    """The ranked, static tensor type of an old value. Raises `Unsupported` for anything else."""
    type = value.type if isinstance(value, SSAValue) else value
    if not is_tensor_type(type):
        raise Unsupported(f"on {type}; a ranked tensor is needed")
    if DYNAMIC_INDEX in type.get_shape():
        raise Unsupported(f"with the dynamic shape {type}")
    return ranked_type(type)


def ranked_type(value: SSAValue | Attribute) -> TensorType:
    """The ranked tensor type of an old value; dimensions may be `?`. Raises `Unsupported` for anything else."""
    type = value.type if isinstance(value, SSAValue) else value
    if not is_tensor_type(type):
        raise Unsupported(f"on {type}; a ranked tensor is needed")
    if not isinstance(type.encoding, NoneAttr):
        raise Unsupported(f"with the tensor encoding of {type}")
    return type


@lru_cache(maxsize=1024)
def map_attr(rank: int, dims: tuple[int, ...]) -> AffineMapAttr:
    """`(d0, ..) -> (d_dims[0], ..)`."""
    return AffineMapAttr(AffineMap(rank, 0, tuple(AffineExpr.dimension(d) for d in dims)))


@lru_cache(maxsize=1024)
def _shared_array(items: tuple[Attribute, ...]) -> ArrayAttr:
    """One object for equal arrays."""
    return ArrayAttr(items)


@lru_cache(maxsize=64)
def identity(rank: int) -> AffineMapAttr:
    return map_attr(rank, tuple(range(rank)))


class Shapes:
    """What is known of the sizes of tensors with `?` dimensions (`dims.py`)."""

    def __init__(self) -> None:
        self.entry: Block | None = None
        """The entry block of the function: what is required there holds in all of it."""
        self._known: dict[SSAValue, tuple[Size, ...]] = {}
        self._same: dict[SSAValue, Size] = {}
        self.arguments: dict[SSAValue, tuple[int, str, int]] = {}
        """Sizes of arguments: the number of the argument, its name, the dimension."""
        self.required: set[tuple[Block, Size, Size]] = set()
        self.addressable: set[tuple[Block, frozenset[SSAValue]]] = set()
        self.elements: dict[SSAValue, list[SSAValue]] = {}
        """The elements of (old) integer tensors that hold sizes, as host scalars."""

    def note(self, value: SSAValue, sizes: Sequence[Size]) -> None:
        self._known[value] = tuple(sizes)

    def copy(self, source: SSAValue, target: SSAValue) -> None:
        if source in self._known:
            self._known[target] = self._known[source]

    def known(self, value: SSAValue) -> tuple[Size, ...] | None:
        """All sizes of a new value, where they are known."""
        found = self._known.get(value)
        return None if found is None else tuple([self.representative(size) for size in found])

    def representative(self, size: Size) -> Size:
        """What stands for all sizes that are required to equal `size`."""
        while not isinstance(size, int) and size in self._same:
            size = self._same[size]
        return size

    def unite(self, size: SSAValue, other: Size) -> None:
        """From here on `other` stands for `size`, too."""
        self._same[size] = other


@dataclass(eq=False)
class Lowering:
    """See the module's docstring."""

    values: dict[SSAValue, Value] = field(default_factory=dict[SSAValue, Value])
    block: Block = field(default_factory=Block)
    location: LocationAttr = UNKNOWN_LOC
    diagnostics: dict[str, list[Operation]] = field(default_factory=dict[str, list[Operation]])
    constants: list[Operation] = field(default_factory=list[Operation])
    _constant_of: dict[Attribute, SSAValue] = field(default_factory=dict[Attribute, SSAValue])
    shapes: Shapes = field(default_factory=Shapes)

    # Emitting.

    def emit(self, op: Operation) -> SSAValue:
        """Appends `op`; returns its first result."""
        op.location = self.location
        self.block.add_op(op)
        return op.results[0]

    def emit_op(self, op: Operation) -> None:
        """Appends an op with any number of results."""
        op.location = self.location
        self.block.add_op(op)

    @contextmanager
    def inside(self, block: Block) -> Generator[Block]:
        """Emits into `block` for a while."""
        outer, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = outer

    def scalars(self, block: Block | None = None) -> ScalarBuilder:
        """Emits scalar operations into `block`, or at the current place."""
        return ScalarBuilder(self.block if block is None else block, self.location)

    def unsupported(self, op: Operation, reason: str = "") -> None:
        """Records that `op` has no lowering; one diagnostic for each op name and reason is reported at the end."""
        self.diagnostics.setdefault(f"{op.name} {reason}".strip(), []).append(op)

    def report(self) -> list[Diagnostic]:
        """The diagnostics recorded: what, how often, where."""
        found: list[Diagnostic] = []
        for text, met in self.diagnostics.items():
            ops = list(dict.fromkeys(met))  # One in a body that is lowered several times is one.
            places = list(dict.fromkeys(location_of(op) for op in ops))
            also = f"; also at {', '.join(places[1:6])}{', ...' if len(places) > 6 else ''}" if len(places) > 1 else ""
            count = f" ({len(ops)} uses)" if len(ops) > 1 else ""
            found.append(Diagnostic(f"{text} is not supported{count}{also}", places[0]))
        if any(text.startswith(("stablehlo.", "chlo.")) for text in self.diagnostics):
            found[-1] = found[-1]._replace(hint=SUPPORTED_OPS)
        return found

    # What only `driver.FunctionLowering` can do; elsewhere an op that asks for it is reported.

    def lower(self, op: Operation) -> None:
        """Lowers one op."""
        raise _on_its_own(op)

    @contextmanager
    def in_kernel(self) -> Generator[None]:
        """What is emitted meanwhile is the body of a structured op."""
        raise _on_its_own()
        yield

    def lower_ops(self, block: Block) -> Sequence[SSAValue]:
        """Lowers the ops of a one-block region up to its return; gives the (old) values returned."""
        raise _on_its_own(block)

    def inline_call(self, op: Operation, name: str) -> None:
        """Lowers the body of the function that property `name` of `op` refers to, in place."""
        raise _on_its_own(op, name)

    def callee(self, op: Operation, name: str = "callee") -> Block:
        """The body of the function that `op` calls. Raises `Unsupported` when it cannot be inlined."""
        raise _on_its_own(op, name)

    # Values.

    def set(self, old: SSAValue, new: Value) -> None:
        """Says what stands for `old` from here on."""
        self.values[old] = new

    def get(self, old: SSAValue) -> SSAValue:
        """The new value for `old`, as a tensor (or scalar) value."""
        value = self.values[old]
        return self.materialize(value) if isinstance(value, Splat) else value

    def splat(self, old: SSAValue) -> ScalarAttr | None:
        """The scalar that fills `old`, when that is known."""
        value = self.values[old]
        return value.scalar if isinstance(value, Splat) else None

    def materialize(self, splat: Splat) -> SSAValue:
        if splat.sizes is not None:
            return self.fill(splat.scalar, splat.type, splat.sizes)
        return self.constant(DenseAttr.from_buffer(splat.type, encoded(splat.scalar), splat=True))

    def constant(self, value: TypedAttribute | ScalarAttr) -> SSAValue:
        """A constant at the start of the function; equal small ones are shared."""
        shared = not isinstance(value, DenseAttr) or value.buffer.nbytes <= 1024
        if shared and value in self._constant_of:
            return self._constant_of[value]
        op = constant_op(value)
        self.constants.append(op)
        if shared:
            self._constant_of[value] = op.results[0]
        return op.results[0]

    def constant_index(self, value: int) -> SSAValue:
        return self.constant(IntegerAttr.from_index_int_value(value))

    def constant_value(self, old: SSAValue) -> DenseAttr | None:
        """The constant behind `old`, splats included, or None."""
        value = self.values[old]
        if isinstance(value, Splat) and value.sizes is None:
            return DenseAttr.from_buffer(value.type, encoded(value.scalar), splat=True)
        if isinstance(value, OpResult) and isinstance(value.op, ConstantOp) and isinstance(value.op.value, DenseAttr):
            return value.op.value
        return None

    # Tensor operations.

    @staticmethod
    def identity(rank: int) -> AffineMapAttr:
        """The indexing map of elements at the place of the loops."""
        return identity(rank)

    def empty(self, type: TensorType, sizes: Sequence[Size] | None = None) -> SSAValue:
        """A tensor whose contents do not matter. `sizes` has all dimensions; only those of `?` are used."""
        dims = [
            self.index_of(size)
            for size, extent in zip(sizes or (), type.get_shape(), strict=sizes is not None)
            if extent == DYNAMIC_INDEX
        ]
        value = self.emit(tensor.EmptyOp.create(operands=dims, result_types=[type]))
        if sizes is not None:
            self.shapes.note(value, sizes)
        return value

    def index_of(self, size: Size) -> SSAValue:
        """A size as an `index` value."""
        return self.constant_index(size) if isinstance(size, int) else size

    def fill(self, scalar: SSAValue | ScalarAttr, type: TensorType, sizes: Sequence[Size] | None = None) -> SSAValue:
        """`linalg.fill` of a new tensor with a scalar value or constant."""
        if not isinstance(scalar, SSAValue):
            scalar = self.constant(scalar)
        body = Block(arg_types=[scalar.type, type.element_type])
        body.add_op(YieldOp.create(operands=[body.args[0]]))
        value = self.emit(
            FillOp.create(
                operands=[scalar, self.empty(type, sizes)],
                result_types=[type],
                properties={"operandSegmentSizes": DenseArrayBase.from_list(IntegerType(32), [1, 1])},
                regions=[Region(body)],
            )
        )
        if sizes is not None:
            self.shapes.note(value, sizes)
        return value

    def generic(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        maps: Sequence[AffineMapAttr],
        iterators: Sequence[IteratorTypeAttr],
        body: Callable[[ScalarBuilder, Sequence[SSAValue]], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:
        """`linalg.generic`; `body` gets a builder and the block arguments and returns what is yielded."""
        values = (*inputs, *outputs)
        block = Block(arg_types=[_element(value.type) for value in values])
        builder = self.scalars(block)
        results = body(builder, block.args)
        builder.add(YieldOp.create(operands=list(results)))
        op = GenericOp.create(
            operands=values,
            result_types=[value.type for value in outputs],
            properties={
                "indexing_maps": _shared_array(tuple(maps)),
                "iterator_types": _shared_array(tuple(iterators)),
                "operandSegmentSizes": segment_sizes(len(inputs), len(outputs)),
            },
            regions=[Region(block)],
        )
        self.emit(op)
        for output, result in zip(outputs, op.results, strict=True):
            self.shapes.copy(output, result)
        return op.results

    def parallel(
        self,
        inputs: Sequence[tuple[SSAValue, AffineMapAttr]],
        type: TensorType,
        body: Callable[[ScalarBuilder, Sequence[SSAValue]], SSAValue],
        sizes: Sequence[Size] | None = None,
    ) -> SSAValue:
        """A new tensor whose elements are computed independently; `body` gets the input elements only. `sizes` are
        needed where `type` has a `?` along which no input is read as it lies."""
        rank = len(type.shape)
        if sizes is None and DYNAMIC_INDEX in type.get_shape():
            sizes = sizes_of_loops(type.get_shape(), [(map.data, self.shapes.known(value)) for value, map in inputs])
            if sizes is None:
                raise Unsupported(f"with the dynamic shape {type}")
        return self.generic(
            [value for value, _ in inputs],
            [self.empty(type, sizes)],
            [*(map for _, map in inputs), identity(rank)],
            [PARALLEL] * rank,
            lambda s, args: [body(s, args[: len(inputs)])],
        )[0]

    def collapse(self, value: SSAValue, groups: Sequence[Sequence[int]], shape: Sequence[int]) -> SSAValue:
        """`tensor.collapse_shape` to `shape`; `groups` are the source dimensions of each result dimension."""
        type = TensorType(_element(value.type), shape)
        return self.emit(
            tensor.CollapseShapeOp.create(
                operands=[value], result_types=[type], properties={"reassociation": reassociation(groups)}
            )
        )

    def expand(self, value: SSAValue, groups: Sequence[Sequence[int]], shape: Sequence[int]) -> SSAValue:
        """`tensor.expand_shape` to `shape`; `groups` are the result dimensions of each source dimension."""
        type = TensorType(_element(value.type), shape)
        return self.emit(
            tensor.ExpandShapeOp.create(
                operands=[value],
                result_types=[type],
                properties={
                    "reassociation": reassociation(groups),
                    "static_output_shape": DenseArrayBase.from_list(i64, list(shape)),
                },
            )
        )

    def slice(
        self, value: SSAValue, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int] | None = None
    ) -> SSAValue:
        """`tensor.extract_slice` with static offsets, of full rank."""
        strides = strides or [1] * len(offsets)
        return self.emit(
            tensor.ExtractSliceOp.create(
                operands=[value],
                result_types=[TensorType(_element(value.type), sizes)],
                properties=_slice_properties(offsets, sizes, strides, (1, 0, 0, 0)),
            )
        )

    def insert(self, value: SSAValue, into: SSAValue, offsets: Sequence[int], sizes: Sequence[int]) -> SSAValue:
        """`tensor.insert_slice` with static offsets and unit strides, of full rank."""
        return self.emit(
            tensor.InsertSliceOp.create(
                operands=[value, into],
                result_types=[into.type],
                properties=_slice_properties(offsets, sizes, [1] * len(offsets), (1, 1, 0, 0, 0)),
            )
        )

    def pad(self, value: SSAValue, scalar: ScalarAttr, low: Sequence[int], high: Sequence[int]) -> SSAValue:
        """`tensor.pad` with a constant; nothing is emitted when there is nothing to pad."""
        if not any(low) and not any(high):
            return value
        shape = tensor_type(value).get_shape()
        result = TensorType(_element(value.type), [a + s + b for a, s, b in zip(low, shape, high, strict=True)])
        if is_complex_type(scalar.type):
            return self.insert(value, self.fill(scalar, result), low, shape)
        assert is_integer_attr(scalar) or is_float_attr(scalar)
        body = Block(arg_types=[IntegerAttr.from_index_int_value(0).type] * len(shape))
        body.add_op(tensor.YieldOp.create(operands=[self.constant(scalar)]))
        return self.emit(
            tensor.PadOp.create(
                operands=[value],
                result_types=[result],
                properties={
                    "static_low": DenseArrayBase.from_list(i64, list(low)),
                    "static_high": DenseArrayBase.from_list(i64, list(high)),
                    "operandSegmentSizes": DenseArrayBase.from_list(IntegerType(32), [1, 0, 0]),
                },
                regions=[Region(body)],
            )
        )

    def extract(self, value: SSAValue) -> SSAValue:
        """The element of a rank-0 tensor."""
        return self.emit(tensor.ExtractOp.create(operands=[value], result_types=[_element(value.type)]))

    def from_scalar(self, scalar: SSAValue) -> SSAValue:
        """A rank-0 tensor of a scalar."""
        return self.emit(tensor.FromElementsOp.create(operands=[scalar], result_types=[TensorType(scalar.type, [])]))


def _element(type: Attribute) -> Attribute:
    return type.element_type if is_tensor_type(type) else type


def reassociation(groups: Sequence[Sequence[int]]) -> ArrayAttr:
    """The `reassociation` property of `tensor.collapse_shape` and `tensor.expand_shape`."""
    return ArrayAttr([ArrayAttr([IntegerAttr(dim, i64) for dim in group]) for group in groups])


def _slice_properties(
    offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int], segments: Sequence[int]
) -> dict[str, Attribute]:
    return {
        "static_offsets": DenseArrayBase.from_list(i64, list(offsets)),
        "static_sizes": DenseArrayBase.from_list(i64, list(sizes)),
        "static_strides": DenseArrayBase.from_list(i64, list(strides)),
        "operandSegmentSizes": DenseArrayBase.from_list(IntegerType(32), list(segments)),
    }


def splat_of(attr: DenseAttr) -> ScalarAttr | None:
    """The scalar of a splat (or one-element) constant of a type that has one."""
    if not attr.is_splat and attr.buffer.nbytes != element_byte_size(attr.element_type):
        return None
    if attr.is_splat or attr.shape.count(1) == len(attr.shape):
        if is_complex_type(attr.element_type):
            part, raw = attr.element_type.element_type, bytes(attr.buffer)
            half = len(raw) // 2
            pair = decode_scalar(part, raw[:half]), decode_scalar(part, raw[half:])
            return number_attribute(attr.element_type, complex(*pair))
        return scalar_attribute(attr.element_type, decode_scalar(attr.element_type, bytes(attr.buffer)))
    return None
