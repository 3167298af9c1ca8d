"""Conversions between numeric types, and the small floats.

f16 and bf16 are i16 in LLVM values (see `types.py`). Widening is exact; narrowing rounds once to nearest even,
subnormals and NaN included, on every target: from f64 and from wide integers the value is first rounded *to odd* in an
intermediate type, so that the second rounding sees what the first one dropped.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation, SSAValue

from tiree.codegen.llvm.emitter import Emitter, Handler
from tiree.codegen.llvm.types import LType, lower_type


def compute_type(type: LType) -> LType:
    """The type that arithmetic on `type` is done in: f32 for f16 and bf16."""
    return type.with_elem("f", 32) if type.is_small_float else type


def widen(e: Emitter, type: LType, value: str) -> str:
    """`value` of a float type in its compute type."""
    if type.kind == "b":
        return _bf16_to_f32(e, type, value)
    if type.kind == "h":
        return _f16_to_f32(e, type, value)
    return value


def narrow(e: Emitter, type: LType, value: str, arithmetic: bool = False) -> str:
    """A result in the compute type of `type`, rounded to `type`. `arithmetic`: it comes from instructions on values
    of `type`, so that a NaN among the results is the unit's own or one of theirs."""
    if type.kind == "b":
        return _f32_to_bf16(e, type, value, arithmetic)
    if type.kind == "h":
        return _f32_to_f16(e, type, value)
    return value


def _bf16_to_f32(e: Emitter, type: LType, value: str) -> str:
    i32 = type.with_elem("i", 32)
    wide = e.pure(f"zext {type.text} {value} to {i32.text}")
    high = e.pure(f"shl {i32.text} {wide}, {e.number(i32, 16)}")
    return e.pure(f"bitcast {i32.text} {high} to {type.with_elem('f', 32).text}")


def narrow_exact(e: Emitter, type: LType, value: str) -> str:
    """As `narrow`, of a value that `type` holds exactly (a widened value that was chosen, not computed)."""
    if type.kind != "b":
        return narrow(e, type, value)
    i32 = type.with_elem("i", 32)
    bits = e.pure(f"bitcast {type.with_elem('f', 32).text} {value} to {i32.text}")
    return e.pure(f"trunc {i32.text} {e.pure(f'lshr {i32.text} {bits}, {e.number(i32, 16)}')} to {type.text}")


def _f32_to_bf16(e: Emitter, type: LType, value: str, arithmetic: bool = False) -> str:
    # The conversion instruction of AVX512_BF16 flushes subnormals, so it is not used.
    i32, f32, mask = type.with_elem("i", 32), type.with_elem("f", 32), type.with_elem("i", 1)
    bits = e.pure(f"bitcast {f32.text} {value} to {i32.text}")
    high = e.pure(f"lshr {i32.text} {bits}, {e.number(i32, 16)}")
    odd = e.pure(f"and {i32.text} {high}, {e.number(i32, 1)}")
    bias = e.pure(f"add {i32.text} {odd}, {e.number(i32, 0x7FFF)}")
    rounded = e.pure(f"add {i32.text} {bits}, {bias}")
    rounded = e.pure(f"lshr {i32.text} {rounded}, {e.number(i32, 16)}")
    if arithmetic:
        # A NaN whose low half is clear survives the addition: nothing carries into its upper half.
        return e.pure(f"trunc {i32.text} {rounded} to {type.text}")
    quiet = e.pure(f"or {i32.text} {high}, {e.number(i32, 0x40)}")
    nan = e.pure(f"fcmp uno {f32.text} {value}, {value}")
    chosen = e.pure(f"select {mask.text} {nan}, {i32.text} {quiet}, {i32.text} {rounded}")
    return e.pure(f"trunc {i32.text} {chosen} to {type.text}")


def _half_text(type: LType) -> str:
    return f"<{type.lanes} x half>" if type.lanes else "half"


