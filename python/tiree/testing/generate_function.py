"""Writes one function: straight code, branches, loops that end, calls to functions that come later.

Any register may be read at any time (what was never written is 0 or null), so nearly every choice gives a valid
program.
Two rules make results comparable: loops count down in registers that nothing else writes, and a float that arithmetic
made stays among the "loose" registers, which no instruction reads as bits, because the payload of its NaN is the
hardware's. `settle` brings it back among the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tiree.dialects.vm_isa import INSTRUCTIONS, Instruction
from tiree.testing.archive import Signature
from tiree.testing.choices import EDGES, Choices, chance, number, pick
from tiree.testing.generate_memory import CELLS, REFS, MemoryWriter
from tiree.testing.generate_text import TYPES, WIDE, Callee, Surroundings, cell, literal
from tiree.testing.scalars import SCALARS

SCALAR_ROWS: tuple[Instruction, ...] = tuple(INSTRUCTIONS[name] for name in SCALARS)
# Those whose every wrong bit shows.
WHOLE_ROWS = tuple(row for row in SCALAR_ROWS if row.operands[-1].kind in "iI")
# Their results have the bits of an operand, or bits that the standard fixes.
_EXACT = re.compile(r"(abs|neg|min|max|cast|bitcast)\.")
MAX_NESTING = 2
TELL = Callee("tell", "I" * (CELLS // 2) + "r" * REFS, "I")
"""The function that makes one number of the registers of its caller: see `tell_lines`."""


def tell_lines() -> list[str]:
    """The body of `TELL`."""
    total, factor, flag, wide = cell("I", CELLS), cell("I", CELLS + 2), CELLS + 4, cell("I", CELLS + 6)
    lines = ["^bb0:", f"  {total} = vm.const.i64 1", f"  {factor} = vm.const.i64 6364136223846793005"]
    for register in range(0, CELLS, 2):
        lines.append(f"  {total} = vm.fma.i64 {total}, {factor}, {cell('I', register)}")
    for register in range(REFS):
        lines.append(f"  %i{flag} = vm.cmp.nz.ref %r{register}")
        lines.append(f"  {wide} = vm.ext.i32.i64.u %i{flag}")
        lines.append(f"  {total} = vm.fma.i64 {total}, {factor}, {wide}")
    return [*lines, f"  vm.return {total}"]


class FunctionWriter(MemoryWriter):
    """Collects the lines of a function."""

    def __init__(self, choices: Choices, callee: Callee, around: Surroundings, *, exported: bool = False) -> None:
        super().__init__(choices, around)
        self.callee = callee
        self.exported = exported
        self.nesting = 0
        self.counters = 0

    def write(self, length: int) -> list[str]:
        """The function's lines without header and closing brace, of about `length` statements."""
        self.label("bb0")
        self.body(length)
        self.leave()
        return self.lines

    def body(self, length: int) -> None:
        """A run of statements."""
        for _ in range(length):
            self.statement()

    def statement(self) -> None:
        self.choices.part()
        roll = self.choices.below(100)
        if roll < 45:
            self.scalar(pick(self.choices, WHOLE_ROWS if chance(self.choices, 60) else SCALAR_ROWS))
        elif roll < 52:
            self.constant(pick(self.choices, "iIfF"))
        elif roll < 80:
            self.memory()
        elif roll < 85:
            self.settle(pick(self.choices, "fF"))
        elif roll < 92 and self.around.callees:
            self.call(pick(self.choices, self.around.callees))
        else:
            self.control()

    # Arithmetic.

    def scalar(self, row: Instruction) -> None:
        """An instruction on numbers, its divisor mostly not 0."""
        inputs = [operand.kind for operand in row.operands if not operand.result]
        result = row.operands[-1].kind
        as_bits = row.mnemonic.startswith("bitcast.f")
        registers = [self.operand(kind, loose=not as_bits) for kind in inputs]
        if row.mnemonic.startswith(("div.i", "rem.i")) and chance(self.choices, 85):
            divisor = 1 + self.choices.below(9)
            self.line(f"{cell(inputs[1], registers[1])} = vm.const.{TYPES[inputs[1]]} {divisor}")
        exact = _EXACT.match(row.mnemonic) and not any(self.is_loose(r) for r in registers)
        target = self.target(result, loose=result in "fF" and not exact)
        operands = ", ".join(cell(k, r) for k, r in zip(inputs, registers, strict=True))
        self.line(f"{cell(result, target)} = vm.{row.mnemonic} {operands}")

    def operand(self, kind: str, *, loose: bool) -> int:
        """A register to read, which half of the time gets a constant first: most others are 0."""
        register = self.source(kind, loose=loose)
        if chance(self.choices, 50):
            self.line(f"{cell(kind, register)} = vm.const.{TYPES[kind]} {literal(kind, number(self.choices, kind))}")
        return register

    def constant(self, kind: str) -> None:
        target = cell(kind, self.target(kind))
        bits = number(self.choices, kind)
        zero = chance(self.choices, 15)
        self.line(f"{target} = vm.const.{TYPES[kind]}" + (".zero" if zero else f" {literal(kind, bits)}"))

    def settle(self, kind: str) -> None:
        """A loose float among the others, a NaN replaced by a number."""
        source, target, flag = self.source(kind, loose=True), self.target(kind), self.fresh()
        t = TYPES[kind]
        self.line(f"%i{flag} = vm.cmp.nan.{t} {cell(kind, source)}")
        kept = self.source(kind)
        self.line(f"{cell(kind, target)} = vm.select.{t} %i{flag} ? {cell(kind, kept)} : {cell(kind, source)}")

    # Control flow.

    def control(self) -> None:
        deep: list[Callable[[], None]] = [self.condition, self.loop, self.table]
        flat: list[Callable[[], None]] = [self.jump, self.failure, self.early_return]
        pick(self.choices, flat + deep if self.nesting < MAX_NESTING else flat)()

    def inner(self, label: str, end: str) -> None:
        """A block of its own that goes to `end`."""
        self.label(label)
        self.nesting += 1
        self.body(1 + self.choices.count(4))
        self.nesting -= 1
        self.line(f"vm.br ^{end}({self.remap()})")

    def condition(self) -> None:
        yes, no, end = self.new_label(), self.new_label(), self.new_label()
        flag = cell("i", self.source("i"))
        self.line(f"vm.cond_br {flag}, ^{yes}({self.remap()}), ^{no}({self.remap()})")
        self.inner(yes, end)
        self.inner(no, end)
        self.label(end)

    def loop(self) -> None:
        """Up to four rounds."""
        count, one, head, end = self.fresh(), self.fresh(), self.new_label(), self.new_label()
        self.line(f"%i{count} = vm.const.i32 {1 + self.choices.below(4)}")
        self.line(f"vm.br ^{head}()")
        self.label(head)
        self.nesting += 1
        self.body(1 + self.choices.count(4))
        self.nesting -= 1
        self.line(f"%i{one} = vm.const.i32 1")
        self.line(f"%i{count} = vm.sub.i32 %i{count}, %i{one}")
        self.line(f"vm.cond_br %i{count}, ^{head}({self.remap()}), ^{end}({self.remap()})")
        self.label(end)

    def table(self) -> None:
        end, default = self.new_label(), self.new_label()
        labels = [self.new_label() for _ in range(self.choices.below(4))]
        cases = "".join(f", {n}: ^{label}({self.remap()})" for n, label in enumerate(labels))
        index = self.small_index(len(labels) + 1)
        self.line(f"vm.br_table {index} {{ default: ^{default}({self.remap()}){cases} }}")
        for label in (default, *labels):
            self.inner(label, end)
        self.label(end)

    def jump(self) -> None:
        following = self.new_label()
        kind = pick(self.choices, ("br", "break", "cond_break", "yield"))
        condition = f"{cell('i', self.source('i'))}, " if kind == "cond_break" else ""
        self.line(f"vm.{kind} {condition}^{following}({self.remap()})")
        self.label(following)

    def failure(self) -> None:
        """A status, mostly OK."""
        status = self.fresh()
        code = 0 if chance(self.choices, 80) else pick(self.choices, (1, 3, 5, 9, 13, 18, 31, 32, 99, 2**32 - 1))
        self.line(f"%i{status} = vm.const.i32 {literal('i', code)}")
        self.line(f'vm.fail %i{status}, "status {code}"')
        self.label(self.new_label())

    def early_return(self) -> None:
        leaving, staying = self.new_label(), self.new_label()
        self.line(f"vm.cond_br {cell('i', self.source('i'))}, ^{leaving}(), ^{staying}()")
        self.label(leaving)
        self.leave()
        self.label(staying)

    def leave(self) -> None:
        """Returns. An exported function's last i64 result tells of all registers, so that no wrong value is lost."""
        self.choices.part()
        told = ""
        if self.exported:
            told = self.tell()
        kinds = self.callee.results[:-1] if self.exported else self.callee.results
        results = [self.reference(move=70) if k == "r" else cell(k, self.source(k, loose=True)) for k in kinds]
        results += [told] if told else []
        self.line("vm.return " + ", ".join(results) if results else "vm.return")

    def tell(self) -> str:
        """A number made of all registers that are not loose."""
        told = self.wide()
        registers = [cell("I", register) for register in range(0, CELLS, 2)] + [f"%r{n}" for n in range(REFS)]
        self.line(f"{told} = vm.call @{TELL.name}({', '.join(registers)})")
        return told

    # Calls.

    def call(self, callee: Callee) -> None:
        kinds, sizes = self.unroll(callee)
        arguments = [self.reference(move=40) if k == "r" else cell(k, self.source(k)) for k in kinds]
        results = [
            f"%r{self.ref_target()}" if k == "r" else cell(k, self.target(k, loose=k in "fF")) for k in callee.results
        ]
        spread = ""
        name = "call"
        if callee.has_spans or (callee.is_import and chance(self.choices, 30)):
            name, spread = "call.variadic", f" segments[{', '.join(map(str, sizes))}]"
        operands = f"@{callee.name}{spread}({', '.join(arguments)})"
        if callee.suspends or chance(self.choices, 20):
            following = self.new_label()
            self.line(f"vm.{name}.yieldable {operands} -> ^{following}({', '.join(results)})")
            self.label(following)
        else:
            self.line((f"{', '.join(results)} = " if results else "") + f"vm.{name} {operands}")

    def unroll(self, callee: Callee) -> tuple[list[str], list[int]]:
        """Kinds of the arguments of one call, and how many each span has, 0xFFFF for what is none."""
        kinds: list[str] = []
        sizes: list[int] = []
        for item in Signature.parse(callee.cconv).arguments:
            sizes.append(0xFFFF if isinstance(item, str) else self.choices.below(4))
            kinds += [item] if isinstance(item, str) else list(item) * sizes[-1]
        return kinds, sizes


__all__ = ["EDGES", "WIDE", "FunctionWriter"]
