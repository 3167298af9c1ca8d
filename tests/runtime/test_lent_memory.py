"""Memory that a caller shares on purpose: no kernel of another compiler writes into it, no variable keeps it.

Each way to hand memory in is tried with each kind of function that could do harm: one of iree-compile that updates its
argument in place, and one that stores it in a variable of the module.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree.runtime as rt
from runtime.modules import iree_module, tiree_module

SIZE = 1 << 16
PROGRAM = f"""
util.global private mutable @state = dense<0.0> : tensor<{SIZE}xf32>
func.func @update(%a: tensor<{SIZE}xf32>) -> tensor<{SIZE}xf32> {{
  %i = stablehlo.constant dense<3> : tensor<i32>
  %u = stablehlo.constant dense<9.0> : tensor<4xf32>
  %0 = stablehlo.dynamic_update_slice %a, %u, %i
      : (tensor<{SIZE}xf32>, tensor<4xf32>, tensor<i32>) -> tensor<{SIZE}xf32>
  return %0 : tensor<{SIZE}xf32>
}}
func.func @set(%a: tensor<{SIZE}xf32>) {{
  util.global.store %a, @state : tensor<{SIZE}xf32>
  return
}}
func.func @get() -> tensor<{SIZE}xf32> {{
  %g = util.global.load @state : tensor<{SIZE}xf32>
  return %g : tensor<{SIZE}xf32>
}}
func.func @into(%a: tensor<{SIZE}xf32>, %b: tensor<{SIZE}xf32> {{iree.abi.output = 0 : index}}) -> tensor<{SIZE}xf32> {{
  %0 = stablehlo.add %a, %a : tensor<{SIZE}xf32>
  return %0 : tensor<{SIZE}xf32>
}}
"""
ELEMENTS = 0x21000020


def memory(offset: int = 0) -> np.ndarray:
    """Ones, `offset` bytes behind where any kernel would have them."""
    raw = np.zeros(SIZE * 4 + 128, np.uint8)
    start = -raw.ctypes.data % 64 + offset
    found = raw[start : start + SIZE * 4].view(np.float32)
    found[:] = 1
    return found


OFFSETS = [0, 4, 16, 32, 48]


class Lender:
    """An array of another library."""

    def __init__(self, a: np.ndarray) -> None:
        self.a = a

    def __dlpack__(self, **keywords: Any) -> object:
        return self.a.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def imported(a: np.ndarray) -> rt.HalBufferView:
    allocator = rt.get_device("local-sync").allocator
    usage = int(rt.BufferUsage.DEFAULT | rt.BufferUsage.MAPPING)
    buffer = allocator.import_host_allocation(a, int(rt.MemoryType.HOST_LOCAL | rt.MemoryType.DEVICE_VISIBLE), usage)
    return rt.HalBufferView(buffer, (SIZE,), ELEMENTS)


WAYS: dict[str, Callable[[np.ndarray], Any]] = {
    "numpy": lambda a: a,
    "memoryview": memoryview,
    "DLPack": Lender,
    "from_dlpack": rt.from_dlpack,
    "from_dlpack of DLPack": lambda a: rt.from_dlpack(Lender(a)),
    "capsule": lambda a: rt.get_device("local-sync").from_dlpack_capsule(a.__dlpack__()),
    "import": imported,
    "view of a shared buffer": lambda a: rt.HalBufferView(rt.from_dlpack(a).get_buffer(), (SIZE,), ELEMENTS),
    "reference": lambda a: rt.from_dlpack(a).ref,
    "device array": lambda a: rt.asdevicearray(rt.get_device("local-sync"), a),
}


# As IREE's, the import of host memory refuses what is not aligned to 64 bytes.
CASES = [(way, offset) for way in WAYS for offset in OFFSETS if way != "import" or offset == 0]


@pytest.fixture(scope="module")
def by_iree() -> bytes:
    return iree_module(PROGRAM)


@pytest.mark.parametrize(("way", "offset"), CASES)
def test_functions_of_iree_do_not_write_into_it(way: str, offset: int, by_iree: bytes, device_name: str) -> None:
    module, mine = rt.load(by_iree, device_name), memory(offset)
    given = WAYS[way](mine)
    assert np.asarray(module.update(given))[3:7].tolist() == [9, 9, 9, 9]
    np.testing.assert_array_equal(mine, np.ones(SIZE, np.float32))


@pytest.mark.parametrize(("way", "offset"), CASES)
@pytest.mark.parametrize("compiler", [iree_module, tiree_module])
def test_variables_do_not_keep_it(way: str, compiler: Callable[[str], bytes], offset: int, device_name: str) -> None:
    source = PROGRAM.split("func.func @into")[0]
    module, mine = rt.load(compiler(source), device_name), memory(offset)
    module.set(WAYS[way](mine))
    mine[:] = 5
    np.testing.assert_array_equal(np.asarray(module.get()), np.ones(SIZE, np.float32))


@pytest.mark.parametrize("function", ["update", "set"])
def test_calls_through_lists_neither(function: str, by_iree: bytes) -> None:
    context = rt.SystemContext(config=rt.Config("local-sync"))
    context.add_vm_module(rt.VmModule.copy_buffer(context.instance, by_iree))
    bound = next(m for name, m in context.modules.items() if name != "hal")
    mine = memory()
    inputs = rt.VmVariantList(1)
    inputs.push_ref(rt.from_dlpack(mine))
    context.vm_context.invoke(bound.vm_module.lookup_function(function), inputs, rt.VmVariantList(1))
    np.testing.assert_array_equal(mine, np.ones(SIZE, np.float32))
    mine[:] = 5
    assert not (np.asarray(bound.get()) == 5).any()


def test_constants_are_not_written() -> None:
    """A result may be the constant itself, which lies in the module's read-only memory."""
    rows = ", ".join(str(i % 7) + ".0" for i in range(1024))
    source = f"""func.func @c() -> tensor<1024xf32> {{
      %0 = stablehlo.constant dense<[{rows}]> : tensor<1024xf32>
      return %0 : tensor<1024xf32>
    }}"""
    constant = rt.load(iree_module(source), "local-sync").c()
    update = iree_module(PROGRAM.replace(str(SIZE), "1024"))
    assert np.asarray(rt.load(update, "local-sync").update(constant))[3] == 9


