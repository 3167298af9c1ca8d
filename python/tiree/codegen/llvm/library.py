"""The table that an executable hands to its loader: library version 6, as LLVM constants.

One exported function, `iree_hal_executable_library_query`, returns the table to a host that asks for this version and
null otherwise. The struct types have C's layout, so the same text serves 32- and 64-bit targets. Dispatch is by name in
this version: names are part of the table whatever the debug level.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LIBRARY_VERSION = 6
QUERY_SYMBOL = "iree_hal_executable_library_query"


@dataclass(frozen=True)
class KernelInfo:
    """What the table says of one entry point."""

    name: str
    constants: int
    bindings: int
    local_memory_pages: int


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


def library_ir(name: str, kernels: list[KernelInfo], external: bool = False) -> str:
    """The table and the query function for kernels `@<name>`, defined in the same module unless `external`."""
    count = len(kernels)
    lines = [f"declare hidden i32 @{quote_symbol(k.name)}(ptr, ptr, ptr)" for k in kernels] if external else []
    lines += [_string("@.library.name", name)]
    lines += [_string(f"@.kernel.name.{i}", kernel.name) for i, kernel in enumerate(kernels)]
    functions = ", ".join(f"ptr @{quote_symbol(kernel.name)}" for kernel in kernels)
    names = ", ".join(f"ptr @.kernel.name.{i}" for i in range(count))
    attributes = ", ".join(
        f"{_ATTRIBUTES} {{ i64 0, i16 {k.local_memory_pages}, i8 {k.constants}, i8 {k.bindings}, i32 1, i32 1, i16 1, "
        "i16 0, [5 x i64] zeroinitializer }"
        for k in kernels
    )
    constant = "private unnamed_addr constant"
    lines += [
        f"@.library.functions = {constant} [{count} x ptr] [{functions}]",
        f"@.library.names = {constant} [{count} x ptr] [{names}]",
        f"@.library.attributes = {constant} [{count} x {_ATTRIBUTES}] [{attributes}], align 8",
        f"@.library.header = {constant} {{ i32, ptr, i32, i32 }} {{ i32 {LIBRARY_VERSION}, ptr @.library.name, i32 0, "
        "i32 0 }, align 8",
        f"@.library = {constant} {_LIBRARY} {{ ptr @.library.header, {{ i32, ptr }} zeroinitializer, {_EXPORTS} {{ "
        f"i32 {count}, ptr @.library.functions, ptr @.library.attributes, ptr null, ptr null, ptr @.library.names, "
        "ptr null, ptr null, ptr null, ptr null }, i32 0, { i32, ptr } zeroinitializer }, align 8",
        f"define dso_local ptr @{QUERY_SYMBOL}(i32 %version, ptr %environment) nounwind optsize {{",
        f"  %known = icmp eq i32 %version, {LIBRARY_VERSION}",
        "  %result = select i1 %known, ptr @.library, ptr null",
        "  ret ptr %result",
        "}",
    ]
    return "\n".join(lines)
