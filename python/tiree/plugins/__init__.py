"""Extending the compiler from outside: what a plugin uses to say what it brings.

A plugin is a Python file or module with a function `register(registry)`; `docs/extending.md` is the guide. Stages know
nothing of this package: they read `CompileOptions.extensions`.
"""

from __future__ import annotations

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
