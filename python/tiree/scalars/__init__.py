"""Scalar computations in bodies: a builder of arith and math ops, and formulas that more than one stage needs.

Stages import it; it knows the dialects only.
"""
