"""Random valid programs: one or two modules as assembly, and calls to make in order.

`generate(RandomChoices(7))` is the same program on every machine. Each program loads, ends after a bounded number of
instructions, and has one defined outcome on every implementation; how often it meets an error on the way is balanced so
that most calls return.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tiree.testing import wanted
from tiree.testing.archive import read
from tiree.testing.choices import Choices, chance, number, pick
from tiree.testing.generate_function import TELL, FunctionWriter, tell_lines
from tiree.testing.generate_text import SLOT_TYPES, Callee, Surroundings, cell
from tiree.testing.native import NATIVE, SUSPENDS


@dataclass(frozen=True)
class Call:
    """A call of an export of the last module.

    `arguments` are bits of numbers; for references 0 is null, n a new buffer of n - 1 bytes (see `argument_bytes`).
    """

    function: str
    arguments: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class Program:
    """Modules as text, dependencies first, and what to call, in one context.

    They may also import functions of the module `native` (`tiree.testing.native_module()`).
    """

    texts: tuple[str, ...]
    calls: tuple[Call, ...]

    @cached_property
    def modules(self) -> list[bytes]:
        """The modules as `.vmfb`."""
        from tiree.runtime.assembly import assemble

        return [assemble(text, filename=f"module {n}") for n, text in enumerate(self.texts)]

    @property
    def reason_against_iree(self) -> str:
        """What IREE's Python API cannot do of what is asked for: bind functions with spans, pass null. Or nothing."""
        if any("vm.import @native." in text for text in self.texts):
            return "imports native functions"
        main = read(self.modules[-1])
        passed = ((main.function(call.function).signature.scalars, call.arguments) for call in self.calls)
        return "passes null" if any(("r", 0) in zip(*each, strict=True) for each in passed) else ""

    @property
    def is_for_iree(self) -> bool:
        """Whether IREE's Python API can do all that is asked for."""
        return not self.reason_against_iree

    def __str__(self) -> str:
        calls = "\n".join(f"// {c.function}({', '.join(map(hex, c.arguments))})" for c in self.calls)
        return "\n".join(self.texts) + calls

    def __repr__(self) -> str:
        """The text without the function that is the same in all programs."""
        shown = re.sub(rf"vm\.func @{TELL.name}\(.*?\n\}}\n\n?", "", str(self), flags=re.DOTALL)
        return f"<Program\n{shown}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What hypothesis prints."""
        del cycle
        printer.text(repr(self))


def generate(choices: Choices, *, natives: bool = True, libraries: bool = True) -> Program:
    """A program; without `natives` it needs no native module, without `libraries` it is one module."""
    wanted.choices("generate", choices)
    imports: list[Callee] = []
    texts: list[str] = []
    choices.part()
    if libraries and choices.count(5) > 2:
        library = ModuleWriter(choices, "library", [], natives=natives)
        texts.append(library.write(exported_kinds="iIfFr"))
        imports = [Callee(f"library.{c.name}", c.arguments, c.results, True) for c in library.exports]
    main = ModuleWriter(choices, "main", imports, natives=natives)
    texts.append(main.write(exported_kinds="iIr"))
    calls: list[Call] = []
    for _ in range(1 + choices.count(3)):
        choices.part()
        callee = pick(choices, main.exports)
        calls.append(Call(callee.name, tuple(_argument(choices, kind) for kind in callee.arguments)))
    calls += [Call(name, ()) for name in main.inspectors]
    return Program(tuple(texts), tuple(calls))


def _argument(choices: Choices, kind: str) -> int:
    return choices.below(34) if kind == "r" else number(choices, kind)


