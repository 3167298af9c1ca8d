"""What a row of the table is: a program, flags of iree-compile, and calls with values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--iree-input-demote-f64-to-f32=false",
)
VMVX = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=vmvx",
    "--iree-input-demote-f64-to-f32=false",
)
INLINE = ("--iree-execution-model=inline-static", *VMVX[:1], f"{VMVX[1]}-inline", *VMVX[2:])

DTYPES: dict[str, np.dtype] = {
    "i1": np.dtype(bool),
    **{f"{sign}i{bits}": np.dtype(f"{kind}int{bits}") for sign, kind in (("", ""), ("s", ""), ("u", "u"))
       for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8E8M0FNU": np.dtype(ml_dtypes.float8_e8m0fnu),
    "cf64": np.dtype(np.complex64),
    "cf128": np.dtype(np.complex128),
}  # fmt: skip
"""Element types as run-module names them, and numpy's."""

PACKED = {"i2": np.dtype(ml_dtypes.int2), "i4": np.dtype(ml_dtypes.int4), "ui4": np.dtype(ml_dtypes.uint4)}
"""Element types that share bytes; tensors of the table are given by their bytes."""


def unpacked(data: bytes, element: str) -> np.ndarray:
    """The elements of packed bytes, the lowest bits first."""
    bits = int(element.lstrip("ui"))
    numbers = [byte >> shift & (1 << bits) - 1 for byte in data for shift in range(0, 8, bits)]
    if element[0] == "i":
        numbers = [n - (1 << bits) if n >> bits - 1 else n for n in numbers]
    return np.array(numbers, np.int8).astype(PACKED[element])


@dataclass(frozen=True)
class Tensor:
    """An argument: `type` as in `--input=`, `2x3xf32`, and the elements, or the bytes of a packed type."""

    type: str
    values: tuple[Any, ...] = ()

    @property
    def element(self) -> str:
        return self.type.rpartition("x")[2]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(d) for d in self.type.split("x")[:-1])

    def array(self) -> np.ndarray:
        """As numpy has it: an element a byte, also of packed types."""
        if self.element in PACKED:
            return unpacked(bytes(self.values), self.element).reshape(self.shape)
        count = int(np.prod(self.shape))
        values = self.values * count if len(self.values) == 1 else self.values or (0,) * count
        if self.element == "i1":
            values = tuple(bool(int(v)) for v in values)
        return np.array([_number(v) for v in values], DTYPES[self.element]).reshape(self.shape)

    def text(self, folder: Path, exact: bool = False) -> str:
        """As `--input=` has it: elements in the text, or in a file where texts are hex, long, or not `exact` enough:
        the bits of a NaN are up to who reads it."""
        if exact or self.element in (*PACKED, "cf64", "cf128") or len(self.values) > 64:
            data = bytes(self.values) if self.element in PACKED else self.array().tobytes()
            path = folder / f"{self.type}-{hash(data) & 0xFFFFFFFF:x}.bin"
            path.write_bytes(data)
            return f"{self.type}=@{path}"
        return f"{self.type}={' '.join(str(v) for v in self.values)}"


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, str) else value


def tensor(type: str, *values: Any) -> Tensor:
    """A tensor of these elements; one is repeated, none is zeros."""
    return Tensor(type, values)


def ramp(type: str, start: float = 1, step: float = 1) -> Tensor:
    """A tensor of `start`, `start + step`, ..."""
    count = int(np.prod([int(d) for d in type.split("x")[:-1]]))
    return Tensor(type, tuple(start + step * i for i in range(count)))


@dataclass(frozen=True)
class Call:
    """A call of a function. Without `api` its values have no numpy form, and only what the tools print is compared;
    `packed` values cannot be printed by iree-run-module, and only files are compared."""

    function: str
    inputs: tuple[Tensor | float | str, ...]
    api: bool
    packed: bool
    flags: tuple[str, ...]


def call(
    function: str, *inputs: Tensor | float | str, api: bool = True, packed: bool = False, flags: tuple[str, ...] = ()
) -> Call:
    return Call(function, inputs, api, packed, flags)


@dataclass(frozen=True)
class Row:
    """One module. `files` writes what else the tools need and gives their flags; `state` repeats the calls, in order,
    in one context of each runtime."""

    subject: str
    name: str
    text: str
    calls: tuple[Call, ...]
    flags: tuple[str, ...] = CPU
    files: Callable[[Path], list[str]] | None = field(default=None, compare=False)
    state: bool = False
    whole_process: bool = False
    """The flags are global to a process: the program `iree-compile` must compile."""

    @property
    def backend(self) -> str:
        return " and ".join(flag.partition("backends=")[2] for flag in self.flags if "-device-backends=" in flag)
