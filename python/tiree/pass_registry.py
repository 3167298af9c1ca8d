"""Every pass by its name, found in the source of the stage packages; none is listed by hand.

A pass is a class of a stage package with a literal `name = "tiree-..."`. Its module is imported when the pass is used,
so that listing the names imports nothing.
"""

from __future__ import annotations

import os
import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from tiree.support.errors import CompileError, Diagnostic

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

STAGES = ("input", "flow", "stream", "hal", "codegen", "vm", "vmvx")
_CLASS = re.compile(r"^class (\w+)\([^)]*\bModulePass\b[^)]*\):", re.MULTILINE)
_NAME = re.compile(r'^    name(?:: [^=\n]+)? = "([\w-]+)"', re.MULTILINE)


@cache
def pass_locations() -> dict[str, tuple[str, str]]:
    """Pass name to (module, class), in alphabetical order."""
    root = os.path.dirname(os.path.abspath(__file__))
    found: dict[str, tuple[str, str]] = {}
    for stage in STAGES:
        for folder, _, files in os.walk(os.path.join(root, stage)):
            for file in files:
                if not file.endswith(".py"):
                    continue
                path = os.path.join(folder, file)
                with open(path, encoding="utf-8") as source:
                    text = source.read()
                module = "tiree." + os.path.relpath(path, root)[:-3].replace(os.sep, ".").removesuffix(".__init__")
                for match in _CLASS.finditer(text):
                    name = _NAME.search(text, match.end())
                    following = _CLASS.search(text, match.end())
                    if name is not None and (following is None or name.start() < following.start()):
                        found[name.group(1)] = (module, match.group(1))
    return dict(sorted(found.items()))


def load_pass(name: str) -> type[ModulePass]:
    """The pass class of a name. Raises `CompileError` with a suggestion for an unknown one."""
    where = pass_locations().get(name)
    if where is None:
        from difflib import get_close_matches

        close = get_close_matches(name, pass_locations(), 1)
        hint = f"did you mean {close[0]}?" if close else "tiree-opt --help lists the passes"
        raise CompileError(Diagnostic(f"no pass {name!r}", "<options>", hint))
    return getattr(import_module(where[0]), where[1])
