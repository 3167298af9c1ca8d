"""Linear algebra as loop kernels (`kernel.py`): one dispatch a factorisation, one workgroup a matrix."""
