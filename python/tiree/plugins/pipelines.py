"""Pass pipelines as text: `a,b{key=value}`, with passes of Tiree, of plugins and of xDSL by their names."""

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
    """The passes of a pipeline, which may stand in `builtin.module(...)`. Raises `CompileError` for a wrong one.

    A pass without options is taken from `configured` if it is there. Passes that are not Tiree's are guarded.
    """
    from xdsl.utils.arg_spec import parse_pipeline
    from xdsl.utils.exceptions import ArgSpecParseError

    wrapped = re.fullmatch(r"\s*builtin\.module\((.*)\)\s*", text, re.DOTALL)
    inner = wrapped.group(1) if wrapped else text
    if not inner.strip():
        return []
    nested = re.search(r"(?:^|,)\s*([\w$]+\.[\w$.]+)\s*\(", inner)
    if nested:
        what = f"the pipeline {inner!r} runs passes on each {nested[1]}"
        raise CompileError(Diagnostic(what, "<options>", "passes run on the module here: write them without it"))
    try:
        specs = list(parse_pipeline(inner))
    except ArgSpecParseError as error:
        reason = str(error).strip().splitlines()[-1]
        raise CompileError(Diagnostic(f"the pipeline {inner!r} cannot be read: {reason}", "<options>")) from None
    from tiree.plugins.guard import GuardedPass

    passes: list[ModulePass] = []
    for spec in specs:
        cls, origin = find_pass(spec.name, extensions)
        if configured and not spec.parameters and spec.name in configured:
            passes.append(configured[spec.name])
            continue
        try:
            one = cls.from_spec(spec)
        except Exception as error:
            raise CompileError(Diagnostic(f"pass {spec.name}: {error}", "<options>")) from None
        passes.append(one if origin is None else GuardedPass(one, origin))
    return passes
