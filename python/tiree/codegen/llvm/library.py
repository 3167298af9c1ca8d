"""The table that an executable hands to its loader: library version 6, as LLVM constants.

One exported function, `iree_hal_executable_library_query`, returns the table to a host that asks for this version and
null otherwise. The struct types have C's layout, so the same text serves 32- and 64-bit targets. Dispatch is by name in
this version: names are part of the table whatever the debug level.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

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


_ATTRIBUTES = "{ i64, i16, i8, i8, i32, i32, i16, i16, [5 x i64] }"
_EXPORTS = "{ i32, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }"
_LIBRARY = f"{{ ptr, {{ i32, ptr }}, {_EXPORTS}, i32, {{ i32, ptr }} }}"
_PLACE = "{ i32, i32, ptr }"
_STAGES = "{ i32, ptr, ptr }"
_SOURCE = "{ i32, ptr, i32, ptr }"
_CONSTANT = "private unnamed_addr constant"


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


def library_ir(name: str, kernels: list[KernelInfo], external: bool = False, debug: DebugInfo | None = None) -> str:
    """The table and the query function for `kernels`, defined in the same module unless `external`."""
    data = _Data()
    header = _header(data, name)
    table = _table(data, kernels, debug or DebugInfo())
    return "\n".join(
        [
            *(_declarations(kernels) if external else ()),
            *data.lines,
            header,
            f"@.library = {_CONSTANT} {_LIBRARY} {table}, align 8",
            f"define dso_local ptr @{QUERY_SYMBOL}(i32 %version, ptr %environment) nounwind optsize {{",
            f"  %known = icmp eq i32 %version, {LIBRARY_VERSION}",
            "  %result = select i1 %known, ptr @.library, ptr null",
            "  ret ptr %result",
            "}",
        ]
    )


def variants_ir(
    name: str, variants: Sequence[LibraryVariant], pointer_bytes: int, debug: DebugInfo | None = None
) -> str:
    """A table for each variant, and a query function that chooses the first whose CPU features the host has.

    Kernels are defined in other modules. On a host for which there is none the function returns null, as for another
    version.
    """
    data = _Data()
    lines = [_header(data, name)]
    chosen = "ptr null"
    code = [
        f"  %place = getelementptr inbounds i8, ptr %environment, i64 {4 * pointer_bytes}",
        "  %features = load i64, ptr %place, align 8",
    ]
    for number, variant in reversed(list(enumerate(variants))):
        table = _table(data, variant.kernels, debug or DebugInfo(), f"{number}." if number else "")
        lines.append(f"@.library.{number} = {_CONSTANT} {_LIBRARY} {table}, align 8")
        if not variant.mask:
            chosen = f"ptr @.library.{number}"
            continue
        mask = variant.mask - (1 << 64) if variant.mask >> 63 else variant.mask
        code += [
            f"  %has.{number} = and i64 %features, {mask}",
            f"  %all.{number} = icmp eq i64 %has.{number}, {mask}",
            f"  %chosen.{number} = select i1 %all.{number}, ptr @.library.{number}, {chosen}",
        ]
        chosen = f"ptr %chosen.{number}"
    return "\n".join(
        [
            *(line for variant in variants for line in _declarations(variant.kernels)),
            *data.lines,
            *lines,
            f"define dso_local ptr @{QUERY_SYMBOL}(i32 %version, ptr %environment) nounwind optsize {{",
            *code,
            f"  %known = icmp eq i32 %version, {LIBRARY_VERSION}",
            f"  %result = select i1 %known, {chosen}, ptr null",
            "  ret ptr %result",
            "}",
        ]
    )


def _declarations(kernels: Sequence[KernelInfo]) -> list[str]:
    return [f"declare hidden i32 {kernel.function}(ptr, ptr, ptr)" for kernel in kernels]


def _header(data: _Data, name: str) -> str:
    header = f"{{ i32 {LIBRARY_VERSION}, {data.string(name)}, i32 0, i32 0 }}"
    return f"@.library.header = {_CONSTANT} {{ i32, ptr, i32, i32 }} {header}, align 8"


def _table(data: _Data, kernels: Sequence[KernelInfo], debug: DebugInfo, prefix: str = "") -> str:
    """The structure that the query function returns a pointer to."""
    attributes = [
        f"{{ i64 0, i16 {k.local_memory_pages}, i8 {k.constants}, i8 {k.bindings}, i32 1, i32 1, i16 1, "
        "i16 0, [5 x i64] zeroinitializer }"
        for k in kernels
    ]
    exports = [
        data.array(f"{prefix}functions", "ptr", [f"ptr {kernel.function}" for kernel in kernels]),
        data.array(f"{prefix}attributes", _ATTRIBUTES, attributes),
        "ptr null",
        "ptr null",
        data.array(f"{prefix}names", "ptr", [data.string(kernel.name) for kernel in kernels]),
        "ptr null",
        "ptr null",
        _places(data, kernels, debug),
        _stages(data, kernels, debug),
    ]
    sources = data.array("sources", _SOURCE, [_source(data, *item) for item in debug.sources.items()])
    table = [
        "ptr @.library.header",
        "{ i32, ptr } zeroinitializer",
        f"{_EXPORTS} {{ i32 {len(kernels)}, {', '.join(exports)} }}",
        "i32 0",
        f"{{ i32, ptr }} {{ i32 {len(debug.sources)}, {sources} }}",
    ]
    return f"{{ {', '.join(table)} }}"


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
