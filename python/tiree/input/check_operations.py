"""`tiree-input-check`: operations that break the rules of their specification are reported, all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiree.input.checks import wrong_ops
from tiree.input.checks.recursion import recursive_composites
from tiree.input.checks.signatures import wrong_signatures, wrong_types
from tiree.input.lowering.refusals import refuse
from tiree.support.errors import CompileError, Diagnostic, linked
from tiree.support.locations import location_of


class CheckOperationsPass(ModulePass):
    """In: any module. Out: the same; its functions and tensors have types that can be compiled, and its StableHLO ops
    have types and attributes that fit. Raises one `CompileError` that lists everything else."""

    name = "tiree-input-check"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        found = [*wrong_signatures(op), *wrong_types(op), *wrong_ops(op), *recursive_composites(op)]
        if found:
            raise CompileError(linked([*found, *_others(op, found)]))


def with_others(error: CompileError, invalid: list[Diagnostic], module: ModuleOp) -> CompileError:
    """`error`, which some operations of the module are the cause of, with those that are `invalid` and the faults of
    all others; these may rely on what does not hold, so what cannot be judged for that is left out. The module is not
    needed any more."""
    found = [*error.diagnostics, *(one for one in invalid if one not in error.diagnostics)]
    places = {diagnostic.location for diagnostic in found}
    more = [*_judged(lambda: wrong_types(module))]
    for op in module.walk():
        if location_of(op) not in places:
            more += _judged(lambda op=op: wrong_ops(op, lambda inner: inner is op))
    found += [diagnostic for diagnostic in more if diagnostic.location not in places]
    found += _others(module, found)
    return CompileError(linked(found) if len(found) > len(error.diagnostics) else found)


def _judged(judge: Callable[[], Iterable[Diagnostic]]) -> list[Diagnostic]:
    """What a judge says, who may stumble over what does not hold."""
    try:
        return list(judge())
    except Exception:
        return []


def _others(module: ModuleOp, found: list[Diagnostic]) -> list[Diagnostic]:
    """What the lowering refuses beside what is found already, so that one run tells all of a program's faults.

    The module is not needed any more. The lowering may rely on what does not hold here, so only what it says in order
    counts.
    """
    from tiree.input.convert_to_linalg import ConvertToLinalgPass
    from tiree.input.expand_operations import ExpandOperationsPass

    places = {diagnostic.location for diagnostic in found}
    for op in module.walk():
        if location_of(op) in places and op.name.startswith(("stablehlo.", "chlo.")):
            refuse(op, "is not valid")
    try:
        for each in (ExpandOperationsPass(), ConvertToLinalgPass()):
            each.apply(Context(), module)
    except CompileError as refusal:
        return [diagnostic for diagnostic in refusal.diagnostics if diagnostic.location not in places]
    except Exception:
        return []
    return []
