"""Tiree: an ML compiler and runtime, interchangeable with IREE 3.13.

    module = tiree.load(tiree.compile("add.mlir"))
    module.add(a, b)

Importing this package imports nothing else; the compiler and the runtime load when they are used.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tiree.version import VERSION as __version__

if TYPE_CHECKING:
    from tiree.support.errors import CompileError

__all__ = ["CompileError", "CompiledModule", "__version__", "compile", "load"]


class CompiledModule(bytes):
    """The bytes of a `.vmfb`, which `load` takes and `save` writes."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file."""
        from tiree.support.replacing import replace_file

        replace_file(path, self)

    def load(self, device: str | Sequence[str] = "local-task") -> Any:
        """The module ready to call; see `tiree.load`."""
        return load(self, device=device)


def compile(
    program: Any,
    *example_arguments: Any,
    output: str | os.PathLike[str] | None = None,
    flags: Sequence[str] = (),
    plugins: Sequence[Any] = (),
    **options: Any,
) -> CompiledModule:
    """Compiles `program` for the CPU.

    Args:
        program: MLIR text or bytecode, a path, a function for JAX, or a lowered or exported JAX program.
        example_arguments: arrays or `jax.ShapeDtypeStruct`s that a function is lowered for.
        output: a path to write the `.vmfb` to as well.
        flags: flags of `tiree-compile`, such as `"--iree-opt-level=O2"`.
        plugins: Python files, modules or `register` functions that extend the compiler; see docs/extending.md.
        options: fields of `tiree.support.options.CompileOptions`, such as `llvmcpu_target_cpu="generic"`.

    Raises:
        CompileError: the program or a flag is wrong; its text is the whole report.
        TypeError: an unknown option, or a program of a type that cannot be compiled.
    """
    from tiree.compiler.api import compile_program

    result = compile_program(program, example_arguments, flags, options, plugins).to_bytes(CompiledModule)
    if output is not None:
        result.save(output)
    return result


def load(module: str | os.PathLike[str] | bytes, device: str | Sequence[str] = "local-task", **options: Any) -> Any:
    """The functions of a `.vmfb` (a path or bytes) as methods; options as of `tiree.runtime.load`.

    A program for several devices gets a list of them, in its order: `device=["local-task", "local-sync"]`.
    """
    from tiree.runtime import load as load_module

    return load_module(module, device=device, **options)


def __getattr__(name: str) -> Any:
    if name == "CompileError":
        from tiree.support.errors import CompileError

        return CompileError
    if name in ("compiler", "runtime"):
        from importlib import import_module

        return import_module(f"tiree.{name}")
    raise AttributeError(f"module 'tiree' has no attribute {name!r}")
