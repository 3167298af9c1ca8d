"""Elementary functions as LLVM instructions, for scalars and vectors of any width, without a library call.

`builder.py` gives expressions on LLVM values; the other files hold one family of functions each, written once for f32
and f64; `coefficients.py` is made by `tests/codegen/math/fit.py`; `functions.py` is the table. Rare f32 functions are
evaluated in f64, whose short polynomials reach f32 accuracy with room to spare. Accuracy is listed in
`docs/reference/math_accuracy.md`.
"""
