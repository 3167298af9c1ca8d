"""The `util` dialect: functions, globals and the few operations every stage of the host program uses.

Names, properties and custom syntax are IREE 3.13's. Assumes xDSL only. Tied results are listed by operand index in
`tied_operands` (-1: not tied), as IREE has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttrConstr,
    FunctionType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    MemoryReadEffect,
    MemoryWriteEffect,
    Pure,
    SymbolOpInterface,
)

from tiree.dialects.syntax.func_like import index_array, index_list, parse_func_like, parse_types_tied, print_func_like
from tiree.dialects.util_buffers import (
    BUFFER_OPS,
    BufferAllocOp,
    BufferCopyOp,
    BufferFillOp,
    BufferLoadOp,
    BufferSizeOp,
    BufferStoreOp,
    BufferSubspanOp,
)
from tiree.dialects.util_types import (
    TYPES_AND_ATTRIBUTES,
    BufferType,
    CompositeAttr,
    InlineAlwaysAttr,
    InlineNeverAttr,
    IntAssumptionAttr,
    ListType,
    ObjectType,
    PtrType,
    UninitializedAttr,
)
from tiree.dialects.util_values import (
    VALUE_OPS,
    AlignOp,
    AssumeIntOp,
    BufferConstantOp,
    CastOp,
    CmpEQOp,
    CmpNEOp,
    NullOp,
    OptimizationBarrierOp,
    SizeOfOp,
    StatusCheckOkOp,
)

__all__ = [
    "AlignOp",
    "AssumeIntOp",
    "BufferAllocOp",
    "BufferConstantOp",
    "BufferCopyOp",
    "BufferFillOp",
    "BufferLoadOp",
    "BufferSizeOp",
    "BufferStoreOp",
    "BufferSubspanOp",
    "BufferType",
    "CallOp",
    "CastOp",
    "CmpEQOp",
    "CmpNEOp",
    "CompositeAttr",
    "FuncOp",
    "GlobalAddressOp",
    "GlobalLoadIndirectOp",
    "GlobalLoadOp",
    "GlobalOp",
    "GlobalStoreIndirectOp",
    "GlobalStoreOp",
    "InitializerOp",
    "InlineAlwaysAttr",
    "InlineNeverAttr",
    "IntAssumptionAttr",
    "ListType",
    "NullOp",
    "ObjectType",
    "OptimizationBarrierOp",
    "PtrType",
    "ReturnOp",
    "SizeOfOp",
    "StatusCheckOkOp",
    "UninitializedAttr",
    "UnreachableOp",
    "Util",
    "index_array",
    "index_list",
]


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A function. Without `sym_visibility` it is public: IREE's generic form leaves the property out there."""

    name = "util.func"
    sym_name: StringAttr = prop_def(SymbolNameConstraint())
    function_type: FunctionType = prop_def(FunctionType)
    tied_operands = opt_prop_def(ArrayAttr)
    sym_visibility = opt_prop_def(StringAttr)
    arg_attrs = opt_prop_def(ArrayAttr)
    res_attrs = opt_prop_def(ArrayAttr)
    inlining_policy = opt_prop_def(Attribute)
    body: Region = region_def()

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        function_type: FunctionType | tuple[Sequence[Attribute], Sequence[Attribute]],
        region: Region | None = None,
        visibility: str | None = None,
        *,
        properties: Mapping[str, Attribute | None] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> None:
        if isinstance(function_type, tuple):
            function_type = FunctionType.from_lists(*function_type)
        if region is None:
            region = Region() if visibility == "private" else Region(Block(arg_types=function_type.inputs))
        super().__init__(
            regions=[region],
            properties={
                "sym_name": StringAttr(name),
                "function_type": function_type,
                "sym_visibility": StringAttr(visibility) if visibility and visibility != "public" else None,
                **(properties or {}),
            },
            attributes=dict(attributes or {}),
        )

    @property
    def is_public(self) -> bool:
        return self.sym_visibility is None or self.sym_visibility.data == "public"

    @property
    def is_external(self) -> bool:
        """Whether it only declares a function of another module."""
        return not self.body.blocks

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        return parse_func_like(cls, parser, inherent=("inlining_policy",))

    def print(self, printer: Printer) -> None:
        print_func_like(self, printer, inherent=("inlining_policy",))


