"""Loading: what is read and what is not, which versions fit, what runs when contexts come and go."""

from __future__ import annotations

import gc
import os
import re
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import ADD, iree_module, tiree_module
from tiree import _native
from tools.runtime_tool import ours

MEGABYTE = 1_000_000
ROWS = 6_250_000
SUM = f"""func.func @sum(%x: tensor<4xi32>) -> tensor<4xi32> {{
  %c = arith.constant dense<1> : tensor<{ROWS}x4xi32>
  %r = linalg.generic {{
    indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  }} ins(%c : tensor<{ROWS}x4xi32>) outs(%x : tensor<4xi32>) {{
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    linalg.yield %s : i32
  }} -> tensor<4xi32>
  return %r : tensor<4xi32>
}}
"""


def resident() -> int:
    """Bytes of this process that are in memory."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture(scope="module")
def numbers() -> np.ndarray:
    return np.random.default_rng(7).integers(0, 100, (ROWS, 4), dtype=np.int32)


@pytest.fixture(scope="module")
def big_file(tmp_path_factory: pytest.TempPathFactory, numbers: np.ndarray) -> Path:
    """`SUM` with a constant of 100 MB, which is put in behind the parser: as text it would be three times as long."""
    from tiree.dialects import get_context, read_module
    from tiree.dialects.dense import DenseAttr
    from tiree.pipeline import compile_module
    from tiree.support.options import CompileOptions

    context = get_context()
    module = read_module(SUM, context)
    for op in module.walk():
        value = op.properties.get("value")
        if isinstance(value, DenseAttr):
            op.properties["value"] = DenseAttr.from_buffer(value.type, numbers)
    path = tmp_path_factory.mktemp("big") / "big.vmfb"
    path.write_bytes(compile_module(module, CompileOptions(), ctx=context))
    return path


class TestBigConstants:
    def test_they_are_neither_read_nor_copied(self, big_file: Path, numbers: np.ndarray, device_name: str):
        assert big_file.stat().st_size > 100 * MEGABYTE
        device = rt.get_device(device_name)
        # What the first module of a process touches is no matter of this one.
        rt.load(tiree_module(ADD), device).add(np.ones(4, np.float32), np.ones(4, np.float32))
        before = resident()
        module = rt.load(big_file, device)
        assert resident() - before < 2 * MEGABYTE
        result = module.sum(np.zeros(4, np.int32)).to_host()
        assert result.tolist() == numbers.sum(axis=0, dtype=np.int32).tolist()

    def test_checksums_on_request(self, big_file: Path, tmp_path: Path):
        module = _native.VmModule.mmap(_native.VmInstance(), big_file)
        # The ZIP member and the module's own checksum.
        assert module.verify_constants() == 2
        rt.load(big_file, "local-sync", verify_constants=True)
        damaged = tmp_path / "damaged.vmfb"
        data = bytearray(big_file.read_bytes())
        data[50 * MEGABYTE] ^= 1
        damaged.write_bytes(data)
        rt.load(damaged, "local-sync")
        with pytest.raises(ValueError, match=r"damaged\.vmfb is damaged: checksum of _const\.bin is \w{8}, the"):
            rt.load(damaged, "local-sync", verify_constants=True)
        command = ["run-module", f"--module={damaged}", "--device=local-sync", "--function=sum", "--input=4xi32=0"]
        assert ours(*command, "--module_mode=mmap").code == 0
        refused = ours(*command, "--vm_verify_constants")
        assert refused.code != 0
        assert "checksum of _const.bin is" in refused.err


def rewritten(data: bytes, pattern: str, text: str) -> bytes:
    """A module with one line of its assembly changed."""
    assembly, count = re.subn(pattern, text, rt.disassemble(data), count=1)
    assert count == 1, f"{pattern} is not in the module"
    return rt.assemble(assembly)


@pytest.fixture(params=["tiree", "iree"])
def add_bytes(request: pytest.FixtureRequest) -> bytes:
    return tiree_module(ADD) if request.param == "tiree" else iree_module(ADD)


class TestVersionWindow:
    A = np.array([1, 2, 3, 4], np.float32)

    @pytest.mark.parametrize("minimum", [0, 1, 6, 7])
    def test_older_minimum_versions_load(self, add_bytes: bytes, minimum: int):
        data = rewritten(add_bytes, r"vm.dependency @hal version \d+", f"vm.dependency @hal version {minimum}")
        module = rt.load(data, "local-sync")
        assert module.vm_module.dependencies == [("hal", minimum)]
        assert module.add(self.A, self.A).to_host().tolist() == [2, 4, 6, 8]

    def test_a_newer_one_is_refused(self, add_bytes: bytes):
        data = rewritten(add_bytes, r"vm.dependency @hal version \d+", "vm.dependency @hal version 8")
        maker = r"tiree \S+" if b"tiree.version" in add_bytes else "another compiler"
        with pytest.raises(
            ValueError,
            match=rf"'hal' version mismatch; have 7 but require 8\. .* was compiled by {maker}; this is tiree .*"
            r"Install a newer one \(pip install --upgrade tiree\), or recompile",
        ):
            rt.load(data, "local-sync")
        optional = rewritten(data, "vm.dependency @hal", "vm.dependency optional @hal")
        assert rt.load(optional, "local-sync").add(self.A, self.A).to_host().tolist() == [2, 4, 6, 8]

    def test_other_signatures_are_refused(self, add_bytes: bytes):
        other = 'vm.import @hal.buffer.length cconv "0r_i"'
        data = rewritten(add_bytes, "vm.import @hal.devices.get", f"{other}\nvm.import @hal.devices.get")
        with pytest.raises(RuntimeError, match=r"hal\.buffer\.length signature mismatch .*expected 0r_i but got 0r_I"):
            rt.load(data, "local-sync")

    @pytest.mark.parametrize(("major", "minor"), [(16, 0), (18, 0), (17, 1)])
    def test_other_bytecode_versions_are_refused(self, major: int, minor: int):
        data = bytearray(
            rt.assemble("vm.module @m version 3\nvm.export @f\nvm.func @f() -> () {\n^bb0:\n  vm.return\n}\n")
        )
        at = data.index((17 << 16).to_bytes(4, "little"))
        data[at : at + 4] = (major << 16 | minor).to_bytes(4, "little")
        then = "install a newer tiree that reads" if (major, minor) > (17, 0) else "run it with the runtime"
        text = (
            rf"runtime supports 17\.0, module has {major}\.{minor}\. .* was compiled by another compiler; this is "
            rf"tiree .*\. Recompile it with tiree .*, or {then}"
        )
        with pytest.raises(ValueError, match=text):
            rt.load(bytes(data), "local-sync")


HOST = """
vm.import @host.log cconv "0i_v"
vm.import optional @host.later cconv "0i_i"
vm.import optional @nowhere.function cconv "0v_i"
vm.export @__init
vm.func @__init() -> () {{
^bb0:
  %i0 = vm.const.i32 {number}
  vm.call @host.log(%i0)
  vm.return
}}
vm.export @__deinit
vm.func @__deinit() -> () {{
^bb0:
  %i0 = vm.const.i32 -{number}
  vm.call @host.log(%i0)
  vm.return
}}
vm.export @has
vm.func @has() -> (i32, i32) {{
^bb0:
  %i0 = vm.import.resolved @host.later
  %i1 = vm.import.resolved @nowhere.function
  vm.return %i0, %i1
}}
vm.export @use
vm.func @use(%i0: i32) -> (i32) {{
^bb0:
  vm.cond_br %i0, ^bb1(), ^bb2()
^bb1:
  %i0 = vm.call @host.later(%i0)
  vm.return %i0
^bb2:
  %i0 = vm.call @nowhere.function()
  vm.return %i0
}}
"""


class TestLife:
    """`__init` in the order of registration, `__deinit` in the other, whatever fails; optional imports."""

    @pytest.fixture
    def log(self) -> list[int]:
        return []

    @pytest.fixture
    def host(self, log: list[int]) -> rt.VmModule:
        class Host:
            def __init__(self, interface: rt.PyModuleInterface) -> None:
                self.interface = interface

            def log(self, number: int) -> None:
                log.append(number)
                if abs(number) == 13:
                    raise RuntimeError("13 is bad luck")

            def later(self, number: int) -> int:
                return number + 1

        interface = rt.PyModuleInterface("host", Host)
        interface.export("log", "0i_v", Host.log)
        interface.export("later", "0i_i", Host.later)
        return interface.create()

    def module(self, number: int) -> rt.VmModule:
        text = f"vm.module @m{number} version 0\nvm.type i32\n{HOST.format(number=number)}"
        return rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(text))

    def test_order(self, host: rt.VmModule, log: list[int]):
        context = rt.VmContext(rt.VmInstance(), modules=[host, *map(self.module, (1, 2, 3))])
        assert log == [1, 2, 3]
        del context
        assert log == [1, 2, 3, -3, -2, -1]

    def test_failing_initializers(self, host: rt.VmModule, log: list[int]):
        """What was initialized is deinitialized; what failed is not, and what would come later never begins."""
        with pytest.raises(RuntimeError, match=r"(?s)13 is bad luck.*initializing module 'm13'"):
            rt.VmContext(rt.VmInstance(), modules=[host, *map(self.module, (1, 2, 13, 4))])
        assert log == [1, 2, 13, -2, -1]

    def test_registering_one_that_fails(self, host: rt.VmModule, log: list[int]):
        context = rt.VmContext(rt.VmInstance())
        context.register_modules([host, self.module(1)])
        with pytest.raises(RuntimeError, match="13 is bad luck"):
            context.register_modules([self.module(13)])
        assert context.module_names == ["host", "m1"]
        context.register_modules([self.module(2)])
        del context
        assert log == [1, 13, 2, -2, -1]

    def test_failing_deinitializers(self, host: rt.VmModule, log: list[int], monkeypatch: pytest.MonkeyPatch):
        text = HOST.format(number=5).replace("i32 -5", "i32 -13")
        bad = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(f"vm.module @bad version 0\nvm.type i32\n{text}"))
        context = rt.VmContext(rt.VmInstance(), modules=[host, self.module(1), bad, self.module(2)])
        reported: list[object] = []
        monkeypatch.setattr(sys, "unraisablehook", lambda u: reported.append((str(u.exc_value), u.object)))
        del context
        assert log == [1, 5, 2, -2, -13, -1]
        assert reported == [("13 is bad luck", "bad.__deinit")]

    def test_optional_imports(self, host: rt.VmModule):
        module = self.module(1)
        context = rt.SystemContext([host, module], rt.Config("local-sync"))
        bound = context.modules.m1
        assert bound.has() == (1, 0)
        assert bound.use(1) == 2
        with pytest.raises(ValueError, match=r"optional import `nowhere\.function` \(ordinal 2\) not resolved"):
            bound.use(0)

    def test_minimum_versions(self, host: rt.VmModule):
        for version, fits in ((0, True), (1, False)):
            text = f"vm.module @m version 0\nvm.dependency @host version {version}\n{HOST.format(number=1)}"
            module = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(text))
            if fits:
                rt.VmContext(rt.VmInstance(), modules=[host, module])
                continue
            with pytest.raises(ValueError, match="'host' version mismatch; have 0 but require 1"):
                rt.VmContext(rt.VmInstance(), modules=[host, module])
        with pytest.raises(ValueError, match="required module 'host' not registered with the context"):
            rt.VmContext(rt.VmInstance(), modules=[module])


def test_reflection_attributes():
    text = """
vm.module @m version 0
vm.attr "made by" = "hand"
vm.export @f
vm.func @f() -> () {
  .attr "iree.abi.declaration" = "sync func @f()"
  .attr "colour" = "blue"
^bb0:
  vm.return
}
"""
    module = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(text))
    function = module.lookup_function("f")
    assert function is not None
    assert function.reflection == {"iree.abi.declaration": "sync func @f()", "colour": "blue"}
    assert module.attributes == [("made by", "hand")]
    again = rt.VmModule.copy_buffer(rt.VmInstance(), rt.assemble(rt.disassemble(rt.assemble(text))))
    assert again.attributes == module.attributes
    assert zlib.crc32(rt.assemble(text)) == zlib.crc32(rt.assemble(rt.disassemble(rt.assemble(text))))
