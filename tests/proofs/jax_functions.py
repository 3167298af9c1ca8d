"""Functions of jax.numpy, jax.lax, jax.nn, jax.scipy.special and jax.numpy.linalg, with arguments of odd shapes.

The rows are in `jax_functions.txt`: a call the way a user writes it, the family of types it is asked in, what the
arguments may be and how closely it is compared. `cases` makes what a `Bundle` holds.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from programs.bundle import Case

FAMILIES = {
    "float": ("float32", "float64", "float16"),
    "int": ("int32", "int8", "uint16"),
    "number": ("float32", "int32", "uint8"),
    "any": ("float32", "int64", "bool"),
    "wide": ("float32", "float64"),
    "single": ("float32",),
    "double": ("float64",),
}

TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-12}

# What an argument holds: its shape, and how its values are drawn for floats (mean and spread, or an interval).
SHAPES: dict[str, tuple[int, ...]] = {
    "x": (3, 7), "y": (3, 7), "v": (13,), "w": (13,), "r": (1, 7), "s": (), "t": (2, 3, 5), "q": (5, 5), "l": (5, 3),
    "m": (7, 4), "k": (2, 5, 5), "h": (1, 3, 11), "e": (0, 3), "g": (6,), "n": (2, 9, 8, 3), "f": (3, 2, 3, 4),
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """`call` is a Python expression over the arguments' letters, `jnp`, `lax`, `jax`, `nn`, `sp`, `la` and `np`."""

    group: str
    call: str
    family: str
    domain: str
    looseness: float

    @property
    def name(self) -> str:
        return self.call.split("(")[0]

    def dtypes(self, every: bool) -> tuple[str, ...]:
        """All of its family, or one, which changes from row to row."""
        names = FAMILIES[self.family]
        return names if every else (names[zlib.crc32(self.call.encode()) % len(names)],)


def rows() -> list[Row]:
    """The table, in the order of the file."""
    found: list[Row] = []
    heading: list[str] = []
    for line in Path(__file__).with_suffix(".txt").read_text().splitlines():
        if line.startswith("[") and line.endswith("]"):
            heading = line[1:-1].split(", ")
        elif line and not line.startswith("#"):
            group, family, domain, looseness = heading
            found.append(Row(group, line, family, domain, float(looseness)))
    return found


def draw(letter: str, domain: str, dtype: str, row: int) -> np.ndarray:
    """Seeded values of the shape that `letter` names; `domain` says where a function is defined."""
    shape, stream = SHAPES[letter], np.random.default_rng([ord(letter), row])
    if dtype == "bool":
        return stream.integers(0, 2, shape).astype(bool)
    kind = np.dtype(dtype).kind
    if kind in "iu":
        low = 1 if domain in ("positive", "above one", "nonzero") else (0 if kind == "u" else -9)
        return np.asarray(stream.integers(low, 10, shape)).astype(dtype)
    drawn = {
        "normal": lambda: stream.standard_normal(shape) * 2,
        "nonzero": lambda: stream.uniform(0.5, 4, shape) * stream.choice([-1, 1], shape),
        "positive": lambda: stream.uniform(0.05, 6, shape),
        "unit": lambda: stream.uniform(-0.98, 0.98, shape),
        "chance": lambda: stream.uniform(0.02, 0.98, shape),
        "above one": lambda: stream.uniform(1.05, 8, shape),
        "edges": lambda: stream.choice([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 2.5, 1e-7], shape),
        "definite": lambda: _definite(stream, shape),
    }[domain]()
    return np.asarray(drawn).astype(dtype)


def _definite(stream: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Symmetric and positive definite where the shape is square, plain numbers elsewhere."""
    values = stream.standard_normal(shape)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        return values
    return values @ np.swapaxes(values, -1, -2) + shape[-1] * np.eye(shape[-1])


def letters(call: str) -> list[str]:
    """Arguments in the order of the alphabet: single letters that stand alone in the expression."""
    code = compile(call, "<row>", "eval")
    return sorted(name for name in _names(code) if name in SHAPES)


def _names(code: Any) -> set[str]:
    found = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            found |= _names(constant)
    return found


def cases(rows: list[Row], dtype: str) -> Iterator[Case]:
    """The rows as cases of a bundle, with arguments of `dtype`."""
    import jax
    import jax.numpy as jnp
    from jax import lax, nn
    from jax.numpy import linalg as la
    from jax.scipy import special as sp

    space = {"jnp": jnp, "lax": lax, "jax": jax, "nn": nn, "sp": sp, "la": la, "np": np}
    for row in rows:
        names = letters(row.call)
        code = compile(row.call, f"<{row.name}>", "eval")
        seed = zlib.crc32(row.call.encode())
        inputs = tuple(draw(letter, row.domain, dtype, seed) for letter in names)

        def function(*values: Any, names: list[str] = names, code: Any = code) -> Any:
            return eval(code, space | dict(zip(names, values, strict=True)))

        tolerance = TOLERANCE.get(dtype, TOLERANCE["float32"]) * row.looseness
        yield Case(row.call, function, inputs, rtol=tolerance, atol=tolerance)
