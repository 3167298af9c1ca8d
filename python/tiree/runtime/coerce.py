"""Arguments that are not yet arrays of the declared type: what is accepted, and how refusals read.

Called by the native invoker when an argument is not exactly what the function declares. numpy is imported here, so only
calls that need it pay for it. Rules: a Python number, bool or list becomes an array of the declared type when every
value fits it exactly; a numpy array or scalar must have the declared dtype already (silent narrowing loses data),
except for byte order and layout, which are changed by copying.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, cast

from tiree import _native
from tiree.runtime import packed

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
    **packed.NAMES,
}  # fmt: skip
_ELEMENT_TYPES = {
    "bfloat16": 0x22000010, "float8_e5m2": 0x24000008, "float8_e4m3fn": 0x25000008, "float8_e5m2fnuz": 0x26000008,
    "float8_e4m3fnuz": 0x27000008, "float8_e8m0fnu": 0x28000008,
}  # fmt: skip
_BYTES = 0x12000008
_PACKED_TYPES = {"int2": 0x10000002, "int4": 0x10000004, "uint2": 0x12000002, "uint4": 0x12000004}


def _dtype(element: str) -> np.dtype:
    import numpy as np

    name = _DTYPES[element]
    if name.startswith(("bf", "float8")) or name in _PACKED_TYPES:
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
    """A Python number for a scalar parameter, from bools, numpy scalars and arrays of rank 0."""
    item: Any = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
    if hasattr(item, "__index__") and not hasattr(item, "shape"):
        item = item.__index__()
    if not isinstance(item, int | float):
        raise TypeError(f"{where} must be a number for {element}, got {describe(value)}.")
    if element[0] in "isu":
        if isinstance(item, float):
            raise TypeError(f"{where} is {item!r}; needs a whole number for {element}. Pass int(...).")
        unsigned = getattr(getattr(value, "dtype", None), "kind", "") == "u"
        return _integer(int(item), where, element, unsigned)
    return _float(item, where, element)


# Numbers from here on are infinite in single precision.
_F32_LIMIT = 2.0**128 - 2.0**103


def _float(value: float, where: str, element: str) -> float:
    """`value` for a float scalar. Raises `ValueError` for a number that the type can only hold as an infinity."""
    try:
        number = float(value)
    except OverflowError:
        number = None
    if number is not None and (element != "f32" or abs(number) < _F32_LIMIT or not isfinite(number)):
        return number
    most = "3.4028235e+38" if element == "f32" else "1.7976931348623157e+308"
    raise ValueError(f"{where}: {describe_number(value)} is out of range for {element} (max {most}).")


def describe_number(value: Any) -> str:
    """A number for a message, shortened where it has more digits than anybody reads."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)


def _integer(value: int, where: str, element: str, unsigned: bool) -> int:
    """`value` for a scalar of type `element`; signless ones take numpy's unsigned numbers too, as arrays do."""
    bits = int(element.lstrip("isu"))
    least = 0 if element[0] == "u" or bits == 1 else -(1 << (bits - 1))
    half = bits > 1 and (element[0] == "s" or (element[0] == "i" and not unsigned))
    most = (1 << (bits - 1 if half else bits)) - 1
    if not least <= value <= most:
        raise ValueError(f"{where}: {describe_number(value)} is out of range for {element} ({least} to {most}).")
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

    _refuse_masks(value, where)
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
    given: Any = value
    if isinstance(value, np.ndarray | np.generic) or _is_typed(value):
        _refuse_masks(value, where)
        array = _foreign_array(value, where, needs)
        if array.dtype.newbyteorder("=") != dtype and not (element[0] == "i" and _same_integer(array.dtype, dtype)):
            raise TypeError(_other_dtype(given, array, where, name, needs, dtype))
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


def _other_dtype(value: object, array: np.ndarray, where: str, name: str, needs: str, dtype: np.dtype) -> str:
    """The refusal of an array of another dtype, or of memory with elements of another type."""
    if array.dtype.names:
        fields = ", ".join(map(repr, array.dtype.names))
        what = f"an array of structures [{_dims(array.shape)}] with fields {fields}"
        return f"{where} is {what}; {needs}. Pass one field: {name}[{array.dtype.names[0]!r}]."
    if array.dtype.kind == "V" and array.dtype.name not in _DTYPES.values():
        return f"{where} is {describe(array)}, raw bytes; {needs}. Pass {name}.view(...) of the dtype that they are."
    if hasattr(value, "dtype"):
        return f'{where} is {describe(array)}; {needs}. Pass {name}.astype("{dtype}").'
    hint = "numbers of that type"
    if array.dtype.itemsize == 1:
        hint = f'numpy.frombuffer(..., dtype="{dtype}")'
    return f"{where} is {describe(value)} of {describe(array)}; {needs}. Pass {hint}."


def _is_typed(value: Any) -> bool:
    """Whether `value` has elements of a type of its own, which are not converted, unlike those of lists."""
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        return True
    try:
        memoryview(value).release()
    except (TypeError, BufferError):
        return False
    return True


def _refuse_masks(value: Any, where: str) -> None:
    """Elements that are hidden in Python would be computed with."""
    import numpy as np

    mask = getattr(value, "mask", None)
    if isinstance(mask, np.ndarray) and mask.any():
        raise TypeError(f"{where} is an array with masked elements. Pass .filled(...), which says what they stand for.")


