"""Bit sets and numbers of the HAL, with IREE's names."""

from __future__ import annotations

from enum import EnumMeta, IntEnum, IntFlag
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


class _Names(EnumMeta):
    """Lists zeros and combinations that have a name too, as `__members__` does."""

    def __dir__(cls) -> list[str]:
        return sorted({*super().__dir__(), *cls.__members__})


class MemoryType(IntFlag, metaclass=_Names):
    """Where a buffer's memory is and who sees it."""

    NONE = 0
    OPTIMAL = 1
    HOST_VISIBLE = 2
    HOST_COHERENT = 4
    HOST_CACHED = 8
    HOST_LOCAL = 0x46
    DEVICE_VISIBLE = 0x10
    DEVICE_LOCAL = 0x30


class BufferUsage(IntFlag, metaclass=_Names):
    """What a buffer may be used for."""

    NONE = 0
    TRANSFER_SOURCE = 1
    TRANSFER_TARGET = 2
    TRANSFER = 3
    DISPATCH_INDIRECT_PARAMETERS = 0x100
    DISPATCH_UNIFORM_READ = 0x200
    DISPATCH_STORAGE_READ = 0x400
    DISPATCH_STORAGE_WRITE = 0x800
    DISPATCH_STORAGE = 0xC00
    DISPATCH_IMAGE_READ = 0x1000
    DISPATCH_IMAGE_WRITE = 0x2000
    DISPATCH_IMAGE = 0x3000
    SHARING_EXPORT = 0x10000
    SHARING_REPLICATE = 0x20000
    SHARING_CONCURRENT = 0x40000
    SHARING_IMMUTABLE = 0x80000
    MAPPING_SCOPED = 0x1000000
    MAPPING_PERSISTENT = 0x2000000
    MAPPING_OPTIONAL = 0x4000000
    MAPPING_ACCESS_RANDOM = 0x8000000
    MAPPING_ACCESS_SEQUENTIAL_WRITE = 0x10000000
    MAPPING = 0x9000000
    DEFAULT = 0xC03


class MemoryAccess(IntFlag, metaclass=_Names):
    """How mapped memory may be accessed."""

    NONE = 0
    READ = 1
    WRITE = 2
    DISCARD = 4
    DISCARD_WRITE = 6
    ALL = 7


class BufferCompatibility(IntFlag, metaclass=_Names):
    """What an allocator could do with a buffer of given parameters."""

    NONE = 0
    ALLOCATABLE = 1
    IMPORTABLE = 2
    EXPORTABLE = 4
    QUEUE_TRANSFER = 0x400
    QUEUE_DISPATCH = 0x800
    LOW_PERFORMANCE = 0x100000


class ExternalTimepointType(IntFlag, metaclass=_Names):
    """What a timepoint of another API is."""

    NONE = 0
    ASYNC_PRIMITIVE = 1
    CUDA_EVENT = 2
    HIP_EVENT = 3


class ExternalTimepointFlags(IntFlag, metaclass=_Names):
    """Reserved."""

    NONE = 0


class SemaphoreCompatibility(IntFlag, metaclass=_Names):
    """How a semaphore may be used."""

    NONE = 0
    HOST_WAIT = 1
    DEVICE_WAIT = 2
    HOST_SIGNAL = 4
    DEVICE_SIGNAL = 8
    HOST_ONLY = 5
    DEVICE_ONLY = 10
    ALL = 15


class Linkage(IntEnum):
    """How a function of a module is found."""

    INTERNAL = 0
    IMPORT = 1
    EXPORT = 2
    IMPORT_OPTIONAL = 3
    EXPORT_OPTIONAL = 4


class HalElementType(IntEnum):
    """Element types: numerical class in the top byte, bits in the lower ones."""

    NONE = 0
    OPAQUE_8 = 0x8
    OPAQUE_16 = 0x10
    OPAQUE_32 = 0x20
    OPAQUE_64 = 0x40
    BOOL_8 = 0x13000008
    INT_4 = 0x10000004
    INT_8 = 0x10000008
    INT_16 = 0x10000010
    INT_32 = 0x10000020
    INT_64 = 0x10000040
    SINT_4 = 0x11000004
    SINT_8 = 0x11000008
    SINT_16 = 0x11000010
    SINT_32 = 0x11000020
    SINT_64 = 0x11000040
    UINT_4 = 0x12000004
    UINT_8 = 0x12000008
    UINT_16 = 0x12000010
    UINT_32 = 0x12000020
    UINT_64 = 0x12000040
    FLOAT_16 = 0x21000010
    FLOAT_32 = 0x21000020
    FLOAT_64 = 0x21000040
    BFLOAT_16 = 0x22000010
    COMPLEX_64 = 0x23000040
    COMPLEX_128 = 0x23000080
    FLOAT_8_E5M2 = 0x24000008
    FLOAT_8_E4M3_FN = 0x25000008
    FLOAT_8_E5M2_FNUZ = 0x26000008
    FLOAT_8_E4M3_FNUZ = 0x27000008
    FLOAT_8_E8M0_FNU = 0x28000008

    @staticmethod
    def map_to_dtype(element_type: HalElementType | int) -> np.dtype:
        """The numpy dtype of an element type. Raises `ValueError` for types that numpy has not."""
        from tiree.runtime.dtypes import dtype_of

        return dtype_of(int(element_type))

    @staticmethod
    def is_byte_aligned(element_type: HalElementType | int) -> bool:
        """Whether elements fill whole bytes."""
        return int(element_type) & 7 == 0

    @staticmethod
    def dense_byte_count(element_type: HalElementType | int) -> int:
        """Bytes of one element, rounded up."""
        return ((int(element_type) & 0xFF) + 7) // 8
