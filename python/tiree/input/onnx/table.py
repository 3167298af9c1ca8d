"""All conversions by operator, and the families they come in."""

from __future__ import annotations

from tiree.input.onnx import (
    activations,
    attention,
    constants,
    contraction,
    control,
    convolution,
    elementwise,
    indexing,
    losses,
    movement,
    normalization,
    pooling,
    quantization,
    recurrent,
    reductions,
    resize,
    sampling,
    signals,
    training,
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
    "Attention": attention.CONVERSIONS,
    "Recurrent networks": recurrent.CONVERSIONS,
    "Control flow": control.CONVERSIONS,
    "Resizing and sampling": {**resize.CONVERSIONS, **sampling.CONVERSIONS},
    "Signals": signals.CONVERSIONS,
    "Optimisers": training.CONVERSIONS,
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
    "Attention": "heads whose number or size is known late only",
    "BatchNormalization": "training before opset 14",
    "AffineGrid": "a size that neither is constant nor stands in the text",
    "Col2Im": "sizes that are not constant; `?`",
    "DFT": "lengths and axes that are not constant; `?`",
    "Dropout": "training, unless the ratio is 0",
    "GatherElements": "indices with `?`",
    "GridSample": "`?`",
    "LSTM": "`?`",
    "GRU": "`?`",
    "Loop": "collected parts whose number is known late only; carried values that change shape",
    "MatMul": "batches that are `?` in both operands and differ when the program runs (an error then)",
    "OneHot": "a depth that neither is constant nor stands in the text",
    "Pad": "pads that are not constant",
    "RNN": "`?`",
    "Range": "a length that neither comes from constants nor stands in the text",
    "Resize": "scales that are not constant; dimensions with `?` that are resized",
    "Scan": "opset 8; `?`",
    "STFT": "steps and lengths that are not constant; `?`",
    "Slice": "axes and steps that are not constant; constant bounds that take a part of `?`",
    "Split": "parts of `?` without sizes",
    "Tile": "repeats that neither are constant nor follow from the text",
    "TopK": "`?`",
    "Upsample": "scales that are not constant; `?`",
}
"""What is refused of an operator; the others are taken in all their forms on types that Tiree computes in."""