def _foreign_array(value: Any, where: str, needs: str) -> np.ndarray:
    import numpy as np

    from tiree.runtime.dtypes import is_numpy_scalar

    try:
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__") and not is_numpy_scalar(value):
            return np.from_dlpack(value)
        # As text of so many bytes, numpy thinks.
        return np.asarray(memoryview(value) if isinstance(value, bytes | bytearray) else value)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise TypeError(f"{where} is {describe(value)} that cannot be read ({error}); {needs}.") from None


def _from_python(value: Any, where: str, needs: str, dtype: np.dtype) -> np.ndarray:
    """Numbers, bools and nested lists of them, if each fits `dtype` without changing."""
    import numpy as np

    if value is None or isinstance(value, str | dict | set):
        raise TypeError(f"{where} is {describe(value)}; {needs}.")
    try:
        wide = np.asarray(value)
    except ValueError:
        raise ValueError(f"{where} is {_list_fault(value)}; {needs}.") from None
    except OverflowError:
        raise ValueError(f"{where} holds integers that no dtype can hold; {needs}.") from None
    if wide.size == 0:
        return wide.astype(dtype)
    if wide.dtype.hasobject or wide.dtype.kind not in "biufc":
        largest = _largest_integer(wide)
        if largest is None:
            raise TypeError(f'{where} is {describe(value)}; {needs}. Pass np.array(..., dtype="{dtype}").')
        if dtype.kind not in "fc":
            raise ValueError(f"{where}: {describe_number(largest)} is out of range for {dtype}; {needs}.")
    _check_kinds(wide, where, needs, dtype)
    if dtype.kind in "iu" or dtype.name in _PACKED_TYPES:
        limits = _limits(dtype)
        for number in (int(wide.min()), int(wide.max())):
            if not limits.min <= number <= limits.max:
                raise ValueError(f"{where}: {number} is out of range for {dtype} ({limits.min} to {limits.max}).")
    return _narrowed(wide, where, needs, dtype)


_MOST_DIMENSIONS = 64


def _list_fault(value: Any) -> str:
    """What is wrong with nested lists that make no array."""
    above: list[int] = []

    def look(inner: object) -> str:
        if not isinstance(inner, list | tuple):
            return ""
        items = cast("Sequence[object]", inner)
        if id(items) in above:
            return "a list that contains itself"
        if len(above) == _MOST_DIMENSIONS:
            return f"a list nested more than {_MOST_DIMENSIONS} deep"
        above.append(id(items))
        found = ""
        for item in items:
            found = found or look(item)
        above.pop()
        return found

    return look(value) or "a list of uneven lengths"


def _check_kinds(wide: np.ndarray, where: str, needs: str, dtype: np.dtype) -> None:
    """Raises for numbers of a kind that `dtype` has not: fractions for integers, complex ones for real types."""
    import numpy as np

    if (dtype.kind in "iub" or dtype.name in _PACKED_TYPES) and wide.dtype.kind in "fc":
        raise TypeError(f"{where} holds {wide.dtype} numbers; {needs}.")
    if wide.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError(f"{where} holds complex numbers; {needs}.")
    if dtype.kind == "b" and not np.isin(wide, (0, 1)).all():
        raise ValueError(f"{where}: i1 values are 0/1 or False/True; {needs}.")


def _largest_integer(wide: np.ndarray) -> int | None:
    """The integer of largest magnitude where all are too large for numpy's integers; None for objects."""
    numbers = wide.ravel().tolist() if wide.dtype.hasobject else []
    whole = [number for number in numbers if isinstance(number, int)]
    return max(whole, key=abs) if numbers and len(whole) == len(numbers) else None


def _narrowed(wide: np.ndarray, where: str, needs: str, dtype: np.dtype) -> np.ndarray:
    """`wide` as `dtype`. Raises `ValueError` for a finite number that `dtype` can only hold as something else."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        try:
            narrow = wide.astype(dtype)
        except OverflowError:
            raise ValueError(f"{where} holds integers that are out of range for {dtype}; {needs}.") from None
        if dtype.kind in "iub":
            return narrow
        # Types without infinities turn numbers out of their range into NaN.
        lost = ~np.isfinite(narrow.astype(np.complex128)) & np.isfinite(wide.astype(np.complex128))
    if lost.any():
        number = wide[lost].ravel()[0]
        raise ValueError(f"{where}: {number} is out of range for {dtype}; {needs}.")
    return narrow


def _limits(dtype: np.dtype) -> Any:
    if dtype.kind == "V":
        import ml_dtypes

        return ml_dtypes.iinfo(dtype)
    import numpy as np

    return np.iinfo(dtype)


def _plain(array: np.ndarray) -> Any:
    """A C-contiguous array that the native side can read; of types without a buffer format the bits, and the type."""
    import numpy as np

    from tiree.runtime.dtypes import native_order

    array = native_order(np.ascontiguousarray(array) if array.ndim else array.copy())
    element = _ELEMENT_TYPES.get(array.dtype.name)
    if array.dtype.name in _PACKED_TYPES:
        element = _PACKED_TYPES[array.dtype.name]
        data = _native.HalBufferView.from_bytes(packed.pack(array, packed.bits_of(element)), _BYTES)
        return _native.HalBufferView(data.get_buffer(), array.shape, element)
    if element is None:
        return array
    return array.view(np.uint8 if array.dtype.itemsize == 1 else np.uint16), element
