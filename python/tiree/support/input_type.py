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


def check_input_type(module: ModuleOp, input_type: str) -> None:
    """Raises one `CompileError` naming each dialect of `module` that `input_type` excludes, where it first occurs."""
    from tiree.support.locations import location_of

    allowed = _ALLOWED.get(input_type, _ALLOWED["auto"])
    watched = {name: kind for kind, names in _INPUT_DIALECTS.items() for name in names}
    found: dict[str, Diagnostic] = {}
    for op in module.walk():
        dialect = op.name.partition(".")[0]
        kind = watched.get(dialect)
        if kind is None or dialect in allowed or dialect in found:
            continue
        if kind in _ALLOWED:
            hint = f"use --iree-input-type={kind}, or leave the flag out"
        else:
            hint = f"{kind} input comes with a later release; convert it to StableHLO or linalg"
        found[dialect] = Diagnostic(f"{op.name} is not allowed by input type {input_type!r}", location_of(op), hint)
    if found:
        raise CompileError(found.values())