def _f16_to_f32(e: Emitter, type: LType, value: str) -> str:
    f32 = type.with_elem("f", 32)
    if e.target.has_f16c:
        half = e.pure(f"bitcast {type.text} {value} to {_half_text(type)}")
        return e.pure(f"fpext {_half_text(type)} {half} to {f32.text}")
    i32, mask = type.with_elem("i", 32), type.with_elem("i", 1)
    wide = e.pure(f"zext {type.text} {value} to {i32.text}")
    magnitude = e.pure(f"and {i32.text} {wide}, {e.number(i32, 0x7FFF)}")
    shifted = e.pure(f"shl {i32.text} {magnitude}, {e.number(i32, 13)}")
    # The exponent bias differs by 112. Subnormals are small integers times 2^-24, which is normal in f32: no operand is
    # subnormal there, so a unit that flushes them (ARM's NEON) does no harm.
    normal = e.pure(f"add {i32.text} {shifted}, {e.number(i32, 112 << 23)}")
    as_float = e.pure(f"sitofp {i32.text} {magnitude} to {f32.text}")
    scaled = e.pure(f"fmul {f32.text} {as_float}, {e.number(f32, 2.0**-24)}")
    small = e.pure(f"bitcast {f32.text} {scaled} to {i32.text}")
    is_small = e.pure(f"icmp ult {i32.text} {magnitude}, {e.number(i32, 0x400)}")
    bits = e.pure(f"select {mask.text} {is_small}, {i32.text} {small}, {i32.text} {normal}")
    special = e.pure(f"icmp uge {i32.text} {magnitude}, {e.number(i32, 0x7C00)}")
    infinite = e.pure(f"or {i32.text} {shifted}, {e.number(i32, 0x7F800000)}")
    bits = e.pure(f"select {mask.text} {special}, {i32.text} {infinite}, {i32.text} {bits}")
    sign = e.pure(f"and {i32.text} {wide}, {e.number(i32, 0x8000)}")
    sign = e.pure(f"shl {i32.text} {sign}, {e.number(i32, 16)}")
    bits = e.pure(f"or {i32.text} {bits}, {sign}")
    return e.pure(f"bitcast {i32.text} {bits} to {f32.text}")


def _f32_to_f16(e: Emitter, type: LType, value: str) -> str:
    f32 = type.with_elem("f", 32)
    # Mid-level passes may join this with an earlier rounding from f64, for which LLVM calls its runtime library.
    if e.target.has_f16c and not e.module.optimise:
        half = e.pure(f"fptrunc {f32.text} {value} to {_half_text(type)}")
        return e.pure(f"bitcast {_half_text(type)} {half} to {type.text}")
    i32, mask = type.with_elem("i", 32), type.with_elem("i", 1)
    bits = e.pure(f"bitcast {f32.text} {value} to {i32.text}")
    magnitude = e.pure(f"and {i32.text} {bits}, {e.number(i32, 0x7FFFFFFF)}")
    # Normal results: rebias, add half an ulp (ties to even), drop 13 bits; a carry into infinity is right.
    odd = e.pure(f"lshr {i32.text} {magnitude}, {e.number(i32, 13)}")
    odd = e.pure(f"and {i32.text} {odd}, {e.number(i32, 1)}")
    biased = e.pure(f"add {i32.text} {magnitude}, {e.number(i32, 0xFFF - (112 << 23))}")
    normal = e.pure(f"add {i32.text} {biased}, {odd}")
    normal = e.pure(f"lshr {i32.text} {normal}, {e.number(i32, 13)}")
    # Subnormal results: adding 0.5 makes the unit of the sum 2^-24, the unit of f16 subnormals.
    absolute = e.pure(f"bitcast {i32.text} {magnitude} to {f32.text}")
    shifted = e.pure(f"fadd {f32.text} {absolute}, {e.number(f32, 0.5)}")
    small = e.pure(f"bitcast {f32.text} {shifted} to {i32.text}")
    small = e.pure(f"sub {i32.text} {small}, {e.number(i32, 0x3F000000)}")
    is_small = e.pure(f"icmp ult {i32.text} {magnitude}, {e.number(i32, 113 << 23)}")
    result = e.pure(f"select {mask.text} {is_small}, {i32.text} {small}, {i32.text} {normal}")
    is_big = e.pure(f"icmp uge {i32.text} {magnitude}, {e.number(i32, 0x47800000)}")
    payload = e.pure(f"lshr {i32.text} {magnitude}, {e.number(i32, 13)}")
    payload = e.pure(f"and {i32.text} {payload}, {e.number(i32, 0x3FF)}")
    quiet = e.pure(f"or {i32.text} {payload}, {e.number(i32, 0x7E00)}")
    is_nan = e.pure(f"icmp ugt {i32.text} {magnitude}, {e.number(i32, 0x7F800000)}")
    special = e.pure(f"select {mask.text} {is_nan}, {i32.text} {quiet}, {i32.text} {e.number(i32, 0x7C00)}")
    result = e.pure(f"select {mask.text} {is_big}, {i32.text} {special}, {i32.text} {result}")
    sign = e.pure(f"lshr {i32.text} {bits}, {e.number(i32, 16)}")
    sign = e.pure(f"and {i32.text} {sign}, {e.number(i32, 0x8000)}")
    result = e.pure(f"or {i32.text} {result}, {sign}")
    return e.pure(f"trunc {i32.text} {result} to {type.text}")


