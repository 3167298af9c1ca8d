"""Every program of `programs`: what the flow stage makes of it is read by iree-opt, carried on by iree-compile, and
gives JAX's values."""

from __future__ import annotations

import pytest
from programs import Bundle, TextProgram, bundles, text_programs
from programs.bundle import check
from programs.models import Model, models

PER_TYPE = ("integers_", "floats_", "functions_", "chlo_", "edges_")
"""Bundles of one scalar op at a time: nothing to decide here, and `tests/input` and `tests/e2e` run them."""

BUNDLES = [bundle for bundle in bundles() if not bundle.name.startswith(PER_TYPE)]


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_bundle(bundle: Bundle, flow, iree) -> None:
    pytest.importorskip("jax", reason="values come from JAX")
    result = flow(bundle.text)
    iree.accept(result.text)
    bundle.check_iree(iree.call(iree.compile(result.text), "main", bundle.inputs))


@pytest.mark.parametrize("program", text_programs(), ids=lambda program: program.name)
def test_text(program: TextProgram, flow, iree) -> None:
    result = flow(program.text)
    iree.accept(result.text)
    if program.differs:
        pytest.xfail(program.differs)
    module = iree.compile(result.text)
    for function, inputs, want in program.runs:
        check(iree.call(module, function, inputs), want, program.rtol, program.atol)


@pytest.mark.parametrize("model", models(), ids=lambda model: model.name)
def test_model(model: Model, flow, iree) -> None:
    pytest.importorskip("jax", reason="values come from JAX")
    result = flow(model.text)
    iree.accept(result.dispatch_creation)
    check(iree.call(iree.compile(result.text), "main", model.inputs), model.expected, model.rtol, model.atol)
