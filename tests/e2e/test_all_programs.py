"""Every program of `programs`, compiled by Tiree and run by Tiree on both devices: values from JAX or by hand."""

from __future__ import annotations

import numpy as np
import pytest
from programs import Bundle, TextProgram, bundles, text_programs
from programs.bundle import check
from programs.models import Model, models

import tiree
import tiree.runtime as rt

DEVICES = ("local-sync", "local-task")


def call(module: bytes, function: str, inputs: list, device: str) -> list[np.ndarray]:
    """The results of one call as arrays."""
    results = getattr(rt.load(module, device=device), function)(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    return [np.asarray(r) for r in results]


@pytest.mark.parametrize("bundle", bundles(), ids=lambda bundle: bundle.name)
def test_bundle(bundle: Bundle) -> None:
    pytest.importorskip("jax", reason="values come from JAX")
    module = tiree.compile(bundle.text)
    for device in DEVICES:
        outputs = bundle.split(call(module, "main", bundle.inputs, device))
        wrong = []
        for case, got, want in zip(bundle.cases, outputs, bundle.expected, strict=True):
            try:
                check(got, want, case.rtol, case.atol)
            except AssertionError as error:
                wrong.append(f"{case.name}: {error}")
        assert not wrong, f"{device}\n" + "\n".join(wrong)


@pytest.mark.parametrize("program", text_programs(), ids=lambda program: program.name)
def test_text(program: TextProgram) -> None:
    module = tiree.compile(program.text)
    for device in DEVICES:
        for function, inputs, want in program.runs:
            check(call(module, function, inputs, device), want, program.rtol, program.atol)


@pytest.mark.parametrize("model", models(), ids=lambda model: model.name)
def test_model(model: Model) -> None:
    pytest.importorskip("jax", reason="values come from JAX")
    module = tiree.compile(model.text)
    for device in DEVICES:
        check(call(module, "main", list(model.inputs), device), model.expected, model.rtol, model.atol)
