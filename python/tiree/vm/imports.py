"""Functions that compiled modules import from the runtime: signatures and cconv strings.

The rows in `import_rows.py` derive from isa/imports.txt, whose head says how a row reads. Their order is the order of
imports in a module.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    TupleType,
    UnitAttr,
    f32,
    f64,
    i32,
    i64,
)
from xdsl.ir import Attribute, Region, TypeAttribute

from tiree.dialects import vm
from tiree.vm.import_rows import MODULES

_SCALARS: dict[str, TypeAttribute] = {"i32": i32, "i64": i64, "f32": f32, "f64": f64}
_LETTERS = {"i32": "i", "i64": "I", "f32": "f", "f64": "F"}


@dataclass(frozen=True)
class Argument:
    """`types` has one entry, or several when the argument is a span of tuples."""

    name: str
    types: tuple[str, ...]
    variadic: bool


@dataclass(frozen=True)
class ImportDecl:
    """One row of the table; `order` is its position."""

    name: str
    arguments: tuple[Argument, ...]
    results: tuple[str, ...]
    flags: frozenset[str]
    minimum_version: int
    order: int

    @property
    def cconv(self) -> str:
        """The calling-convention string, `0rIii_r`."""
        arguments = "".join(
            f"C{letters}D" if a.variadic else letters
            for a in self.arguments
            for letters in ["".join(_LETTERS.get(t, "r") for t in a.types)]
        )
        return f"0{arguments or 'v'}_{''.join(_LETTERS.get(t, 'r') for t in self.results) or 'v'}"

    @property
    def is_variadic(self) -> bool:
        return any(a.variadic for a in self.arguments)


def _type_names(text: str) -> tuple[str, ...]:
    return tuple(t.strip() for t in text.strip().strip("()").split(","))


def _split_arguments(text: str) -> list[str]:
    """Splits at commas outside parentheses."""
    parts: list[str] = []
    depth, start = 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]] if text.strip() else []


def _parse_row(module: str, row: str, order: int) -> ImportDecl:
    head, arrow, tail = row.partition(" -> ")
    close = head.rindex(")")
    name, arguments = head[: head.index("(")], head[head.index("(") + 1 : close]
    results: tuple[str, ...] = ()
    flags = head[close + 1 :].split()
    if arrow:
        end = tail.index(")") + 1 if tail.startswith("(") else (tail.index(" ") if " " in tail else len(tail))
        results, flags = _type_names(tail[:end]), tail[end:].split()
    parsed: list[Argument] = []
    for argument in _split_arguments(arguments):
        argument_name, type_text = argument.strip().split(": ", 1)
        variadic = type_text.endswith("...")
        parsed.append(Argument(argument_name, _type_names(type_text.removesuffix("...")), variadic))
    version = next((int(f[1:]) for f in flags if f.startswith("@")), 0)
    return ImportDecl(f"{module}.{name}", tuple(parsed), results, frozenset(flags), version, order)


@cache
def _rows() -> dict[str, tuple[str, str, int]]:
    rows: dict[str, tuple[str, str, int]] = {}
    for module, table in MODULES.items():
        for row in table:
            rows[f"{module}.{row[: row.index('(')]}"] = (module, row, len(rows))
    return rows


@cache
def import_decl(name: str) -> ImportDecl:
    """The row of `hal.fence.await` and the like. Raises `KeyError` for a name that is not in the table."""
    return _parse_row(*_rows()[name])


def is_import(name: str) -> bool:
    """Whether the table has a row of that name."""
    return name in _rows()


def all_imports() -> list[ImportDecl]:
    """Every row, in table order."""
    return [import_decl(name) for name in _rows()]


@cache
def vm_type(name: str) -> TypeAttribute:
    """The `vm` type of a type name of the table."""
    if name in _SCALARS:
        return _SCALARS[name]
    if name in ("str", "buffer"):
        return vm.BufferType()
    if name == "list":
        return vm.ListType(vm.RefType(hal_type("hal.buffer")))
    return vm.RefType(hal_type(name))


@cache
def hal_type(name: str) -> Attribute:
    """`!hal.fence` for `hal.fence`."""
    from tiree.dialects import hal

    return next(t for t in hal.HAL.attributes if t.name == name)()


def argument_type(argument: Argument) -> Attribute:
    """The type of one argument, or of one element of a span: a tuple when it has several parts."""
    parts = [vm_type(t) for t in argument.types]
    return TupleType(ArrayAttr(parts)) if len(parts) > 1 else parts[0]


def import_op(decl: ImportDecl) -> vm.ImportOp:
    """The `vm.import` that declares a row."""
    types: list[Attribute] = []
    attrs: list[Attribute] = []
    for a in decl.arguments:
        types.append(argument_type(a))
        extra: dict[str, Attribute] = {"vm.variadic": UnitAttr()} if a.variadic else {}
        attrs.append(DictionaryAttr({"vm.name": StringAttr(a.name), **extra}))
    properties: dict[str, Attribute | None] = {
        "sym_name": StringAttr(decl.name),
        "sym_visibility": StringAttr("private"),
        "function_type": FunctionType.from_lists(types, [vm_type(t) for t in decl.results]),
        "arg_attrs": ArrayAttr(attrs) if attrs else None,
        "minimum_version": IntegerAttr(decl.minimum_version, i32) if decl.minimum_version else None,
        "is_optional": UnitAttr() if "optional" in decl.flags else None,
    }
    attributes: dict[str, Attribute] = {}
    if "pure" in decl.flags:
        attributes["nosideeffects"] = UnitAttr()
    if "yield" in decl.flags:
        attributes["vm.yield"] = UnitAttr()
    return vm.ImportOp(properties=properties, attributes=attributes, regions=[Region()])
