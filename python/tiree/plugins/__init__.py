"""Extending the compiler from outside: what a plugin uses to say what it brings.

A plugin is a Python file or module with a function `register(registry)`; `docs/extending.md` is the guide. Stages know
nothing of this package: they read `CompileOptions.extensions`. Each name is imported when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiree.input.lowering.context import Lowering, Unsupported
    from tiree.plugins.backends import Backend, Executable, Function
    from tiree.plugins.dispatch import Dispatch, Operand
    from tiree.plugins.formats import InputFormat
    from tiree.plugins.kernels import LLVMKernel, TileKernel
    from tiree.plugins.loading import load_plugins
    from tiree.plugins.pipelines import parse_passes
    from tiree.plugins.registry import Registry
    from tiree.plugins.tiles import Tile

__all__ = [
    "Backend",
    "Dispatch",
    "Executable",
    "Function",
    "InputFormat",
    "LLVMKernel",
    "Lowering",
    "Operand",
    "Registry",
    "Tile",
    "TileKernel",
    "Unsupported",
    "load_plugins",
    "parse_passes",
]

_HOMES = {
    "tiree.input.lowering.context": ("Lowering", "Unsupported"),
    "tiree.plugins.backends": ("Backend", "Executable", "Function"),
    "tiree.plugins.dispatch": ("Dispatch", "Operand"),
    "tiree.plugins.formats": ("InputFormat",),
    "tiree.plugins.kernels": ("LLVMKernel", "TileKernel"),
    "tiree.plugins.loading": ("load_plugins",),
    "tiree.plugins.pipelines": ("parse_passes",),
    "tiree.plugins.registry": ("Registry",),
    "tiree.plugins.tiles": ("Tile",),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'tiree.plugins' has no attribute {name!r}")
