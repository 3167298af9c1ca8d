"""ONNX operators, in `torch.operator`s as iree-import-onnx writes them, become StableHLO."""
