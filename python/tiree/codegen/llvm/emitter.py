"""The state of one LLVM function under construction.

`Emitter` owns the lines, the names of SSA values, the current block and the scopes of common subexpressions: a pure
instruction that was already written in a dominating place is not written again, which stands in for the mid-level
passes that kernels do not need otherwise. Handlers of ops know nothing but this class.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.ir import Block, Operation, SSAValue

from tiree.codegen.llvm import constants
from tiree.codegen.llvm.types import I64, LType, lower_type
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import UNKNOWN, location_of

if TYPE_CHECKING:
    from tiree.codegen.llvm.module import ModuleEmitter
    from tiree.support.cpu_target import TargetDescription

Handler = Callable[["Emitter", Operation], None]


@dataclass(frozen=True)
class MemRef:
    """A memref under lowering: where element 0 is, elements between neighbours per dimension, and what may alias it."""

    pointer: str
    strides: tuple[int | str, ...]
    sizes: tuple[int | str, ...]
    elem: LType
    metadata: str = ""
    """Suffix of loads and stores, such as `, !alias.scope !3`."""
    invariant: bool = False
    """Nothing writes this memory while the kernel runs."""
    align: int = 1
    """Alignment of `pointer` in bytes."""


def is_literal(text: str) -> bool:
    """Whether an integer operand is written as a number."""
    return text[0].isdigit() or text[0] == "-"


@dataclass
class Emitter:
    """One function. `values` maps an SSA value to its operand text; memrefs live in `memrefs`."""

    module: ModuleEmitter
    name: str
    lines: list[str] = field(default_factory=list[str])
    entry_lines: list[str] = field(default_factory=list[str])
    values: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    memrefs: dict[SSAValue, MemRef] = field(default_factory=dict[SSAValue, MemRef])
    block: str = "entry"
    stack_bytes: int = 0
    workgroup_bytes: int = 0
    counter: int = 0
    scopes: list[dict[str, str]] = field(default_factory=lambda: [{}])
    bindings: dict[int, str] = field(default_factory=dict[int, str])
    sums: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """Index values that are another one plus a constant: addresses take the constant into their last step."""
    clean_nans: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])
    """What `convert.truncf` found out about NaNs."""
    operation: Operation | None = None
    """The op under lowering, for messages."""

    @property
    def target(self) -> TargetDescription:
        return self.module.target

    # --- instructions -------------------------------------------------------------------------------------------

    def fresh(self) -> str:
        self.counter += 1
        return f"%v{self.counter}"

    def emit(self, text: str) -> str:
        """An instruction with a result; returns the result's name."""
        self.counter += 1
        name = f"%v{self.counter}"
        self.lines.append(f"  {name} = {text}")
        return name

    def pure(self, text: str) -> str:
        """An instruction without side effects: an equal one in scope is used again."""
        for scope in reversed(self.scopes):
            found = scope.get(text)
            if found is not None:
                return found
        name = self.emit(text)
        self.scopes[-1][text] = name
        return name

    def do(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append(f"  {text}")

    def entry(self, text: str) -> str:
        """An instruction of the entry block, before everything else."""
        name = self.fresh()
        self.entry_lines.append(f"  {name} = {text}")
        return name

    def shared_slot(self, purpose: str, type: LType) -> str:
        """Stack memory for one value of `type`, the same wherever the kernel asks for this purpose."""
        key = f"slot {purpose} {type.text}"
        found = self.scopes[0].get(key)
        if found is None:
            found = self.scopes[0][key] = self.entry(f"alloca {type.text}, align 64")
        return found

    # --- blocks -------------------------------------------------------------------------------------------------

    def label(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    def start_block(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.block = label

    def branch(self, label: str) -> None:
        self.lines.append(f"  br label %{label}")

    def branch_if(self, condition: str, then: str, other: str) -> None:
        self.lines.append(f"  br i1 {condition}, label %{then}, label %{other}")

    def branch_if_rarely(self, condition: str, then: str, other: str) -> None:
        """A branch whose first target is hardly ever taken: what it clobbers is saved there, not before."""
        weights = self.module.branch_weights(1, 1 << 16)
        self.lines.append(f"  br i1 {condition}, label %{then}, label %{other}, !prof {weights}")

    def placeholder(self) -> int:
        """Reserves a line that is written later (a phi whose latch value is not known yet)."""
        self.lines.append("")
        return len(self.lines) - 1

    @contextmanager
    def scope(self):
        """Common subexpressions found inside are forgotten at the end: they do not dominate what follows."""
        self.scopes.append({})
        try:
            yield
        finally:
            self.scopes.pop()

    # --- values -------------------------------------------------------------------------------------------------

    def value(self, value: SSAValue) -> str:
        return self.values[value]

    def type(self, value: SSAValue) -> LType:
        return lower_type(value.type)

    def memref(self, value: SSAValue) -> MemRef:
        found = self.memrefs.get(value)
        if found is None:
            raise self.error("a memref that does not come from a binding, alloca, global or view of one", "")
        return found

    def number(self, type: LType, value: int | float) -> str:
        """A scalar or splat constant."""
        return constants.number_text(type, value)

    def error(self, message: str, hint: str) -> CompileError:
        """A `CompileError` about the op under lowering."""
        op = self.operation
        what = f"'{op.name}' in kernel @{self.name}: {message}" if op is not None else f"kernel @{self.name}: {message}"
        location = location_of(op) if op is not None else UNKNOWN
        return CompileError(Diagnostic(what, location, hint))

    # --- index arithmetic, folded -------------------------------------------------------------------------------

    def add(self, a: str, b: str) -> str:
        """a + b on index operands."""
        if is_literal(a):
            if is_literal(b):
                return str(int(a) + int(b))
            a, b = b, a
        if is_literal(b):
            return self.add_constant(a, int(b))
        return self.pure(f"add nsw i64 {a}, {b}")

    def add_constant(self, a: str, constant: int) -> str:
        """a + constant for an index operand that is not a number; sums of sums are joined."""
        base, offset = self.sums.get(a, (a, 0))
        total = (offset + constant + (1 << 63)) % (1 << 64) - (1 << 63)
        if total == 0:
            return base
        name = self.pure(f"add i64 {base}, {total}")
        self.sums[name] = (base, total)
        return name

    def mul(self, a: str, b: str) -> str:
        """a * b on index operands."""
        if is_literal(a):
            if is_literal(b):
                return str(int(a) * int(b))
            a, b = b, a
        if b == "1":
            return a
        if b == "0":
            return "0"
        return self.pure(f"mul nsw i64 {a}, {b}")

    def splat(self, scalar: str, type: LType) -> str:
        """The vector `type` with every lane equal to `scalar` (`scalar` itself when `type` has no lanes)."""
        if not type.lanes:
            return scalar
        if scalar[0] != "%":
            return constants.splat_text(type, scalar)
        one = self.pure(f"insertelement {type.text} poison, {type.elem} {scalar}, i64 0")
        if type.lanes == 1:
            return one
        return self.pure(f"shufflevector {type.text} {one}, {type.text} poison, <{type.lanes} x i32> zeroinitializer")

    def intrinsic(self, name: str, result: LType, *arguments: tuple[LType, str], suffix: str | None = None) -> str:
        """A pure call of `llvm.<name>` overloaded on the result type."""
        operands = ", ".join(f"{type.text} {text}" for type, text in arguments)
        mangled = result.mangled if suffix is None else suffix
        return self.pure(f"call {result.text} @llvm.{name}.{mangled}({operands})")

    # --- bodies -------------------------------------------------------------------------------------------------

    def run_block(self, block: Block) -> Operation:
        """Lowers every op of a block but its terminator, which is returned."""
        handlers = self.module.handlers
        op = block.first_op
        last = block.last_op
        while op is not None and op is not last:
            handler = handlers.get(op.name)
            self.operation = op
            if handler is None:
                raise self.error("has no lowering to LLVM", "kernels hold arith, math, vector, memref and scf ops only")
            handler(self, op)
            op = op.next_op
        assert last is not None
        self.operation = last
        return last


INDEX = I64
"""The type of `index` values."""
