"""Lowering of StableHLO and CHLO ops to linalg, tensor, arith, math and scf: one family of ops per file.

Every file offers `HANDLERS`, a table from op name to a function `(Lowering, op) -> None` that emits new operations
and says what stands for the op's results. `table.py` joins the tables.
"""
