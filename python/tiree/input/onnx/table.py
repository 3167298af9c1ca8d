"""All conversions by operator, and the families they come in."""

from __future__ import annotations

from tiree.input.onnx import activations, constants, elementwise, resize
from tiree.input.onnx.node import Conversion

FAMILIES: dict[str, dict[str, Conversion]] = {
    "Constants and sizes": constants.CONVERSIONS,
    "Elementwise": elementwise.CONVERSIONS,
    "Activations": activations.CONVERSIONS,
    "Resizing": resize.CONVERSIONS,
}

TABLE: dict[str, Conversion] = {
    f"onnx.{name}": conversion for family in FAMILIES.values() for name, conversion in family.items()
}
"""`onnx.Add` and the like."""
