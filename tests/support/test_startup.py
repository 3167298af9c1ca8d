"""Deferred assembly formats: all of ours are valid, and importing parses none of them."""

from __future__ import annotations

import subprocess
import sys

from tiree.dialects.registry import UPSTREAM, dialect_factories
from tiree.support.startup import defer_assembly_formats
from xdsl.irdl import IRDLOperation


def test_every_assembly_format_of_ours_is_valid() -> None:
    from xdsl.irdl.declarative_assembly_format import FormatProgram

    defer_assembly_formats()
    checked = 0
    for name, factory in dialect_factories().items():
        for op in factory().operations:
            if name in UPSTREAM or not issubclass(op, IRDLOperation):
                continue
            definition = op.get_irdl_definition()
            if definition.assembly_format is not None:
                FormatProgram.from_str(definition.assembly_format, definition)._real()  # pyright: ignore
                checked += 1
    assert checked > 5


def test_xdsls_custom_syntax_still_works_and_is_parsed_late() -> None:
    program = """
from tiree.support.startup import defer_assembly_formats
defer_assembly_formats()
from xdsl.irdl import declarative_assembly_format_parser as p
real = p.FormatParser.parse_format
seen = []
p.FormatParser.parse_format = lambda self: seen.append(1) or real(self)
from tiree.dialects import read_module
from xdsl.dialects import arith, cf
assert not seen
module = read_module("func.func @f(%a: i1) {\\n cf.assert %a, 'why'\\n return\\n}\\n".replace("'", chr(34)))
assert seen
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
