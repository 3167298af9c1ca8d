"""The table that an executable hands to its loader: library version 6, as LLVM IR that fills it in.

One exported function, `iree_hal_executable_library_query`, returns the table to a host that asks for this version and
null otherwise. The struct types have C's layout, so the same text serves 32- and 64-bit targets. Dispatch is by name in
this version: names are part of the table whatever the debug level.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tiree.codegen.elf.link import TABLE_SECTION

LIBRARY_VERSION = 6
QUERY_SYMBOL = "iree_hal_executable_library_query"


@dataclass(frozen=True)
class Place:
    """A line of a file."""

    path: str
    line: int


@dataclass(frozen=True)
class KernelInfo:
    """What the table says of one entry point."""

    name: str
    constants: int
    bindings: int
    local_memory_pages: int
    symbol: str = ""
    """The function's, where that is not the name."""

    @property
    def function(self) -> str:
        """The function as LLVM writes it."""
        return f"@{quote_symbol(self.symbol or self.name)}"


@dataclass(frozen=True)
class LibraryVariant:
    """The kernels of one of several variants, and what the CPU must have for them."""

    kernels: Sequence[KernelInfo]
    mask: int
    """Bits of the first word of processor data that must be set."""


@dataclass(frozen=True)
class DebugInfo:
    """What the table says for debuggers and error messages; all of it may be empty."""

    places: dict[str, Place] = field(default_factory=dict[str, Place])
    """Where in the user's file the work of a kernel stands, by kernel."""
    sources: dict[str, str] = field(default_factory=dict[str, str])
    """Texts of the executable on its way, by the stage that they show."""
    lines: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """The line of each kernel (second) in the text of a stage (first)."""


