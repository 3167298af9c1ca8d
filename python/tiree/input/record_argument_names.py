"""`tiree-input-record-argument-names`: users' names of arguments go along, for messages and calls by keyword."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, NameLoc, StringAttr
from xdsl.ir import BlockArgument, Operation
from xdsl.passes import ModulePass

KEY = "tiree.arg_names"


class RecordArgumentNamesPass(ModulePass):
    """In: functions whose arguments may have names, in the text (`%x`) or as a location (`loc("x")`, as JAX writes
    them). Out: `iree.reflection` of each public function that has one lists all of them under `tiree.arg_names`.

    The list is `a, b[0], c`; an argument without a name is `input` and its number, as in the declaration. The
    declaration itself stays as IREE writes it.
    """

    name = "tiree-input-record-argument-names"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for function in op.body.block.ops:
            visibility = function.properties.get("sym_visibility")
            public = not isinstance(visibility, StringAttr) or visibility.data == "public"
            if public and function.name in ("func.func", "util.func") and function.regions[0].blocks:
                _record(function)


def _record(function: Operation) -> None:
    arguments = function.regions[0].blocks[0].args
    names = [_name_of(argument) for argument in arguments]
    if not any(names):
        return
    listed = ", ".join(name or f"input{number}" for number, name in enumerate(names))
    reflection = function.attributes.get("iree.reflection")
    entries = dict(reflection.data) if isinstance(reflection, DictionaryAttr) else {}
    entries.setdefault(KEY, StringAttr(listed))
    function.attributes["iree.reflection"] = DictionaryAttr(dict(sorted(entries.items())))


def _name_of(argument: BlockArgument) -> str:
    """The name of an argument; empty when it has none that can stand in a list."""
    location = argument.location
    name = argument.name_hint or (location.desc.data if isinstance(location, NameLoc) else "")
    return name if _can_be_listed(name) else ""


def _can_be_listed(name: str) -> bool:
    """Commas and spaces may only be within brackets, so that a reader finds the end of every name."""
    depth = 0
    for character in name:
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        if depth < 0 or not character.isprintable() or (depth == 0 and character in ", "):
            return False
    return depth == 0
