"""Codegen that no target owns: analysis of a dispatch, linear index forms, the kernel builder and the evaluator."""
