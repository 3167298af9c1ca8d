"""`vm.func` to bytecode: registers, instructions, branch targets, source locations.

Operand layouts come from the instruction table (`dialects/vm_isa.py`); this file says which operand, attribute or
register of an operation fills each of them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from xdsl.dialects.builtin import FileLineColLoc, FloatAttr, IntAttr, IntegerAttr, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiree.dialects import vm
from tiree.dialects import vm_isa as isa
from tiree.dialects.dense import DenseAttr
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.typed import operands_of, string_of
from tiree.vm.liveness import Liveness, analyze, edge_operands
from tiree.vm.ref_lifetimes import TAKES_OVER
from tiree.vm.registers import MOVE_BIT, REF_BIT, Registers, allocate, is_wide, parallel_copy

IMPORT_BIT = 0x80000000


@dataclass
class Ordinals:
    """Numbers of a module's symbols."""

    functions: dict[str, int]
    imports: dict[str, int]
    rodata: dict[str, int]
    global_offsets: dict[str, int]
    """Byte offset of a scalar, slot of a reference."""
    types: dict[str, int]

    def callee(self, name: str) -> int:
        number = self.functions.get(name)
        return number if number is not None else IMPORT_BIT | self.imports[name]


@dataclass
class EncodedFunction:
    """`locations` are (byte offset, location text) where the location changes."""

    code: bytes
    block_count: int
    cell_count: int
    ref_count: int
    features: int
    locations: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])


_REF_TYPED = frozenset(
    f"vm.{n}"
    for n in (
        *("global.load.ref", "global.store.ref", "global.load.indirect.ref", "global.store.indirect.ref"),
        *("select.ref", "switch.ref", "list.get.ref", "cast.any.ref"),
    )
)


_BRANCHES = frozenset(("br", "cond_br", "br_table", "yield", "break", "cond_break"))


def type_name(type: Attribute) -> str:
    """The name of a type in the module's type table."""
    if isinstance(type, vm.RefType):
        return f"!{type.object_type.name}"
    if isinstance(type, vm.ListType):
        return "!vm.list"
    if isinstance(type, vm.BufferType):
        return "!vm.buffer"
    return str(type)


def _type_operand(op: Operation) -> Attribute:
    """The reference type that an instruction names."""
    if op.name in ("vm.global.store.ref", "vm.global.store.indirect.ref"):
        return op.operands[0].type
    if op.name == "vm.list.alloc":
        list_type = op.results[0].type
        assert isinstance(list_type, vm.ListType)
        return list_type.element_type
    return op.results[0].type


def used_types(function: vm.FuncOp) -> set[str]:
    """Names of the types that the instructions of a function mention."""
    return {
        type_name(_type_operand(op))
        for block in function.body.blocks
        for op in block.ops
        if op.name in _REF_TYPED or op.name == "vm.list.alloc"
    }


