"""Every program of `programs`: the input stage's module, carried on by iree-compile, gives JAX's values."""

from __future__ import annotations

import pytest
from programs import Bundle, TextProgram, bundles, text_programs
from programs.bundle import check
from programs.models import Model, models

REFUSED = {
    "functions_float64": "iree-compile 3.13 has no f64 cbrt, nor other functions of f64",
    "chlo_float64": "iree-compile 3.13 has no f64 erf",
    "edges_float64": "iree-compile 3.13 has no f64 cbrt",
    "floats_float64": "iree-compile 3.13 calls fmod and atan2 for f64",
}


@pytest.mark.parametrize("bundle", bundles(), ids=lambda bundle: bundle.name)
def test_bundle(bundle: Bundle, lowered, iree) -> None:
    pytest.importorskip("jax", reason="values come from JAX")
    text = lowered(bundle.generic_text)
    assert "stablehlo." not in text
    assert "chlo." not in text
    if bundle.name in REFUSED:
        with pytest.raises(RuntimeError, match="refuses"):
            iree.compile(text, "input")
        return
    bundle.check_iree(iree.call(iree.compile(text, "input"), "main", bundle.inputs))


@pytest.mark.parametrize("program", text_programs(), ids=lambda program: program.name)
def test_text(program: TextProgram, lowered, iree) -> None:
    text = lowered(program.text, "abi")
    if program.differs:
        pytest.xfail(program.differs)
    module = iree.compile(text, "abi")
    for function, inputs, want in program.runs:
        check(iree.call(module, function, inputs), want, program.rtol, program.atol)


@pytest.mark.parametrize("model", models(), ids=lambda model: model.name)
def test_model(model: Model, lowered, iree) -> None:
    pytest.importorskip("jax", reason="values come from JAX")
    module = iree.compile(lowered(model.generic_text, "abi"), "abi")
    check(iree.call(module, "main", model.inputs), model.expected, model.rtol, model.atol)
