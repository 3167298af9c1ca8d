"""Pass pipelines as text: `a,b{key=value},func.func(c)`; passes of Tiree, of plugins and of xDSL by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tiree.pass_registry import load_pass, pass_locations
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.extensions import Extensions, Origin

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

XDSL = Origin("xdsl")


def find_pass(name: str, extensions: Extensions) -> tuple[type[ModulePass], Origin | None]:
    """The pass of a name, and where it comes from unless it is Tiree's. Raises `CompileError` for an unknown one."""
    if name in pass_locations():
        return load_pass(name), None
    known = extensions.passes.get(name)
    if known is not None:
        return known
    from xdsl.transforms import get_all_passes

    upstream = get_all_passes().get(name)
    if upstream is not None:
        return upstream(), XDSL
    from difflib import get_close_matches

    close = get_close_matches(name, [*pass_locations(), *extensions.passes], 1)
    hint = f"did you mean {close[0]}?" if close else "tiree-opt --help lists the passes; --tiree-plugin brings others"
    raise CompileError(Diagnostic(f"no pass {name!r}", "<options>", hint))


def parse_passes(
    text: str, extensions: Extensions, configured: Mapping[str, ModulePass] | None = None
) -> list[ModulePass]:
    """The passes of a pipeline, which may stand in `builtin.module(...)`; those in `func.func(...)` or `util.func(...)`
    run on each function. Raises `CompileError` for a wrong one.

    A pass without options is taken from `configured` if it is there. Passes that are not Tiree's are guarded.
    """
    wrapped = re.fullmatch(r"\s*builtin\.module\((.*)\)\s*", text, re.DOTALL)
    passes: list[ModulePass] = []
    for item in _items(wrapped.group(1) if wrapped else text):
        nested = _NESTED.fullmatch(item)
        if nested is None:
            passes += _passes_of(item, extensions, configured or {})
        else:
            passes += _nested_passes(nested[1], nested[2], extensions)
    return passes


_NESTED = re.compile(r"\s*([\w$]+(?:\.[\w$]+)*)\s*\((.*)\)\s*", re.DOTALL)
_TOKEN = re.compile(r"""[^\s(){}"',]+|\s+|"[^"]*"|'[^']*'|.""", re.DOTALL)


def _items(text: str) -> list[str]:
    """What stands between the commas of a pipeline. Raises `CompileError` where brackets do not match."""
    items, open_brackets = [""], ""
    for token in _TOKEN.findall(text):
        if token == "," and not open_brackets:
            items.append("")
            continue
        if token in ("(", "{"):
            open_brackets += token
        elif token in (")", "}"):
            if open_brackets[-1:] + token not in ("()", "{}"):
                raise CompileError(
                    Diagnostic(f"the pipeline {text!r} cannot be read: unexpected {token!r}", "<options>")
                )
            open_brackets = open_brackets[:-1]
        items[-1] += token
    if open_brackets:
        raise CompileError(
            Diagnostic(f"the pipeline {text!r} cannot be read: {open_brackets[-1]!r} is not closed", "<options>")
        )
    return [] if items == [items[0]] and not items[0].strip() else items


def _nested_passes(anchor: str, inner: str, extensions: Extensions) -> list[ModulePass]:
    """The passes of `anchor(inner)`. Raises `CompileError` for what does not run on single functions."""
    from tiree.plugins.guard import GuardedPass
    from tiree.plugins.nested import ANCHORS, NestedPass

    if anchor not in ANCHORS:
        hint = f"passes run on the module, or on each {' or '.join(ANCHORS)}"
        raise CompileError(Diagnostic(f"the pipeline runs {inner!r} on each {anchor}", "<options>", hint))
    passes: list[ModulePass] = []
    for item in _items(inner):
        deeper = _NESTED.fullmatch(item)
        if deeper is not None:
            hint = f"passes in {anchor}(...) run on the function: write them without {deeper[1]}(...)"
            raise CompileError(
                Diagnostic(f"the pipeline runs passes on each {deeper[1]} in {anchor}", "<options>", hint)
            )
        for one in _passes_of(item, extensions, {}):
            if not isinstance(one, GuardedPass):
                hint = f"write it outside of {anchor}(...)"
                raise CompileError(
                    Diagnostic(f"pass {one.name} works on the module, not on {anchor}", "<options>", hint)
                )
            passes.append(GuardedPass(NestedPass(one.inner, anchor), one.origin))
    return passes


def _passes_of(text: str, extensions: Extensions, configured: Mapping[str, ModulePass]) -> list[ModulePass]:
    """The pass of one item of a pipeline."""
    from xdsl.utils.arg_spec import parse_pipeline
    from xdsl.utils.exceptions import ArgSpecParseError

    from tiree.plugins.guard import GuardedPass

    try:
        specs = list(parse_pipeline(text.strip()))
    except ArgSpecParseError as error:
        reason = str(error).strip().splitlines()[-1]
        raise CompileError(Diagnostic(f"the pipeline {text!r} cannot be read: {reason}", "<options>")) from None
    passes: list[ModulePass] = []
    for spec in specs:
        cls, origin = find_pass(spec.name, extensions)
        if not spec.parameters and spec.name in configured:
            passes.append(configured[spec.name])
            continue
        try:
            one = cls.from_spec(spec)
        except Exception as error:
            raise CompileError(Diagnostic(f"pass {spec.name}: {error}", "<options>")) from None
        passes.append(one if origin is None else GuardedPass(one, origin))
    return passes
