"""Arguments that are not yet arrays of the declared type: what is accepted, and how refusals read.

Called by the native invoker when an argument is not exactly what the function declares. numpy is imported here, so only
calls that need it pay for it. Rules: a Python number, bool or list becomes an array of the declared type when every
value fits it exactly; a numpy array or scalar must have the declared dtype already (silent narrowing loses data),
except for byte order and layout, which are changed by copying.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tiree import _native

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

_DTYPES = {
    "i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "si8": "int8", "si16": "int16", "si32": "int32", "si64": "int64",
    "ui8": "uint8", "ui16": "uint16", "ui32": "uint32", "ui64": "uint64",
    "f16": "float16", "f32": "float32", "f64": "float64", "cf64": "complex64", "cf128": "complex128",
    "bf16": "bfloat16", "f8E5M2": "float8_e5m2", "f8E4M3FN": "float8_e4m3fn", "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E4M3FNUZ": "float8_e4m3fnuz", "f8E8M0FNU": "float8_e8m0fnu",
}  # fmt: skip
_ELEMENT_TYPES = {
    "bfloat16": 0x22000010, "float8_e5m2": 0x24000008, "float8_e4m3fn": 0x25000008, "float8_e5m2fnuz": 0x26000008,
    "float8_e4m3fnuz": 0x27000008, "float8_e8m0fnu": 0x28000008,
}  # fmt: skip


def _dtype(element: str) -> np.dtype:
    import numpy as np

    name = _DTYPES[element]
    if name.startswith(("bf", "float8")):
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    return np.dtype(name)


def _dims(shape: Any) -> str:
    return "x".join("?" if d is None else str(d) for d in shape)


def _where(function: str, number: int, name: str) -> str:
    return f'{function}(): argument {number} ("{name}")' if name else f"{function}(): argument {number}"


def coerce(value: Any, function: str, number: int, name: str, element: str, shape: list[int | None] | None) -> Any:
    """`value` as an array (or number) of element type `element`; `shape` is None for scalars, `element` "" for unknown.

    Raises `TypeError` for a value of the wrong kind or dtype, `ValueError` for a wrong shape or a number out of range.
    """
    where = _where(function, number, name)
    if shape is None and element:
        return _scalar(value, where, element)
    if not element:
        return _any_array(value, where)
    return _tensor(value, where, name or f"arg{number}", element, shape or [])


def _scalar(value: Any, where: str, element: str) -> int | float:
    """A Python number for a scalar parameter, from bools, numpy scalars and 0-d arrays."""
    if isinstance(value, bool):
        return int(value)
    item = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
    if isinstance(item, bool):
        item = int(item)
    if not isinstance(item, int | float):
        raise TypeError(f"{where} must be a number for {element}, got {describe(value)}.")
    if element[0] in "isu":
        if isinstance(item, float):
            raise TypeError(f"{where} is {item!r}; needs a whole number for {element}. Pass int(...).")
        return _integer(item, where, element)
    return float(item)


def _integer(value: int, where: str, element: str) -> int:
    """`value` for a scalar of type `element`; signless ones take the numbers of either sign."""
    bits = int(element.lstrip("isu"))
    least = 0 if element[0] == "u" or bits == 1 else -(1 << (bits - 1))
    most = (1 << (bits - 1 if element[0] == "s" else bits)) - 1
    if not least <= value <= most:
        raise ValueError(f"{where}: {value} is out of range for {element} ({least} to {most}).")
    signed = element[0] == "i" and bits > 1
    return value - (1 << bits) if signed and value >= 1 << (bits - 1) else value


def describe(value: Any) -> str:
    """How a refusal names a value: `float64 [2x3]` for arrays, the type's name otherwise."""
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if dtype is not None and shape is not None:
        return f"{dtype} [{_dims(shape)}]"
    article = "an" if type(value).__name__[0] in "aeiou" else "a"
    return "None" if value is None else f"{article} {type(value).__name__}"


def _any_array(value: Any, where: str) -> Any:
    """For parameters without a declared type: anything numpy can hold as numbers."""
    import numpy as np

    array = np.asarray(value)
    if array.dtype.hasobject or array.dtype.kind not in "biufcV":
        raise TypeError(f"{where} is {describe(value)}; needs an array of numbers or a buffer view.")
    return _plain(array)


