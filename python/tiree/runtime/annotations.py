"""What annotations of a Python module's methods mean to the VM: calling convention, and how values are converted.

`kind_of(annotation)` gives a `Kind`. Numbers travel as they are; references come as `VmRef`s and are turned into what
the method asks for, and back.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, cast

from tiree import _native
from tiree.runtime.array_interop import DeviceArray, asdevicearray

i32 = Annotated[int, "i32"]
i64 = Annotated[int, "i64"]
f32 = Annotated[float, "f32"]
f64 = Annotated[float, "f64"]

Convert = Callable[[Any], Any]


@dataclass(frozen=True)
class Kind:
    """One argument or result: the letter of its calling convention, its type in MLIR, and what people call it."""

    letter: str
    mlir: str
    name: str
    take: Convert | None = None
    """From what the VM passes to what the method gets; None: as it is. Raises `TypeError`, `ValueError`."""
    give: Convert | None = None
    """From what the method returns to what the VM takes; None: as it is."""


_LETTERS = {"i32": "i", "i64": "I", "f32": "f", "f64": "F"}
_NUMPY_SCALARS = {"int32": "i32", "int64": "i64", "float32": "f32", "float64": "f64"}
KNOWN = (
    "int (64 bits), float (64 bits), bool, i32, i64, f32, f64, np.int32 and the like, np.ndarray, NDArray[dtype], "
    "DeviceArray, a class of the runtime such as HalBufferView, VmBuffer or VmVariantList, list, list[T], bytes, str, "
    "and all but numbers with `| None`"
)


class UnknownAnnotation(TypeError):
    """An annotation that has no meaning for the VM; the text says why."""


def kind_of(annotation: Any) -> Kind:
    """The kind of a resolved annotation. Raises `UnknownAnnotation`."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        width = next((part for part in parts[1:] if part in _LETTERS), None)
        return _number(width) if width else kind_of(parts[0])
    if origin in (typing.Union, types.UnionType):
        return _optional(parts)
    if origin is list:
        return _list(kind_of(parts[0]))
    if annotation is list:
        return _list(_object())
    if annotation is int:
        return _number("i64")
    if annotation is float:
        return _number("f64")
    if annotation is bool:
        return replace(_number("i32"), mlir="i1", name="bool", take=bool, give=bool)
    if annotation in (bytes, str):
        return _bytes(annotation)
    if annotation in (object, Any):
        return _object()
    base = origin or annotation
    if getattr(base, "__module__", "") == "numpy":
        return _numpy(base, parts)
    if isinstance(annotation, type) and hasattr(annotation, "__iree_vm_ref__"):
        return _runtime_class(annotation)
    raise UnknownAnnotation(f"{_text(annotation)}; functions of modules take and give {KNOWN}")


def _text(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _number(width: str) -> Kind:
    return Kind(_LETTERS[width], width, width)


def _object() -> Kind:
    return Kind("r", "!vm.ref<?>", "object of the runtime")


def _optional(parts: tuple[Any, ...]) -> Kind:
    rest = [part for part in parts if part is not types.NoneType]
    if len(rest) != 1 or len(rest) == len(parts):
        raise UnknownAnnotation("a union; only `T | None` has a meaning")
    kind = kind_of(rest[0])
    if kind.letter != "r":
        raise UnknownAnnotation(f"an optional {kind.name}; numbers are always there")

    def unless_null(convert: Convert | None) -> Convert | None:
        return convert and (lambda value: None if value is None else convert(value))

    return replace(kind, name=f"{kind.name} or None", take=unless_null(kind.take), give=unless_null(kind.give))


def _described(value: Any) -> str:
    if value is None:
        return "null"
    return repr(value).partition(" at ")[0].removeprefix("<VmRef ") if isinstance(value, _native.VmRef) else repr(value)


def _deref(value: Any, cls: type[Any], name: str) -> Any:
    """The object of `cls` behind a reference."""
    found = value.deref(cls, True) if isinstance(value, _native.VmRef) else None
    if found is None:
        raise TypeError(f"is {_described(value)}; needs {name}")
    return found


def _runtime_class(cls: type[Any]) -> Kind:
    name = cls.__name__

    def take(value: Any) -> Any:
        return _deref(value, cls, f"a {name}")

    def give(value: Any) -> Any:
        if isinstance(value, cls):
            return value
        if issubclass(DeviceArray, cls):
            return _array(value)
        raise TypeError(f"is {value!r}; needs a {name}")

    if cls is _native.VmRef:
        return Kind("r", "!vm.ref<?>", name)
    return Kind("r", "!hal.buffer_view" if issubclass(DeviceArray, cls) else "!vm.ref<?>", f"a {name}", take, give)


def _array(value: Any, dtype: Any = None) -> Any:
    """An array as a buffer view: a copy, since whoever made the array may change it."""
    import numpy as np

    from tiree.runtime.dtypes import native_order

    if isinstance(value, _native.HalBufferView) and dtype is None:
        return value
    array = np.asarray(value)
    if array.dtype.hasobject:
        raise TypeError(f"is {value!r}; needs an array")
    array = native_order(array)
    if dtype is not None and array.dtype != dtype:
        raise TypeError(f"is an array of {array.dtype}; needs {dtype}")
    return asdevicearray(None, array)


def _numpy(base: Any, parts: tuple[Any, ...]) -> Kind:
    import numpy as np

    width = _NUMPY_SCALARS.get(base.__name__)
    if width is not None:
        return replace(_number(width), take=base)
    if base is not np.ndarray:
        raise UnknownAnnotation(f"np.{base.__name__}; functions of modules take and give {KNOWN}")
    # ndarray[shape, dtype[scalar]]
    scalars = typing.get_args(parts[1]) if len(parts) == 2 else ()
    dtype = np.dtype(scalars[0]) if scalars and isinstance(scalars[0], type) else None
    name = "an array" if dtype is None else f"an array of {dtype}"

    def take(value: Any) -> Any:
        array = _deref(value, _native.HalBufferView, name).to_host().view()
        if dtype is not None and array.dtype != dtype:
            raise TypeError(f"is an array of {array.dtype}; needs {dtype}")
        # The memory is the caller's.
        array.flags.writeable = False
        return array

    return Kind("r", "!hal.buffer_view", name, take, lambda value: _array(value, dtype))


def _bytes(cls: type[Any]) -> Kind:
    def take(value: Any) -> Any:
        contents = bytes(_deref(value, _native.VmBuffer, cls.__name__))
        return contents if cls is bytes else contents.decode()

    def give(value: Any) -> Any:
        if not isinstance(value, cls):
            raise TypeError(f"is {value!r}; needs {cls.__name__}")
        contents = value.encode() if isinstance(value, str) else value
        buffer = _native.VmBuffer(len(contents))
        memoryview(buffer)[:] = contents
        return buffer

    return Kind("r", "!util.buffer", cls.__name__, take, give)


def _list(element: Kind) -> Kind:
    name = f"a list of {element.name}"

    def take(value: Any) -> Any:
        values = _deref(value, _native.VmVariantList, name)
        found = [values.get_variant(index) for index in range(len(values))]
        return found if element.take is None else [element.take(one) for one in found]

    def give(value: Any) -> Any:
        if isinstance(value, _native.VmVariantList):
            return value
        if not isinstance(value, list | tuple):
            raise TypeError(f"is {value!r}; needs {name}")
        values = cast("Sequence[Any]", value)
        result = _native.VmVariantList(len(values))
        for one in values:
            result.push(one if element.give is None else element.give(one), element.letter)
        return result

    return Kind("r", "!util.list<?>", name, take, give)
