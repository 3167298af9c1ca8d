"""What each named op of linalg computes: its indexing maps, its loops and its scalar body.

Shapes are written with one letter a dimension. In a window op, `H` in the input is `H * stride + h * dilation` with `h`
the window's dimension; elsewhere a letter is a loop. Loops are the output's letters, then the others in order of
appearance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AffineMapAttr, AnyFloat, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tiree.input.lowering.context import Unsupported
from tiree.input.lowering.scalar import ScalarBuilder
from tiree.input.lowering.scalar_ops import divide_integers
from tiree.support.typed import is_complex_type, is_integer_type

CONTRACTIONS: dict[str, tuple[str, str, str]] = {
    "matmul": ("mk", "kn", "mn"),
    "matmul_transpose_a": ("km", "kn", "mn"),
    "matmul_transpose_b": ("mk", "nk", "mn"),
    "batch_matmul": ("bmk", "bkn", "bmn"),
    "batch_matmul_transpose_a": ("bkm", "bkn", "bmn"),
    "batch_matmul_transpose_b": ("bmk", "bnk", "bmn"),
    "batch_reduce_matmul": ("bmk", "bkn", "mn"),
    "matvec": ("mk", "k", "m"),
    "vecmat": ("k", "kn", "n"),
    "batch_matvec": ("bmk", "bk", "bm"),
    "batch_vecmat": ("bk", "bkn", "bn"),
    "dot": ("k", "k", ""),
    "mmt4d": ("mkab", "nkcb", "mnac"),
    "batch_mmt4d": ("zmkab", "znkcb", "zmnac"),
}
CONVOLUTIONS: dict[str, tuple[str, str, str]] = {
    "conv_1d": ("W", "w", "W"),
    "conv_2d": ("HW", "hw", "HW"),
    "conv_3d": ("DHW", "dhw", "DHW"),
    "conv_1d_nwc_wcf": ("nWc", "wcf", "nWf"),
    "conv_1d_ncw_fcw": ("ncW", "fcw", "nfW"),
    "conv_2d_nhwc_hwcf": ("nHWc", "hwcf", "nHWf"),
    "conv_2d_nhwc_fhwc": ("nHWc", "fhwc", "nHWf"),
    "conv_2d_nchw_fchw": ("ncHW", "fchw", "nfHW"),
    "conv_2d_ngchw_fgchw": ("ngcHW", "fgchw", "ngfHW"),
    "conv_2d_ngchw_gfchw": ("ngcHW", "gfchw", "ngfHW"),
    "conv_2d_nhwgc_gfhwc": ("nHWgc", "gfhwc", "nHWgf"),
    "conv_3d_ndhwc_dhwcf": ("nDHWc", "dhwcf", "nDHWf"),
    "conv_3d_ncdhw_fcdhw": ("ncDHW", "fcdhw", "nfDHW"),
    "depthwise_conv_1d_nwc_wc": ("nWc", "wc", "nWc"),
    "depthwise_conv_1d_ncw_cw": ("ncW", "cw", "ncW"),
    "depthwise_conv_1d_nwc_wcm": ("nWc", "wcm", "nWcm"),
    "depthwise_conv_2d_nhwc_hwc": ("nHWc", "hwc", "nHWc"),
    "depthwise_conv_2d_nchw_chw": ("ncHW", "chw", "ncHW"),
    "depthwise_conv_2d_nhwc_hwcm": ("nHWc", "hwcm", "nHWcm"),
    "depthwise_conv_3d_ndhwc_dhwc": ("nDHWc", "dhwc", "nDHWc"),
    "depthwise_conv_3d_ncdhw_cdhw": ("ncDHW", "cdhw", "ncDHW"),
    "depthwise_conv_3d_ndhwc_dhwcm": ("nDHWc", "dhwcm", "nDHWcm"),
}
QUANTIZED: dict[str, str] = {
    "quantized_matmul": "matmul",
    "quantized_batch_matmul": "batch_matmul",
    **{f"{suffix}_q": suffix for suffix in CONVOLUTIONS},
}
"""Ops with a zero point for each input, by the op that they are without."""
POOLING_LAYOUTS: dict[str, tuple[str, str, str]] = {
    "nwc": ("nWc", "w", "nWc"),
    "ncw": ("ncW", "w", "ncW"),
    "nhwc": ("nHWc", "hw", "nHWc"),
    "nchw": ("ncHW", "hw", "ncHW"),
    "ndhwc": ("nDHWc", "dhw", "nDHWc"),
}

Body = Callable[[ScalarBuilder, Sequence[SSAValue]], SSAValue]


def maps_of_letters(
    shapes: Sequence[str], strides: Sequence[int] = (), dilations: Sequence[int] = ()
) -> tuple[list[AffineMapAttr], int, int]:
    """Maps of operands written in letters (output last), how many loops are parallel, how many there are."""
    *inputs, output = shapes
    loops = list(output)
    for shape in inputs:
        for letter in shape:
            # An upper-case letter of an input stands for two loops, both named by other operands.
            if letter not in loops and not letter.isupper():
                loops.append(letter)
    spatial = [letter for letter in inputs[0] if letter.isupper()]

    def expression(letter: str, first: bool) -> AffineExpr:
        expr: AffineExpr = AffineExpr.dimension(loops.index(letter))
        if not first or not letter.isupper():
            return expr
        place = spatial.index(letter)
        stride = strides[place] if strides else 1
        dilation = dilations[place] if dilations else 1
        inner: AffineExpr = AffineExpr.dimension(loops.index(letter.lower()))
        return (expr * stride if stride != 1 else expr) + (inner * dilation if dilation != 1 else inner)

    maps = [
        AffineMapAttr(AffineMap(len(loops), 0, tuple(expression(letter, position == 0) for letter in shape)))
        for position, shape in enumerate(shapes)
    ]
    return maps, len(output), len(loops)


def cast(s: ScalarBuilder, value: SSAValue, type: Attribute, unsigned: bool = False) -> SSAValue:
    """`value` in the element type of the output, as named ops convert: signed unless `unsigned`."""
    if value.type == type:
        return value
    if isinstance(value.type, AnyFloat) and isinstance(type, AnyFloat):
        return s.float_resize(value, type)
    if is_integer_type(value.type) and is_integer_type(type):
        if value.type.width.data > type.width.data:
            return s.cast(arith.TruncIOp, value, type)
        return s.cast(arith.ExtUIOp if unsigned else arith.ExtSIOp, value, type)
    if is_integer_type(value.type):
        return s.cast(arith.UIToFPOp if unsigned else arith.SIToFPOp, value, type)
    return s.cast(arith.FPToUIOp if unsigned else arith.FPToSIOp, value, type)


def multiply_add(unsigned: bool) -> Body:
    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        a, b, out = args
        if out.type == i1:
            return s.or_(out, s.and_(a, b))
        product = s.mul(cast(s, a, out.type, unsigned), cast(s, b, out.type, unsigned))
        return s.add_(out, product)

    return body


def multiply_add_from(zero_points: Sequence[SSAValue]) -> Body:
    """As `multiply_add`, of the differences to the two zero points (scalars of the accumulator's type)."""

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        a, b, out = args
        left, right = (
            s.sub(cast(s, value, out.type), cast(s, zero, out.type))
            for value, zero in zip((a, b), zero_points, strict=True)
        )
        return s.add_(out, s.mul(left, right))

    return body


_POOLING: dict[str, tuple[type[Operation], type[Operation]]] = {
    "sum": (arith.AddfOp, arith.AddiOp),
    "max": (arith.MaximumfOp, arith.MaxSIOp),
    "max_unsigned": (arith.MaximumfOp, arith.MaxUIOp),
    "min": (arith.MinimumfOp, arith.MinSIOp),
    "min_unsigned": (arith.MinimumfOp, arith.MinUIOp),
}


def pooling_of(suffix: str) -> tuple[tuple[str, str, str], Body]:
    """Letters and body of `linalg.pooling_<layout>_<kind>`."""
    layout, kind = suffix.removeprefix("pooling_").split("_", 1)
    on_float, on_int = _POOLING[kind]

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        value, _, out = args
        op = on_float if isinstance(out.type, AnyFloat) else on_int
        return s.binary(op, out, cast(s, value, out.type, kind.endswith("unsigned")))

    return POOLING_LAYOUTS[layout], body


_UNARY: dict[str, type[Operation]] = {
    "ceil": math.CeilOp,
    "erf": math.ErfOp,
    "exp": math.ExpOp,
    "floor": math.FloorOp,
    "log": math.LogOp,
    "negf": arith.NegfOp,
    "round": math.RoundOp,
    "rsqrt": math.RsqrtOp,
    "sqrt": math.SqrtOp,
    "tanh": math.TanhOp,
}
_BINARY: dict[str, tuple[type[Operation], type[Operation]]] = {
    "add": (arith.AddfOp, arith.AddiOp),
    "sub": (arith.SubfOp, arith.SubiOp),
    "mul": (arith.MulfOp, arith.MuliOp),
    "div": (arith.DivfOp, arith.DivSIOp),
    "div_unsigned": (arith.DivfOp, arith.DivUIOp),
    "max": (arith.MaximumfOp, arith.MaxSIOp),
    "min": (arith.MinimumfOp, arith.MinSIOp),
    "max_signed": (arith.MaximumfOp, arith.MaxSIOp),
    "min_signed": (arith.MinimumfOp, arith.MinSIOp),
    "max_unsigned": (arith.MaximumfOp, arith.MaxUIOp),
    "min_unsigned": (arith.MinimumfOp, arith.MinUIOp),
    "powf": (math.PowFOp, math.IPowIOp),
}


_BOOLEAN: dict[str, type[Operation]] = {"add": arith.OrIOp, "mul": arith.AndIOp}
"""On `i1` sums and products are those of logic, as MLIR has them."""


_COMPLEX = {
    "add": "AddOp", "sub": "SubOp", "mul": "MulOp", "div": "DivOp", "powf": "PowOp", "exp": "ExpOp", "log": "LogOp",
    "sqrt": "SqrtOp", "rsqrt": "RsqrtOp", "tanh": "TanhOp", "negf": "NegOp",
}  # fmt: skip


def _on_complex(s: ScalarBuilder, suffix: str, values: Sequence[SSAValue], type: Attribute) -> SSAValue:
    from xdsl.dialects import complex

    if suffix not in _COMPLEX:
        raise Unsupported(f"on elements of type {type}")
    return s.complex_op(getattr(complex, _COMPLEX[suffix]), values, type)


def elementwise_of(suffix: str) -> Body | None:
    """The body of an elementwise named op, or None when `suffix` is not one."""

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> SSAValue:
        *values, out = args
        if suffix == "select":
            return s.select(values[0], values[1], values[2])
        values = [cast(s, value, out.type) for value in values]
        if suffix == "copy":
            return values[0]
        if is_complex_type(out.type) and suffix != "square":
            return _on_complex(s, suffix, values, out.type)
        if suffix.startswith("div") and not isinstance(out.type, AnyFloat):
            return divide_integers(s, suffix == "div", values[0], values[1])
        if out.type == i1 and suffix in _BOOLEAN:
            return s.binary(_BOOLEAN[suffix], values[0], values[1])
        if suffix in _BINARY:
            return s.binary(_BINARY[suffix][not isinstance(out.type, AnyFloat)], values[0], values[1])
        if suffix == "square":
            return s.mul(values[0], values[0])
        if suffix == "reciprocal":
            return s.div(s.constant(out.type, 1.0), values[0])
        if suffix == "abs":
            return s.unary(math.AbsFOp if isinstance(out.type, AnyFloat) else math.AbsIOp, values[0])
        return s.unary(_UNARY[suffix], values[0])

    known = suffix in _UNARY or suffix in _BINARY or suffix in ("select", "copy", "square", "reciprocal", "abs")
    return body if known else None
