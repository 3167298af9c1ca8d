"""From the bytes of a file to a module: decoding, reading, and errors with the place in the file."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError

from tiree.dialects.bytecode import MAGIC
from tiree.dialects.syntax.long_text import CutText, cut_constants
from tiree.dialects.syntax.reader import Reader
from tiree.dialects.syntax.unknown import UnknownOperations, excerpt
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.sources import Data, check_text, open_source

_INPUT_ERRORS = (ValueError, TypeError, KeyError, IndexError, AssertionError, NotImplementedError, AttributeError)
"""What xDSL's parsing code raises, besides its own exceptions, on text that it does not expect."""


def _load(source: str | Data | os.PathLike[str], filename: str) -> tuple[Data, str]:
    if isinstance(source, os.PathLike) or (
        isinstance(source, str) and len(source) < 4096 and "\n" not in source and os.path.exists(source)
    ):
        path = os.fsdecode(source)
        return open_source(path), filename or path
    if isinstance(source, str):
        return source.encode(), filename or "<input>"
    return source, filename or "<input>"


def _cut(data: Data, filename: str) -> CutText:
    check_text(data, filename)
    try:
        return cut_constants(data)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = f"this is not UTF-8 text (byte {error.start})"
        raise CompileError(Diagnostic(message, f"{filename}:{line}:{column}")) from None


def read_module(source: str | Data | os.PathLike[str], ctx: Context | None = None, filename: str = "") -> ModuleOp:
    """See `tiree.dialects.read_module`."""
    from xdsl.utils.exceptions import PyRDLError, UnregisteredConstructException, VerifyException

    data, filename = _load(source, filename)
    if data[: len(BOM_UTF8)] == BOM_UTF8:
        data = data[len(BOM_UTF8) :]
    if ctx is None:
        from tiree.dialects.registry import get_context

        ctx = get_context()
    if data[: len(MAGIC)] == MAGIC:
        from tiree.dialects.bytecode.reader import read_bytecode

        return read_bytecode(data, ctx, filename)
    reader = Reader(ctx, _cut(data, filename), filename)

    def refuse(message: str, position: int, cause: Exception) -> NoReturn:
        found = reader.unknown.report(reader)
        if not isinstance(cause, UnknownOperations):
            position = min(position, len(reader.text))
            found.append(Diagnostic(message, reader.place(position), excerpt(reader.text, position)))
        raise CompileError(found) from cause

    try:
        module = reader.read_module()
    except ParseError as error:
        refuse(error.msg, error.span.start, error)
    except RecursionError as error:
        refuse("regions or attributes are nested too deeply", reader.p, error)
    except (VerifyException, UnregisteredConstructException, PyRDLError, *_INPUT_ERRORS) as error:
        refuse(f"this cannot be read: {' '.join(map(str, error.args))}", reader.p, error)
    if reader.unknown.found:
        error = CompileError(reader.unknown.report(reader))
        error.module = module
        raise error
    return module
