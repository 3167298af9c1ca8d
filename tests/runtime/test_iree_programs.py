"""Programs that are written for `iree.runtime` run after changing the import, and give the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runtime.modules import ADD, MIXED, iree_module

pytest.importorskip("iree.runtime", reason="iree-base-runtime is a development dependency")

PROGRAMS = {
    "a context by hand": """
import {package} as rt
config = rt.Config(driver_name="local-task")
context = rt.SystemContext(config=config)
module = rt.VmModule.mmap(context.instance, folder + "/add.vmfb")
context.add_vm_module(module)
answer = context.modules.module.add(a, b).to_host()
""",
    "a file": """
import {package} as rt
module = rt.load_vm_flatbuffer_file(folder + "/add.vmfb", driver="local-sync")
answer = np.asarray(module.add(a, b))
""",
    "bytes for a backend": """
from {package} import load_vm_flatbuffer
module = load_vm_flatbuffer(files["mixed"], backend="llvm-cpu")
first, second = module["split"](np.ones((2, 3), np.float32))
answer = [first.to_host(), second.to_host(), module.constant().to_host(), module["scalars"](1, 2, 1.5, 2.5)]
""",
    "several modules in one context": """
import {package} as rt
config = rt.Config("local-sync")
modules = [rt.VmModule.copy_buffer(config.vm_instance, files[name]) for name in ("add", "mixed")]
add, mixed = rt.load_vm_modules(*modules, config=config)
answer = mixed.double(np.asarray(add.add(a, b)).reshape(-1, 1) @ np.ones((1, 3), np.float32)).to_host()
""",
    "arrays on a device": """
import {package} as rt
device = rt.get_device("local-task")
on_device = rt.asdevicearray(device, a, implicit_host_transfer=True)
module = rt.load_vm_flatbuffer_file(folder + "/add.vmfb", driver="local-task")
result = module.add(on_device, on_device)
answer = [on_device.dtype, list(on_device.shape), on_device + 1, result.to_host(), result.reshape((2, 2)), result[1:3],
          result.astype(np.int32), np.asarray(result) @ a]
""",
    "the VM by hand": """
import {package} as rt
instance = rt.VmInstance()
device = rt.get_driver("local-sync").create_default_device()
module = rt.VmModule.copy_buffer(instance, files["add"])
context = rt.VmContext(instance, modules=[rt.create_hal_module(instance, device), module])
function = module.lookup_function("add")
inputs, outputs = rt.VmVariantList(2), rt.VmVariantList(1)
for array in (a, b):
    view = device.allocator.allocate_buffer_copy(
        memory_type=rt.MemoryType.DEVICE_LOCAL, allowed_usage=rt.BufferUsage.DEFAULT, device=device, buffer=array,
        element_type=rt.HalElementType.FLOAT_32)
    inputs.push_ref(view)
context.invoke(function, inputs, outputs)
view = outputs.get_as_object(0, rt.HalBufferView)
answer = [len(outputs), view.shape, view.map().asarray(view.shape, np.dtype(np.float32)).copy()]
""",
    "parameters": """
import {package} as rt
index = rt.ParameterIndex()
index.add_buffer("weight", np.arange(6, dtype=np.float32).tobytes())
rt.parameter_index_add_numpy_ndarray(index, "bias", np.ones(3, np.int32))
rt.save_archive_file({{"w": a, "s": rt.SplatValue(np.int8(3), (2, 2))}}, folder + "/saved.irpa")
saved = rt.ParameterIndex()
saved.load(folder + "/saved.irpa")
answer = [sorted(key for key, _ in index.items()), sorted((k, e.length, e.is_splat) for k, e in saved.items()),
          rt.parameter_index_entry_as_numpy_ndarray(dict(index.items())["bias"])]
""",
    "a list of outputs used again": """
