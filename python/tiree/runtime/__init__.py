"""`tiree.runtime`: loads and calls `.vmfb` modules, with the names of `iree.runtime`.

Nothing of the compiler is imported here, and numpy only when an array is looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tiree._native import (
    HalAllocator,
    HalBuffer,
    HalBufferView,
    HalDevice,
    HalFence,
    HalSemaphore,
    Invocation,
    MappedMemory,
    VmBuffer,
    VmContext,
    VmFunction,
    VmInstance,
    VmModule,
    VmRef,
    VmVariantList,
    create_hal_module,
)
from tiree.runtime import flags
from tiree.runtime.array_interop import DeviceArray, asdevicearray
from tiree.runtime.enums import (
    BufferCompatibility,
    BufferUsage,
    HalElementType,
    Linkage,
    MemoryAccess,
    MemoryType,
    SemaphoreCompatibility,
)
from tiree.runtime.errors import StatusError
from tiree.runtime.function import FunctionInvoker
from tiree.runtime.system_api import (
    TARGET_BACKEND_TO_DRIVER,
    BoundModule,
    BoundModules,
    Config,
    Module,
    SystemContext,
    load,
    load_vm_flatbuffer,
    load_vm_flatbuffer_file,
    load_vm_module,
    load_vm_modules,
)
from tiree.runtime.system_setup import (
    HalDriver,
    get_device,
    get_driver,
    get_first_device,
    query_available_drivers,
)

if TYPE_CHECKING:
    from tiree.runtime import dtypes

__all__ = [
    "TARGET_BACKEND_TO_DRIVER",
    "BoundModule",
    "BoundModules",
    "BufferCompatibility",
    "BufferUsage",
    "Config",
    "DeviceArray",
    "FunctionInvoker",
    "HalAllocator",
    "HalBuffer",
    "HalBufferView",
    "HalDevice",
    "HalDriver",
    "HalElementType",
    "HalFence",
    "HalSemaphore",
    "Invocation",
    "Linkage",
    "MappedMemory",
    "MemoryAccess",
    "MemoryType",
    "Module",
    "SemaphoreCompatibility",
    "StatusError",
    "SystemContext",
    "VmBuffer",
    "VmContext",
    "VmFunction",
    "VmInstance",
    "VmModule",
    "VmRef",
    "VmVariantList",
    "asdevicearray",
    "create_hal_module",
    "dtypes",
    "flags",
    "get_device",
    "get_driver",
    "get_first_device",
    "load",
    "load_vm_flatbuffer",
    "load_vm_flatbuffer_file",
    "load_vm_module",
    "load_vm_modules",
    "query_available_drivers",
]


def __getattr__(name: str) -> Any:
    # These need numpy.
    if name in ("dtypes",):
        import importlib

        return importlib.import_module(f"tiree.runtime.{name}")
    raise AttributeError(f"module 'tiree.runtime' has no attribute {name!r}")
