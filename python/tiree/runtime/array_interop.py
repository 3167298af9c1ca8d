"""`DeviceArray`: results of calls, which behave as arrays.

On the CPU devices a result is host memory already, so numpy sees it without a copy. Operators compute on the host, as
those of numpy's array over the same memory. numpy is imported when an array is looked at, not before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tiree import _native
from tiree.runtime import packed
from tiree.runtime.array_methods import install, refusal
from tiree.runtime.enums import BufferUsage, HalElementType, MemoryType

if TYPE_CHECKING:
    import numpy as np


class DeviceArray(_native.DeviceArrayBase):
    """An array on a device: `DeviceArray(device, buffer_view, implicit_host_transfer=False, override_dtype=None)`.

    `np.asarray(x)`, operators, indexing, `len`, iteration, DLPack and numpy's methods (`array_methods`) work on it.
    Results of calls allow it all; one made without `implicit_host_transfer` refuses operators and numpy, and is looked
    at with `to_host()` or an index. No operator, method or assignment changes it: `copy()` gives an array that can be.
    Its memory is written only where that is asked for, as in IREE: by a ufunc with `out=x`, by `np.add.at(x, ...)`, and
    through arrays over the same memory (`np.asarray(x)`, `x.to_host()`, `x.view()`, slices).
    """

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(refusal(name), name=name, obj=self)

    else:

        def __getattr__(self, name: str) -> Any:
            """numpy's methods and properties."""

    @property
    def dtype(self) -> np.dtype:
        if self.override_dtype is not None:
            import numpy as np

            return np.dtype(self.override_dtype)
        return self._device_dtype

    @property
    def _buffer_view(self) -> _native.HalBufferView:
        # Programs for IREE reach for it; there it is an object of its own.
        return self

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        count = 1
        for d in self.shape:
            count *= d
        return count

    @property
    def is_host_accessible(self) -> bool:
        """Always: the memory of the CPU devices is the host's."""
        return True

    @property
    def _device_dtype(self) -> np.dtype:
        """Of the elements as they lie on the device."""
        from tiree.runtime.dtypes import dtype_of

        return dtype_of(self.element_type) if self.bits_dtype is None else self.bits_dtype

    def to_host(self) -> np.ndarray:
        """A numpy array over the same memory; a converted copy where another dtype is to be seen."""
        import numpy as np

        try:
            return np.asarray(memoryview(self))
        except BufferError:
            # A dtype that the protocol cannot name, or one that stands in, or no implicit transfers.
            pass
        array = self._device_array()
        return array if self.override_dtype is None else array.astype(self.override_dtype, copy=False)

    def _device_array(self) -> np.ndarray:
        """The elements as they lie on the device."""
        import numpy as np

        dtype = self._device_dtype
        bits = packed.bits_of(self.element_type)
        if bits and self.bits_dtype is None:
            return packed.unpack(memoryview(self.map()), self.shape, dtype, bits)
        flat = np.frombuffer(memoryview(self.map()), np.uint8)[: self.size * dtype.itemsize]
        return flat.view(dtype).reshape(self.shape)

    def tolist(self) -> Any:
        """The contents as Python's numbers in nested lists; one number for rank 0."""
        return self.to_host().tolist()

    def item(self, *index: Any) -> Any:
        """One element as a Python number; without an index the only one."""
        return self.to_host().item(*index)

    @property
    def nbytes(self) -> int:
        return self.byte_length

    @property
    def T(self) -> np.ndarray:
        """Transposed, as a numpy array over the same memory."""
        return self.to_host().T

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        import numpy as np

        array = _host(self)
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError(f"cannot give {array.dtype} as {dtype} without a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        def plain(value: Any) -> Any:
            return _host(value) if isinstance(value, DeviceArray) else value

        keywords = {key: plain(value) for key, value in kwargs.items()}
        targets = kwargs.get("out")
        if targets is not None:
            keywords["out"] = tuple(map(plain, targets))
        return getattr(ufunc, method)(*map(plain, inputs), **keywords)

    def __dlpack__(self, **keywords: Any) -> Any:
        # Where another dtype stands in, numpy's array has it.
        if self.override_dtype is not None or self.bits_dtype is not None or not self.implicit_host_transfer:
            return _host(self).__dlpack__(**keywords)
        return super().__dlpack__(**keywords)

    def reshape(self, *shape: Any, **keywords: Any) -> np.ndarray:
        """The same memory under another shape, as a numpy array; one dimension may be -1. Keywords are numpy's."""
        return self.to_host().reshape(*shape, **keywords)

    def astype(self, dtype: Any, casting: Any = "unsafe", copy: bool = True, **keywords: Any) -> Any:
        """A numpy array of another dtype; this array itself when the dtype is the same and `copy` is False.

        The order of positional arguments is IREE's; numpy's other keywords are taken as keywords.
        """
        if not copy and not keywords and self.dtype == dtype:
            return self
        return self.to_host().astype(dtype, casting=casting, copy=copy, **keywords)

    def __reduce__(self) -> Any:
        # Pickles and copies as what it holds: a device does not travel.
        return self.to_host().__reduce__()

    def __getitem__(self, index: Any) -> Any:
        return self.to_host()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError("results are not changed in place; x.copy() gives an array that can be")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d array")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_host())

    def __bool__(self) -> bool:
        return bool(_host(self))

    def __int__(self) -> int:
        return int(_host(self))

    def __float__(self) -> float:
        return float(_host(self))

    def __complex__(self) -> complex:
        return complex(_host(self))

    def __format__(self, form: str) -> str:
        return format(_host(self), form) if form else str(self)

    def __index__(self) -> int:
        return _host(self).__index__()

    def __repr__(self) -> str:
        return f"<Tiree DeviceArray: shape={self.shape}, dtype={self.dtype}>"

    __hash__ = None  # pyright: ignore[reportAssignmentType]: Python's way to say "not hashable", unlike typeshed's


def _host(array: DeviceArray) -> np.ndarray:
    """The array for an implicit look at it. Raises `ValueError` where that is not allowed."""
    if not array.implicit_host_transfer:
        raise ValueError(
            "this device array cannot be implicitly transferred to the host; call .to_host(), or make it with "
            "implicit_host_transfer=True"
        )
    return array.to_host()


install(DeviceArray, _host)
_native.set_array_class(DeviceArray)


def asdevicearray(
    device: _native.HalDevice | None,
    a: Any,
    dtype: Any = None,
    *,
    implicit_host_transfer: bool = False,
    memory_type: int = MemoryType.DEVICE_LOCAL,
    allowed_usage: int = BufferUsage.DEFAULT,
    element_type: HalElementType | None = None,
) -> DeviceArray:
    """A copy of array-like `a` on `device`, in the CPU's byte order.

    Raises `ValueError` for a dtype that no device has.
    """
    import numpy as np

    from tiree.runtime.dtypes import map_dtype_to_hal_element_type, native_order

    if isinstance(a, DeviceArray) and dtype is None:
        return a
    array = native_order(np.ascontiguousarray(a, dtype=dtype).reshape(np.shape(a)))
    natural = map_dtype_to_hal_element_type(array.dtype)
    chosen = natural if element_type is None else element_type
    if chosen is None:
        raise ValueError(f"dtype {array.dtype} has no device element type")
    bits = array.view(_bits(array))
    if device is None:
        view = _native.HalBufferView.from_bytes(bits.copy(), int(chosen))
    else:
        view = device.allocator.allocate_buffer_copy(int(memory_type), int(allowed_usage), device, bits, int(chosen))
    # An element type that was asked for is what functions see; Python goes on seeing the array's own dtype.
    seen = None if chosen == natural else array.dtype
    return DeviceArray(device, view, implicit_host_transfer, None, seen)


def from_dlpack(x: Any, /, *, device: _native.HalDevice | None = None, copy: bool | None = None) -> DeviceArray:
    """The array of another library, or of anything with the buffer protocol, as a `DeviceArray` over the same memory.

    A copy is made of what is strided or not aligned to 16 bytes, and always with `copy=True`; the statistics of
    `device` count it. Other byte orders, and dtypes that no device has, are refused.

    Raises `ValueError` for memory of other devices, and with `copy=False` where a copy is needed; `TypeError` for what
    has neither protocol.
    """
    return DeviceArray(None, _native.import_array(x, device, copy), implicit_host_transfer=True)


def _bits(array: np.ndarray) -> Any:
    """An unsigned integer type of the same width, for dtypes that the buffer protocol cannot name."""
    import numpy as np

    native = array.dtype.kind in "biufc" and not array.dtype.name.startswith(("bfloat", "float8"))
    return array.dtype if native else np.dtype(f"uint{8 * array.dtype.itemsize}")


def map_dtype_to_element_type(dtype: Any) -> HalElementType | None:
    """The element type of a numpy dtype, or None."""
    from tiree.runtime.dtypes import map_dtype_to_hal_element_type

    return map_dtype_to_hal_element_type(dtype)
