"""Arguments for functions on tensors, by what they declare."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tiree.testing import wanted

_DTYPES = {
    "i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "ui8": "uint8", "ui16": "uint16",
    "ui32": "uint32", "ui64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64",
}  # fmt: skip
MAX_DIMENSION = 4


def declared_arguments(function: Any) -> st.SearchStrategy[tuple[Any, ...]]:
    """A tuple of arrays and numbers. Raises `ValueError` for a function without a declaration, or of types without a
    numpy dtype of their own."""
    reflection = getattr(getattr(function, "vm_function", function), "reflection", None)
    what = 'a calling convention such as "0iI_r", or a function of a loaded module'
    wanted.need("arguments", "signature", function, isinstance(reflection, Mapping), what)
    declaration = cast("Mapping[str, str]", reflection).get("iree.abi.declaration", "")
    match = re.search(r"\((.*?)\)\s*->", declaration)
    if match is None:
        raise ValueError(f"{function} declares no arguments; give its calling convention instead")
    types = re.findall(r"%\w+: ([^,%]+?)(?:\s*\{[^}]*\})?(?:,|$)", match[1])
    return st.tuples(*(_argument(text.strip()) for text in types))


def _argument(text: str) -> st.SearchStrategy[Any]:
    tensor = re.fullmatch(r"tensor<((?:[\d?]+x)*)(\w+)>", text)
    element = tensor[2] if tensor else text
    if element not in _DTYPES:
        raise ValueError(f"no arguments can be made for {text}")
    dtype = np.dtype(_DTYPES[element])
    if tensor is None:
        return arrays.from_dtype(dtype).map(lambda value: value.item())
    dims = [
        st.integers(1, MAX_DIMENSION) if size == "?" else st.just(int(size)) for size in tensor[1].split("x") if size
    ]
    return st.tuples(*dims).flatmap(lambda shape: arrays.arrays(dtype, shape))
