"""A big constant costs little more memory than its own size, however it comes; `make big` takes 1 GB instead of 64 MB.

The memory is the most that the process has had, less what it has for the same program with a small constant.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MEGABYTES = int(os.environ.get("TIREE_BIG_CONSTANT", "64"))
RATIO = 1.2

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak is read from /proc")

TOOL = """
import sys
from tiree.tools.compile import main
assert main([sys.argv[1], "-o", sys.argv[1] + ".vmfb", "--iree-llvmcpu-target-cpu=generic"]) == 0
print([line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")][0])
"""

API = """
import sys
import jax, numpy as np, tiree

def now(key):
    return int([line.split()[1] for line in open("/proc/self/status") if line.startswith(key)][0])

def program(count):
    weights = np.arange(count, dtype=np.float32)
    return jax.jit(lambda x: x + weights).lower(jax.ShapeDtypeStruct((count,), np.float32))

flags = ["--iree-llvmcpu-target-cpu=generic"]
tiree.compile(program(4), flags=flags)
lowered = program(int(sys.argv[1]) << 18)
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = now("VmRSS")
module = tiree.compile(lowered, flags=flags)
print(now("VmHWM") - before)
assert type(module) is tiree.CompiledModule
np.testing.assert_array_equal(np.frombuffer(module, np.float32, 256, module.index(np.arange(256, dtype=np.float32))),
                              np.arange(256))
"""

WRITE = """
import sys
import numpy as np
from jax.interpreters import mlir
from jaxlib.mlir import ir

path, count, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
type = f"tensor<{count}xf32>"
text = f'''func.func @main(%x: {type}) -> {type} {{
  %c = "stablehlo.constant"() {{value = dense<0.0> : {type}}} : () -> {type}
  %0 = stablehlo.add %x, %c : {type}
  return %0 : {type}
}}'''
with mlir.make_ir_context(), ir.Location.unknown():
    values = np.arange(count, dtype=np.float32)
    module = ir.Module.parse(text)
    if kind == "resource":
        shape = ir.RankedTensorType.get([count], ir.F32Type.get())
        value = ir.DenseResourceElementsAttr.get_from_buffer(memoryview(values), "weights", shape)
    else:
        value = ir.DenseElementsAttr.get(values)
    module.body.operations[0].regions[0].blocks[0].operations[0].attributes["value"] = value
    with open(path, "wb") as file:
        module.operation.write_bytecode(file)
"""


def run(script: str, *arguments: object) -> str:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write_text(path: Path, kind: str, count: int) -> None:
    """The same program as text, written a part at a time: the digits alone are twice the constant."""
    import numpy as np

    type = f"tensor<{count}xf32>"
    head = f"func.func @main(%x: {type}) -> {type} {{\n  %c = stablehlo.constant "
    tail = f" : {type}\n  %0 = stablehlo.add %x, %c : {type}\n  return %0 : {type}\n}}\n"
    before, after = f'{head}dense<"0x', f'">{tail}'
    if kind == "text resource":
        section = '{-#\n  dialect_resources: {\n    builtin: {\n      weights: "0x04000000'
        before, after = f"{head}dense_resource<weights>{tail}{section}", '"\n    }\n  }\n#-}\n'
    with open(path, "w") as file:
        file.write(before)
        for start in range(0, count, 1 << 20):
            file.write(np.arange(start, min(start + (1 << 20), count), dtype=np.float32).tobytes().hex())
        file.write(after)


def peak(path: Path) -> int:
    """The most bytes that the tool has while it compiles a file."""
    return int(run(TOOL, path)) * 1024


@pytest.fixture(scope="module")
def least(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The peak for a small constant."""
    path = tmp_path_factory.mktemp("small") / "small.mlir"
    write_text(path, "hex", 1 << 12)
    return peak(path)


def check(path: Path, least: int) -> None:
    """Compiles the file, which goes then: there is not room for many."""
    taken = peak(path) - least
    output = Path(f"{path}.vmfb")
    size = output.stat().st_size
    for file in (path, output):
        file.unlink()
    assert size > MEGABYTES << 20
    assert taken <= RATIO * (MEGABYTES << 20)


@pytest.mark.parametrize("kind", ["resource", "dense"])
def test_in_bytecode(tmp_path: Path, kind: str, least: int) -> None:
    pytest.importorskip("jaxlib", reason="bytecode is written by jaxlib's MLIR")
    run(WRITE, tmp_path / "m.mlirbc", MEGABYTES << 18, kind)
    check(tmp_path / "m.mlirbc", least)


@pytest.mark.parametrize("kind", ["hex", "text resource"])
def test_in_text(tmp_path: Path, kind: str, least: int) -> None:
    write_text(tmp_path / "m.mlir", kind, MEGABYTES << 18)
    check(tmp_path / "m.mlir", least)


def test_through_the_api() -> None:
    """What `tiree.compile` takes more than JAX, which holds the constant; its result, also of that size, included."""
    pytest.importorskip("jax", reason="the program is made by JAX")
    assert int(run(API, MEGABYTES)) * 1024 <= (RATIO if MEGABYTES > 200 else 1.5) * (MEGABYTES << 20)
