"""A whole JAX program with its arguments, run by Tiree and compared with JAX.

How close is close: a program is also evaluated in f64, where rounding is out of sight. Tiree's distance from that must
be at most `SLACK` times the distance JAX's own result has, plus `ULPS` units of the last place of the largest value of
that result: both are evaluations of the same program whose single operations are within the accuracy table, in another
order. Integers and booleans are equal; with `exact` floats are too. Random draws have no f64 form (the bits would be
others): they are held to JAX's own within `draws` units of the last place of the value or the median, the larger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import ml_dtypes
import numpy as np

SLACK, ULPS = 4.0, 16.0


@dataclass
class Program:
    """`function(*arguments)`, whose arguments may be trees; `in_f64` computes the same where types are named."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    exact: bool = False
    slack: float = SLACK
    draws: float = 0.0
    x64: bool = False
    in_f64: Callable[..., Any] | None = None

    @property
    def inputs(self) -> list[np.ndarray]:
        """The leaves, as `main` takes them."""
        import jax

        return [np.asarray(leaf) for leaf in jax.tree.leaves(self.arguments)]

    @cached_property
    def text(self) -> str:
        """StableHLO as JAX prints it."""
        import jax

        with jax.enable_x64(self.x64):
            return jax.jit(self.function, keep_unused=True).lower(*self.arguments).as_text()

    @cached_property
    def expected(self) -> list[np.ndarray]:
        import jax

        with jax.enable_x64(self.x64):
            return [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(self.function)(*self.arguments))]

    @cached_property
    def precise(self) -> list[np.ndarray]:
        """The results in f64, from the same arguments."""
        import jax

        def widen(leaf: Any) -> np.ndarray:
            leaf = np.asarray(leaf)
            return leaf.astype(np.float64) if leaf.dtype == np.float32 else leaf

        with jax.enable_x64(True):
            results = jax.jit(self.in_f64 or self.function)(*jax.tree.map(widen, self.arguments))
            return [np.asarray(leaf) for leaf in jax.tree.leaves(results)]

    def wrong(self, results: list[np.ndarray]) -> list[str]:
        """What is further from JAX than it may be; empty if all is well."""
        found: list[str] = []
        if len(results) != len(self.expected):
            return [f"{self.name}: {len(results)} results, needed {len(self.expected)}"]
        for position, (got, want) in enumerate(zip(results, self.expected, strict=True)):
            if (got.shape, got.dtype) != (want.shape, want.dtype):
                found.append(f"{self.name}[{position}]: {got.dtype}{got.shape}, needed {want.dtype}{want.shape}")
            elif self.exact or want.dtype.kind in "biu":
                if not np.array_equal(got, want, equal_nan=want.dtype.kind == "f"):
                    found.append(f"{self.name}[{position}]: {int(np.sum(got != want))} of {want.size} values differ")
            elif message := self._near(got, want) if self.draws else self._distance(got, want, self.precise[position]):
                found.append(f"{self.name}[{position}]: {message}")
        return found

    def _near(self, got: np.ndarray, want: np.ndarray) -> str:
        """Why draws are too far from JAX's, or nothing."""
        kind = np.complex128 if want.dtype.kind == "c" else np.float64
        epsilon, got, want = float(ml_dtypes.finfo(want.dtype).eps), got.astype(kind), want.astype(kind)
        unit = epsilon * np.maximum(np.abs(want), np.median(np.abs(want)))
        far = ~((np.abs(got - want) <= self.draws * unit) | (got == want) | (np.isnan(got) & np.isnan(want)))
        if not far.any():
            return ""
        return f"{int(far.sum())} of {want.size} draws differ, first {got[far][0]!r}, needed {want[far][0]!r}"

    def _distance(self, got: np.ndarray, want: np.ndarray, precise: np.ndarray) -> str:
        """Why `got` is too far from `precise`, or nothing."""
        if not np.array_equal(np.isfinite(got), np.isfinite(want)):
            return "other values are infinite or NaN"
        known = np.isfinite(want) & np.isfinite(precise)
        if not known.any():
            return ""
        exact = precise[known].astype(np.float64)
        ours, theirs = (np.max(np.abs(v[known].astype(np.float64) - exact)) for v in (got, want))
        unit = float(np.finfo(want.dtype).eps) * float(np.max(np.abs(exact)))
        bound = self.slack * theirs + ULPS * unit
        if ours <= bound:
            return ""
        return f"{ours:.3g} from the precise result; JAX is {theirs:.3g}, allowed {bound:.3g}"
