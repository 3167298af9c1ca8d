"""`tiree.runtime`: loads and calls `.vmfb` modules, with the names of `iree.runtime`.

Nothing of the compiler is imported here, and numpy only when an array is looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tiree._native import (
    FileHandle,
    FunctionInvoker,
    HalAllocator,
    HalBuffer,
    HalBufferView,
    HalCommandBuffer,
    HalDevice,
    HalFence,
    HalModuleDebugSink,
    HalSemaphore,
    Invocation,
    MappedMemory,
    ParameterIndex,
    ParameterIndexEntry,
    ParameterProvider,
    PyModuleInterface,
    VmBuffer,
    VmContext,
    VmFunction,
    VmInstance,
    VmModule,
    VmRef,
    VmVariantList,
    create_hal_module,
    create_io_parameters_module,
)
from tiree.runtime import array_interop, flags, function, system_api, system_setup
from tiree.runtime.array_interop import DeviceArray, asdevicearray, from_dlpack
from tiree.runtime.enums import (
    BufferCompatibility,
    BufferUsage,
    ExternalTimepointFlags,
    ExternalTimepointType,
    HalElementType,
    Linkage,
    MemoryAccess,
    MemoryType,
    SemaphoreCompatibility,
)
from tiree.runtime.errors import (
    FuelError,
    LimitError,
    MemoryLimitError,
    StackLimitError,
    StatusError,
    TimeLimitError,
)
from tiree.runtime.loop_bridge import HalDeviceLoopBridge
from tiree.runtime.shape import Shape
from tiree.runtime.system_api import (
    TARGET_BACKEND_TO_DRIVER,
    BoundModule,
    BoundModules,
    Config,
    Limits,
    Module,
    SystemContext,
    load,
    load_vm_flatbuffer,
    load_vm_flatbuffer_file,
    load_vm_module,
    load_vm_modules,
    normalize_value,
)
from tiree.runtime.system_setup import (
    HalDriver,
    get_device,
    get_driver,
    get_first_device,
    query_available_drivers,
)
from tiree.runtime.timepoints import HalExternalTimepoint

if TYPE_CHECKING:
    from tiree.runtime import benchmark, dtypes, io, typing
    from tiree.runtime.annotations import f32, f64, i32, i64
    from tiree.runtime.assembly import assemble, disassemble
    from tiree.runtime.benchmark import benchmark_exe, benchmark_module
    from tiree.runtime.io import (
        SplatValue,
        parameter_index_add_numpy_ndarray,
        parameter_index_entry_as_numpy_flat_ndarray,
        parameter_index_entry_as_numpy_ndarray,
        save_archive_file,
    )
    from tiree.runtime.python_module import PythonModule
    from tiree.runtime.tracing import trace
    from tiree.runtime.typing import HalModuleBufferViewTraceCallback

__all__ = [
    "TARGET_BACKEND_TO_DRIVER",
    "BoundModule",
    "BoundModules",
    "BufferCompatibility",
    "BufferUsage",
    "Config",
    "DeviceArray",
    "ExternalTimepointFlags",
    "ExternalTimepointType",
    "FileHandle",
    "FuelError",
    "FunctionInvoker",
    "HalAllocator",
    "HalBuffer",
    "HalBufferView",
    "HalCommandBuffer",
    "HalDevice",
    "HalDeviceLoopBridge",
    "HalDriver",
    "HalElementType",
    "HalExternalTimepoint",
    "HalFence",
    "HalModuleBufferViewTraceCallback",
    "HalModuleDebugSink",
    "HalSemaphore",
    "Invocation",
    "LimitError",
    "Limits",
    "Linkage",
    "MappedMemory",
    "MemoryAccess",
    "MemoryLimitError",
    "MemoryType",
    "Module",
    "ParameterIndex",
    "ParameterIndexEntry",
    "ParameterProvider",
    "PyModuleInterface",
    "PythonModule",
    "SemaphoreCompatibility",
    "Shape",
    "SplatValue",
    "StackLimitError",
    "StatusError",
    "SystemContext",
    "TimeLimitError",
    "VmBuffer",
    "VmContext",
    "VmFunction",
    "VmInstance",
    "VmModule",
    "VmRef",
    "VmVariantList",
    "array_interop",
    "asdevicearray",
    "assemble",
    "benchmark",
    "benchmark_exe",
    "benchmark_module",
    "create_hal_module",
    "create_io_parameters_module",
    "disassemble",
    "dtypes",
    "f32",
    "f64",
    "flags",
    "from_dlpack",
    "function",
    "get_device",
    "get_driver",
    "get_first_device",
    "i32",
    "i64",
    "io",
    "load",
    "load_vm_flatbuffer",
    "load_vm_flatbuffer_file",
    "load_vm_module",
    "load_vm_modules",
    "normalize_value",
    "parameter_index_add_numpy_ndarray",
    "parameter_index_entry_as_numpy_flat_ndarray",
    "parameter_index_entry_as_numpy_ndarray",
    "query_available_drivers",
    "save_archive_file",
    "system_api",
    "system_setup",
    "trace",
    "typing",
]

# What is imported when it is first used: the name, and the module that has it.
_LAZY = {
    "benchmark": "",
    "dtypes": "",
    "io": "",
    "typing": "",
    "assemble": "assembly",
    "disassemble": "assembly",
    "benchmark_exe": "benchmark",
    "benchmark_module": "benchmark",
    "HalModuleBufferViewTraceCallback": "typing",
    "PythonModule": "python_module",
    "f32": "annotations",
    "f64": "annotations",
    "i32": "annotations",
    "i64": "annotations",
    "SplatValue": "io",
    "parameter_index_add_numpy_ndarray": "io",
    "parameter_index_entry_as_numpy_flat_ndarray": "io",
    "parameter_index_entry_as_numpy_ndarray": "io",
    "save_archive_file": "io",
    "trace": "tracing",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'tiree.runtime' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"tiree.runtime.{_LAZY[name] or name}")
    value = getattr(module, name) if _LAZY[name] else module
    globals()[name] = value
    return value
