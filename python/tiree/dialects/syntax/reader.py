"""MLIR text to xDSL operations."""

from __future__ import annotations

import os

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, VectorType
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from tiree.dialects.dense import DenseAttr
from tiree.dialects.syntax.dense_text import DenseSyntaxError, dense_from_hex, dense_from_literal
from tiree.support.errors import CompileError, Diagnostic


class Reader(Parser):
    """xDSL's parser with buffer-backed constants."""

    def _parse_builtin_dense_attr(self) -> DenseAttr:  # pyright: ignore[reportIncompatibleMethodOverride]
        text = self.lexer.input.content
        start = self.pos
        if not text.startswith("<", start):
            self.raise_error("expected '<' after dense")
        start += 1
        is_hex = text.startswith('"', start)
        if is_hex:
            end = text.find('"', start + 1)
            close = text.find(">", end)
            body = text[start + 1 : end]
        else:
            close = text.find(">", start)
            body = text[start:close]
        if close < 0:
            self.raise_error("dense<...> is not closed")
        self._resume_from(close + 1)
        self.parse_punctuation(":", " after dense<...>")
        type = self.parse_type()
        if not isinstance(type, (TensorType, VectorType)):
            self.raise_error(f"a dense constant needs a tensor or vector type, got {type}", start)
        try:
            return dense_from_hex(type, body) if is_hex else dense_from_literal(type, body)
        except DenseSyntaxError as error:
            self.raise_error(str(error), start)


def read_module(source: str | bytes | os.PathLike[str], ctx: Context | None = None, filename: str = "") -> ModuleOp:
    """See `tiree.dialects.read_module`."""
    if isinstance(source, os.PathLike) or (isinstance(source, str) and "\n" not in source and os.path.exists(source)):
        filename = filename or os.fspath(source)
        with open(source, encoding="utf-8") as file:
            source = file.read()
    text = source.decode() if isinstance(source, bytes) else str(source)
    if ctx is None:
        from tiree.dialects.registry import get_context

        ctx = get_context()
    try:
        return Reader(ctx, text, filename or "<input>").parse_module()
    except ParseError as error:
        raise CompileError(Diagnostic(error.msg, str(error.span.get_location()))) from None
