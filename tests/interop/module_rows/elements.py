"""Element types, each through host code, kernels and both ways of the tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interop.module_rows.row import CPU, VMVX, Call, Row, Tensor, call

# MLIR's name: the name of the tools, eight elements.
_VALUES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "i1": ("i1", ("01", "00", "01", "01", "00", "00", "01", "00")),
    "i2": ("i2", (0xE4, 0x1B)),
    "i4": ("i4", (0x10, 0x32, 0xFE, 0x87)),
    "ui4": ("ui4", (0x10, 0x32, 0xFE, 0x87)),
    "i8": ("i8", (-128, 127, 0, 1, -1, 2, 3, 100)),
    "i16": ("i16", (-32768, 32767, 0, 1, -1, 2, 3, 100)),
    "i32": ("i32", (-(2**31), 2**31 - 1, 0, 1, -1, 2, 3, 100)),
    "i64": ("i64", (-(2**63), 2**63 - 1, 0, 1, -1, 2, 3, 100)),
    "ui8": ("ui8", (255, 128, 0, 1, 200, 2, 3, 100)),
    "ui16": ("ui16", (65535, 32768, 0, 1, 200, 2, 3, 100)),
    "ui32": ("ui32", (2**32 - 1, 2**31, 0, 1, 200, 2, 3, 100)),
    "ui64": ("ui64", (2**64 - 1, 2**63, 0, 1, 200, 2, 3, 100)),
    "f16": ("f16", (0.5, -2, 65504, 6e-8, "inf", "nan", -0.0, 3)),
    "bf16": ("bf16", (0.5, -2, 3e38, 1e-40, "inf", "nan", -0.0, 3)),
    "f32": ("f32", (0.1, -2, 3e38, 1e-45, "inf", "nan", -0.0, 3)),
    "f64": ("f64", (0.1, -2, 1e308, 5e-324, "inf", "nan", -0.0, 3)),
    "f8E5M2": ("f8E5M2", (0.5, -2, 57344, 6.2e-5, "inf", 1, -0.0, 3)),
    "f8E4M3FN": ("f8E4M3FN", (0.5, -2, 448, 0.002, 1.25, 1, -0.0, 3)),
    "f8E5M2FNUZ": ("f8E5M2FNUZ", (0.5, -2, 57344, 6.2e-5, 1.25, 1, 0, 3)),
    "f8E4M3FNUZ": ("f8E4M3FNUZ", (0.5, -2, 240, 0.002, 1.25, 1, 0, 3)),
    "f8E8M0FNU": ("f8E8M0FNU", (0.5, 2, 1024, 0.25, 8, 1, 4, 16)),
    "complex<f32>": ("cf64", (1 + 2j, -1j, 0, 3, 1e20 - 1e20j, 2, 0.5j, -4)),
    "complex<f64>": ("cf128", (1 + 2j, -1j, 0, 3, 1e200 - 1e200j, 2, 0.5j, -4)),
}
_PACKED = ("i2", "i4", "ui4")


def _suffix(mlir: str) -> str:
    return mlir.replace("<", "_").replace(">", "")


def _functions(mlir: str) -> str:
    """Arithmetic, moving, a constant of zeros, and a scalar tensor where it has whole bytes."""
    suffix = _suffix(mlir)
    t, turned, scalar = f"tensor<2x4x{mlir}>", f"tensor<4x2x{mlir}>", f"tensor<{mlir}>"
    parts = f"""
  func.func @add_{suffix}(%a: {t}, %b: {t}) -> {t} {{
    %0 = stablehlo.add %a, %b : {t}
    return %0 : {t}
  }}
  func.func @turn_{suffix}(%a: {t}) -> {turned} {{
    %0 = stablehlo.transpose %a, dims = [1, 0] : ({t}) -> {turned}
    return %0 : {turned}
  }}"""
    if mlir in _PACKED:
        return parts
    return f"""{parts}
  func.func @first_{suffix}(%a: {t}) -> {scalar} {{
    %0 = stablehlo.slice %a [0:1, 0:1] : ({t}) -> tensor<1x1x{mlir}>
    %1 = stablehlo.reshape %0 : (tensor<1x1x{mlir}>) -> {scalar}
    return %1 : {scalar}
  }}"""


def _calls(mlir: str) -> tuple[Call, ...]:
    tool, values = _VALUES[mlir]
    packed, suffix = mlir in _PACKED, _suffix(mlir)
    x, y = Tensor(f"2x4x{tool}", values), Tensor(f"2x4x{tool}", values[::-1])
    calls = (call(f"add_{suffix}", x, y, packed=packed), call(f"turn_{suffix}", x, packed=packed))
    return calls if packed else (*calls, call(f"first_{suffix}", x))


def _row(name: str, types: Sequence[str], flags: tuple[str, ...]) -> Row:
    text = "module @elements {" + "".join(_functions(mlir) for mlir in types) + "\n}\n"
    return Row("element types", name, text, tuple(c for mlir in types for c in _calls(mlir)), flags)


ROWS = (
    *(_row(f"{mlir}, llvm-cpu", (mlir,), CPU) for mlir in _VALUES),
    _row("integers, vmvx", [mlir for mlir in _VALUES if "i" in mlir and mlir not in _PACKED], VMVX),
    _row("packed integers, vmvx", _PACKED, VMVX),
    _row("floats, vmvx", [mlir for mlir in _VALUES if mlir[0] == "f" and mlir != "f16"], VMVX),
)
"""VMVX has no kernels of f16, bf16 and complex numbers: iree-compile refuses them."""
