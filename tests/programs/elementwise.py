"""Every elementwise operation on every element type it takes, at ordinary and at edge values."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

from programs.bundle import Bundle, Case

BF16 = ml_dtypes.bfloat16
SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
FLOATS = (np.float16, BF16, np.float32, np.float64)
INF, NAN = float("inf"), float("nan")


def name_of(dtype: Any) -> str:
    return np.dtype(dtype).name


def _epsilon(dtype: Any) -> float:
    return float(ml_dtypes.finfo(dtype).eps)


def _integers(dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Pairs that hold 0, +-1, the extremes, and ordinary values, against each other."""
    info = np.iinfo(dtype)
    values = [0, 1, 2, 3, 7, 11, info.max, info.max - 1, info.min, info.min + 1]
    if info.min < 0:
        values += [-1, -2, -7]
    pairs = [(a, b) for a in values for b in values]
    return np.array([a for a, _ in pairs], dtype), np.array([b for _, b in pairs], dtype)


def _ordinary(dtype: Any, low: float = -4.0, high: float = 4.0, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, 37).astype(dtype)


def _special(dtype: Any) -> np.ndarray:
    return np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, INF, -INF, NAN, 3.75, -100.0], dtype)


def _pairs(dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    values = _special(dtype)
    return np.repeat(values, len(values)), np.tile(values, len(values))


INTEGER_BINARY = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "div": lax.div,
    "rem": lax.rem,
    "max": lax.max,
    "min": lax.min,
    "and": lax.bitwise_and,
    "or": lax.bitwise_or,
    "xor": lax.bitwise_xor,
    "shift_left": lax.shift_left,
    "shift_right_arithmetic": lax.shift_right_arithmetic,
    "shift_right_logical": lax.shift_right_logical,
    "eq": lax.eq,
    "ne": lax.ne,
    "lt": lax.lt,
    "le": lax.le,
    "gt": lax.gt,
    "ge": lax.ge,
}
INTEGER_UNARY = {
    "abs": lax.abs,
    "neg": lax.neg,
    "sign": lax.sign,
    "not": lax.bitwise_not,
    "popcnt": lax.population_count,
    "clz": lax.clz,
}


def _integer_cases(dtype: Any) -> list[Case]:
    a, b = _integers(dtype)
    cases = [Case(f"{key}_{name_of(dtype)}", function, (a, b)) for key, function in INTEGER_BINARY.items()]
    unary = dict(INTEGER_UNARY)
    if np.iinfo(dtype).min == 0:
        del unary["abs"], unary["neg"]
    cases += [Case(f"{key}_{name_of(dtype)}", function, (a,)) for key, function in unary.items()]
    low, high = np.array(3, dtype), np.array(9, dtype)
    cases.append(Case(f"clamp_{name_of(dtype)}", lax.clamp, (low, a, high)))
    return cases


FLOAT_BINARY = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "div": lax.div,
    "max": lax.max,
    "min": lax.min,
    "eq": lax.eq,
    "ne": lax.ne,
    "lt": lax.lt,
    "le": lax.le,
    "gt": lax.gt,
    "ge": lax.ge,
    "le_to": lambda a, b: lax.le_to_p.bind(a, b) if hasattr(lax, "le_to_p") else lax.le(a, b),
}
EXACT_UNARY = {
    "abs": lax.abs,
    "neg": lax.neg,
    "sign": lax.sign,
    "ceil": lax.ceil,
    "floor": lax.floor,
    "round_even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    "round_away": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    "is_finite": lax.is_finite,
}
# Function, range of ordinary arguments.
FUNCTIONS: dict[str, tuple[Any, float, float]] = {
    "exp": (lax.exp, -20.0, 10.0),
    "expm1": (lax.expm1, -3.0, 3.0),
    "log": (lax.log, 0.01, 50.0),
    "log1p": (lax.log1p, -0.9, 5.0),
    "sqrt": (lax.sqrt, 0.0, 50.0),
    "rsqrt": (lax.rsqrt, 0.01, 50.0),
    "cbrt": (lax.cbrt, -30.0, 30.0),
    "sin": (lax.sin, -10.0, 10.0),
    "cos": (lax.cos, -10.0, 10.0),
    "tan": (lax.tan, -1.4, 1.4),
    "tanh": (lax.tanh, -5.0, 5.0),
    "logistic": (lax.logistic, -8.0, 8.0),
}
CHLO: dict[str, tuple[Any, float, float]] = {
    "erf": (lax.erf, -3.0, 3.0),
    "erfc": (lax.erfc, -3.0, 5.0),
    "erf_inv": (lax.erf_inv, -0.99, 0.99),
    "acos": (lax.acos, -0.99, 0.99),
    "asin": (lax.asin, -0.99, 0.99),
    "atan": (lax.atan, -5.0, 5.0),
    "acosh": (lax.acosh, 1.01, 50.0),
    "asinh": (lax.asinh, -20.0, 20.0),
    "atanh": (lax.atanh, -0.95, 0.95),
    "sinh": (lax.sinh, -5.0, 5.0),
    "cosh": (lax.cosh, -5.0, 5.0),
    "lgamma": (lax.lgamma, 0.2, 20.0),
    "square": (lax.square, -5.0, 5.0),
}
_ATAN2 = "iree-compile's f32 atan2 is off by 25 units in the last place"
_EDGES = {
    "cbrt_float32": "iree-compile gives NaN for the cube root of infinity",
    "sin_float32": "iree-compile's sine loses 6 bits at -100",
}


