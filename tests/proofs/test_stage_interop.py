"""The stages are not decoration: what Tiree prints at each stage border is a module that IREE goes on with.

For the networks of the digits example and for `programs.models`: generic text at `abi`, `flow`, `stream` and `hal` is
accepted by iree-opt, and iree-compile takes it from there to a module with the right values. Modules of `abi` and
`flow` of `programs.models` are carried on by tests/input and tests/flow, so here only those of the digits are.
"""

from __future__ import annotations

import pytest
from programs.bundle import check
from programs.models import Model, models
from proofs import iree_reference as iree
from proofs.digits import network

pytestmark = iree.needs_iree

BORDERS = ("abi", "flow", "stream", "hal")


def texts(model: Model, **options: bool) -> dict[str, str]:
    """`model` at every stage border, from one run of the pipeline."""
    from tiree.dialects import get_context, print_module, read_module
    from tiree.pipeline import run_pipeline
    from tiree.support.options import CompileOptions

    context, settings = get_context(), CompileOptions(**options)
    module = read_module(model.text, context)
    found: dict[str, str] = {}
    before = "start"
    for border in BORDERS:
        run_pipeline(module, settings, before, border, ctx=context)
        found[border] = print_module(module, generic=True)
        before = border
    return found


def carry_on(model: Model, at: dict[str, str], borders: tuple[str, ...]) -> None:
    iree.accept(list(at.values()))
    for border in borders:
        module = iree.compile_text(at[border], compile_from=border)
        check(iree.call(module, "main", model.inputs, "local-sync"), model.expected, model.rtol, model.atol)


@pytest.mark.parametrize("name", ["mlp", "cnn"])
def test_digits(name: str) -> None:
    model = network(name)
    carry_on(model, texts(model), BORDERS)


@pytest.mark.parametrize("model", models(), ids=lambda model: model.name)
def test_model(model: Model) -> None:
    pytest.importorskip("jax", reason="texts and values come from JAX")
    carry_on(model, texts(model), ("stream", "hal"))


def test_the_command_prints_the_same(tmp_path) -> None:
    """`tiree-compile --compile-to=` is this text, and takes it up again with `--compile-from=`."""
    from proofs.commands import ok, run

    model = network("mlp")
    (tmp_path / "in.mlir").write_text(model.text)
    # Debug symbols name the file that was read, which is another one at every step.
    expected, before = texts(model, llvmcpu_debug_symbols=False), ("start", "in.mlir")
    for border in ("flow", "hal"):
        flags = (f"--compile-from={before[0]}", f"--compile-to={border}", "--mlir-print-op-generic")
        flags = (*flags, "--iree-llvmcpu-debug-symbols=false")
        ok(run(tmp_path, "tiree-compile", before[1], *flags, "-o", f"{border}.mlir"))
        assert (tmp_path / f"{border}.mlir").read_text().strip() == expected[border].strip()
        before = (border, f"{border}.mlir")
    ok(run(tmp_path, "tiree-compile", "hal.mlir", "--compile-from=hal", "-o", "end.vmfb"))
    module = (tmp_path / "end.vmfb").read_bytes()
    check(iree.call(module, "main", model.inputs, "local-task"), model.expected, model.rtol, model.atol)
