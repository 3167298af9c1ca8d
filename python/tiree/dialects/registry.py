"""The context: every dialect Tiree knows, registered but not imported until its first op, type or attribute is seen.

Nothing is listed by hand. A module `tiree/dialects/<name>.py` that offers a `Dialect` of that name is the dialect; a
module `<name>_ext.py` adds to xDSL's dialect `<name>` and wins where both define an op. Attributes and types of unknown
dialects are kept verbatim; unknown operations are errors unless the context allows them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module

from tiree.support.extensions import NONE, Extensions
from tiree.support.startup import defer_assembly_formats

defer_assembly_formats()

from xdsl.context import Context  # noqa: E402 (after the deferral, before any dialect)
from xdsl.dialects.builtin import UnregisteredAttr  # noqa: E402
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute  # noqa: E402
from xdsl.utils.exceptions import UnregisteredConstructException  # noqa: E402

UPSTREAM = (
    "affine",
    "arith",
    "bufferization",
    "builtin",
    "cf",
    "complex",
    "func",
    "linalg",
    "llvm",
    "math",
    "memref",
    "ml_program",
    "scf",
    "tensor",
    "tosa",
    "ub",
    "vector",
)
"""xDSL's dialects that programs may use."""


_MHLO = "mhlo."
_IN_CHLO = ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "mulhi", "scan", "sinh")
_OF_MHLO = {"topk": "chlo.top_k", **{name: f"chlo.{name}" for name in _IN_CHLO}}
"""Operations of MHLO that are not of StableHLO by the same name."""


def canonical_name(name: str) -> str:
    """What an operation, attribute or type is called today: MHLO, which StableHLO came from, is one with it."""
    if not name.startswith(_MHLO):
        return name
    base = name[len(_MHLO) :]
    return _OF_MHLO.get(base, f"stablehlo.{base}")


class TireeContext(Context):
    """An xDSL context that keeps attributes and types of unknown dialects as they are written."""

    def get_optional_op(self, name: str, *, dialect_stack: Sequence[str] = ()) -> type[Operation] | None:
        found = super().get_optional_op(canonical_name(name), dialect_stack=dialect_stack)
        return None if found is None and name.startswith(_MHLO) else found

    # While a dialect is loaded, xDSL asks for the same name again, and is given a stand-in by the name of today: what
    # MHLO calls otherwise gets one by its own name.

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        found = self._loaded_attrs.get(name) or super().get_optional_attr(canonical_name(name))
        if "." in name and (found is None or (name.startswith(_MHLO) and issubclass(found, UnregisteredAttr))):
            found = UnregisteredAttr.with_name_and_type(name, False)
            self._loaded_attrs[name] = found
        return found

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        found = self._loaded_types.get(name) or super().get_optional_type(canonical_name(name))
        if "." in name and (found is None or (name.startswith(_MHLO) and issubclass(found, UnregisteredAttr))):
            made = UnregisteredAttr.with_name_and_type(name, True)
            assert issubclass(made, TypeAttribute)
            self._loaded_types[name] = found = made
        return found


@cache
def _module_names() -> frozenset[str]:
    folder = os.path.dirname(os.path.abspath(__file__))
    return frozenset(entry[:-3] for entry in os.listdir(folder) if entry.endswith(".py") and not entry.startswith("_"))


def _dialect_in(module_name: str, dialect_name: str) -> Dialect | None:
    """The `Dialect` object (or the result of the `get_dialect()` function) of a module of this package."""
    module = import_module(f"tiree.dialects.{module_name}")
    for value in vars(module).values():
        if isinstance(value, Dialect) and value.name == dialect_name:
            return value
    make = getattr(module, "get_dialect", None)
    made = make() if callable(make) else None
    return made if isinstance(made, Dialect) and made.name == dialect_name else None


def _upstream_dialect(name: str) -> Dialect:
    module = import_module(f"xdsl.dialects.{name}")
    for value in vars(module).values():
        if isinstance(value, Dialect) and value.name == name:
            return value
    raise ImportError(f"xdsl.dialects.{name} has no dialect object")


@cache
def load_dialect(name: str) -> Dialect:
    """Imports a dialect by name: ours, or xDSL's with our additions."""
    modules = _module_names()
    if name not in UPSTREAM:
        own = _dialect_in(name, name)
        if own is None:
            raise UnregisteredConstructException(f"tiree.dialects.{name} has no dialect object named {name}")
        return own
    base = _upstream_dialect(name)
    ops = {op.name: op for op in base.operations}
    attributes = {(attr.name, issubclass(attr, TypeAttribute)): attr for attr in base.attributes}
    for module in (name, f"{name}_ext"):
        if module not in modules:
            continue
        extension = _dialect_in(module, name)
        if extension is not None:
            ops.update((op.name, op) for op in extension.operations)
            attributes.update(((attr.name, issubclass(attr, TypeAttribute)), attr) for attr in extension.attributes)
    interfaces = base._interfaces  # pyright: ignore[reportPrivateUsage]: xDSL only offers them one class at a time
    return Dialect(name, list(ops.values()), list(attributes.values()), interfaces)


_NOT_DIALECTS = frozenset({"dense", "registry"})
_WITH_PREFIX = frozenset({"hal_inline", "hal_loader"})
"""Dialects whose names begin with that of another."""


def _is_part(module: str) -> bool:
    """`hal_ops` beside `hal`, or `math_ext` for xDSL's `math`: part of a dialect, not one of its own."""
    if module in _WITH_PREFIX:
        return False
    names = module.split("_")
    prefixes = ("_".join(names[:count]) for count in range(1, len(names)))
    return any(prefix in _module_names() or prefix in UPSTREAM for prefix in prefixes)


@cache
def dialect_factories() -> dict[str, Callable[[], Dialect]]:
    """Name to loader of every dialect, in alphabetical order; importing happens in the loader."""
    own = {module for module in _module_names() - _NOT_DIALECTS if not _is_part(module)}
    return {name: partial(load_dialect, name) for name in sorted(own | set(UPSTREAM))}


def get_context(*, allow_unregistered: bool = False, extensions: Extensions = NONE) -> TireeContext:
    """A new context that knows every dialect; cheap, since dialects load on first use."""
    context = TireeContext(allow_unregistered=allow_unregistered)
    for name, factory in {**dialect_factories(), **extensions.dialects}.items():
        context.register_dialect(name, factory)
    context.load_registered_dialect("builtin")
    return context