class FunctionEncoder:
    """Encodes one function; use `encode_function`."""

    def __init__(self, function: vm.FuncOp, ordinals: Ordinals) -> None:
        self.function = function
        self.ordinals = ordinals
        self.liveness: Liveness = analyze(function.body)
        self.registers: Registers = allocate(function, self.liveness)
        self.code = bytearray()
        self.block_pcs: dict[Block, int] = {}
        self.fixups: list[tuple[int, Block]] = []
        self.features = 0
        self.locations: list[tuple[int, str]] = []
        self.last_location: Attribute | None = None
        self._files: dict[str, str] = {}
        """How the locations in a file begin."""
        self.scratch_cell: int | None = None
        self.scratch_ref: int | None = None
        self.last_uses: dict[int, Operation] = {}
        """Of the block, by the identity of the value."""
        self.failures: dict[Operation, tuple[Block, Operation]] = {}

    def run(self) -> EncodedFunction:
        self.failures = _inline_failures(self.function)
        absorbed = {block for block, _ in self.failures.values()}
        blocks = [block for block in self.function.body.blocks if block not in absorbed]
        for block in blocks:
            self.block_pcs[block] = len(self.code)
            self.code.append(isa.INSTRUCTIONS["Block"].encoding[0])
            self.last_uses.clear()
            for op in block.ops:
                self.last_uses.update(dict.fromkeys(map(id, operands_of(op)), op))
            for op in block.ops:
                self._note_location(op)
                self._encode(op, block)
        for offset, block in self.fixups:
            struct.pack_into("<I", self.code, offset, self.block_pcs[block])
        if self.registers.ref_count:
            self.features |= isa.FEATURES["unwind"]
        return EncodedFunction(
            bytes(self.code),
            len(blocks),
            self.registers.cell_count,
            self.registers.ref_count,
            self.features,
            self.locations,
        )

    def _note_location(self, op: Operation) -> None:
        if op.location is self.last_location:
            return
        self.last_location = op.location
        text = self._location_text(op.location)
        if not self.locations or self.locations[-1][1] != text:
            self.locations.append((len(self.code), text))

    def _location_text(self, location: Attribute) -> str:
        """As MLIR writes it."""
        if not isinstance(location, FileLineColLoc):
            return str(location)
        file = location.filename
        start = self._files.get(file.data)
        if start is None:
            start = self._files[file.data] = str(FileLineColLoc(file, IntAttr(0), IntAttr(0))).removesuffix("0:0)")
        return f"{start}{location.line.data}:{location.column.data})"

    # Fields.

    def _u16(self, value: int) -> None:
        self.code += value.to_bytes(2, "little")

    def _u32(self, value: int) -> None:
        self.code += value.to_bytes(4, "little")

    def _align(self) -> None:
        if len(self.code) % 2:
            self.code.append(0)

    def _string(self, text: str) -> None:
        data = text.encode()
        if len(data) > 0xFFFF:
            data = data[:0xFFFF].decode(errors="ignore").encode()
        self._u16(len(data))
        self.code += data

    def _register(self, op: Operation, value: SSAValue) -> int:
        """The register of an operand, with the move bit when this is its last use and the operation takes it over."""
        register = self.registers.of[value]
        if register & REF_BIT and op.name in TAKES_OVER and self._dies_at(op, value):
            register |= MOVE_BIT
        return register

    def _dies_at(self, op: Operation, value: SSAValue) -> bool:
        block = op.parent_block()
        assert block is not None
        return self.last_uses.get(id(value)) is op and value not in self.liveness.live_out[block]

    def _list(self, op: Operation, values: Sequence[SSAValue], *, results: bool = False) -> None:
        self._align()
        registers = [self.registers.of[value] for value in values]
        if not results and op.name in TAKES_OVER:
            last = {id(value): place for place, value in enumerate(values)}
            for place, value in enumerate(values):
                if registers[place] & REF_BIT and last[id(value)] == place and self._dies_at(op, value):
                    registers[place] |= MOVE_BIT
        self.code += struct.pack(f"<H{len(registers)}H", len(registers), *registers)

    def _target(self, block: Block) -> None:
        self.fixups.append((len(self.code), block))
        self._u32(0)

    def _remap(self, target: Block, passed: list[SSAValue]) -> None:
        """The copies of a branch: arguments of `target` from `passed`."""
        cells: list[tuple[int, int]] = []
        refs: list[tuple[int, int]] = []
        dying: set[int] = set()
        of = self.registers.of
        for value, arg in zip(passed, target.args, strict=True):
            source, destination = of[value], of[arg]
            if source & REF_BIT:
                refs.append((source, destination))
                if value not in self.liveness.live_in[target]:
                    dying.add(source)
            else:
                cells.append((source, destination))
                if is_wide(value):
                    cells.append((source + 1, destination + 1))
        copies, cyclic = parallel_copy(cells, self.scratch_cell)
        if cyclic and not copies:
            self.scratch_cell = self.registers.scratch_cell()
            copies, _ = parallel_copy(cells, self.scratch_cell)
        copies += self._ref_copies(refs, dying)
        self._align()
        self._u16(len(copies))
        for source, destination in copies:
            self._u16(source)
            self._u16(destination)

    def _ref_copies(self, refs: list[tuple[int, int]], dying: set[int]) -> list[tuple[int, int]]:
        """A reference moves with its last copy when its value is not used behind the branch."""
        copies, cyclic = parallel_copy(refs, self.scratch_ref)
        if cyclic and not copies:
            self.scratch_ref = self.registers.scratch_ref()
            copies, _ = parallel_copy(refs, self.scratch_ref)
        result: list[tuple[int, int]] = []
        read_later: set[int] = set()
        # An unchanged register (source = target) is no copy, yet its value must not move away.
        staying = {source for source, destination in refs if source == destination}
        for source, destination in reversed(copies):
            moves = (
                source not in read_later and source not in staying and (source in dying or source == self.scratch_ref)
            )
            result.append((source | MOVE_BIT if moves else source, destination))
            read_later.add(source)
            read_later.discard(destination)
        return result[::-1]

    # Instructions.

    def _encode(self, op: Operation, block: Block) -> None:
        if op in self.failures:
            op = self.failures[op][1]
        mnemonic = op.name.removeprefix("vm.")
        if mnemonic == "global.address":
            self._encode_address(op)
            return
        instruction = isa.INSTRUCTIONS.get(mnemonic)
        if instruction is None:
            message = f"'{op.name}' has no instruction"
            raise CompileError(Diagnostic(message, location_of(op), "it must be lowered before encoding"))
        self.features |= instruction.feature
        self.code += instruction.encoding
        if mnemonic in _BRANCHES:
            self._encode_branch(op, block)
        elif mnemonic.startswith("call"):
            self._encode_call(op, mnemonic)
        elif mnemonic in ("return", "discard.refs"):
            self._list(op, operands_of(op))
        elif mnemonic == "fail":
            self._u16(self.registers.of[op.operands[0]])
            self._string(string_of(op.properties["message"]))
        else:
            self._encode_fields(op, instruction)

    def _encode_branch(self, op: Operation, block: Block) -> None:
        if op.name in ("vm.cond_br", "vm.cond_break", "vm.br_table"):
            self._u16(self.registers.of[op.operands[0]])
        if op.name == "vm.yield":
            self.features |= isa.FEATURES["yield"]
        for i, (target, passed) in enumerate(zip(op.successors, edge_operands(block), strict=True)):
            if i == 1 and op.name == "vm.br_table":
                self._u16(len(op.successors) - 1)
            self._target(target)
            self._remap(target, passed)
        if op.name == "vm.br_table" and len(op.successors) == 1:
            self._u16(0)

    def _encode_address(self, op: Operation) -> None:
        """The address of a global is its number."""
        self.code += isa.INSTRUCTIONS["const.i32"].encoding
        self._u32(self.ordinals.global_offsets[_symbol(op.properties["global"])])
        self._u16(self.registers.of[op.results[0]])

    def _encode_call(self, op: Operation, mnemonic: str) -> None:
        callee = op.properties["callee"]
        assert isinstance(callee, SymbolRefAttr)
        self._u32(self.ordinals.callee(callee.root_reference.data))
        if "variadic" in mnemonic:
            sizes = op.properties["segment_sizes"]
            assert isinstance(sizes, DenseAttr)
            count = 1 if not sizes.is_splat else sizes.shape[0]
            data = bytes(sizes.buffer) * count
            self._align()
            self._u16(len(data) // 2)
            self.code += data
        self._list(op, operands_of(op))
        if mnemonic.endswith("yieldable"):
            self.features |= isa.FEATURES["yield"]
            self._target(op.successors[0])
            self._list(op, op.successors[0].args, results=True)
        else:
            self._list(op, op.results, results=True)

    def _encode_fields(self, op: Operation, instruction: isa.Instruction) -> None:
        """All other instructions: operands and results in table order, attributes where the table has immediates."""
        # A store names the value first, its instruction the place.
        stores = op.name.startswith("vm.global.store.indirect.")
        operands, results = iter(op.operands[::-1] if stores else op.operands), iter(op.results)
        for spec in instruction.operands:
            kind = spec.kind
            if kind in "iIfFrm":
                value = next(results) if spec.result else next(operands)
                self._u16(self.registers.of[value] if spec.result else self._register(op, value))
            elif kind[0] == "#":
                self.code += _immediate(kind, op.properties["value"])
            elif kind == "glob":
                self._u32(self.ordinals.global_offsets[_symbol(op.properties["global"])])
            elif kind == "rod":
                self._u32(self.ordinals.rodata[_symbol(op.properties["rodata"])])
            elif kind == "func":
                self._u32(IMPORT_BIT | self.ordinals.imports[_symbol(op.properties["import"])])
            elif kind == "type":
                self._u32(self.ordinals.types[type_name(_type_operand(op))])
            elif kind[0] == "[":
                self._list(op, list(operands))
            elif kind == "str":
                self._string(string_of(op.properties.get("event_name", op.properties.get("message"))))
            else:
                raise AssertionError(f"operand kind {kind} of {instruction.mnemonic}")


def _inline_failures(function: vm.FuncOp) -> dict[Operation, tuple[Block, Operation]]:
    """Branches that a `vm.fail` can stand for: `if status: fail(status)`, going on with the block that comes next.

    The instruction falls through when its status is OK, so neither the branch nor the failing block is needed.
    """
    blocks = list(function.body.blocks)
    predecessors: dict[Block, int] = {}
    for block in blocks:
        assert block.last_op is not None
        for successor in block.last_op.successors:
            predecessors[successor] = predecessors.get(successor, 0) + 1
    found: dict[Operation, tuple[Block, Operation]] = {}
    for block, following in pairwise(blocks):
        branch = block.last_op
        if not isinstance(branch, vm.CondBranchOp) or branch.successors[1] is not following or branch.false_operands:
            continue
        failing = branch.successors[0]
        fail = failing.first_op
        if fail is None or fail.name != "vm.fail" or failing.args or predecessors[failing] != 1:
            continue
        if fail.operands[0] is branch.condition[0]:
            found[branch] = (failing, fail)
    return found


def _symbol(attr: Attribute) -> str:
    assert isinstance(attr, SymbolRefAttr)
    return attr.root_reference.data


_FORMATS = {"#i32": "<i", "#i64": "<q", "#f32": "<f", "#f64": "<d", "#u16": "<H"}


def _immediate(kind: str, attr: Attribute) -> bytes:
    assert isinstance(attr, IntegerAttr | FloatAttr)
    return struct.pack(_FORMATS[kind], attr.value.data)


def encode_function(function: vm.FuncOp, ordinals: Ordinals) -> EncodedFunction:
    """Bytecode of one function. Raises `CompileError` for an operation that has no instruction."""
    return FunctionEncoder(function, ordinals).run()