def in_process(script: str) -> str:
    """What it prints, in a process of its own, as kernels that meet what they do not expect end it."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-3000:])
    return done.stdout


@pytest.fixture(scope="module")
def file_by_iree(by_iree: bytes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("modules") / "x.vmfb"
    path.write_bytes(by_iree)
    return path


START = f"""
import numpy as np, tiree.runtime as rt
raw = np.zeros({SIZE} * 4 + 128, np.uint8)
start = -raw.ctypes.data % 64
fours = np.full({SIZE}, 4, np.float32)
"""


@pytest.mark.parametrize("offset", OFFSETS)
def test_memory_for_results_is_written(offset: int, file_by_iree: Path, device_name: str) -> None:
    """Where it is, or by a copy at the end; what is not aligned to 16 was copied when it was imported."""
    script = f"""
mine = raw[start + {offset} :][: {SIZE} * 4].view(np.float32)
found = rt.load({str(file_by_iree)!r}, {device_name!r}).into(fours, rt.from_dlpack(mine))
assert (np.asarray(found) == 8).all()
mine[0] += 1
print(*map(int, mine[:2]), np.asarray(found)[0], raw[:start].any(), raw[start + {offset} + {SIZE} * 4 :].any())
"""
    wanted = "1 0" if offset == 4 else "9 8"
    assert in_process(START + script) == f"{wanted} 8.0 False False\n"


@pytest.mark.parametrize("call", ["into", "into.begin"])
def test_memory_that_may_not_be_written_is_refused(call: str, by_iree: bytes) -> None:
    module, mine = rt.load(by_iree, "local-sync"), memory()
    mine.flags.writeable = False
    into = module.into if call == "into" else module.into.begin
    with pytest.raises(ValueError, match=r"into\(\): argument 2 \(.*\) is memory for a result, and is read-only"):
        into(np.zeros(SIZE, np.float32), rt.from_dlpack(mine))
    np.testing.assert_array_equal(mine, np.ones(SIZE, np.float32))


def test_unaligned_memory_is_refused_where_the_call_goes_on(by_iree: bytes) -> None:
    module, mine = rt.load(by_iree, "local-sync"), memory(16)
    with pytest.raises(
        ValueError, match=r"argument 2 \(.*\) is memory for a result, and is aligned to 16 bytes; needs 64"
    ):
        module.into.begin(np.zeros(SIZE, np.float32), rt.from_dlpack(mine))


VIEWS: dict[str, Callable[[Any], Any]] = {
    "asarray": np.asarray,
    "to_host": lambda r: r.to_host(),
    "memoryview": memoryview,
    "DLPack": np.from_dlpack,
    "mapped": lambda r: r.map().asarray([SIZE], np.float32),
    "part": lambda r: np.asarray(r)[2:9],
}


@pytest.mark.parametrize("kind", VIEWS)
def test_views_of_results_stay_what_they_were(kind: str, by_iree: bytes, device_name: str) -> None:
    """A result that is passed on while numpy has a view of it is copied, too; nobody pays once the view is gone."""
    module, device = rt.load(by_iree, device_name), rt.get_device(device_name)
    result = module.into(np.full(SIZE, 4, np.float32), np.zeros(SIZE, np.float32))
    view = VIEWS[kind](result)
    before = np.array(view)
    assert np.asarray(module.update(result))[3] == 9
    np.testing.assert_array_equal(np.asarray(view), before)
    module.set(result)
    np.asarray(view)[:] = 1
    np.testing.assert_array_equal(np.asarray(module.get()), np.full(SIZE, 8, np.float32))

    def allocated(call: Callable[[], Any]) -> int:
        before = device.allocator.statistics["device_bytes_allocated"]
        call()
        return device.allocator.statistics["device_bytes_allocated"] - before

    seen = allocated(lambda: module.set(result))
    del view
    assert seen - allocated(lambda: module.set(result)) == SIZE * 4


@pytest.mark.parametrize("compiler", [iree_module, tiree_module])
def test_what_is_written_into_results_does_not_reach_variables(
    compiler: Callable[[str], bytes], device_name: str
) -> None:
    module = rt.load(compiler(PROGRAM.split("func.func @into")[0]), device_name)
    ones = np.ones(SIZE, np.float32)
    module.set(ones)
    call = module.get.begin()
    call.wait()
    for result in (module.get(), call.results(), module.get.start().results() if device_name == "local-sync" else ones):
        np.asarray(result)[:] = 5
        np.testing.assert_array_equal(np.asarray(module.get()), np.ones(SIZE, np.float32))


def test_results_of_other_modules_and_functions_are_not_copied(device_name: str) -> None:
    device = rt.get_device(device_name)
    module = rt.load(tiree_module(PROGRAM.split("func.func @into")[0]), device)
    given = np.ones(SIZE, np.float32)
    reflection = module.update.vm_function.reflection
    assert (reflection["tiree.inputs"], reflection["tiree.results"]) == ("kept", "kept")
    before = device.allocator.statistics["device_bytes_allocated"]
    module.update(given)
    # The copy of the argument and the result.
    assert device.allocator.statistics["device_bytes_allocated"] - before <= 2 * SIZE * 4