def _f64_to_f32_odd(e: Emitter, type: LType, value: str) -> str:
    """f64 -> f32 rounded to odd: an inexact result has its last bit set (infinities of overflow become the largest)."""
    f64, f32 = type.with_elem("f", 64), type.with_elem("f", 32)
    i32, mask = type.with_elem("i", 32), type.with_elem("i", 1)
    near = e.pure(f"fptrunc {f64.text} {value} to {f32.text}")
    back = e.pure(f"fpext {f32.text} {near} to {f64.text}")
    bits = e.pure(f"bitcast {f32.text} {near} to {i32.text}")
    magnitude = e.intrinsic("fabs", f64, (f64, value))
    near_magnitude = e.intrinsic("fabs", f64, (f64, back))
    too_big = e.pure(f"fcmp ogt {f64.text} {near_magnitude}, {magnitude}")
    one = e.pure(f"zext {mask.text} {too_big} to {i32.text}")
    # Towards zero first: one less in magnitude where the nearest was above; then the sticky bit where inexact.
    down = e.pure(f"sub {i32.text} {bits}, {one}")
    inexact = e.pure(f"fcmp one {f64.text} {back}, {value}")
    sticky = e.pure(f"zext {mask.text} {inexact} to {i32.text}")
    odd = e.pure(f"or {i32.text} {down}, {sticky}")
    return e.pure(f"bitcast {i32.text} {odd} to {f32.text}")


def convert_float(e: Emitter, source: LType, target: LType, value: str) -> str:
    """A float of type `source` in the float type `target`, rounded once."""
    if source is target:
        return value
    if target.bits == 64:
        wide = widen(e, source, value)
        return e.pure(f"fpext {compute_type(source).text} {wide} to {target.text}")
    if target.is_small_float:
        single = _f64_to_f32_odd(e, target, value) if source.bits == 64 else widen(e, source, value)
        return narrow(e, target, single)
    if source.bits == 64:
        return e.pure(f"fptrunc {source.text} {value} to {target.text}")
    return widen(e, source, value)


def int_to_float(e: Emitter, source: LType, target: LType, value: str, signed: bool) -> str:
    """An integer in a float type, rounded once."""
    opcode = "sitofp" if signed else "uitofp"
    if source.bits == 64 and target.bits == 64 and e.target.arch == "arm":
        return _halves_to_f64(e, source, target, value, opcode)
    if not target.is_small_float:
        return e.pure(f"{opcode} {source.text} {value} to {target.text}")
    if source.bits <= 24:
        f32 = target.with_elem("f", 32)
        return narrow(e, target, e.pure(f"{opcode} {source.text} {value} to {f32.text}"))
    f64 = target.with_elem("f", 64)
    if source.bits > 53:
        value = _sticky_integer(e, source, value, signed)
    wide = e.pure(f"{opcode} {source.text} {value} to {f64.text}")
    return convert_float(e, f64, target, wide)


def _halves_to_f64(e: Emitter, source: LType, target: LType, value: str, opcode: str) -> str:
    """A 64-bit integer by its 32-bit halves, both exact, their sum rounded once: ARM has no wider conversion."""
    i32 = source.with_elem("i", 32)
    shifted = e.pure(f"lshr {source.text} {value}, {e.number(source, 32)}")
    high = e.pure(f"trunc {source.text} {shifted} to {i32.text}")
    low = e.pure(f"trunc {source.text} {value} to {i32.text}")
    high_float = e.pure(f"{opcode} {i32.text} {high} to {target.text}")
    low_float = e.pure(f"uitofp {i32.text} {low} to {target.text}")
    scaled = e.pure(f"fmul {target.text} {high_float}, {e.number(target, 2.0**32)}")
    return e.pure(f"fadd {target.text} {scaled}, {low_float}")


