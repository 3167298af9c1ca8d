"""Configs, contexts and modules: IREE's names, those of its older tutorials, and what each refuses."""

from __future__ import annotations

import mmap
import subprocess
import sys

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import ADD, iree_module, tiree_module

A = np.array([1, 2, 3, 4], np.float32)
B = np.array([5, 6, 7, 8], np.float32)
SUM = [6, 8, 10, 12]


def test_older_tutorial(add_file, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(add_file.parent)
    config = rt.Config(driver_name="local-task")
    ctx = rt.SystemContext(config=config)
    m = rt.VmModule.from_flatbuffer_file("add.vmfb")
    ctx.add_module(m)
    assert ctx.modules.module.add(A, B).to_host().tolist() == SUM


def test_snippet_of_today(add_file, device_name: str):
    config = rt.Config(device_name)
    ctx = rt.SystemContext(config=config)
    ctx.add_vm_module(rt.VmModule.mmap(ctx.instance, str(add_file)))
    assert ctx.modules.module.add(A, B).to_host().tolist() == SUM
    assert ctx.modules["module"]["add"](A, B).to_host().tolist() == SUM
    assert sorted(ctx.modules) == ["hal", "module"]
    assert ctx.config is config
    assert config.device is rt.get_device(device_name)
    assert [m.name for m in config.default_vm_modules] == ["hal"]
    assert ctx.is_dynamic


@pytest.mark.parametrize("keywords", [{"driver": "local-sync"}, {"backend": "llvm-cpu"}])
def test_load_functions(add_file, keywords: dict):
    assert rt.load_vm_flatbuffer_file(str(add_file), **keywords).add(A, B).to_host().tolist() == SUM
    assert rt.load_vm_flatbuffer(add_file.read_bytes(), **keywords).add(A, B).to_host().tolist() == SUM


def test_load_modules_together(add_file, mixed_file):
    config = rt.Config("local-sync")
    first, second = (rt.VmModule.mmap(config.vm_instance, str(f)) for f in (add_file, mixed_file))
    add, mixed = rt.load_vm_modules(first, second, config=config)
    assert add.add(A, B).to_host().tolist() == SUM
    assert mixed.constant().to_host().tolist() == [1, 2, 3]
    assert rt.load_vm_module(first, config).add(A, B).to_host().tolist() == SUM
    with pytest.raises(ValueError, match="driver"):
        rt.load_vm_flatbuffer(add_file.read_bytes())


def test_state_belongs_to_the_context(mixed_file):
    first, second = rt.load(mixed_file), rt.load(mixed_file)
    assert [int(first.next()) for _ in range(3)] == [1, 2, 3]
    assert int(second.next()) == 1


def test_names_and_help(add_file):
    module = rt.load(add_file)
    assert module.name == "module"
    assert module.vm_module.name == "module"
    assert module.vm_module.version == 0
    assert module.vm_module.function_names == ["add", "__init"]
    assert module.vm_module.dependencies[0][0] == "hal"
    assert "add" in dir(module)
    assert repr(module.vm_module) == "<VmModule module : [add, __init]>"
    function = module.add.vm_function
    assert (function.name, function.module_name, function.linkage) == ("add", "module", rt.Linkage.EXPORT)
    assert function.reflection["iree.abi.declaration"].startswith("sync func @add(")
    assert repr(function).startswith("<VmFunction add(0rr_r), reflection = {'iree.abi.declaration': ")
    assert repr(module.add) == repr(function)
    assert module.add.__name__ == "add"
    assert module.add.signature == "add(input0: f32[4], input1: f32[4])"
    assert module.vm_module.lookup_function("nothing") is None
    assert module.vm_module.lookup_function("add", rt.Linkage.INTERNAL) is None


def test_dynamic_and_fixed_contexts(add_file):
    config = rt.Config("local-sync")
    vm_module = rt.VmModule.mmap(config.vm_instance, str(add_file))
    fixed = rt.SystemContext(vm_modules=[vm_module], config=config)
    assert not fixed.is_dynamic
    with pytest.raises(ValueError, match="cannot grow"):
        fixed.add_vm_module(vm_module)
    grown = rt.SystemContext(config=config)
    grown.add_vm_modules([vm_module])
    with pytest.raises(ValueError, match='has a module "module" already'):
        grown.add_vm_module(vm_module)


def test_unknown_module_in_context():
    ctx = rt.SystemContext(config=rt.Config("local-sync"))
    with pytest.raises(AttributeError, match='no module "nope"; it has: hal'):
        ctx.modules.nope  # noqa: B018
    with pytest.raises(KeyError):
        ctx.modules["nope"]
    with pytest.raises(ValueError, match="required module 'hal' not available"):
        ctx.add_module_dependency("hal")


def test_module_without_what_it_needs(add_file):
    instance = rt.VmInstance()
    with pytest.raises(ValueError, match="required module 'hal' not registered"):
        rt.VmContext(instance, modules=[rt.VmModule.mmap(instance, str(add_file))])


class TestMemoryOfModules:
    def test_aligned_memory_is_used_in_place(self, add_file):
        with open(add_file, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        module = rt.VmModule.wrap_buffer(rt.VmInstance(), mapped)
        with pytest.raises(BufferError):
            mapped.close()
        assert module.stashed_flatbuffer_blob is mapped
        del module
        mapped.close()

    def test_unaligned_memory_is_refused_or_copied(self, add_file):
        data = np.frombuffer(b"x" + add_file.read_bytes(), np.uint8)[1:]
        instance = rt.VmInstance()
        with pytest.raises(ValueError, match="64-byte aligned"):
            rt.VmModule.wrap_buffer(instance, data)
        with pytest.warns(UserWarning, match="copied"):
            module = rt.VmModule.from_buffer(instance, data)
        assert module.name == "module"
        assert rt.VmModule.from_flatbuffer(instance, data, warn_if_copy=False).name == "module"
        assert rt.VmModule.copy_buffer(instance, data).name == "module"

    @pytest.mark.parametrize("close", [False, True])
    def test_callback_when_memory_is_free(self, add_file, close: bool):
        with open(add_file, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        calls = []
        module = rt.VmModule.wrap_buffer(rt.VmInstance(), mapped, lambda: calls.append(mapped.closed), close)
        bound = rt.load_vm_module(module, rt.Config("local-sync"))
        add = bound.add
        del module, bound
        assert add(A, B)[0] == 6
        assert calls == []
        del add
        assert calls == [close]

    def test_callback_of_a_mapped_file(self, add_file, tmp_path):
        path = tmp_path / "copy.vmfb"
        path.write_bytes(add_file.read_bytes())
        bound = rt.load_vm_flatbuffer_file(str(path), driver="local-sync", destroy_callback=path.unlink)
        assert bound.add(A, B)[0] == 6
        assert path.exists()
        del bound
        assert not path.exists()

    def test_blob_of_a_mapped_file(self, add_file):
        module = rt.VmModule.mmap(rt.VmInstance(), str(add_file))
        assert bytes(module.stashed_flatbuffer_blob) == add_file.read_bytes()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "empty"),
        (b"module {\n  func.func @f() { return }\n}\n", "MLIR text"),
        (b"hello world, this is text" * 9, "is not a module"),
    ],
)
def test_bytes_that_are_no_module(data: bytes, text: str):
    with pytest.raises(ValueError, match=text):
        rt.load(data)


