"""Modules as text: `assemble` and `disassemble`, what `tiree-as-module` and `tiree-dump-module` do."""

from __future__ import annotations

import os

from tiree import _native


def assemble(text: str, *, filename: str = "<string>", verify: bool = True) -> bytes:
    """The `.vmfb` that assembly `text` describes, byte for byte what iree-as-module writes.

    `filename` is its name in messages. With `verify` the module is loaded as well. Raises `ValueError` with
    `filename:line:column: what was expected`, the line and a caret.
    """
    return _native.assemble(text, filename, verify)


def disassemble(
    module: bytes | str | os.PathLike[str],
    *,
    output: str = "assembly",
    function: str = "",
    bytecode_offsets: bool = False,
) -> str:
    """The text of a `.vmfb`, given as bytes or as its path.

    `output` is `assembly`, which `assemble` makes the same module of, `disassembly`, which is iree-dump-module's text,
    or another of `tiree-dump-module --output=`. `function` (a name or ordinal) and `bytecode_offsets` are for
    `disassembly`. Raises `ValueError` for what is no module.
    """
    if isinstance(module, (str, os.PathLike)):
        return _native.dump_module(os.fspath(module), output, function, bytecode_offsets, False)
    return _native.disassemble(module, "<bytes>", output, function, bytecode_offsets)