def _sticky_integer(e: Emitter, source: LType, value: str, signed: bool) -> str:
    """`value` below 2^53 in magnitude; above, its 12 low bits become one sticky bit, so that f64 holds it."""
    mask = source.with_elem("i", 1)
    low = e.pure(f"and {source.text} {value}, {e.number(source, 0xFFF)}")
    some = e.pure(f"icmp ne {source.text} {low}, {e.number(source, 0)}")
    sticky = e.pure(f"zext {mask.text} {some} to {source.text}")
    sticky = e.pure(f"shl {source.text} {sticky}, {e.number(source, 12)}")
    cleared = e.pure(f"and {source.text} {value}, {e.number(source, ~0xFFF)}")
    packed = e.pure(f"or {source.text} {cleared}, {sticky}")
    magnitude = value
    if signed:
        magnitude = e.pure(f"call {source.text} @llvm.abs.{source.mangled}({source.text} {value}, i1 false)")
    small = e.pure(f"icmp ult {source.text} {magnitude}, {e.number(source, 1 << 53)}")
    return e.pure(f"select {mask.text} {small}, {source.text} {value}, {source.text} {packed}")


def float_to_int(e: Emitter, source: LType, target: LType, value: str, signed: bool) -> str:
    """A float rounded towards zero to an integer; unspecified where it does not fit."""
    work = compute_type(source)
    wide = widen(e, source, value)
    return e.pure(f"{'fptosi' if signed else 'fptoui'} {work.text} {wide} to {target.text}")


def resize_int(e: Emitter, source: LType, target: LType, value: str, signed: bool) -> str:
    """An integer extended or truncated to `target`."""
    if source.bits == target.bits:
        return value
    opcode = "trunc" if source.bits > target.bits else ("sext" if signed else "zext")
    return e.pure(f"{opcode} {source.text} {value} to {target.text}")


def _handler(convert: Callable[[Emitter, LType, LType, str], str]) -> Handler:
    def handler(e: Emitter, op: Operation) -> None:
        source, target = lower_type(op.operands[0].type), lower_type(op.results[0].type)
        e.values[op.results[0]] = convert(e, source, target, e.values[op.operands[0]])

    return handler


_KEEPS_NANS = frozenset(
    {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.negf"}
    | {"math.exp", "math.tanh", "math.erf", "math.log", "math.sqrt"}
)
"""f32 ops whose NaN results are the unit's own, whose low half is clear, or those of an operand, made quiet at most."""


def _clean_nans(e: Emitter, value: SSAValue, depth: int = 40) -> bool:
    """Whether a NaN in this f32 has its low half clear, for all that is known of the operations behind it."""
    known = e.clean_nans.get(value)
    if known is not None or depth == 0:
        return bool(known)
    op = value.owner
    clean = False
    if not isinstance(op, Operation):
        pass
    elif op.name == "arith.extf":
        clean = lower_type(op.operands[0].type).kind == "b"
    elif op.name == "arith.constant":
        clean = "0x7FF" not in e.values[value] and "0xFFF" not in e.values[value]
    elif op.name in _KEEPS_NANS:
        clean = all(_clean_nans(e, operand, depth - 1) for operand in op.operands)
    e.clean_nans[value] = clean
    return clean


def truncf(e: Emitter, op: Operation) -> None:
    source, target = lower_type(op.operands[0].type), lower_type(op.results[0].type)
    value = e.values[op.operands[0]]
    if target.kind == "b" and source.bits == 32 and _clean_nans(e, op.operands[0]):
        e.values[op.results[0]] = narrow(e, target, value, arithmetic=True)
    else:
        e.values[op.results[0]] = convert_float(e, source, target, value)


def bitcast(e: Emitter, source: LType, target: LType, value: str) -> str:
    """The same bits as another type of the same total width."""
    return value if source.text == target.text else e.pure(f"bitcast {source.text} {value} to {target.text}")


HANDLERS: dict[str, Handler] = {
    "arith.extf": _handler(convert_float),
    "arith.truncf": truncf,
    "arith.extsi": _handler(lambda e, s, t, v: resize_int(e, s, t, v, True)),
    "arith.extui": _handler(lambda e, s, t, v: resize_int(e, s, t, v, False)),
    "arith.trunci": _handler(lambda e, s, t, v: resize_int(e, s, t, v, False)),
    "arith.index_cast": _handler(lambda e, s, t, v: resize_int(e, s, t, v, True)),
    "arith.index_castui": _handler(lambda e, s, t, v: resize_int(e, s, t, v, False)),
    "arith.sitofp": _handler(lambda e, s, t, v: int_to_float(e, s, t, v, True)),
    "arith.uitofp": _handler(lambda e, s, t, v: int_to_float(e, s, t, v, False)),
    "arith.fptosi": _handler(lambda e, s, t, v: float_to_int(e, s, t, v, True)),
    "arith.fptoui": _handler(lambda e, s, t, v: float_to_int(e, s, t, v, False)),
    "arith.bitcast": _handler(bitcast),
    "vector.bitcast": _handler(bitcast),
}
