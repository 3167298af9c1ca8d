"""`--iree-input-type`: which dialects the input may use. They are told apart by op name; xDSL is imported on use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tiree.support.errors import CompileError, Diagnostic

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

_INPUT_DIALECTS = {
    "stablehlo": ("stablehlo", "chlo"),
    "tosa": ("tosa",),
    "torch": ("torch_c",),
    "onnx": ("torch",),
}
_BY_IREE = "iree-compile --compile-to=input makes linalg of it, which is read"
NOT_READ = {
    "tosa": f"TOSA is not read; {_BY_IREE}",
    "torch": 'of torch only ONNX graphs (torch.operator "onnx.*") are read; export the model as ONNX or StableHLO, or '
    f"{_BY_IREE}",
}
"""What is read of other frameworks' dialects, and how to come by something that is; the same for their input types."""
_STABLEHLO = ("stablehlo", "chlo")
_ONNX = ("torch",)
_ALLOWED = {
    "auto": (*_STABLEHLO, *_ONNX),
    "none": (),
    "onnx": _ONNX,
    "stablehlo": _STABLEHLO,
    "stablehlo_xla": _STABLEHLO,
    "vhlo": _STABLEHLO,
}
OWN_TYPES = tuple(_ALLOWED)
"""The input types that can be compiled without a plugin. VHLO and MHLO are StableHLO once they have been read."""
INPUT_TYPES = (*OWN_TYPES, *(name for name in _INPUT_DIALECTS if name not in _ALLOWED))
"""All that are known."""
_PLACES = 6


def check_input_type(module: ModuleOp, input_type: str) -> None:
    """Raises one `CompileError` naming each kind of operation of `module` that `input_type` excludes, and where."""
    from tiree.support.locations import location_of

    allowed = _ALLOWED.get(input_type, _ALLOWED["auto"])
    watched = {name: kind for kind, names in _INPUT_DIALECTS.items() for name in names}
    found: dict[str, list[str]] = {}
    for op in module.walk():
        dialect = op.name.partition(".")[0]
        if dialect in watched and dialect not in allowed:
            found.setdefault(op.name, []).append(location_of(op))
    if found:
        refusals = [_refusal(name, places, input_type) for name, places in found.items()]
        raise CompileError(_with_hints(refusals, [watched[name.partition(".")[0]] for name in found]))


def _refusal(name: str, places: list[str], input_type: str) -> Diagnostic:
    also = f"; also at {', '.join(places[1:_PLACES])}{', ...' if len(places) > _PLACES else ''}" if places[1:] else ""
    count = f" ({len(places)} uses)" if places[1:] else ""
    return Diagnostic(f"{name} is not allowed by input type {input_type!r}{count}{also}", places[0])


def _with_hints(refusals: list[Diagnostic], kinds: list[str]) -> list[Diagnostic]:
    """What to do stands behind the last operation of each kind."""
    for kind in dict.fromkeys(kinds):
        last = len(kinds) - 1 - kinds[::-1].index(kind)
        hint = f"use --iree-input-type={kind}, or leave the flag out" if kind in _ALLOWED else NOT_READ[kind]
        refusals[last] = refusals[last]._replace(hint=hint)
    return refusals