@pytest.mark.parametrize("maker", [iree_module, tiree_module])
def test_truncated_module(maker):
    whole = maker(ADD)
    for length in (8, 100, len(whole) // 2, len(whole) - 1):
        with pytest.raises(ValueError, match=r"."):
            rt.load(whole[:length])


class TestDevices:
    def test_drivers(self):
        assert rt.query_available_drivers() == ["local-sync", "local-task", "null"] == rt.HalDriver.query()
        driver = rt.get_driver("local-sync")
        assert driver.query_available_devices() == [{"device_id": 0, "path": "", "name": "default"}]
        for made in (
            driver.create_default_device(),
            driver.create_device(0),
            driver.create_device({"device_id": 0}),
            driver.create_device_by_uri("local-sync://"),
        ):
            assert repr(made) == "local-sync"
        assert driver.dump_device_info(0).startswith("local-sync")
        with pytest.raises(ValueError, match="has one device"):
            driver.create_device(7)
        with pytest.raises(NotImplementedError, match="allocator wrappers"):
            driver.create_default_device(allocators=["caching"])

    def test_cache(self):
        assert rt.get_device("local-task") is rt.get_device("local-task")
        assert rt.get_device("local-task", cache=False) is not rt.get_device("local-task")
        assert rt.get_first_device(["nope", "local-sync"]) is rt.get_device("local-sync")
        with pytest.raises(ValueError, match=r"No device found from list \['nope'\]"):
            rt.get_first_device(["nope"])

    def test_environment(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("IREE_DEFAULT_DEVICE", "local-sync")
        assert repr(rt.Config().device) == "local-sync"
        assert rt.Config(device=rt.get_device("local-task")).device is rt.get_device("local-task")

    def test_flags(self):
        code = (
            "import tiree.runtime as rt; rt.flags.parse_flags('--task_topology_group_count=3');"
            "print(rt.get_device('local-task').worker_count)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "3"
        with pytest.raises(ValueError, match="unknown runtime flag '--nope=1'"):
            rt.flags.parse_flags("--nope=1")
        with pytest.raises(ValueError, match="not a whole number"):
            rt.flags.parse_flags("--task_topology_group_count=x")
        for flag in ("group_count=-1", f"group_count={1 << 70}", "cpu_ids=-1", f"cpu_ids=0,{1 << 32}"):
            with pytest.raises(ValueError, match=r"cannot be negative|is not between 0 and"):
                rt.flags.parse_flags(f"--task_topology_{flag}")


def test_normalize_value():
    for given, expected in [
        (1, np.array(1, np.int32)),
        (1.5, np.array(1.5, np.float32)),
        (True, np.array(True)),
        (np.float16(3), np.array(3, np.float16)),
        (A, A),
    ]:
        found = rt.normalize_value(given)
        assert isinstance(found, np.ndarray)
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
    for given in (None, [1, 2], (1, [2]), {"a": 1}):
        assert rt.normalize_value(given) is given