@irdl_op_definition
class InitializerOp(IRDLOperation):
    """Code that runs once when a context loads the module, in module order."""

    name = "util.initializer"
    function_type: FunctionType = prop_def(FunctionType)
    body: Region = region_def()

    traits = traits_def(IsolatedFromAbove())

    def __init__(self, body: Region | None = None) -> None:
        super().__init__(
            regions=[Region(Block()) if body is None else body],
            properties={"function_type": FunctionType.from_lists([], [])},
        )

    @classmethod
    def parse(cls, parser: Parser) -> InitializerOp:
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(parser.parse_region())
        if attributes is not None:
            op.attributes.update(attributes.data)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Returns from a function or initializer."""

    name = "util.return"
    operands_ = var_operand_def()
    assembly_format = "attr-dict ($operands_^ `:` type($operands_))?"

    traits = traits_def(IsTerminator(), Pure())

    def __init__(self, *values: SSAValue | Operation) -> None:
        super().__init__(operands=[values])


@irdl_op_definition
class UnreachableOp(IRDLOperation):
    """Ends a block that is never left; `message` says what went wrong if it is reached."""

    name = "util.unreachable"
    message: StringAttr = prop_def(StringAttr)
    assembly_format = "$message attr-dict"

    traits = traits_def(IsTerminator())


@irdl_op_definition
class CallOp(IRDLOperation):
    """Calls a function of this module or an imported one."""

    name = "util.call"
    callee: SymbolRefAttr = prop_def(FlatSymbolRefAttrConstr)
    tied_operands = opt_prop_def(ArrayAttr)
    arg_attrs = opt_prop_def(ArrayAttr)
    res_attrs = opt_prop_def(ArrayAttr)
    operands_ = var_operand_def()
    results_ = var_result_def()

    def __init__(
        self, callee: str | SymbolRefAttr, arguments: Sequence[SSAValue], result_types: Sequence[Attribute]
    ) -> None:
        super().__init__(
            operands=[arguments],
            result_types=[result_types],
            properties={"callee": SymbolRefAttr(callee) if isinstance(callee, str) else callee},
        )

    @classmethod
    def parse(cls, parser: Parser) -> CallOp:
        callee = parser.parse_symbol_name()
        names = parser.parse_op_args_list()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        input_types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        arguments = list(parser.resolve_operands(names, input_types, parser.pos))
        parser.parse_punctuation("->")
        result_types, tied = parse_types_tied(parser, arguments)
        op = cls(SymbolRefAttr(callee), arguments, result_types)
        if any(index >= 0 for index in tied):
            op.tied_operands = index_array(tied)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.callee)
        printer.print_operands(self.operands)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : (")
        printer.print_list(self.operand_types, printer.print_attribute)
        printer.print_string(") -> ")
        tied = index_list(self.tied_operands, len(self.results))
        single = len(self.results) == 1 and not isinstance(self.results[0].type, FunctionType)
        printer.print_string("" if single else "(")
        for number, (result, index) in enumerate(zip(self.results, tied, strict=True)):
            printer.print_string(", " if number else "")
            if index < 0:
                printer.print_attribute(result.type)
                continue
            printer.print_ssa_value(self.operands[index])
            if self.operands[index].type != result.type:
                printer.print_string(" as ")
                printer.print_attribute(result.type)
        printer.print_string("" if single else ")")


def _parse_inlining_policy(parser: Parser) -> Attribute | None:
    """`<inlining_policy = #util.inline.never>`, if present."""
    if parser.parse_optional_punctuation("<") is None:
        return None
    parser.parse_keyword("inlining_policy")
    parser.parse_punctuation("=")
    policy = parser.parse_attribute()
    parser.parse_punctuation(">")
    return policy


@irdl_op_definition
class GlobalOp(IRDLOperation):
    """A variable of the module. Initialised by `initial_value` or by an initializer's store."""

    name = "util.global"
    sym_name: StringAttr = prop_def(SymbolNameConstraint())
    sym_visibility = opt_prop_def(StringAttr)
    type: Attribute = prop_def(Attribute)
    is_mutable = opt_prop_def(UnitAttr)
    initial_value = opt_prop_def(Attribute)
    inlining_policy = opt_prop_def(Attribute)

    traits = traits_def(SymbolOpInterface())

    def __init__(
        self,
        name: str,
        type: Attribute,
        initial_value: Attribute | None = None,
        visibility: str = "private",
        *,
        mutable: bool = False,
        inlining_policy: Attribute | None = None,
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "sym_visibility": StringAttr(visibility),
                "type": type,
                "is_mutable": UnitAttr() if mutable else None,
                "initial_value": initial_value,
                "inlining_policy": inlining_policy,
            }
        )

    @classmethod
    def parse(cls, parser: Parser) -> GlobalOp:
        visibility = parser.parse_optional_visibility_keyword() or StringAttr("public")
        mutable = parser.parse_optional_keyword("mutable") is not None
        name = parser.parse_symbol_name().data
        policy = _parse_inlining_policy(parser)
        attributes = parser.parse_optional_attr_dict()
        initial, type = None, None
        if parser.parse_optional_punctuation("="):
            initial = parser.parse_attribute()
            get_type = getattr(initial, "get_type", None)
            type = get_type() if get_type else getattr(initial, "type", None)
            if type is None and initial.name.startswith("hal.device."):
                type = parser.ctx.get_type("hal.device")()
        if parser.parse_optional_punctuation(":"):
            type = parser.parse_type()
        if type is None:
            parser.raise_error("a global needs a type: write `: type` after its value")
        op = cls(name, type, initial, visibility.data, mutable=mutable, inlining_policy=policy)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.sym_visibility.data if self.sym_visibility else 'public'}")
        printer.print_string(" mutable " if self.is_mutable is not None else " ")
        printer.print_symbol_name(self.sym_name)
        if self.inlining_policy is not None:
            printer.print_string(" <inlining_policy = ")
            printer.print_attribute(self.inlining_policy)
            printer.print_string(">")
        printer.print_op_attributes(self.attributes)
        if self.initial_value is None:
            printer.print_string(" : ")
            printer.print_attribute(self.type)
            return
        printer.print_string(" = ")
        printer.print_attribute(self.initial_value)
        typed = hasattr(self.initial_value, "get_type") or hasattr(self.initial_value, "type")
        if not typed and not self.initial_value.name.startswith("hal.device."):
            printer.print_string(" : ")
            printer.print_attribute(self.type)


