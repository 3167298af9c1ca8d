"""tiree-run-module and iree-run-module print the same for modules of both makers, on both devices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
from programs import models as makers
from programs import text_programs
from proofs import iree_reference as iree
from proofs.commands import ok, run

pytestmark = iree.needs_iree

MODELS = ("newton", "nested_if", "lstm", "mlp")


@pytest.mark.parametrize("device", iree.DRIVERS)
@pytest.mark.parametrize("maker", ["tiree", "iree"])
def test_models(maker: str, device: str, tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="the models are JAX functions")
    for name in MODELS:
        model = getattr(makers, name)()
        _compare(_compiled(maker, model.text), "main", model.inputs, device, tmp_path)


@pytest.mark.parametrize("maker", ["tiree", "iree"])
def test_scalars_and_small_integers(maker: str, tmp_path: Path) -> None:
    (program,) = [program for program in text_programs() if program.name == "signatures"]
    module = _compiled(maker, program.text)
    for function, inputs, _ in program.runs:
        _compare(module, function, inputs, "local-sync", tmp_path)


def _compiled(maker: str, text: str) -> bytes:
    return tiree.compile(text) if maker == "tiree" else iree.compile_text(text)


def _compare(module: bytes, function: str, inputs: Sequence[Any], device: str, folder: Path) -> None:
    (folder / "module.vmfb").write_bytes(module)
    arguments = [f"--module={folder / 'module.vmfb'}", f"--device={device}", f"--function={function}"]
    for number, value in enumerate(inputs):
        if isinstance(value, np.ndarray | np.generic):
            np.save(folder / f"{number}.npy", value)
            arguments.append(f"--input=@{folder / f'{number}.npy'}")
        else:
            arguments.append(f"--input={value}")
    ours = ok(run(folder, "tiree-run-module", *arguments))
    theirs = iree.run_tool("iree-run-module", *arguments)
    assert ours == theirs
    assert ours.startswith(f"EXEC @{function}\n")
