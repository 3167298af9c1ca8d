"""The `vm` dialect: the host program just before it becomes bytecode.

Types are `i32`, `i64`, `f32`, `f64`, `!vm.buffer`, `!vm.list<T>` and `!vm.ref<T>`. Operations carry IREE's generic
names and properties. Value operations (arithmetic, comparisons, casts, buffer and list access...) all have one shape,
any operands to any results, and differ by name only: `value_op("add.i32")` is the class of `vm.add.i32`, made on first
use.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import ArrayAttr, FunctionType, IntegerAttr, NoneAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Block, Dialect, Operation, ParametrizedAttribute, Region, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    param_def,
    prop_def,
    region_def,
    successor_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator, SymbolOpInterface, SymbolTable

from tiree.dialects import vm_composed, vm_isa


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """A byte buffer of the VM; also what strings and constants are."""

    name = "vm.buffer"


class _Holder(ParametrizedAttribute, TypeAttribute):
    """A type with one parameter, a type or `?` for any (a `NoneAttr` here)."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [NoneAttr() if parser.parse_optional_punctuation("?") is not None else parser.parse_type()]

    def print_parameters(self, printer: Printer) -> None:
        (held,) = self.parameters
        printer.print_string("<")
        if isinstance(held, NoneAttr):
            printer.print_string("?")
        else:
            printer.print_attribute(held)
        printer.print_string(">")


@irdl_attr_definition
class RefType(_Holder):
    """A counted reference to an object of `object_type`, such as `!vm.ref<!hal.fence>`."""

    name = "vm.ref"
    object_type: Attribute = param_def()


@irdl_attr_definition
class ListType(_Holder):
    """A growable list."""

    name = "vm.list"
    element_type: Attribute = param_def()


def is_ref(type: Attribute) -> bool:
    """Whether values of `type` are counted references (they live in the ref register bank)."""
    return isinstance(type, (RefType, BufferType, ListType))


@irdl_op_definition
class ModuleOp(IRDLOperation):
    """Holds globals, rodata, imports, functions and exports; one becomes one bytecode module."""

    name = "vm.module"
    sym_name = prop_def(StringAttr)
    sym_visibility = opt_prop_def(StringAttr)
    version = opt_prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolTable(), SymbolOpInterface())

    def __init__(self, name: str) -> None:
        super().__init__(properties={"sym_name": StringAttr(name)}, regions=[Region(Block())])