def _tensor(value: Any, where: str, name: str, element: str, shape: list[int | None]) -> Any:
    import numpy as np

    dtype = _dtype(element)
    needs = f"needs {dtype} [{_dims(shape)}]"
    if isinstance(value, _native.VmRef):
        value = value.deref(_native.HalBufferView) if value.isinstance(_native.HalBufferView) else value
    if isinstance(value, _native.HalBufferView):
        return _view(value, where, name, needs, shape, dtype)
    if isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        array = _foreign_array(value, where, needs)
        if array.dtype.newbyteorder("=") != dtype and not (element[0] == "i" and _same_integer(array.dtype, dtype)):
            raise TypeError(f'{where} is {describe(array)}; {needs}. Pass {name}.astype("{dtype}").')
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
    else:
        array = _from_python(value, where, needs, dtype)
    if not _fits(array.shape, shape):
        raise ValueError(f"{where} has shape [{_dims(array.shape)}]; needs [{_dims(shape)}].")
    return _plain(array)


def _view(
    value: _native.HalBufferView, where: str, name: str, needs: str, shape: list[int | None], dtype: np.dtype
) -> _native.HalBufferView:
    """A buffer view that came in a reference, or the refusal of one that does not fit."""
    from tiree.runtime.dtypes import dtype_of

    try:
        given = dtype_of(value.element_type)
    except ValueError:
        raise TypeError(f"{where} has element type {value.element_type:#010x}; {needs}.") from None
    if given != dtype and not (dtype.kind == "i" and _same_integer(given, dtype)):
        raise TypeError(f'{where} is {given} [{_dims(value.shape)}]; {needs}. Pass {name}.astype("{dtype}").')
    if not _fits(value.shape, shape):
        raise ValueError(f"{where} has shape [{_dims(value.shape)}]; needs [{_dims(shape)}].")
    return value


def _fits(given: Sequence[int], wanted: Sequence[int | None]) -> bool:
    return len(given) == len(wanted) and all(w is None or w == g for g, w in zip(given, wanted, strict=True))


def _same_integer(given: np.dtype, wanted: np.dtype) -> bool:
    """Signless integers take arrays of either sign."""
    return given.kind in "iu" and wanted.kind in "iu" and given.itemsize == wanted.itemsize


def _foreign_array(value: Any, where: str, needs: str) -> np.ndarray:
    import numpy as np

    from tiree.runtime.dtypes import is_numpy_scalar

    try:
        if not hasattr(value, "__array__") and not is_numpy_scalar(value):
            return np.from_dlpack(value)
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise TypeError(f"{where} is {describe(value)} that cannot be read ({error}); {needs}.") from None


def _from_python(value: Any, where: str, needs: str, dtype: np.dtype) -> np.ndarray:
    """Numbers, bools and nested lists of them, if each fits `dtype` without changing."""
    import numpy as np

    if value is None or isinstance(value, str | bytes | dict | set):
        raise TypeError(f"{where} is {describe(value)}; {needs}.")
    try:
        wide = np.asarray(value)
    except ValueError:
        raise ValueError(f"{where} is a list of uneven lengths; {needs}.") from None
    if wide.size == 0:
        return wide.astype(dtype)
    if wide.dtype.hasobject or wide.dtype.kind not in "biufc":
        raise TypeError(f'{where} is {describe(value)}; {needs}. Pass np.array(..., dtype="{dtype}").')
    integral = dtype.kind in "iub"
    if integral and wide.dtype.kind in "fc":
        raise TypeError(f"{where} holds {wide.dtype} numbers; {needs}.")
    if wide.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError(f"{where} holds complex numbers; {needs}.")
    if dtype.kind == "b" and not np.isin(wide, (0, 1)).all():
        raise ValueError(f"{where}: i1 values are 0/1 or False/True; {needs}.")
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        for number in (int(wide.min()), int(wide.max())):
            if not limits.min <= number <= limits.max:
                raise ValueError(f"{where}: {number} is out of range for {dtype} ({limits.min} to {limits.max}).")
    return wide.astype(dtype)


def _plain(array: np.ndarray) -> Any:
    """A C-contiguous array that the native side can read: types without a buffer format travel as a view."""
    import numpy as np

    array = np.ascontiguousarray(array) if array.ndim else array.copy()
    element = _ELEMENT_TYPES.get(array.dtype.name)
    if element is None:
        return array
    return _native.HalBufferView.from_bytes(array.view(np.uint8 if array.dtype.itemsize == 1 else np.uint16), element)