class ModuleWriter:
    """Writes one module. `exports` are what it offers, `inspectors` those of them that tell its state."""

    def __init__(self, choices: Choices, name: str, imports: list[Callee], *, natives: bool) -> None:
        self.choices = choices
        self.name = name
        self.imports = list(imports)
        self.exports: list[Callee] = []
        self.inspectors: list[str] = []
        if natives and choices.count(3) > 1:
            for _ in range(1 + choices.below(3)):
                self._import_native(pick(choices, tuple(NATIVE.functions)))

    def _import_native(self, function: str) -> None:
        arguments, _, results = NATIVE.functions[function][0][1:].partition("_")
        callee = Callee(f"native.{function}", arguments, results, True, function in SUSPENDS)
        if callee not in self.imports:
            self.imports.append(callee)

    def write(self, exported_kinds: str) -> str:
        """The text. Exported functions take arguments of these kinds and return i32, i64 and references."""
        choices = self.choices
        choices.part()
        rodata = [bytes(choices.below(256) for _ in range(4 * (1 + choices.below(5)))) for _ in range(choices.below(3))]
        around = Surroundings(8 * choices.below(5), choices.below(4), [len(data) for data in rodata])
        head = [f"vm.module @{self.name} version {choices.below(3)}"]
        for callee in self.imports:
            head.append(f'vm.import @{callee.name} cconv "{callee.cconv}"')
            around.imports.append(callee.name)
        if chance(choices, 25):
            absent = Callee("absent.function", "i", "I", True)
            head.append(f'vm.import optional @{absent.name} cconv "{absent.cconv}"')
            around.imports.append(absent.name)
            if chance(choices, 20):
                around.callees.append(absent)
        head += [f"vm.rodata[{n}] = {data.hex()}" for n, data in enumerate(rodata)]
        head.append(f"vm.state bytes {around.state_bytes} refs {around.state_refs}")
        around.callees += self.imports
        parts = self._functions(around, exported_kinds)
        parts += [_function(TELL, tell_lines(), exported=False), *self._inspectors(around)]
        return "\n".join(head) + "\n\n" + "\n".join(parts) + "\n"

    def _functions(self, around: Surroundings, exported_kinds: str) -> list[str]:
        """From the last to the first, so that each may call those behind it."""
        choices = self.choices
        parts: list[str] = []
        for ordinal in reversed(range(1 + choices.count(4))):
            choices.part()
            exported = ordinal == 0 or chance(choices, 25)
            kinds = exported_kinds if exported else "iIfFr"
            arguments = "".join(pick(choices, kinds) for _ in range(choices.below(4)))
            results = "".join(pick(choices, "iIr" if exported else "iIfFr") for _ in range(choices.below(3)))
            callee = Callee(f"f{ordinal}", arguments, results + "I" * exported)
            length = 1 + choices.count(32 if ordinal == 0 else 12)
            lines = FunctionWriter(choices, callee, around, exported=exported).write(length)
            parts.insert(0, _function(callee, lines, exported=exported))
            around.callees.append(callee)
            if exported:
                self.exports.insert(0, callee)
        if choices.count(7) > 5:
            start = Callee("__init", "", "")
            surroundings = Surroundings(around.state_bytes, around.state_refs, around.rodata)
            parts.append(_function(start, FunctionWriter(choices, start, surroundings).write(3), exported=True))
        return parts

    def _inspectors(self, around: Surroundings) -> list[str]:
        """Functions that tell the state: one number for all bytes and that of the library, and each reference."""
        others = [callee for callee in self.imports if callee.name.endswith(".state")]
        inspectors: list[tuple[Callee, list[str]]] = []
        if around.state_bytes or others:
            inspectors.append((Callee("state", "", "I"), _telling_state(around.state_bytes, others)))
        for slot in range(around.state_refs):
            lines = [f"%r0 = vm.global.load.ref .refs[{slot}] : {SLOT_TYPES[slot % 2]}", "vm.return %R0"]
            inspectors.append((Callee(f"slot{slot}", "", "r"), ["^bb0:", *(f"  {line}" for line in lines)]))
        self.inspectors = [callee.name for callee, _ in inspectors]
        self.exports += [callee for callee, _ in inspectors]
        return [_function(callee, lines, exported=True) for callee, lines in inspectors]


def _function(callee: Callee, lines: list[str], *, exported: bool) -> str:
    export = [f"vm.export @{callee.name}"] if exported else []
    return "\n".join([*export, callee.header(callee.name), *lines, "}", ""])


def _telling_state(size: int, others: list[Callee]) -> list[str]:
    total, factor, value = cell("I", 0), cell("I", 2), cell("I", 4)
    lines = [f"{total} = vm.const.i64 1", f"{factor} = vm.const.i64 6364136223846793005"]
    reads = [f"{value} = vm.global.load.i64 .rwdata[{offset}]" for offset in range(0, size, 8)]
    reads += [f"{value} = vm.call @{other.name}()" for other in others]
    for line in reads:
        lines += [line, f"{total} = vm.fma.i64 {total}, {factor}, {value}"]
    return ["^bb0:", *(f"  {line}" for line in [*lines, f"vm.return {total}"])]
