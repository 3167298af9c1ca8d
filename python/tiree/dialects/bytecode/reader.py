"""From the bytes of a file to a module, with errors that name the byte."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PyRDLError, UnregisteredConstructException

from tiree.dialects.bytecode.cursor import Damaged
from tiree.dialects.bytecode.file import BytecodeFile, read_tables
from tiree.dialects.bytecode.operations import Operations
from tiree.dialects.bytecode.values import CONSTRUCTION_ERRORS, Values
from tiree.support.errors import CompileError, Diagnostic, linked
from tiree.support.locations import location_text
from tiree.support.sources import Data

_HINT = "Write it again, or give the module as text."


def read_bytecode(data: Data, ctx: Context, filename: str) -> ModuleOp:
    """The module in a file of MLIR bytecode. Raises `CompileError` with the offset of what cannot be read."""
    file = BytecodeFile(memoryview(data))
    reader: Operations | None = None
    try:
        read_tables(file)
        reader = Operations(file, Values(file, ctx))
        module = reader.read_module()
    except Damaged as error:
        raise _refusal(file, filename, error.reason, error.offset) from error
    except RecursionError as error:
        offset = 0 if reader is None else reader.position
        raise _refusal(file, filename, "regions or attributes are nested too deeply", offset) from error
    except (UnregisteredConstructException, PyRDLError, *CONSTRUCTION_ERRORS) as error:
        offset = 0 if reader is None else reader.position
        raise _refusal(file, filename, f"this cannot be read: {error}", offset) from error
    if reader.unknown:
        raise CompileError(_unknown(reader, filename))
    return module


def _refusal(file: BytecodeFile, filename: str, reason: str, offset: int) -> CompileError:
    producer = f" (written by {file.producer})" if file.producer else ""
    message = f"this MLIR bytecode{producer} cannot be read at byte {offset}: {reason}"
    return CompileError(Diagnostic(message, filename, _HINT))


def _unknown(reader: Operations, filename: str) -> list[Diagnostic]:
    """A finding for each operation that no dialect has, as of text."""
    from tiree.dialects.syntax.unknown import describe

    known = sorted({op.name for op in reader.values.ctx.loaded_ops})
    uses: dict[str, list[str]] = {}
    for name, place in reader.unknown:
        text = location_text(place)
        uses.setdefault(name, []).append(filename if text.startswith("<") else text)
    return linked(
        [
            Diagnostic(describe(name, known) + (f" ({len(places)} uses)" if len(places) > 1 else ""), places[0])
            for name, places in uses.items()
        ]
    )
