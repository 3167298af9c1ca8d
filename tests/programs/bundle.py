"""`Case`: a JAX function with inputs; `Bundle`: many of them in one module; `TextProgram`: MLIR text with values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """`function(*inputs)`, compared with tolerances; `differs` names why iree-compile 3.13 gives another value.

    `expected` overrides JAX's own result where JAX has no say (its CPU backend flushes or differs from the
    specification).
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    rtol: float = 0.0
    atol: float = 0.0
    expected: tuple[Any, ...] | None = None
    differs: str = ""


@dataclass
class Bundle:
    """Cases that are compiled together as `main`; `text`, `inputs` and `expected` are flat over all cases."""

    name: str
    cases: Sequence[Case]
    _starts: list[int] = field(default_factory=list)

    @property
    def inputs(self) -> list[np.ndarray]:
        return [np.asarray(value) for case in self.cases for value in case.inputs]

    def _run(self, *flat: Any) -> tuple[Any, ...]:
        results: list[Any] = []
        position = 0
        for case in self.cases:
            results.append(case.function(*flat[position : position + len(case.inputs)]))
            position += len(case.inputs)
        return tuple(results)

    @cached_property
    def text(self) -> str:
        """StableHLO as JAX prints it."""
        import jax

        with jax.enable_x64(True):
            return jax.jit(self._run, keep_unused=True).lower(*self.inputs).as_text()

    @cached_property
    def generic_text(self) -> str:
        """The same module in generic form."""
        import jax

        with jax.enable_x64(True):
            module = jax.jit(self._run).lower(*self.inputs).compiler_ir("stablehlo")
            return module.operation.get_asm(print_generic_op_form=True)

    @cached_property
    def expected(self) -> list[list[np.ndarray]]:
        """The right results, a list for each case."""
        import jax

        with jax.enable_x64(True):
            results = jax.jit(self._run)(*self.inputs)
            found = [[np.asarray(leaf) for leaf in jax.tree.leaves(result)] for result in results]
        for index, case in enumerate(self.cases):
            if case.expected is not None:
                found[index] = [
                    np.asarray(value).astype(known.dtype)
                    for value, known in zip(case.expected, found[index], strict=True)
                ]
        return found

    def split(self, outputs: Sequence[np.ndarray]) -> list[list[np.ndarray]]:
        """Flat outputs of `main`, a list for each case."""
        result: list[list[np.ndarray]] = []
        position = 0
        for expected in self.expected:
            result.append([np.asarray(value) for value in outputs[position : position + len(expected)]])
            position += len(expected)
        assert position == len(outputs)
        return result

    def check_iree(self, outputs: Sequence[np.ndarray]) -> None:
        """Flat outputs of `main` in IREE are right in every case but those in which it `differs`."""
        wrong: list[str] = []
        for case, got, want in zip(self.cases, self.split(outputs), self.expected, strict=True):
            try:
                check(got, want, case.rtol, case.atol)
            except AssertionError as error:
                if not case.differs:
                    wrong.append(f"{case.name}: {error}")
        assert not wrong, "\n".join(wrong)


@dataclass(frozen=True)
class TextProgram:
    """MLIR text, and for each function inputs and right results; `differs` as in `Case`."""

    name: str
    text: str
    runs: tuple[tuple[str, tuple[Any, ...], tuple[Any, ...]], ...]
    rtol: float = 0.0
    atol: float = 0.0
    differs: str = ""


def check(got: Sequence[np.ndarray], want: Sequence[np.ndarray], rtol: float, atol: float) -> None:
    """Equal shapes, dtypes and values: exactly when both tolerances are 0, NaN equal to NaN."""
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape, f"shape {a.shape}, needed {b.shape}"
        assert a.dtype == b.dtype, f"dtype {a.dtype}, needed {b.dtype}"
        if b.dtype.kind in "biu":
            np.testing.assert_array_equal(a, b)
        else:
            wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
            np.testing.assert_allclose(wide_a, wide_b, rtol=rtol, atol=atol, equal_nan=True)
            if rtol == atol == 0.0:
                np.testing.assert_array_equal(np.signbit(wide_a[wide_b == 0]), np.signbit(wide_b[wide_b == 0]))
