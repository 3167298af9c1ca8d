"""The calling thread's floating-point mode: results do not depend on it, and it is left as it was.

Libraries that were linked with `-ffast-math` make their thread take subnormal numbers as zero, and threads that it
starts inherit that.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import tiree

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or sys.platform != "linux", reason="sets the mode with instructions of x86-64"
)

STANDARD = 0x1F80
MODES = {
    "subnormals are zero": STANDARD | 0x8040,
    "rounds up": STANDARD | 0x4000,
    "cuts, and subnormals are zero": STANDARD | 0xE040,
}
_LOAD, _STORE = bytes.fromhex("0fae17c3"), bytes.fromhex("0fae1fc3")
"""`ldmxcsr [rdi]; ret` and `stmxcsr [rdi]; ret`."""
_CONTROL = 0xFFC0
"""Without the flags of what has happened."""

SIZE = 70_001
TEXT = f"""
func.func @product(%a: tensor<{SIZE}xf32>, %b: tensor<{SIZE}xf32>) -> tensor<{SIZE}xf32> {{
  %0 = stablehlo.multiply %a, %b : tensor<{SIZE}xf32>
  return %0 : tensor<{SIZE}xf32>
}}
func.func @log(%a: tensor<{SIZE}xf32>, %b: tensor<{SIZE}xf32>) -> tensor<{SIZE}xf32> {{
  %0 = stablehlo.log %a : tensor<{SIZE}xf32>
  return %0 : tensor<{SIZE}xf32>
}}
func.func @sum(%a: tensor<{SIZE}xf32>, %b: tensor<{SIZE}xf32>) -> tensor<f32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<{SIZE}xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}}
func.func @host(%a: f64) -> f64 {{
  %0 = arith.addf %a, %a : f64
  return %0 : f64
}}
"""
FOLDED = """
func.func @f() -> tensor<3xf64> {
  %a = stablehlo.constant dense<[1.0e-310, 2.0e-310, 0.1]> : tensor<3xf64>
  %b = stablehlo.constant dense<[3.0, 0.7, 0.1]> : tensor<3xf64>
  %0 = stablehlo.multiply %a, %b : tensor<3xf64>
  return %0 : tensor<3xf64>
}
"""


@pytest.fixture(scope="module")
def register() -> Iterator[tuple[Callable[[], int], Callable[[int], None]]]:
    """Functions that read and write the register."""
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(_LOAD + _STORE)
    anchor = ctypes.c_char.from_buffer(page)
    start = ctypes.addressof(anchor)
    kind = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_uint32))
    load, store = kind(start), kind(start + len(_LOAD))

    def read() -> int:
        cell = ctypes.c_uint32()
        store(ctypes.byref(cell))
        return cell.value

    yield read, lambda mode: load(ctypes.byref(ctypes.c_uint32(mode)))
    del anchor
    page.close()


@contextmanager
def mode(register: Any, value: int) -> Iterator[None]:
    """The mode inside of the block, which has to be there at its end."""
    read, write = register
    before = read()
    write(value)
    try:
        yield
        after = read()
    finally:
        write(before)
    assert after & _CONTROL == value & _CONTROL, f"{after:#x} is left of {value:#x}"


def called(module: Any, a: np.ndarray, b: np.ndarray, small: float) -> list[Any]:
    return [*(getattr(module, name)(a, b) for name in ("product", "log", "sum")), module.host(small)]


def as_bytes(results: list[Any]) -> list[bytes]:
    return [np.asarray(result).tobytes() for result in results]


@pytest.mark.parametrize("name", list(MODES))
@pytest.mark.parametrize("device", ["local-sync", "local-task"])
@pytest.mark.parametrize("backend", ["llvm-cpu", "vmvx"])
def test_results(register: Any, backend: str, device: str, name: str) -> None:
    image = tiree.compile(TEXT, flags=[f"--iree-hal-target-backends={backend}"])
    stream = np.random.default_rng(3)
    a = (np.abs(stream.standard_normal(SIZE)) + 0.1).astype(np.float32) * np.float32(1e-39)
    arguments = a, stream.standard_normal(SIZE).astype(np.float32), 5e-324
    module = tiree.load(image, device=device)
    wanted = as_bytes(called(module, *arguments))
    assert (np.frombuffer(wanted[0], np.float32) != 0).all()
    with mode(register, MODES[name]):
        found = called(module, *arguments), called(tiree.load(image, device=device), *arguments)
    for results in found:
        assert [one == other for one, other in zip(as_bytes(results), wanted, strict=True)] == [True] * 4


@pytest.mark.parametrize("name", list(MODES))
def test_compiled_bytes(register: Any, name: str) -> None:
    wanted = bytes(tiree.compile(FOLDED))
    with mode(register, MODES[name]):
        found = bytes(tiree.compile(FOLDED))
    assert found == wanted