@irdl_op_definition
class GlobalAddressOp(IRDLOperation):
    """The address of a global."""

    name = "util.global.address"
    global_: SymbolRefAttr = prop_def(FlatSymbolRefAttrConstr, prop_name="global")
    result = result_def()
    assembly_format = "$global attr-dict `:` type($result)"

    traits = traits_def(Pure())


@irdl_op_definition
class GlobalLoadOp(IRDLOperation):
    """Reads a global. `is_immutable`: nobody writes it after initialisation."""

    name = "util.global.load"
    global_: SymbolRefAttr = prop_def(FlatSymbolRefAttrConstr, prop_name="global")
    is_immutable = opt_prop_def(UnitAttr)
    result = result_def()
    assembly_format = "(`immutable` $is_immutable^)? $global attr-dict `:` type($result)"

    traits = traits_def(MemoryReadEffect())

    def __init__(self, name: str, type: Attribute, *, immutable: bool = False) -> None:
        super().__init__(
            result_types=[type],
            properties={"global": SymbolRefAttr(name), "is_immutable": UnitAttr() if immutable else None},
        )


@irdl_op_definition
class GlobalLoadIndirectOp(IRDLOperation):
    """Reads a global through its address."""

    name = "util.global.load.indirect"
    source = operand_def()
    is_immutable = opt_prop_def(UnitAttr)
    result = result_def()
    assembly_format = "(`immutable` $is_immutable^)? $source attr-dict `:` type($source) `->` type($result)"

    traits = traits_def(MemoryReadEffect())


@irdl_op_definition
class GlobalStoreOp(IRDLOperation):
    """Writes a global."""

    name = "util.global.store"
    global_: SymbolRefAttr = prop_def(FlatSymbolRefAttrConstr, prop_name="global")
    value = operand_def()
    assembly_format = "$value `,` $global attr-dict `:` type($value)"

    traits = traits_def(MemoryWriteEffect())

    def __init__(self, value: SSAValue | Operation, name: str) -> None:
        super().__init__(operands=[value], properties={"global": SymbolRefAttr(name)})


@irdl_op_definition
class GlobalStoreIndirectOp(IRDLOperation):
    """Writes a global through its address."""

    name = "util.global.store.indirect"
    value = operand_def()
    target = operand_def()
    assembly_format = "$value `,` $target attr-dict `:` type($value) `->` type($target)"

    traits = traits_def(MemoryWriteEffect())


Util = Dialect(
    "util",
    [
        FuncOp,
        InitializerOp,
        ReturnOp,
        UnreachableOp,
        CallOp,
        GlobalOp,
        GlobalAddressOp,
        GlobalLoadOp,
        GlobalLoadIndirectOp,
        GlobalStoreOp,
        GlobalStoreIndirectOp,
        *VALUE_OPS,
        *BUFFER_OPS,
    ],
    TYPES_AND_ATTRIBUTES,
)
