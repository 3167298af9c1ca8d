"""All kernels of one executable and its library table, as the text of one LLVM module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from tiree.codegen.llvm.emitter import Emitter, Handler
from tiree.codegen.llvm.handlers import all_handlers
from tiree.codegen.llvm.interface import READ_ONLY, StateLayout, leave_beyond, state_load
from tiree.codegen.llvm.library import DebugInfo, KernelInfo, LibraryVariant, library_ir, quote_symbol, variants_ir
from tiree.codegen.llvm.memref import element_type
from tiree.dialects.dense import DenseAttr
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.typed import int_of, is_integer_attr, is_memref_type, symbol_name

if TYPE_CHECKING:
    from tiree.support.cpu_target import TargetDescription

_NODES = ("!0 = !{}", "!1 = !{i32 1}", "!2 = !{i64 16}")
"""Metadata used by number: empty node, nontemporal hint, alignment of bindings."""

_STATE = "ptr noalias nonnull readonly align 8"
"""Type and attributes of a kernel's arguments."""

MAX_CONSTANTS = 64
MAX_BINDINGS = 64


@dataclass
class ModuleEmitter:
    """Collects the functions, constants and metadata of one LLVM module."""

    target: TargetDescription
    name: str
    linkage: str = "internal"
    """Of kernels: `hidden` when the library table is in another module."""
    handlers: dict[str, Handler] = field(default_factory=all_handlers)
    optimise: bool = False
    """Whether a kernel was added that gains from LLVM's mid-level passes."""
    functions: list[str] = field(default_factory=list[str])
    kernels: list[KernelInfo] = field(default_factory=list[KernelInfo])
    tables: dict[str, Operation] = field(default_factory=dict[str, Operation])
    """`memref.global` ops by name."""
    globals: dict[str, str] = field(default_factory=dict[str, str])
    """Text of the constants in use, by symbol."""
    helpers: dict[str, str] = field(default_factory=dict[str, str])
    """Text of the math helper functions in use, by name."""
    linked: dict[str, str] = field(default_factory=dict[str, str])
    """Modules, as text, that are linked to this one, by the function that is called."""
    metadata: list[str] = field(default_factory=lambda: list(_NODES))
    library: str = ""
    _aliases: dict[int, str] = field(default_factory=dict[int, str])
    _written: set[int] = field(default_factory=set[int])
    _constants: set[int] = field(default_factory=set[int])

    @property
    def function_attributes(self) -> str:
        """The target's CPU and features, for the attributes of every function."""
        cpu, features = self.target.cpu, self.target.features
        parts = [f'"target-cpu"="{cpu}"' if cpu else "", f'"target-features"="{features}"' if features else ""]
        return " ".join(part for part in parts if part)

    # --- facts that handlers ask for or leave behind --------------------------------------------------------------

    def node(self, text: str) -> str:
        """A new metadata node; returns its reference."""
        self.metadata.append(f"!{len(self.metadata)} = {text}")
        return f"!{len(self.metadata) - 1}"

    def branch_weights(self, then: int, other: int) -> str:
        """The `!prof` node of a branch."""
        text = f'!{{!"branch_weights", i32 {then}, i32 {other}}}'
        return f"!{self.metadata.index(text)}" if text in self.metadata else self.node(text)

    def alias_metadata(self, e: Emitter, binding: int, readonly: bool) -> str:
        """Metadata of accesses to a binding. Whether it is written was decided by `_prepare_aliases`."""
        if readonly and binding in self._written:
            raise e.error(f"binding {binding} is read-only here and written elsewhere in the kernel", "")
        return self._aliases.get(binding, "")

    def note_constant(self, e: Emitter, ordinal: int) -> None:
        if ordinal >= MAX_CONSTANTS:
            raise e.error(f"dispatch constant {ordinal} is beyond the limit of {MAX_CONSTANTS}", "")
        self._constants.add(ordinal)

    def workgroup_memory(self, e: Emitter, offset: int) -> str:
        """A pointer into the worker's scratch block."""
        base = state_load(e, "%workgroup", StateLayout(e.target.pointer_bytes).local_memory, "ptr")
        return e.entry(f"getelementptr inbounds i8, ptr {base}, i64 {offset}") if offset else base

    def use_global(self, e: Emitter, name: str) -> str:
        """The symbol of a table, whose data is added to the module on first use."""
        symbol = f"@{quote_symbol('.table.' + name)}"
        if symbol not in self.globals:
            op = self.tables.get(name)
            if op is None:
                raise e.error(f"there is no memref.global @{name} in this executable", "")
            self.globals[symbol] = _table_text(e, symbol, op)
        return symbol

    def use_helper(self, name: str, text: str) -> str:
        """The symbol of a helper function, defined on first use."""
        self.helpers.setdefault(name, text)
        return f"@{name}"

    def link(self, callee: str, declaration: str, code: str) -> str:
        """The symbol of function `callee` of another module, which will be linked to this one."""
        self.linked[callee] = code
        self.optimise = True
        return self.use_helper(quote_symbol(callee), declaration)

    def use_constant_data(self, name: str, text: str) -> str:
        """The symbol of a constant of ours (`text` is its LLVM type and value), defined on first use."""
        symbol = f"@{name}"
        self.globals.setdefault(symbol, f"{symbol} = internal unnamed_addr constant {text}")
        return symbol

    # --- kernels --------------------------------------------------------------------------------------------------

    def add_tables(self, ops: Iterable[Operation]) -> None:
        """Registers the tables of an inner module."""
        for op in ops:
            if op.name == "memref.global":
                self.tables[symbol_name(op)] = op

    def add_kernel(
        self,
        func: Operation,
        constants: int | None = None,
        bindings: int | None = None,
        suffix: str = "",
        limits: Mapping[int, int] | None = None,
    ) -> None:
        """Lowers one `func.func` in kernel form. Counts are those of the export's layout; without it, those in use.

        `suffix` is of the function's symbol, not of the kernel's name. `limits` are numbers of workgroups by dimension,
        beyond which there is nothing to do.
        """
        name = symbol_name(func)
        e = Emitter(self, name)
        e.operation = func
        leave_beyond(e, limits or {})
        self.optimise = self.optimise or needs_optimising(func)
        region = func.regions[0]
        if len(region.blocks) != 1:
            raise e.error(f"has {len(region.blocks)} blocks", "kernels use scf for control flow")
        self._constants = set()
        seen = self._prepare_aliases(func)
        terminator = e.run_block(region.block)
        if terminator.name != "func.return" or terminator.operands:
            raise e.error("ends the kernel", "a kernel ends with func.return without operands")
        e.do("ret i32 0")
        symbol = quote_symbol(name + suffix)
        # What vector code needs is written out already; padding for alignment was never seen to make it faster.
        size = "" if needs_optimising(func) else " optsize"
        head = (
            f"define {self.linkage} i32 @{symbol}({_STATE} %environment, {_STATE} %dispatch, {_STATE} %workgroup) "
            f"#0{size} {{"
        )
        self.functions.append("\n".join([head, "entry:", *e.entry_lines, *e.lines, "}"]))
        used_constants = max(self._constants, default=-1) + 1
        used_bindings = max(seen, default=-1) + 1
        self.kernels.append(
            KernelInfo(
                name=name,
                constants=used_constants if constants is None else constants,
                bindings=used_bindings if bindings is None else bindings,
                local_memory_pages=-(-e.workgroup_bytes // 4096),
                symbol=name + suffix,
            )
        )

    def _prepare_aliases(self, func: Operation) -> list[int]:
        """Gives every binding an alias scope; accesses to two bindings alias only where both are read-only.

        Bindings of one dispatch that share memory are either all read or are one binding: the schedule never gives a
        dispatch two names for bytes that it writes.
        """
        readonly: dict[int, bool] = {}
        for op in func.walk():
            if op.name == "hal.interface.binding.subspan":
                number = int_of(op.properties["binding"])
                flags = op.properties.get("descriptor_flags")
                reads = is_integer_attr(flags) and bool(flags.value.data & READ_ONLY)
                readonly[number] = readonly.get(number, True) and reads
        self._aliases = {}
        self._written = {number for number, reads in readonly.items() if not reads}
        if len(readonly) > 1 and self._written:
            domain = self.node(f"distinct !{{!{len(self.metadata)}}}")
            scopes = {
                number: self.node(f"distinct !{{!{len(self.metadata)}, {domain}}}") for number in sorted(readonly)
            }
            for number in scopes:
                others = [scopes[o] for o in scopes if o != number and (o in self._written or number in self._written)]
                if others:
                    mine, rest = self.node(f"!{{{scopes[number]}}}"), self.node(f"!{{{', '.join(others)}}}")
                    self._aliases[number] = f", !alias.scope {mine}, !noalias {rest}"
        return sorted(readonly)

    def add_library(self, external: bool = False, debug: DebugInfo | None = None) -> None:
        """Adds the table of all kernels; `external` ones are defined in other modules."""
        self._check_counts(self.kernels)
        self.library = library_ir(self.name, self.kernels, external, debug, self.target.pointer_bytes)

    def add_variants(self, variants: Sequence[LibraryVariant], debug: DebugInfo | None = None) -> None:
        """Adds the tables of several variants, whose kernels are in other modules."""
        for variant in variants:
            self._check_counts(variant.kernels)
        self.library = variants_ir(self.name, variants, self.target.pointer_bytes, debug)

    def _check_counts(self, kernels: Sequence[KernelInfo]) -> None:
        for kernel in kernels:
            if kernel.constants > MAX_CONSTANTS or kernel.bindings > MAX_BINDINGS:
                raise CompileError(
                    Diagnostic(
                        f"kernel @{kernel.name} takes {kernel.constants} constants and {kernel.bindings} bindings; "
                        f"an executable function has at most {MAX_CONSTANTS} and {MAX_BINDINGS}",
                        hint="pass less per dispatch: fuse fewer operands",
                    )
                )

    # --- the text -------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """The whole module."""
        target = self.target
        parts = [
            f'target datalayout = "{target.data_layout}"\ntarget triple = "{target.triple}"',
            *self.globals.values(),
            *self.functions,
            *self.helpers.values(),
            self.library,
            f'attributes #0 = {{ nounwind "no-builtins" {self.function_attributes} }}',
            "\n".join(self.metadata),
        ]
        return "\n\n".join(part for part in parts if part) + "\n"


def needs_optimising(func: Operation) -> bool:
    """Whether a kernel is plain scalar loops, which LLVM's mid-level passes improve; vector code gains nothing."""
    if "tiree.keep_scalars" in func.attributes:
        return False
    loops = False
    for op in func.walk():
        if op.name.startswith("vector."):
            return False
        loops = loops or op.name in ("scf.for", "scf.while")
    return loops


def _table_text(e: Emitter, symbol: str, op: Operation) -> str:
    """The definition of a table: its bytes, whatever the element type."""
    type, value = op.properties["type"], op.properties["initial_value"]
    assert is_memref_type(type)
    if not isinstance(value, DenseAttr):
        raise e.error("reads a memref.global without constant data", "kernel tables are constants")
    count = 1
    for size in type.get_shape():
        count *= size
    data = bytes(value.buffer)
    if value.is_splat:
        data *= count
    size = count * element_type(type).bytes
    if len(data) != size:
        raise e.error(f"table has {len(data)} bytes, its type {type} needs {size}", "")
    text = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data)
    return f'{symbol} = internal unnamed_addr constant [{size} x i8] c"{text}", align 64'
