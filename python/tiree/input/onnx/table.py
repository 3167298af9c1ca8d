"""All conversions by operator, and the families they come in."""

from __future__ import annotations

from tiree.input.onnx import (
    activations,
    constants,
    contraction,
    convolution,
    elementwise,
    indexing,
    losses,
    movement,
    normalization,
    pooling,
    quantization,
    reductions,
    resize,
)
from tiree.input.onnx.node import Conversion

FAMILIES: dict[str, dict[str, Conversion]] = {
    "Constants and sizes": constants.CONVERSIONS,
    "Elementwise": elementwise.CONVERSIONS,
    "Activations": activations.CONVERSIONS,
    "Shapes and movement": movement.CONVERSIONS,
    "Indexing": indexing.CONVERSIONS,
    "Reductions": reductions.CONVERSIONS,
    "Products": contraction.CONVERSIONS,
    "Convolutions": convolution.CONVERSIONS,
    "Pools": pooling.CONVERSIONS,
    "Normalisations": normalization.CONVERSIONS,
    "Losses": losses.CONVERSIONS,
    "Quantisation": quantization.CONVERSIONS,
    "Resizing": resize.CONVERSIONS,
}

TABLE: dict[str, Conversion] = {
    f"onnx.{name}": conversion for family in FAMILIES.values() for name, conversion in family.items()
}
"""`onnx.Add` and the like."""

LIMITS: dict[str, str] = {
    "CenterCropPad": "a shape that neither is constant nor stands in the text",
    "Compress": "a condition that is not constant",
    "Constant": "strings, sparse tensors",
    "CumProd": "an axis that is not constant; `?`",
    "CumSum": "an axis that is not constant; `?`",
    "Dropout": "training, unless the ratio is 0",
    "GatherElements": "indices with `?`",
    "OneHot": "a depth that neither is constant nor stands in the text",
    "Pad": "pads that are not constant",
    "Range": "a length that neither comes from constants nor stands in the text",
    "Resize": "scales that are not constant; dimensions with `?` that are resized",
    "Slice": "bounds that are not constant, unless the text says the sizes and all steps are 1; parts of `?`",
    "Split": "parts of `?` without sizes",
    "Tile": "repeats that neither are constant nor follow from the text",
    "TopK": "`?`",
    "Upsample": "scales that are not constant; `?`",
}
"""What is refused of an operator; the others are taken in all their forms on types that Tiree computes in."""
