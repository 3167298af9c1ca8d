"""The device that a module is compiled for."""

import pytest
from tiree.dialects import get_context, hal, read_module
from tiree.hal import assign_target_passes
from tiree.support.errors import CompileError
from tiree.support.options import CompileOptions
from xdsl.dialects.builtin import IntegerAttr, StringAttr


def assigned(text: str = "builtin.module {\n}", **options: str):
    module = read_module(text, get_context())
    for one in assign_target_passes(CompileOptions(**options)):
        one.apply(get_context(), module)
    module.verify()
    return module


def test_named_cpu() -> None:
    module = assigned(llvmcpu_target_cpu="znver4", llvmcpu_target_triple="x86_64-unknown-linux-gnu")
    (device,) = module.ops
    assert isinstance(device.initial_value, hal.DeviceTargetAttr)
    (target,) = device.initial_value.targets
    assert (target.backend.data, target.format.data) == ("llvm-cpu", "embedded-elf-x86_64")
    assert target.configuration.data["cpu"] == StringAttr("znver4")
    assert isinstance(target.configuration.data["native_vector_size"], IntegerAttr)
    assert module.attributes["stream.affinity.default"] == hal.DeviceAffinityAttr("__device_0")


def test_other_architecture() -> None:
    module = assigned(llvmcpu_target_cpu="generic", llvmcpu_target_triple="aarch64-unknown-linux-gnu")
    (target,) = next(iter(module.ops)).initial_value.targets
    assert target.format.data == "embedded-elf-arm_64"


def test_a_device_that_the_module_names_is_kept() -> None:
    text = """builtin.module {
  util.global private @mine = #hal.device.target<"local", [#hal.executable.target<"llvm-cpu", "embedded-elf-arm_64">]>
      : !hal.device
}"""
    module = assigned(text)
    (device,) = module.ops
    assert device.sym_name.data == "mine"
    assert module.attributes["stream.affinity.default"] == hal.DeviceAffinityAttr("mine")


def test_unknown_cpu_is_named() -> None:
    with pytest.raises(CompileError, match="znver99"):
        assigned(llvmcpu_target_cpu="znver99", llvmcpu_target_triple="x86_64")
