"""`hal.executable*` and `hal.interface.*`: device code, its entry points and what it sees inside a workgroup.

Operand, result and property names and order are IREE 3.13's.
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure, SymbolOpInterface, SymbolTable

from tiree.dialects.hal_attrs import (
    DeviceType,
    ExecutableTargetAttr,
    ExecutableType,
    PipelineLayoutAttr,
)
from tiree.support.typed import int_of


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """`hal.return`: ends a workgroup count or condition region."""

    name = "hal.return"
    arguments = var_operand_def()
    traits = traits_def(IsTerminator())

    def __init__(self, *values: SSAValue | Operation) -> None:
        super().__init__(operands=[list(values)])


@irdl_op_definition
class ExecutableOp(IRDLOperation):
    """`hal.executable`: one executable in one or more target variants (or binaries)."""

    name = "hal.executable"
    sym_visibility = opt_prop_def(StringAttr)
    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), SymbolTable())

    def __init__(self, name: str, body: Region, visibility: str | None = "private") -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "sym_visibility": StringAttr(visibility) if visibility else None,
            },
            regions=[body],
        )

    @property
    def variants(self) -> list[ExecutableVariantOp]:
        return [op for op in self.body.block.ops if isinstance(op, ExecutableVariantOp)]

    @property
    def binaries(self) -> list[ExecutableBinaryOp]:
        return [op for op in self.body.block.ops if isinstance(op, ExecutableBinaryOp)]


@irdl_op_definition
class ExecutableEndOp(IRDLOperation):
    """`hal.executable_end`."""

    name = "hal.executable_end"
    traits = traits_def(IsTerminator())


@irdl_op_definition
class ExecutableVariantOp(IRDLOperation):
    """`hal.executable.variant`: exports and an inner module for one target."""

    name = "hal.executable.variant"
    sym_visibility = opt_prop_def(StringAttr)
    sym_name = prop_def(SymbolNameConstraint())
    target = prop_def(ExecutableTargetAttr)
    objects = opt_prop_def(ArrayAttr)
    sources = opt_prop_def(DictionaryAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), SymbolTable())

    def __init__(self, target: ExecutableTargetAttr, body: Region, name: str | None = None) -> None:
        super().__init__(
            properties={"sym_name": StringAttr(name or target.symbol_name), "target": target}, regions=[body]
        )

    @property
    def exports(self) -> list[ExecutableExportOp]:
        return [op for op in self.body.block.ops if isinstance(op, ExecutableExportOp)]

    @property
    def condition(self) -> ExecutableConditionOp | None:
        """What a device must answer before it runs this variant; None: nothing."""
        return next((op for op in self.body.block.ops if isinstance(op, ExecutableConditionOp)), None)

    @property
    def inner_module(self) -> ModuleOp | None:
        """The module of device code; None for an executable whose objects come from elsewhere."""
        return next((op for op in self.body.block.ops if isinstance(op, ModuleOp)), None)


@irdl_op_definition
class ExecutableVariantEndOp(IRDLOperation):
    """`hal.executable.variant_end`."""

    name = "hal.executable.variant_end"
    traits = traits_def(IsTerminator())


@irdl_op_definition
class ExecutableExportOp(IRDLOperation):
    """`hal.executable.export`: an entry point; its first region computes the workgroup count from the workload.

    The region's block takes `!hal.device` and one index per workload value and ends with `hal.return` of x, y, z. The
    second region (a condition with a fallback) is empty here.
    """

    name = "hal.executable.export"
    sym_visibility = opt_prop_def(StringAttr)
    sym_name = prop_def(SymbolNameConstraint())
    ordinal = opt_prop_def(IntegerAttr)
    layout = prop_def(PipelineLayoutAttr)
    workgroup_size = opt_prop_def(ArrayAttr)
    subgroup_size = opt_prop_def(IntegerAttr)
    workgroup_local_memory = opt_prop_def(IntegerAttr)
    source_locs = opt_prop_def(DictionaryAttr)
    workgroup_count = region_def()
    condition = region_def()
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(self, name: str, ordinal: int, layout: PipelineLayoutAttr, workgroup_count: Region) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "ordinal": IntegerAttr(ordinal, IndexType()),
                "layout": layout,
            },
            regions=[workgroup_count, Region()],
        )


@irdl_op_definition
class ExecutableConditionOp(IRDLOperation):
    """`hal.executable.condition`: whether a device can run the variant, asked when the program starts.

    The region's block takes the `!hal.device` and ends with `hal.return` of an i1. The first variant that has none, or
    whose answer is true, is used.
    """

    name = "hal.executable.condition"
    function_type = prop_def(FunctionType)
    body = region_def()
    traits = traits_def(IsolatedFromAbove())

    def __init__(self, body: Region) -> None:
        super().__init__(
            properties={"function_type": FunctionType.from_lists([DeviceType()], [i1])},
            regions=[body],
        )


@irdl_op_definition
class ExecutableBinaryOp(IRDLOperation):
    """`hal.executable.binary`: compiled bytes (`data` is a `DenseAttr` of `vector<NxI8>`)."""

    name = "hal.executable.binary"
    sym_visibility = opt_prop_def(StringAttr)
    sym_name = prop_def(SymbolNameConstraint())
    format = prop_def(StringAttr)
    data = prop_def(Attribute)
    mime_type = opt_prop_def(StringAttr)
    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: str, format: str, data: Attribute, mime_type: str | None = None) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "format": StringAttr(format),
                "data": data,
                "mime_type": StringAttr(mime_type) if mime_type else None,
            }
        )


@irdl_op_definition
class ExecutableConstantBlockOp(IRDLOperation):
    """`hal.executable.constant.block`: computes load-time constants of a variant on the host."""

    name = "hal.executable.constant.block"
    function_type = prop_def(Attribute)
    keys = prop_def(ArrayAttr)
    arg_attrs = opt_prop_def(ArrayAttr)
    res_attrs = opt_prop_def(ArrayAttr)
    body = region_def()
    traits = traits_def(IsolatedFromAbove())


@irdl_op_definition
class ExecutableCreateOp(IRDLOperation):
    """`hal.executable.create`: loads the variant `executable_target` (`@executable::@variant`) on a device."""

    name = "hal.executable.create"
    device = operand_def(DeviceType)
    queue_affinity = operand_def(i64)
    constants = var_operand_def(i32)
    executable_target = prop_def(SymbolRefAttr)
    result = result_def(ExecutableType)
    traits = traits_def(Pure())

    def __init__(self, device: SSAValue, queue_affinity: SSAValue, target: SymbolRefAttr) -> None:
        super().__init__(
            operands=[device, queue_affinity, []],
            properties={"executable_target": target},
            result_types=[ExecutableType()],
        )


@irdl_op_definition
class ExecutableLookupFunctionOp(IRDLOperation):
    """`hal.executable.lookup.function`: the function id of `@executable::@variant::@export`."""

    name = "hal.executable.lookup.function"
    executable = operand_def(ExecutableType)
    entry_point = prop_def(SymbolRefAttr)
    result = result_def(i64)
    traits = traits_def(Pure())

    def __init__(self, executable: SSAValue, entry_point: SymbolRefAttr) -> None:
        super().__init__(operands=[executable], properties={"entry_point": entry_point}, result_types=[i64])


class _WorkgroupOp(IRDLOperation):
    """Base of the per-dimension queries of a workgroup."""

    dimension = prop_def(IntegerAttr)
    upper_bound = opt_prop_def(IntegerAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, dimension: int) -> None:
        super().__init__(properties={"dimension": IntegerAttr(dimension, IndexType())}, result_types=[IndexType()])

    def print(self, printer: Printer) -> None:
        printer.print_string(f"[{int_of(self.dimension)}]")
        if self.upper_bound is not None:
            printer.print_string(f" upper_bound {int_of(self.upper_bound)}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class InterfaceWorkgroupIDOp(_WorkgroupOp):
    """`hal.interface.workgroup.id`: which workgroup this is, along one dimension."""

    name = "hal.interface.workgroup.id"


@irdl_op_definition
class InterfaceWorkgroupCountOp(_WorkgroupOp):
    """`hal.interface.workgroup.count`: workgroups of the grid along one dimension."""

    name = "hal.interface.workgroup.count"


@irdl_op_definition
class InterfaceWorkgroupSizeOp(_WorkgroupOp):
    """`hal.interface.workgroup.size`: invocations of a workgroup along one dimension."""

    name = "hal.interface.workgroup.size"


@irdl_op_definition
class InterfaceConstantLoadOp(IRDLOperation):
    """`hal.interface.constant.load`: one 32-bit dispatch constant, bitcast to the result type."""

    name = "hal.interface.constant.load"
    layout = prop_def(PipelineLayoutAttr)
    ordinal = prop_def(IntegerAttr)
    alignment = opt_prop_def(IntegerAttr)
    values = opt_prop_def(ArrayAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, layout: PipelineLayoutAttr, ordinal: int, type: Attribute = i32) -> None:
        super().__init__(
            properties={"layout": layout, "ordinal": IntegerAttr(ordinal, IndexType())}, result_types=[type]
        )


@irdl_op_definition
class InterfaceBindingSubspanOp(IRDLOperation):
    """`hal.interface.binding.subspan`: the memory of a binding from `byte_offset` on, as the result type."""

    name = "hal.interface.binding.subspan"
    byte_offset = opt_operand_def(IndexType)
    dynamic_dims = var_operand_def(IndexType)
    layout = prop_def(PipelineLayoutAttr)
    binding = prop_def(IntegerAttr)
    alignment = opt_prop_def(IntegerAttr)
    descriptor_flags = opt_prop_def(IntegerAttr)
    result = result_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    def __init__(
        self,
        layout: PipelineLayoutAttr,
        binding: int,
        byte_offset: SSAValue | None,
        type: Attribute,
        dynamic_dims: list[SSAValue] | None = None,
        alignment: int | None = 64,
    ) -> None:
        flags = layout.bindings.data[binding].flag_bits
        super().__init__(
            operands=[byte_offset, dynamic_dims or []],
            properties={
                "layout": layout,
                "binding": IntegerAttr(binding, IndexType()),
                "alignment": None if alignment is None else IntegerAttr(alignment, IndexType()),
                "descriptor_flags": IntegerAttr(flags, IntegerType(32)) if flags else None,
            },
            result_types=[type],
        )

    @property
    def binding_index(self) -> int:
        return self.binding.value.data


HAL_EXECUTABLE_OPS: list[type[Operation]] = [
    ReturnOp,
    ExecutableOp,
    ExecutableEndOp,
    ExecutableVariantOp,
    ExecutableVariantEndOp,
    ExecutableExportOp,
    ExecutableConditionOp,
    ExecutableBinaryOp,
    ExecutableConstantBlockOp,
    ExecutableCreateOp,
    ExecutableLookupFunctionOp,
    InterfaceWorkgroupIDOp,
    InterfaceWorkgroupCountOp,
    InterfaceWorkgroupSizeOp,
    InterfaceConstantLoadOp,
    InterfaceBindingSubspanOp,
]


def executable_body(ops: list[Operation]) -> Region:
    """A single-block region of `ops`, terminator included."""
    return Region(Block(ops))