import {package} as rt
instance = rt.VmInstance()
device = rt.get_device("local-sync")
module = rt.VmModule.copy_buffer(instance, files["mixed"])
context = rt.VmContext(instance, modules=[rt.create_hal_module(instance, device), module])
outputs, answer = rt.VmVariantList(4), []
outputs.push_int(99)
for number in (0.1, 1e300, 3.0):
    inputs = rt.VmVariantList(4)
    inputs.push_int(5)
    inputs.push_int(6)
    inputs.push_float(0.1)
    inputs.push_float(number)
    answer.append([inputs.get_variant(3), inputs.get_serialized_trace_value(3)])
    context.invoke(module.lookup_function("scalars"), inputs, outputs)
    answer += [outputs.size] + [outputs.get_variant(i) for i in range(4)]
context.invoke(module.lookup_function("scalars"), inputs, inputs)
answer += [inputs.size, inputs.get_variant(3), module.lookup_function("split").ordinal, module.function_names]
""",
    "another dtype on the host": """
import {package} as rt
device = rt.get_device("local-sync")
answer = []
for given, element_type, dtype in ((a, "FLOAT_32", np.int32), (a, "FLOAT_32", np.float64),
                                   (np.array([0, 1, 2], np.uint8), "UINT_8", np.bool_),
                                   (np.array([1, -2]), "INT_64", np.float32)):
    view = device.allocator.allocate_buffer_copy(
        memory_type=rt.MemoryType.DEVICE_LOCAL, allowed_usage=rt.BufferUsage.DEFAULT | rt.BufferUsage.MAPPING,
        device=device, buffer=given, element_type=getattr(rt.HalElementType, element_type))
    array = rt.DeviceArray(device, view, implicit_host_transfer=True, override_dtype=dtype)
    answer += [array.dtype == dtype, array.to_host(), np.asarray(array), array + 1, array[1],
               array.astype(dtype, copy=False) is array, array.astype(np.int64)]
""",
    "positional arguments": """
import {package} as rt
index = rt.ParameterIndex()
index.add_splat("splat", np.int8(1), 8, "text")
index.add_buffer("buffer", b"abcd", True, False, "text")
index.add_from_file_handle("handle", rt.FileHandle.wrap_memory(b"x" * 10), 4, 2, "text")
provider = index.create_provider("model", 4)
answer = [[(key, entry.length, bytes(entry.metadata)) for key, entry in index.items()]]
""",
    "names of enums": """
import {package} as rt
enums = [rt.MemoryType, rt.BufferUsage, rt.MemoryAccess, rt.SemaphoreCompatibility, rt.ExternalTimepointType,
         rt.ExternalTimepointFlags, rt.HalElementType]
answer = [[name for name in dir(enum) if name.isupper()] for enum in enums]
""",
    "what there is": """
import {package} as rt
drivers = [name for name in rt.query_available_drivers() if name.startswith("local")]
answer = [drivers, type(rt.get_driver("local-sync")).__name__, rt.TARGET_BACKEND_TO_DRIVER["llvm-cpu"],
          rt.normalize_value(2), rt.normalize_value(2.5), int(rt.Linkage.EXPORT.value), type(rt.Shape([2, 3])).__name__]
""",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    (folder / "add.vmfb").write_bytes(iree_module(ADD))
    (folder / "mixed.vmfb").write_bytes(iree_module(MIXED))
    return folder


def run(program: str, package: str, folder: Path) -> Any:
    a, b = np.array([1, 2, 3, 4], np.float32), np.array([5, 6, 7, 8], np.float32)
    files = {name: (folder / f"{name}.vmfb").read_bytes() for name in ("add", "mixed")}
    names: dict[str, Any] = {"np": np, "files": files, "folder": str(folder), "a": a, "b": b}
    exec(compile(PROGRAMS[program].format(package=package), program, "exec"), names)
    return names.get("answer")


@pytest.mark.parametrize("program", PROGRAMS)
def test_same_answers(program: str, folder: Path) -> None:
    theirs, ours = run(program, "iree.runtime", folder), run(program, "tiree.runtime", folder)
    assert type(ours) is type(theirs)
    if not isinstance(ours, list):
        ours, theirs = [ours], [theirs]
    for mine, their in zip(ours, theirs, strict=True):
        if isinstance(their, np.ndarray):
            np.testing.assert_array_equal(mine, their, strict=True)
        else:
            assert mine == their
