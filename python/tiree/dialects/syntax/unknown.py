"""Operations that no dialect has: all those of a text are reported at once.

The generic form of an unknown operation says all that is needed to read on, so an operation of no class stands in for
it. A short form cannot be read without knowing it; what follows is then only searched for more unknown names.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError

from tiree.support.errors import SUPPORTED_OPS, Diagnostic
from tiree.support.input_type import NOT_READ

if TYPE_CHECKING:
    from typing import NoReturn

    from tiree.dialects.syntax.reader import Reader

_HEADS = re.compile(
    r"^[ \t]*+(?:%[\w.$:, %-]++=[ \t]*+)?+"
    r'(?:"([a-z_]\w*+(?:\.[\w$]++)++)"\(|([a-z_]\w*+(?:\.[\w$]++)++)(?=[\s<({@\[:]))',
    re.MULTILINE,
)
"""Where an operation starts on a line of its own, generic or short."""
_PLACES = 5


def excerpt(text: str, position: int) -> str:
    """The source line with a mark below the place; long lines are cut around it."""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    end = len(text) if end < 0 else end
    left = max(start, position - 60)
    line = text[left : min(end, position + 60)].rstrip().replace("\t", " ")
    return f"{line}\n  {' ' * (position - left)}^"


class UnknownOperations(ParseError):
    """The text cannot be read on; what is unknown has been recorded."""


class Unknown:
    """The unknown operations of one text by name, with the positions of their uses."""

    def __init__(self) -> None:
        self.found: dict[str, list[int]] = {}

    def stand_in(self, name: str, position: int) -> type[Operation]:
        """Records a generic use; the class that stands for the operation."""
        self.found.setdefault(name, []).append(position)
        return UnregisteredOp.with_name(name)

    def give_up(self, reader: Reader, name: str, position: int) -> NoReturn:
        """Records a short form and all unknown names after it. Raises `UnknownOperations`."""
        self.found.setdefault(name, []).append(position)
        for match in _HEADS.finditer(reader.text, position + len(name)):
            later = match.group(1) or match.group(2)
            if later in self.found or reader.ctx.get_optional_op(later) is None:
                self.found.setdefault(later, []).append(match.start(1) if match.group(1) else match.start(2))
        reader.fail(f"unknown operation '{name}'", position, UnknownOperations)

    def report(self, reader: Reader) -> list[Diagnostic]:
        """A finding for each name, in the order of the text."""
        known = sorted({op.name for op in reader.ctx.loaded_ops})
        findings: list[Diagnostic] = []
        for name, positions in sorted(self.found.items(), key=lambda entry: entry[1][0]):
            places = [reader.place(position) for position in positions]
            also = f"; also at {', '.join(places[1:_PLACES])}" if len(places) > 1 else ""
            also += ", ..." if len(places) > _PLACES else ""
            count = f" ({len(places)} uses)" if len(places) > 1 else ""
            hint = excerpt(reader.text, positions[0])
            findings.append(Diagnostic(f"{describe(name, known)}{count}{also}", places[0], hint))
        if findings:
            findings[-1] = findings[-1]._replace(hint=f"{findings[-1].hint}\n  {SUPPORTED_OPS}")
        return findings


_REFUSED = {
    **NOT_READ,
    "llvm": "executables in the llvm dialect are not read; start from executable-configurations, or from hal",
    "iree_codegen": "Tiree has no lowering for it",
    "iree_encoding": "data tiling by encodings is not read; compile without it",
    "iree_linalg_ext": "Tiree has no lowering for it",
}
"""Dialects of which only some operations are known, and what to say of the others."""


def describe(name: str, known: list[str]) -> str:
    """What to say of an operation that none of the `known` is."""
    dialect = name.partition(".")[0]
    if dialect == "mhlo":
        return f"unknown operation '{name}': of MHLO only what StableHLO or CHLO also has is read"
    if dialect in _REFUSED:
        return f"unknown operation '{name}': {_REFUSED[dialect]}"
    if not any(op.startswith(f"{dialect}.") for op in known):
        return f"unknown operation '{name}': there is no dialect '{dialect}'"
    close = get_close_matches(name, known, 1)
    return f"unknown operation '{name}'" + (f"; did you mean '{close[0]}'?" if close else "")
