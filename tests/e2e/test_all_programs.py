"""Every program of `programs`, compiled by Tiree; values from JAX or by hand.

Each module runs on both devices of Tiree and of IREE's own runtime, and both dump-module tools print the same of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from programs import Bundle, TextProgram, bundles, text_programs
from programs.bundle import check
from programs.models import Model, models
from proofs import iree_reference as iree

DEVICES = ("local-sync", "local-task")

pytestmark = iree.needs_iree


def call(module: bytes, function: str, inputs: Sequence[Any], device: str) -> list[np.ndarray]:
    """The results of one call as arrays."""
    results = getattr(rt.load(module, device=device), function)(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    return [np.asarray(r) for r in results]


def everywhere(module: bytes, function: str, inputs: Sequence[Any]) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Runtime and device by name, and the results there."""
    for device in DEVICES:
        yield f"tiree {device}", call(module, function, inputs, device)
        yield f"IREE {device}", iree.call(module, function, inputs, device)


@pytest.mark.parametrize("bundle", bundles(), ids=lambda bundle: bundle.name)
def test_bundle(bundle: Bundle, tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="values come from JAX")
    module = tiree.compile(bundle.text)
    iree.same_dump(module, tmp_path)
    wrong = []
    for place, results in everywhere(module, "main", bundle.inputs):
        for case, got, want in zip(bundle.cases, bundle.split(results), bundle.expected, strict=True):
            try:
                check(got, want, case.rtol, case.atol)
            except AssertionError as error:
                wrong.append(f"{place}, {case.name}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("program", text_programs(), ids=lambda program: program.name)
def test_text(program: TextProgram, tmp_path: Path) -> None:
    module = tiree.compile(program.text)
    iree.same_dump(module, tmp_path)
    for function, inputs, want in program.runs:
        for place, results in everywhere(module, function, inputs):
            assert place
            check(results, want, program.rtol, program.atol)


@pytest.mark.parametrize("model", models(), ids=lambda model: model.name)
def test_model(model: Model, tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="values come from JAX")
    module = tiree.compile(model.text)
    iree.same_dump(module, tmp_path)
    for place, results in everywhere(module, "main", model.inputs):
        assert place
        check(results, model.expected, model.rtol, model.atol)
