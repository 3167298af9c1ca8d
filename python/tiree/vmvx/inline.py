"""`tiree-vmvx-inline`: kernels in loops become functions of the host program.

In: variants of backend `vmvx-inline` whose functions are in kernel form, in scalars. Out: beside the executables a
`util.func` for each, which the export names (`tiree.inlined`). It takes the words of the dispatch, the bytes of each
binding and where they begin, and how many workgroups there are in x, y and z; it runs all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerType, ModuleOp, StringAttr, SymbolRefAttr, i32, i64
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tiree.codegen.cpu.select_strategies import cpu_variants, kernels
from tiree.dialects import util
from tiree.dialects.arith import ConstantOp, constant_int
from tiree.dialects.hal_attrs import PipelineLayoutAttr
from tiree.dialects.hal_executable import ExecutableExportOp
from tiree.dialects.hal_executable import ReturnOp as HalReturnOp
from tiree.stream.lower_control_flow import lower_region
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.marks import INLINED
from tiree.support.symbols import SymbolNames
from tiree.support.typed import int_of, is_memref_type, symbol_name, symbol_of
from tiree.vm.convert_kernel import inner_sizes
from tiree.vmvx.expand import Expansion
from tiree.vmvx.helpers import add_helpers

BACKEND = "vmvx-inline"
_ALIGNMENT = 64
_BYTES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "index": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}


class InlineKernels(ModulePass):
    """Makes the functions."""

    name = "tiree-vmvx-inline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        made = ModuleOp([])
        exports: list[tuple[ExecutableExportOp, util.FuncOp]] = []
        for variant, code, _ in cpu_variants(op, BACKEND):
            tables = {symbol_name(one): one for one in code.ops if one.name == "memref.global"}
            for export, kernel in kernels(variant, code):
                if INLINED not in export.attributes:
                    function = _Function(kernel, export, tables).make()
                    made.body.block.add_op(function)
                    exports.append((export, function))
        add_helpers(made)
        _rename(made, SymbolNames(op))
        for export, function in exports:
            export.attributes[INLINED] = SymbolRefAttr(function.sym_name)
        for function in list(made.ops):
            function.detach()
            op.body.block.add_op(function)


def _rename(module: ModuleOp, taken: SymbolNames) -> None:
    """Gives the functions names that the program does not use."""
    names: dict[str, str] = {}
    for function in module.ops:
        old = symbol_name(function)
        names[old] = taken.unique(old)
        function.properties["sym_name"] = StringAttr(names[old])
    for op in module.walk():
        if isinstance(op, util.CallOp):
            op.properties["callee"] = SymbolRefAttr(names[op.callee.root_reference.data])


@dataclass(frozen=True)
class _Base:
    """What is behind a memref: bytes, their size, and the number of its first element if that is not 0."""

    buffer: SSAValue
    size: SSAValue
    begin: SSAValue | None


class _Function:
    """One kernel as a function of the host language."""

    def __init__(self, kernel: Operation, export: ExecutableExportOp, tables: Mapping[str, Operation]) -> None:
        self.kernel = kernel
        self.layout: PipelineLayoutAttr = export.layout
        self.counts = _constant_counts(export)
        self.tables = tables
        self.region = Region()
        kernel.regions[0].clone_into(self.region)
        self.bases: dict[SSAValue, _Base] = {}
        self.constants: dict[int, SSAValue] = {}
        self.handlers: dict[str, Callable[[Operation], None]] = {
            "hal.interface.constant.load": self._word,
            "hal.interface.binding.subspan": self._subspan,
            "memref.alloca": self._alloca,
            "memref.get_global": self._table,
            "memref.load": self._load,
            "memref.store": self._store,
        }

    def make(self) -> util.FuncOp:
        """The function."""
        block = self.region.block
        Expansion(self.region).run()
        inputs: list[Attribute] = [i32] * self.layout.constant_count
        inputs += [util.BufferType(), IndexType()] * self.layout.binding_count
        inputs += [IndexType()] * 3
        arguments = [block.insert_arg(type, number) for number, type in enumerate(inputs)]
        self.words = arguments[: self.layout.constant_count]
        self.memory = arguments[self.layout.constant_count : -3]
        grid = [self._count(dimension, arguments[-3 + dimension]) for dimension in range(3)]
        last = block.last_op
        assert last is not None
        block.erase_op(last)
        ids = self._over_workgroups(block, grid)
        for op in list(self.region.walk()):
            handler = self.handlers.get(op.name)
            if handler is not None:
                handler(op)
            elif op.name == "hal.interface.workgroup.id":
                self._replace(op, ids[int_of(op.properties["dimension"])])
            elif op.name == "hal.interface.workgroup.count":
                self._replace(op, grid[int_of(op.properties["dimension"])])
            elif op.name.startswith(("memref.", "hal.")):
                hint = "use inline-dynamic with llvm-cpu or vmvx"
                raise CompileError(Diagnostic(f"{op.name} has no form in the host program", location_of(op), hint))
        for memory in reversed(list(self.bases)):
            assert isinstance(memory.owner, Operation)
            assert memory.owner.parent is not None
            memory.owner.parent.erase_op(memory.owner)
        lower_region(self.region)
        name = symbol_name(self.kernel)
        function = util.FuncOp(name, (inputs, []), self.region, "private")
        function.location = self.kernel.location
        return function

    def _count(self, dimension: int, argument: SSAValue) -> SSAValue:
        """The number of workgroups: a constant where it is one."""
        known = self.counts[dimension]
        return argument if known is None else self._index(known)

    def _index(self, number: int) -> SSAValue:
        """A constant, at the top of the function."""
        found = self.constants.get(number)
        if found is None:
            constant = ConstantOp.index(number)
            first = self.region.block.first_op
            assert first is not None
            self.region.block.insert_op_before(constant, first)
            found = self.constants[number] = constant.result
        return found

    def _over_workgroups(self, block: Block, grid: Sequence[SSAValue]) -> list[SSAValue]:
        """Puts what `block` does into loops over the workgroups; returns the numbers of one in x, y and z."""
        zero, one = self._index(0), self._index(1)
        constants = {value.owner for value in self.constants.values()}
        inside = [op for op in block.ops if op not in constants]
        for op in inside:
            op.detach()
        ids: list[SSAValue] = [zero] * 3
        where = block
        for dimension in (2, 1, 0):
            if constant_int(grid[dimension]) == 1:
                continue
            body = Block(arg_types=[IndexType()])
            ids[dimension] = body.args[0]
            where.add_op(scf.ForOp(zero, grid[dimension], one, [], Region(body)))
            if where is not block:
                where.add_op(scf.YieldOp())
            where = body
        where.add_ops(inside)
        if where is not block:
            where.add_op(scf.YieldOp())
        block.add_op(util.ReturnOp())
        return ids

    def _before(self, op: Operation, new: Operation) -> SSAValue:
        assert op.parent is not None
        op.parent.insert_op_before(new, op)
        return new.results[0]

    def _replace(self, op: Operation, value: SSAValue) -> None:
        op.results[0].replace_all_uses_with(value)
        assert op.parent is not None
        op.parent.erase_op(op)

    def _word(self, op: Operation) -> None:
        word, type = self.words[int_of(op.properties["ordinal"])], op.results[0].type
        if isinstance(type, IndexType):
            word = self._before(op, arith.IndexCastOp(self._before(op, arith.ExtUIOp(word, i64)), type))
        elif type != i32:
            size = getattr(type, "bitwidth", 64)
            new = arith.BitcastOp(word, type) if size == 32 else arith.TruncIOp(word, IntegerType(size))
            word = self._before(op, new)
        self._replace(op, word)

    def _subspan(self, op: Operation) -> None:
        number = int_of(op.properties["binding"])
        buffer, begin = self.memory[2 * number : 2 * number + 2]
        type = op.results[0].type
        assert is_memref_type(type)
        if op.operands and constant_int(op.operands[0]) != 0:
            begin = self._before(op, arith.AddiOp(begin, op.operands[0]))
        size = _size(type.element_type)
        if size > 1:
            begin = self._before(op, arith.ShRUIOp(begin, self._index(size.bit_length() - 1)))
        self._remember(op, buffer, begin)

    def _remember(self, op: Operation, buffer: SSAValue, begin: SSAValue | None) -> None:
        size = self._before(op, util.BufferSizeOp(buffer))
        self.bases[op.results[0]] = _Base(buffer, size, begin)

    def _alloca(self, op: Operation) -> None:
        assert isinstance(op, AllocaOp)
        type = op.memref.type
        count = _size(type.element_type)
        for size in type.get_shape():
            count *= size
        self._remember(op, self._before(op, util.BufferAllocOp(self._index(count), _ALIGNMENT)), None)

    def _table(self, op: Operation) -> None:
        table = self.tables[symbol_of(op.properties["name"])]
        constant = util.BufferConstantOp(table.properties["initial_value"], _ALIGNMENT)
        self._remember(op, self._before(op, constant), None)

    def _place(
        self, op: Operation, memory: SSAValue, indices: Sequence[SSAValue]
    ) -> tuple[SSAValue, SSAValue, SSAValue, SSAValue]:
        """Bytes, their size, the offset of an element and its size."""
        type = memory.type
        assert is_memref_type(type)
        base = self.bases[memory]
        place = indices[0] if indices else self._index(0)
        for index, inner in zip(indices[1:], inner_sizes(op, memory), strict=True):
            row = self._before(op, arith.MuliOp(place, self._index(inner)))
            place = self._before(op, arith.AddiOp(row, index))
        if base.begin is not None:
            place = self._before(op, arith.AddiOp(base.begin, place))
        size = self._index(_size(type.element_type))
        offset = place if _size(type.element_type) == 1 else self._before(op, arith.MuliOp(place, size))
        return base.buffer, base.size, offset, size

    def _load(self, op: Operation) -> None:
        memory, *indices = op.operands
        buffer, available, offset, size = self._place(op, memory, indices)
        load = util.BufferLoadOp(buffer, available, offset, size, op.results[0].type)
        self._replace(op, self._before(op, load))

    def _store(self, op: Operation) -> None:
        value, memory, *indices = op.operands
        store = util.BufferStoreOp(value, *self._place(op, memory, indices))
        assert op.parent is not None
        op.parent.insert_op_before(store, op)
        op.parent.erase_op(op)


def _size(type: Attribute) -> int:
    return _BYTES["index" if isinstance(type, IndexType) else str(type)]


def _constant_counts(export: ExecutableExportOp) -> list[int | None]:
    """How many workgroups there are in x, y and z, where that is known."""
    blocks = list(export.workgroup_count.blocks)
    last = blocks[0].last_op if blocks else None
    if not isinstance(last, HalReturnOp):
        return [None] * 3
    return [constant_int(value) for value in last.arguments]
