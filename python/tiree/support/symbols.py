"""Names for what the compiler adds to a module, distinct from the user's and from each other.

Assumes that symbols are `sym_name` properties (or attributes) of the module's own operations.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

RESERVED = ("__init", "__deinit")
"""Functions that the VM calls by these names when a module is loaded and unloaded."""


def defined_symbol(op: Operation) -> str | None:
    """The symbol that `op` defines."""
    name = op.properties.get("sym_name", op.attributes.get("sym_name"))
    return name.data if isinstance(name, StringAttr) else None


class SymbolNames:
    """The names that are taken in `module`; without one, none is yet."""

    def __init__(self, module: ModuleOp | None = None) -> None:
        ops = module.body.block.ops if module is not None else ()
        self._taken = {name for op in ops if (name := defined_symbol(op)) is not None}
        self._next: dict[str, int] = {}

    def unique(self, wanted: str) -> str:
        """`wanted`, or with the first number behind it that makes it free; it is taken from now on."""
        name = wanted
        number = self._next.get(wanted, 0)
        while name in self._taken:
            name = f"{wanted}_{number}"
            number += 1
        self._next[wanted] = number
        self._taken.add(name)
        return name