def _float_cases(dtype: Any) -> list[Case]:
    a, b = _pairs(dtype)
    suffix = name_of(dtype)
    eps = _epsilon(dtype)
    cases = [Case(f"{key}_{suffix}", function, (a, b)) for key, function in FLOAT_BINARY.items()]
    special = _special(dtype)
    cases += [Case(f"{key}_{suffix}", function, (special,)) for key, function in EXACT_UNARY.items()]
    cases.append(Case(f"clamp_{suffix}", lax.clamp, (np.array(-1, dtype), special, np.array(2, dtype))))
    x, y = _ordinary(dtype), _ordinary(dtype, 0.5, 4.0, seed=1)
    cases.append(Case(f"rem_{suffix}", lax.rem, (x, y), rtol=8 * eps, atol=8 * eps))
    cases.append(Case(f"atan2_{suffix}", lax.atan2, (x, _ordinary(dtype, seed=2)), rtol=8 * eps, differs=_ATAN2))
    cases.append(Case(f"pow_{suffix}", lax.pow, (y, _ordinary(dtype, -3.0, 3.0, seed=3)), rtol=16 * eps))
    return cases


def _function_cases(dtype: Any, table: dict[str, tuple[Any, float, float]]) -> list[Case]:
    eps = _epsilon(dtype)
    return [
        Case(f"{key}_{name_of(dtype)}", function, (_ordinary(dtype, low, high),), rtol=16 * eps, atol=4 * eps)
        for key, (function, low, high) in table.items()
    ]


