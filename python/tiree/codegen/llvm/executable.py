"""One executable in kernel form -> an ELF image, with the steps in between kept where they were asked for.

Every kernel is an LLVM module of its own, so that the kernels of a large executable compile side by side and each gets
the passes that suit it; one more module holds the library table. A lone kernel shares its module with the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tiree.codegen.elf.link import link
from tiree.codegen.llvm.compile import CompiledObject, compile_ir
from tiree.codegen.llvm.library import QUERY_SYMBOL, DebugInfo, KernelInfo, LibraryVariant
from tiree.codegen.llvm.module import ModuleEmitter
from tiree.support.cpu_target import TargetDescription
from tiree.support.typed import symbol_name


@dataclass(frozen=True)
class ExportCounts:
    """Constants and bindings of an export's pipeline layout."""

    constants: int
    bindings: int


@dataclass(frozen=True)
class Unit:
    """One LLVM module to compile. Holds no xDSL object, so that many compile side by side in threads."""

    name: str
    ir: str
    target: TargetDescription
    optimise: bool = False
    linked: tuple[str, ...] = ()
    """Other modules that belong to it."""

    def compile(self, keep_assembly: bool = False) -> CompiledObject:
        return compile_ir(self.ir, self.target, self.optimise, keep_assembly, self.linked)


def emit_units(
    name: str,
    module: ModuleOp,
    target: TargetDescription,
    exports: Mapping[str, ExportCounts] | None = None,
    keep_name: bool = True,
    debug: DebugInfo | None = None,
) -> list[Unit]:
    """The LLVM IR of every `func.func` of `module` and of the library table.

    `exports` holds the counts by kernel name. `keep_name` writes the names of the executable and of its kernels into
    the table, where profilers find them; without it kernels are called by their numbers. `debug` is what the table
    says besides. Raises `CompileError` for an op or type without a lowering.
    """
    ops = list(module.body.block.ops)
    functions = [op for op in ops if op.name == "func.func"]
    library = ModuleEmitter(target, name if keep_name else "")
    library.add_tables(ops)
    if len(functions) == 1:
        _add(library, functions[0], exports)
        library.kernels = _named(library.kernels, keep_name)
        library.add_library(debug=debug)
        return [Unit(name, library.text(), target, library.optimise, tuple(library.linked.values()))]
    units: list[Unit] = []
    for function in functions:
        emitter = ModuleEmitter(target, library.name, tables=library.tables, linkage="hidden")
        _add(emitter, function, exports)
        library.kernels += emitter.kernels
        linked = tuple(emitter.linked.values())
        units.append(Unit(emitter.kernels[0].name, emitter.text(), target, emitter.optimise, linked))
    library.kernels = _named(library.kernels, keep_name)
    library.add_library(external=True, debug=debug)
    return [Unit(name, library.text(), target), *units]


def _named(kernels: list[KernelInfo], keep: bool) -> list[KernelInfo]:
    """Kernels with the names that the table has for them."""
    if keep:
        return kernels
    return [replace(k, name=str(n), symbol=k.symbol or k.name) for n, k in enumerate(kernels)]


@dataclass(frozen=True)
class VariantCode:
    """One of several variants of an executable: its code, and what it runs on."""

    module: ModuleOp
    target: TargetDescription
    mask: int
    """Bits of processor data that the host must have set."""
    limits: Mapping[str, Mapping[int, int]]
    """By kernel: the workgroups of a dimension that have work, where another variant has more."""


def emit_variant_units(
    name: str,
    variants: Sequence[VariantCode],
    exports: Mapping[str, ExportCounts],
    keep_name: bool = True,
    debug: DebugInfo | None = None,
) -> list[list[Unit]]:
    """The LLVM IR of all kernels of variants that share an image, variant by variant, and of the library tables.

    The functions of a variant are named for its CPU. Otherwise as `emit_units`.
    """
    name = name if keep_name else ""
    suffixes: list[str] = []
    tables: list[LibraryVariant] = []
    units: list[list[Unit]] = []
    for number, variant in enumerate(variants):
        suffix = f".{variant.target.cpu or 'generic'}"
        suffixes.append(suffix if suffix not in suffixes else f"{suffix}.{number}")
        made, kernels = _variant_units(variant, exports, suffixes[-1])
        units.append(made)
        tables.append(LibraryVariant(_named(kernels, keep_name), variant.mask))
    anywhere = replace(variants[-1].target, cpu="", features="")
    library = ModuleEmitter(anywhere, name)
    library.add_variants(tables, debug)
    return [[Unit(name or "library", library.text(), anywhere)], *units]


def _variant_units(
    variant: VariantCode, exports: Mapping[str, ExportCounts], suffix: str
) -> tuple[list[Unit], list[KernelInfo]]:
    ops = list(variant.module.body.block.ops)
    tables = {symbol_name(op): op for op in ops if op.name == "memref.global"}
    units: list[Unit] = []
    kernels: list[KernelInfo] = []
    for function in ops:
        if function.name == "func.func":
            emitter = ModuleEmitter(variant.target, "", tables=tables, linkage="hidden")
            _add(emitter, function, exports, suffix, variant.limits.get(symbol_name(function)))
            kernels += emitter.kernels
            linked = tuple(emitter.linked.values())
            name = f"{symbol_name(function)}{suffix}"
            units.append(Unit(name, emitter.text(), variant.target, emitter.optimise, linked))
    return units, kernels


def _add(
    emitter: ModuleEmitter,
    function: Operation,
    exports: Mapping[str, ExportCounts] | None,
    suffix: str = "",
    limits: Mapping[int, int] | None = None,
) -> None:
    counts = (exports or {}).get(symbol_name(function))
    emitter.add_kernel(function, counts and counts.constants, counts and counts.bindings, suffix, limits)


def link_units(name: str, compiled: Sequence[CompiledObject], debug_symbols: bool = False) -> bytes:
    """The image of an executable from the objects of its units."""
    return link([unit.object for unit in compiled], QUERY_SYMBOL, name, symbols=debug_symbols)