@irdl_op_definition
class ModuleTerminatorOp(IRDLOperation):
    name = "vm.module_terminator"
    traits = traits_def(IsTerminator())


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A function. Discardable attributes `vm.yield` and `vm.unwind` state what it needs of the interpreter."""

    name = "vm.func"
    sym_name = prop_def(StringAttr)
    sym_visibility = opt_prop_def(StringAttr)
    function_type = prop_def(FunctionType)
    arg_attrs = opt_prop_def(ArrayAttr)
    res_attrs = opt_prop_def(ArrayAttr)
    inlining_policy = opt_prop_def(Attribute)
    body = region_def()
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(self, name: str, inputs: Sequence[Attribute], outputs: Sequence[Attribute], body: Region) -> None:
        properties = {
            "sym_name": StringAttr(name),
            "sym_visibility": StringAttr("private"),
            "function_type": FunctionType.from_lists(list(inputs), list(outputs)),
        }
        super().__init__(properties=properties, regions=[body])


@irdl_op_definition
class ExportOp(IRDLOperation):
    name = "vm.export"
    export_name = prop_def(StringAttr)
    function_ref = prop_def(SymbolRefAttr)

    def __init__(self, name: str, function: str) -> None:
        super().__init__(properties={"export_name": StringAttr(name), "function_ref": SymbolRefAttr(function)})


@irdl_op_definition
class ImportOp(IRDLOperation):
    """A function of another module, `@hal.fence.create`. A variadic argument has `vm.variadic` in its `arg_attrs`."""

    name = "vm.import"
    sym_name = prop_def(StringAttr)
    sym_visibility = opt_prop_def(StringAttr)
    function_type = prop_def(FunctionType)
    arg_attrs = opt_prop_def(ArrayAttr)
    res_attrs = opt_prop_def(ArrayAttr)
    minimum_version = opt_prop_def(IntegerAttr)
    is_optional = opt_prop_def(Attribute)
    body = region_def()
    traits = traits_def(NoTerminator(), SymbolOpInterface())


@irdl_op_definition
class RodataOp(IRDLOperation):
    """Read-only data: a string, a `DenseAttr` or a `#util.composite`."""

    name = "vm.rodata"
    sym_name = prop_def(StringAttr)
    sym_visibility = opt_prop_def(StringAttr)
    value = prop_def(Attribute)
    alignment = opt_prop_def(IntegerAttr)
    ordinal = opt_prop_def(IntegerAttr)
    mime_type = opt_prop_def(StringAttr)
    traits = traits_def(SymbolOpInterface())


@irdl_op_definition
class _GlobalOp(IRDLOperation):
    name = "vm.global.i32"
    sym_name = prop_def(StringAttr)
    sym_visibility = opt_prop_def(StringAttr)
    type = prop_def(Attribute)
    is_mutable = opt_prop_def(Attribute)
    initial_value = opt_prop_def(Attribute)
    inlining_policy = opt_prop_def(Attribute)
    ordinal = opt_prop_def(IntegerAttr)
    traits = traits_def(SymbolOpInterface())


@irdl_op_definition
class _ValueOp(IRDLOperation):
    """The shape of every operation that neither ends a block nor declares anything."""

    name = "vm.value"
    operands_ = var_operand_def()
    results_ = var_result_def()
    # The union of what such operations carry; the table of names says which is used where.
    value = opt_prop_def(Attribute)
    rodata = opt_prop_def(Attribute)
    callee = opt_prop_def(Attribute)
    segment_sizes = opt_prop_def(Attribute)
    segment_types = opt_prop_def(Attribute)
    message = opt_prop_def(Attribute)
    event_name = opt_prop_def(Attribute)
    import_ = opt_prop_def(Attribute, prop_name="import")
    # Named `global`, a Python keyword.
    global_ = opt_prop_def(Attribute, prop_name="global")


@irdl_op_definition
class _EndOp(IRDLOperation):
    """`vm.return` and `vm.fail`: terminators without successors."""

    name = "vm.end"
    operands_ = var_operand_def()
    message = opt_prop_def(StringAttr)
    traits = traits_def(IsTerminator())


@irdl_op_definition
class BranchOp(IRDLOperation):
    name = "vm.br"
    destination_operands = var_operand_def()
    destination = successor_def()
    traits = traits_def(IsTerminator())

    def __init__(self, destination: Block, operands: Sequence[SSAValue] = ()) -> None:
        super().__init__(operands=[operands], successors=[destination])


@irdl_op_definition
class CondBranchOp(IRDLOperation):
    """Takes the true edge when the i32 `condition` is not zero."""

    name = "vm.cond_br"
    condition = var_operand_def()
    true_operands = var_operand_def()
    false_operands = var_operand_def()
    true_destination = successor_def()
    false_destination = successor_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(IsTerminator())

    def __init__(
        self,
        condition: SSAValue,
        true: Block,
        true_operands: Sequence[SSAValue],
        false: Block,
        false_operands: Sequence[SSAValue],
    ) -> None:
        super().__init__(operands=[[condition], true_operands, false_operands], successors=[true, false])


@irdl_op_definition
class YieldableCallOp(IRDLOperation):
    """A call that may suspend. It ends its block; results arrive as the arguments of `destination`."""

    name = "vm.call.variadic.yieldable"
    operands_ = var_operand_def()
    callee = prop_def(SymbolRefAttr)
    segment_sizes = opt_prop_def(Attribute)
    segment_types = opt_prop_def(Attribute)
    call_result_types = prop_def(ArrayAttr, prop_name="result_types")
    destination = successor_def()
    traits = traits_def(IsTerminator())


def _named(base: type[Operation], name: str) -> type[Operation]:
    """A class of the same shape under another name (the IRDL definition is shared: making one costs too much)."""
    return type(name, (base,), {"name": f"vm.{name}", "__doc__": f"`vm.{name}`."})


@cache
def value_op(name: str) -> type[Operation]:
    """The class of the value operation `vm.<name>`."""
    return _named(_ValueOp, name)


@cache
def global_op(suffix: str) -> type[Operation]:
    """The class of `vm.global.<suffix>` for i32, i64, f32, f64 or ref."""
    return _named(_GlobalOp, f"global.{suffix}")


@cache
def _end_op(name: str) -> type[Operation]:
    return _named(_EndOp, name)


@cache
def call_yieldable_op() -> type[Operation]:
    """The class of `vm.call.yieldable`, for calls within the module."""
    return _named(YieldableCallOp, "call.yieldable")


@cache
def jump_op(name: str) -> type[Operation]:
    """The class of `vm.yield` and `vm.break`, which are shaped as `vm.br`."""
    return _named(BranchOp, name)


def symbol(name: str) -> SymbolRefAttr:
    """A reference to `@name`."""
    return SymbolRefAttr(name)


def return_op(operands: Sequence[SSAValue] = ()) -> Operation:
    return _end_op("return").create(operands=operands)


def fail_op(status: SSAValue, message: str) -> Operation:
    return _end_op("fail").create(operands=[status], properties={"message": StringAttr(message)})


def value_names() -> list[str]:
    """Names of all value operations: the instructions that end no block."""
    markers = ("Block", "PrefixExtF32", "PrefixExtF64")
    return [name for name, row in vm_isa.INSTRUCTIONS.items() if not row.terminator and name not in markers]


def get_dialect() -> Dialect:
    """The dialect with every operation, for reading text (compiling makes only the classes that it uses)."""
    ops: list[type[Operation]] = [ModuleOp, ModuleTerminatorOp, FuncOp, ExportOp, ImportOp, RodataOp]
    ops += [BranchOp, CondBranchOp, YieldableCallOp, call_yieldable_op(), _end_op("return"), _end_op("fail")]
    ops += [global_op(t) for t in ("i32", "i64", "f32", "f64", "ref")]
    ops += [jump_op(name) for name in ("yield", "break")]
    ops += [value_op(name) for name in (*value_names(), *vm_composed.VALUES)]
    ops += vm_composed.OPERATIONS
    return Dialect("vm", ops, [BufferType, RefType, ListType])