def _edge_cases(dtype: Any) -> list[Case]:
    eps = _epsilon(dtype)
    special = _special(dtype)
    cases = []
    for key in ("exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "cbrt", "tanh", "logistic", "sin", "cos"):
        with np.errstate(all="ignore"):
            wide = special.astype(np.float64)
            reference = {
                "rsqrt": lambda x: 1 / np.sqrt(x),
                "logistic": lambda x: 1 / (1 + np.exp(-x)),
            }.get(key, getattr(np, key, None))
            assert reference is not None
            want = reference(wide)
        cases.append(
            Case(
                f"{key}_edges_{name_of(dtype)}",
                FUNCTIONS[key][0],
                (special,),
                rtol=16 * eps,
                atol=4 * eps,
                expected=(want,),
                differs=_EDGES.get(f"{key}_{name_of(dtype)}", ""),
            )
        )
    return cases


POW_BASES = np.array([-2, -2, 0, 0, NAN, INF, -INF, 5, -8, 1, 2, -1, 0, -0.0], np.float32)
POW_EXPONENTS = np.array([3, 2, 0, -1, 0, 0, 3, -3, 1 / 3, NAN, 0.5, INF, 0.5, -3], np.float32)
POW_VALUES = np.array([-8, 4, 1, INF, 1, 1, -INF, 0.008, NAN, 1, 2**0.5, 1, 0, -INF], np.float32)


def _convert(dtype: Any) -> Any:
    return lambda x: lax.convert_element_type(x, dtype)


def _conversions() -> list[Case]:
    cases = []
    for source in (np.float16, BF16, np.float32, np.float64):
        values = [0.0, -0.0, 0.9, -0.9, 1.5, -1.5, 2.5, 127.6, 255.9, -128.9, 300.0, -300.0, 4e4, -4e4, INF, -INF, NAN]
        if source not in (np.float16,):
            values += [3e9, -3e9, 1e10, -1e10, 1e19, 2e19, -2e19]
        x = np.array(values, source)
        for target in (*SIGNED, *UNSIGNED, np.bool_, *FLOATS):
            cases.append(Case(f"convert_{name_of(source)}_{name_of(target)}", _convert(target), (x,)))
    for source in (*SIGNED, *UNSIGNED):
        x = np.unique(_integers(source)[0])
        for target in (*SIGNED, *UNSIGNED, np.bool_, *FLOATS):
            cases.append(Case(f"convert_{name_of(source)}_{name_of(target)}", _convert(target), (x,)))
    flags = np.array([True, False, True])
    cases += [
        Case(f"convert_bool_{name_of(target)}", _convert(target), (flags,))
        for target in (np.int8, np.uint32, np.int64, *FLOATS)
    ]
    return cases


def _others() -> list[Case]:
    flags, other = np.array([True, True, False, False]), np.array([True, False, True, False])
    x = np.arange(4, dtype=np.float32)
    words = np.array([0, 1, -1, 0x7F800000, -(2**31), 0x3F800000], np.int32)
    grid = np.linspace(-70000, 70000, 41, dtype=np.float32) ** 3
    return [
        Case("and_bool", lax.bitwise_and, (flags, other)),
        Case("or_bool", lax.bitwise_or, (flags, other)),
        Case("xor_bool", lax.bitwise_xor, (flags, other)),
        Case("not_bool", lax.bitwise_not, (flags,)),
        Case("eq_bool", lax.eq, (flags, other)),
        Case("lt_bool", lax.lt, (flags, other)),
        Case("max_bool", lax.max, (flags, other)),
        Case("min_bool", lax.min, (flags, other)),
        Case("select", lax.select, (flags, x, -x)),
        Case("select_scalar_predicate", lax.select, (np.array(True), x, -x)),
        Case("bitcast_f32_i32", lambda v: lax.bitcast_convert_type(v, jnp.int32), (x,)),
        Case("bitcast_i32_f32", lambda v: lax.bitcast_convert_type(v, jnp.float32), (words,)),
        Case("bitcast_u16_bf16", lambda v: lax.bitcast_convert_type(v, jnp.bfloat16), (np.arange(5, dtype=np.uint16),)),
        Case("reduce_precision_e5m10", lambda v: lax.reduce_precision(v, 5, 10), (grid,)),
        Case("reduce_precision_e8m7", lambda v: lax.reduce_precision(v, 8, 7), (grid,)),
        Case("reduce_precision_e4m3", lambda v: lax.reduce_precision(v, 4, 3), (_ordinary(np.float32),)),
        Case("next_after", lax.nextafter, _pairs(np.float32)),
        Case(
            "pow_special",
            lax.pow,
            (POW_BASES, POW_EXPONENTS),
            rtol=2e-6,
            expected=(POW_VALUES,),
            differs="iree-compile computes exp(b log a)",
        ),
        Case("integer_pow", lambda v: v**3 + v**-2, (_ordinary(np.float32, 0.5, 2.0),), rtol=1e-5),
        Case(
            "relu_gelu_silu",
            lambda v: (jax.nn.relu(v), jax.nn.gelu(v), jax.nn.silu(v)),
            (_ordinary(np.float32),),
            rtol=1e-5,
            atol=1e-6,
        ),
        Case("softplus", jax.nn.softplus, (_ordinary(np.float32),), rtol=1e-5),
        Case("scalar_rank_0", lambda a, b: a * b + 1, (np.float32(3), np.float32(4))),
    ]


BUNDLES = [
    *(Bundle(f"integers_{name_of(dtype)}", _integer_cases(dtype)) for dtype in (*SIGNED, *UNSIGNED)),
    *(Bundle(f"floats_{name_of(dtype)}", _float_cases(dtype)) for dtype in FLOATS),
    *(Bundle(f"functions_{name_of(dtype)}", _function_cases(dtype, FUNCTIONS)) for dtype in FLOATS),
    *(Bundle(f"chlo_{name_of(dtype)}", _function_cases(dtype, CHLO)) for dtype in (np.float32, np.float64)),
    *(Bundle(f"edges_{name_of(dtype)}", _edge_cases(dtype)) for dtype in (np.float32, np.float64)),
    Bundle("conversions", _conversions()),
    Bundle("elementwise_others", _others()),
]
