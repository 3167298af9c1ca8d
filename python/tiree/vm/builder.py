"""`FunctionBuilder`: emits `vm` operations for one function, with constants and rodata references shared.

May assume that the source function is in SSA form over `cf` blocks. Constants go to the entry block, once each; string
and data references are loaded once per block.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    StringAttr,
    SymbolRefAttr,
    VectorType,
    f32,
    f64,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, ParametrizedAttribute, Region, SSAValue, TypeAttribute

from tiree.dialects import vm
from tiree.dialects.dense import DenseAttr
from tiree.support.creation import make
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.symbols import SymbolNames
from tiree.support.typed import is_integer_attr, is_integer_type
from tiree.vm.imports import ImportDecl, argument_type, import_decl, vm_type

Span = list[tuple[SSAValue, ...]]
"""The tuples of one variadic argument."""


def fail(op: Operation, message: str, hint: str = "") -> CompileError:
    return CompileError(Diagnostic(message, location_of(op), hint))


def convert_type(type: Attribute, op: Operation) -> Attribute:
    """The register type that holds a host value of `type`."""
    if type is i32 or type is i64:
        return type
    match type:
        case IndexType():
            return i64
        case IntegerType():
            width = type.width.data
            if width <= 32:
                return i32
            if width == 64:
                return i64
        case vm.RefType() | vm.BufferType() | vm.ListType():
            return type
        case _ if type in (f32, f64):
            return type
        case _ if type.name == "util.buffer":
            return vm.BufferType()
        case ParametrizedAttribute() if type.name == "util.list":
            return vm.ListType(convert_type(type.parameters[0], op))
        case _ if type.name.startswith("hal."):
            return _reference(type)
        case _:
            pass
    raise fail(op, f"a value of type {type} cannot live in a host register", "use i32, i64, f32 or f64 scalars")


def scalar_suffix(type: Attribute) -> str:
    """`i32`, `i64`, `f32`, `f64` or `ref`: the suffix of instructions that work on a register of `type`."""
    if type is i32 or type == i32:
        return "i32"
    if type == i64:
        return "i64"
    if type == f32:
        return "f32"
    return "f64" if type == f64 else "ref"


class ModuleState:
    """What functions share: rodata by content, and the imports that are used."""

    def __init__(self, names: SymbolNames) -> None:
        self.names = names
        self.rodata: dict[object, vm.RodataOp] = {}
        self.function_names: dict[str, str] = {}
        """Functions whose names imports or the initializer need, and what they are called instead."""
        self.imports: dict[str, ImportDecl] = {}
        self.yielding_functions: set[str] = set()
        self.fallbacks: dict[str, str] = {}
        """Functions of other modules that may be absent, and what is called instead."""
        self.binaries: dict[tuple[str, str], Operation] = {}
        """`hal.executable.binary` by the names of executable and variant."""
        self.size_check: vm.FuncOp | None = None
        """The function that checks of sizes share (`convert_checks.py`)."""

    def rodata_op(self, value: Attribute, name: str, alignment: int, mime_type: str = "") -> vm.RodataOp:
        """The rodata of `value`, made on first use; equal values share one."""
        key = (value, alignment)
        op = self.rodata.get(key)
        if op is None:
            properties: dict[str, Attribute] = {
                "sym_name": StringAttr(self.names.unique(name)),
                "sym_visibility": StringAttr("private"),
                "value": value,
                "alignment": IntegerAttr(alignment, i64),
            }
            if mime_type:
                properties["mime_type"] = StringAttr(mime_type)
            op = self.rodata[key] = vm.RodataOp(properties=properties)
        return op

    def function_name(self, symbol: str) -> str:
        """What the function `symbol` of the source is called in the `vm.module`."""
        return self.function_names.get(symbol, symbol)

    def use_import(self, name: str) -> ImportDecl:
        decl = self.imports.get(name)
        if decl is None:
            decl = self.imports[name] = import_decl(name)
        return decl


class FunctionBuilder:
    """Appends to `self.block`; `self.values` maps source values to their registers' values."""

    def __init__(self, state: ModuleState, region: Region) -> None:
        self.state = state
        self.region = region
        self.values: dict[SSAValue, SSAValue] = {}
        self.offsets: dict[SSAValue, SSAValue] = {}
        """In kernels: where in its buffer a memref of the source begins, in elements, unless at its start."""
        self.blocks: dict[Block, Block] = {}
        """Blocks of the source to blocks of the function."""
        self.failures: list[Block] = []
        """Blocks that only fail; they are placed last."""
        self.return_block: Block | None = None
        """Where `util.return` of an inlined initializer goes on."""
        self.inlined = False
        self.location: LocationAttr | None = None
        """Where the operation that is being converted stands in the user's source."""
        self.block = Block()
        self._constants: dict[tuple[str, object], SSAValue] = {}
        self._integers: dict[tuple[int | float, bool], SSAValue] = {}
        """Those of type i32 (true) and i64 once more, found sooner."""
        self._last_constant: Operation | None = None
        self._rodata_refs: dict[tuple[Block, str], SSAValue] = {}

    # Emission.

    def emit(
        self, name: str, operands: Sequence[SSAValue], types: Sequence[Attribute] = (), **properties: Attribute
    ) -> Operation:
        """Appends `vm.<name>`; a property called `global` or `import` is passed as `global_`, `import_`."""
        given = {k.rstrip("_"): v for k, v in properties.items()}
        location = UNKNOWN_LOC if self.location is None else self.location
        op = make(vm.value_op(name), operands, types, given, {}, location)
        self.block.add_op(op)
        return op

    def value(self, name: str, operands: Sequence[SSAValue], type: Attribute, **properties: Attribute) -> SSAValue:
        """Appends an operation with one result and returns the result."""
        return self.emit(name, operands, [type], **properties).results[0]

    def new_block(self, arg_types: Sequence[Attribute] = ()) -> Block:
        """A new block, placed directly after the current one."""
        block = Block(arg_types=arg_types)
        self.region.insert_block_after(block, self.block)
        return block

    def start(self, block: Block) -> None:
        """Places `block` at the end of the function and goes on there."""
        self.region.add_block(block)
        self.block = block

    def finish(self) -> None:
        """Places the failing blocks and drops constants that nothing uses. The function is complete then."""
        for block in self.failures:
            self.region.add_block(block)
        for value in self._constants.values():
            if value.first_use is None:
                assert isinstance(value.owner, Operation)
                value.owner.detach()
                value.owner.erase()

    # Constants.

    def constant(self, value: int | float, type: Attribute) -> SSAValue:
        """A constant of register type i32, i64, f32 or f64; integers wrap to the width."""
        if type is i32 or type is i64:
            key = value, type is i32
            found = self._integers.get(key)
            if found is None:
                found = self._integers[key] = self._constant(value, type)
            return found
        return self._constant(value, type)

    def _constant(self, value: int | float, type: Attribute) -> SSAValue:
        suffix = scalar_suffix(type)
        if is_integer_type(type):
            width = type.width.data
            number = int(value) & ((1 << width) - 1)
            number -= (number >> (width - 1)) << width
            found = self._constants.get((suffix, number))
            if found is not None:
                return found
            attr: Attribute = IntegerAttr(number, type)
            zero = number == 0
            key: tuple[str, object] = (suffix, number)
        else:
            assert isinstance(type, Float32Type | Float64Type)
            attr = FloatAttr(float(value), type)
            zero = value == 0 and str(float(value))[0] != "-"
            key = (suffix, attr)
        found = self._constants.get(key)
        if found is None:
            if zero:
                op = vm.value_op(f"const.{suffix}.zero").create(result_types=[type])
            else:
                op = vm.value_op(f"const.{suffix}").create(result_types=[type], properties={"value": attr})
            found = self._constants[key] = self._add_to_entry(op)
        return found

    def i32(self, value: int) -> SSAValue:
        return self.constant(value, i32)

    def i64(self, value: int) -> SSAValue:
        return self.constant(value, i64)

    def null(self, type: Attribute) -> SSAValue:
        """A null reference."""
        key = ("ref", type)
        found = self._constants.get(key)
        if found is None:
            op = vm.value_op("const.ref.zero").create(result_types=[type])
            found = self._constants[key] = self._add_to_entry(op)
        return found

    def _add_to_entry(self, op: Operation) -> SSAValue:
        entry = self.region.blocks[0]
        if self._last_constant is not None:
            entry.insert_op_after(op, self._last_constant)
        elif entry.first_op is not None:
            entry.insert_op_before(op, entry.first_op)
        else:
            entry.add_op(op)
        self._last_constant = op
        return op.results[0]

    def rodata(self, op: vm.RodataOp) -> SSAValue:
        """A reference to read-only data."""
        name = op.sym_name.data
        key = (self.block, name)
        found = self._rodata_refs.get(key)
        if found is None:
            found = self.value("const.ref.rodata", [], vm.BufferType(), rodata=SymbolRefAttr(name))
            self._rodata_refs[key] = found
        return found

    def string(self, text: str) -> SSAValue:
        """A reference to the UTF-8 bytes of `text` in rodata."""
        stem = "".join(c if c.isalnum() else "_" for c in text[:24])
        return self.rodata(self.state.rodata_op(StringAttr(text), f"_utf8_{stem}", 1))

    # Values.

    def get(self, value: SSAValue) -> SSAValue:
        """What `value` of the source became."""
        return self.values[value]

    def as_type(self, value: SSAValue, type: Attribute) -> SSAValue:
        """`value` widened or narrowed between i32 and i64; other types must agree already."""
        if value.type is type or not is_integer_type(type) or not is_integer_type(value.type) or value.type == type:
            return value
        constant = value.owner
        if isinstance(constant, Operation) and constant.name.startswith("vm.const.i"):
            attr = constant.properties.get("value")
            return self.constant(attr.value.data if is_integer_attr(attr) else 0, type)
        return self.value("trunc.i64.i32" if type == i32 else "ext.i32.i64.s", [value], type)

    # Calls of imports.

    def call_import(self, name: str, arguments: Sequence[SSAValue | Span]) -> list[SSAValue]:
        """Calls a row of the import table; plain arguments are converted between i32 and i64 as the row says.

        A row that may suspend ends the block: emission goes on in a new one.
        """
        decl = self.state.use_import(name)
        signature = _signature(name)
        operands: list[SSAValue] = []
        segments: list[int] = []
        for types, argument in zip(signature.arguments, arguments, strict=True):
            if isinstance(argument, list):
                segments.append(len(argument))
                operands += [self.as_type(v, t) for group in argument for v, t in zip(group, types, strict=True)]
            else:
                segments.append(-1)
                operands.append(self.as_type(argument, types[0]))
        results = signature.results
        properties: dict[str, Attribute] = {"callee": signature.callee}
        if signature.is_variadic:
            properties["segment_sizes"] = segment_attr(tuple(segments))
            properties["segment_types"] = segment_types(name)
        if "yield" in decl.flags:
            return self._suspending_call(operands, results, properties)
        call = self.emit("call.variadic" if signature.is_variadic else "call", operands, results, **properties)
        return list(call.results)

    def _suspending_call(
        self, operands: Sequence[SSAValue], results: Sequence[Attribute], properties: dict[str, Attribute]
    ) -> list[SSAValue]:
        after = self.new_block(results)
        self.block.add_op(
            vm.YieldableCallOp.create(
                operands=operands,
                properties={**properties, "result_types": ArrayAttr(results)},
                successors=[after],
                location=self.location,
            )
        )
        self.block = after
        return list(after.args)


class _Signature(NamedTuple):
    """What the calls of an import have in common."""

    arguments: list[list[TypeAttribute]]
    results: list[TypeAttribute]
    callee: SymbolRefAttr
    is_variadic: bool


@cache
def _signature(name: str) -> _Signature:
    decl = import_decl(name)
    arguments = [[vm_type(type) for type in argument.types] for argument in decl.arguments]
    return _Signature(arguments, [vm_type(type) for type in decl.results], SymbolRefAttr(decl.name), decl.is_variadic)


@cache
def _reference(type: Attribute) -> vm.RefType:
    return vm.RefType(type)


@cache
def segment_attr(sizes: tuple[int, ...]) -> Attribute:
    """`dense<[-1, 2]> : vector<2xi16>`: -1 for a plain argument, the count for a span."""
    data = b"".join(s.to_bytes(2, "little", signed=True) for s in sizes)
    return DenseAttr.from_buffer(VectorType(i16, [len(sizes)]), data)


@cache
def segment_types(name: str) -> ArrayAttr:
    """The types of the arguments of an import."""
    return ArrayAttr([argument_type(argument) for argument in import_decl(name).arguments])