def quote_symbol(name: str) -> str:
    """An LLVM symbol name, quoted where it needs to be."""
    if re.fullmatch(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*", name):
        return name
    text = "".join(c if c.isascii() and c.isprintable() and c not in '"\\' else _escape(c) for c in name)
    return f'"{text}"'


def _escape(text: str) -> str:
    return "".join(f"\\{byte:02X}" for byte in text.encode())


def _string(symbol: str, text: str) -> str:
    data = text.encode()
    return f'{symbol} = private unnamed_addr constant [{len(data) + 1} x i8] c"{_escape(text)}\\00", align 1'


_ATTRIBUTES = "{ i64, i32, i32, i32, i16, i16, [5 x i64] }"
"""Of a kernel; the second field is pages of local memory (16 bits), constants (8) and bindings (8)."""
_EXPORTS = "{ i32, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }"
_LIBRARY = f"{{ ptr, {{ i32, ptr }}, {_EXPORTS}, i32, {{ i32, ptr }} }}"
_HEADER = "{ i32, ptr, i32, i32 }"
_PLACE = "{ i32, i32, ptr }"
_STAGES = "{ i32, ptr, ptr }"
_SOURCE = "{ i32, ptr, i32, ptr }"
_CONSTANT = "private unnamed_addr constant"
_TABLE = "@.library"
_MIDDLE = 112
FEW_KERNELS = 2
"""So many are written one after the other, more in a loop over a table of their facts."""


class _Data:
    """The constants of tables: each string and each array once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._strings: dict[str, str] = {}
        self._arrays: dict[str, str] = {}

    def string(self, text: str) -> str:
        """A pointer to `text`, ended by a zero byte."""
        if text not in self._strings:
            symbol = self._strings[text] = f"@.library.text.{len(self._strings)}"
            self.lines.append(_string(symbol, text))
        return f"ptr {self._strings[text]}"

    def array(self, name: str, type: str, values: Sequence[str]) -> str:
        """A pointer to an array of structures or pointers; null for an empty one."""
        if not values:
            return "ptr null"
        elements = ", ".join(f"{type} {value}" if type != "ptr" else value for value in values)
        content = f"[{len(values)} x {type}] [{elements}]"
        found = self._arrays.get(content)
        if found is None:
            found = self._arrays[content] = f"@.library.{name}"
            self.lines.append(f"{found} = {_CONSTANT} {content}, align 8")
        return f"ptr {found}"

    def place(self, path: str, line: int) -> str:
        return f"{{ i32 {line}, i32 {len(path.encode())}, {self.string(path)} }}"


def library_ir(
    name: str,
    kernels: list[KernelInfo],
    external: bool = False,
    debug: DebugInfo | None = None,
    pointer_bytes: int = 8,
) -> str:
    """The table and the query function for `kernels`, defined in the same module unless `external`.

    The query function fills in the table, which takes no bytes in the file: as constants its addresses would need 24
    bytes each to be relocated, and most of it is zero. Every call writes the same.
    """
    table = _Table(name, kernels, debug or DebugInfo())
    if len(kernels) <= FEW_KERNELS:
        table.write_each(kernels)
    else:
        table.write_all(table.facts(kernels, pointer_bytes))
    return table.text(_declarations(kernels) if external else [], [f"  br i1 %known, {_FILL_OR_NOT}"])


def variants_ir(
    name: str, variants: Sequence[LibraryVariant], pointer_bytes: int, debug: DebugInfo | None = None
) -> str:
    """The table, and a query function that chooses the first variant whose CPU features the host has.

    Kernels are defined in other modules; those of all variants have the same names. On a host for which there is none
    the function returns null, as for another version.
    """
    table = _Table(name, variants[0].kernels, debug or DebugInfo())
    chosen, fits = "ptr null", "false"
    code = [
        f"  %place = getelementptr inbounds i8, ptr %environment, i64 {4 * pointer_bytes}",
        "  %features = load i64, ptr %place, align 8",
    ]
    for number, variant in reversed(list(enumerate(variants))):
        facts = table.facts(variant.kernels, pointer_bytes, f".{number}" if number else "")
        if not variant.mask:
            chosen, fits = f"ptr {facts}", "true"
            continue
        mask = variant.mask - (1 << 64) if variant.mask >> 63 else variant.mask
        code += [
            f"  %has.{number} = and i64 %features, {mask}",
            f"  %all.{number} = icmp eq i64 %has.{number}, {mask}",
            f"  %chosen.{number} = select i1 %all.{number}, ptr {facts}, {chosen}",
            f"  %fits.{number} = or i1 %all.{number}, {fits}",
        ]
        chosen, fits = f"ptr %chosen.{number}", f"%fits.{number}"
    table.write_all(chosen.removeprefix("ptr "))
    declarations = [line for variant in variants for line in _declarations(variant.kernels)]
    # The host says what it has only where it asks for a version that is known.
    select = [
        "  br i1 %known, label %choose, label %unknown",
        "choose:",
        *code,
        f"  br i1 {fits}, {_FILL_OR_NOT}",
    ]
    return table.text(declarations, select)


_FILL_OR_NOT = "label %fill, label %unknown"


def _declarations(kernels: Sequence[KernelInfo]) -> list[str]:
    return [f"declare hidden i32 {kernel.function}(ptr, ptr, ptr)" for kernel in kernels]


class _Table:
    """The table of some kernels and the instructions that fill it in. Places in it are paths of field numbers."""

    def __init__(self, name: str, kernels: Sequence[KernelInfo], debug: DebugInfo) -> None:
        arrays = [f"[{len(kernels)} x {type}]" for type in ("ptr", _ATTRIBUTES, "ptr")]
        self.type = f"{{ {_HEADER}, {_LIBRARY}, {', '.join(arrays)} }}"
        self.kernels = kernels
        self.data = _Data()
        self.lines: list[str] = []
        self._values = 0
        self.integer("i32", LIBRARY_VERSION, 0, 0)
        self.pointer(self.data.string(name), 0, 1)
        self.pointer(self.place(0), 1, 0)
        self.integer("i32", len(kernels), 1, 2, 0)
        for array, slot in enumerate((1, 2, 5)):
            self.pointer(self.place(2 + array), 1, 2, slot)
        self.pointer(_places(self.data, kernels, debug), 1, 2, 8)
        self.pointer(_stages(self.data, kernels, debug), 1, 2, 9)
        if debug.sources:
            self.integer("i32", len(debug.sources), 1, 4, 0)
            sources = [_source(self.data, *item) for item in debug.sources.items()]
            self.pointer(self.data.array("sources", _SOURCE, sources), 1, 4, 1)
        self.result = self.place(1)

    def value(self, instruction: str) -> str:
        """Emits an instruction; returns its result."""
        self._values += 1
        self.lines.append(f"  %v{self._values} = {instruction}")
        return f"%v{self._values}"

    def place(self, *path: int | str) -> str:
        """A typed pointer to a place; names of values count as 64-bit indices."""
        indices = "".join(f", i64 {one}" if isinstance(one, str) else f", i32 {one}" for one in path)
        return "ptr " + self.value(f"getelementptr inbounds {self.type}, ptr %table, i32 0{indices}")

    def integer(self, type: str, value: int | str, *path: int | str) -> None:
        if value != 0:
            place = self.place(*path)
            self.lines.append(f"  store {type} {value}, {place}")

    def pointer(self, value: str, *path: int | str) -> None:
        """Stores a pointer, given with its type; null is there already."""
        if value != "ptr null":
            place = self.place(*path)
            self.lines.append(f"  store {value}, {place}")

    def attributes(self, counts: int | str, number: int | str) -> None:
        """The attributes of a kernel; its workgroups have one invocation."""
        for slot, (type, value) in enumerate((("i32", counts), ("i32", 1), ("i32", 1), ("i16", 1)), 1):
            self.integer(type, value, 3, number, slot)

    def write_each(self, kernels: Sequence[KernelInfo]) -> None:
        """The rows of the arrays, one after the other."""
        for number, kernel in enumerate(kernels):
            self.pointer(f"ptr {kernel.function}", 2, number)
            self.attributes(_counts(kernel), number)
            self.pointer(self.data.string(kernel.name), 4, number)

    def facts(self, kernels: Sequence[KernelInfo], pointer_bytes: int, suffix: str = "") -> str:
        """A constant with the distance of each kernel from it, and the kernel's counts."""
        symbol, word = f"@.library.kernels{suffix}", f"i{8 * pointer_bytes}"
        assert [kernel.name for kernel in kernels] == [kernel.name for kernel in self.kernels]
        rows: list[str] = []
        for kernel in kernels:
            ends = [f"{word} ptrtoint (ptr {one} to {word})" for one in (kernel.function, symbol)]
            far = f"{word} sub ({', '.join(ends)})"
            far = far if pointer_bytes == 4 else f"i32 trunc ({far} to i32)"
            rows.append(f"{{ i32, i32 }} {{ {far}, i32 {_counts(kernel)} }}")
        content = f"[{len(rows)} x {{ i32, i32 }}] [{', '.join(rows)}]"
        self.data.lines.append(f"{symbol} = {_CONSTANT} {content}, align 4")
        return symbol

    def write_all(self, facts: str) -> None:
        """The rows of the arrays by a loop over `facts`, and over one text of all names."""
        # A text of its own: those of `data` may be shared.
        self.data.lines.append(_string("@.library.names", "\0".join(kernel.name for kernel in self.kernels)))
        self.lines += [
            "  br label %kernel",
            "kernel:",
            "  %number = phi i64 [ 0, %fill ], [ %next, %named ]",
            "  %name = phi ptr [ @.library.names, %fill ], [ %following, %named ]",
        ]
        row = [self.value(f"getelementptr inbounds {{ i32, i32 }}, ptr {facts}, i64 %number, i32 {n}") for n in (0, 1)]
        far, counts = (self.value(f"load i32, ptr {place}") for place in row)
        function = self.value(f"getelementptr i8, ptr {facts}, i32 {far}")
        self.pointer(f"ptr {function}", 2, "%number")
        self.attributes(counts, "%number")
        self.pointer("ptr %name", 4, "%number")
        self.lines += [
            "  br label %letter",
            "letter:",
            "  %at = phi ptr [ %name, %kernel ], [ %following, %letter ]",
            "  %following = getelementptr inbounds i8, ptr %at, i64 1",
            "  %byte = load i8, ptr %at",
            "  %ends = icmp eq i8 %byte, 0",
            "  br i1 %ends, label %named, label %letter",
            "named:",
            "  %next = add i64 %number, 1",
            f"  %all = icmp eq i64 %next, {len(self.kernels)}",
            "  br i1 %all, label %filled, label %kernel",
            "filled:",
        ]

    def text(self, declarations: Sequence[str], select: Sequence[str]) -> str:
        """Table and query function; `select` goes to one of the labels `fill` and `unknown`."""
        table = f'internal unnamed_addr global {self.type} zeroinitializer, section "{TABLE_SECTION}", align 8'
        return "\n".join(
            [
                *declarations,
                *self.data.lines,
                f"{_TABLE} = {table}",
                f"define dso_local ptr @{QUERY_SYMBOL}(i32 %version, ptr %environment) #9 {{",
                "entry:",
                f"  %known = icmp eq i32 %version, {LIBRARY_VERSION}",
                *select,
                "unknown:",
                "  ret ptr null",
                "fill:",
                # Hidden from LLVM, so that an address is kept in a register; it would write out the distance every
                # time. One in the middle, because short distances take fewer bytes.
                f'  %middle = call ptr asm "", "=r,0"(ptr getelementptr (i8, ptr {_TABLE}, i32 {_MIDDLE}))',
                f"  %table = getelementptr i8, ptr %middle, i32 -{_MIDDLE}",
                *self.lines,
                f"  ret {self.result}",
                "}",
                'attributes #9 = { nounwind minsize optsize "no-builtins" }',
            ]
        )


def _counts(kernel: KernelInfo) -> int:
    """As the attributes hold them."""
    return kernel.local_memory_pages | kernel.constants << 16 | kernel.bindings << 24


def _places(data: _Data, kernels: Sequence[KernelInfo], debug: DebugInfo) -> str:
    """The places of all kernels; an unknown one has an empty path."""
    if not any(kernel.name in debug.places for kernel in kernels):
        return "ptr null"
    places = [debug.places.get(kernel.name, Place("", 0)) for kernel in kernels]
    return data.array("places", _PLACE, [data.place(p.path, p.line) for p in places])


def _stages(data: _Data, kernels: Sequence[KernelInfo], debug: DebugInfo) -> str:
    """For each kernel, the stages whose text is here and its line in each."""
    rows: list[str] = []
    for number, kernel in enumerate(kernels):
        lines = {s: debug.lines[s, kernel.name] for s in debug.sources if (s, kernel.name) in debug.lines}
        names = data.array(f"stage.names.{number}", "ptr", [data.string(stage) for stage in lines])
        places = [data.place(_file_name(stage), line) for stage, line in lines.items()]
        rows.append(f"{{ i32 {len(lines)}, {names}, {data.array(f'stage.places.{number}', _PLACE, places)} }}")
    return data.array("stages", _STAGES, rows) if debug.sources else "ptr null"


def _source(data: _Data, stage: str, text: str) -> str:
    path = _file_name(stage)
    return f"{{ i32 {len(path.encode())}, {data.string(path)}, i32 {len(text.encode())}, {data.string(text)} }}"


def _file_name(stage: str) -> str:
    return f"{stage}.mlir"
