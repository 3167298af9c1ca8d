"""The same input and flags give the same bytes: run again, elsewhere, with other hash seeds, threads, after others."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiree
from programs import models as makers
from programs.models import Model
from proofs.commands import ok, run
from proofs.digits import network


def _model(name: str) -> Model:
    pytest.importorskip("jax", reason="the networks are JAX functions")
    return network("cnn") if name == "cnn" else getattr(makers, name)()


@pytest.mark.parametrize("name", ["cnn", "transformer_block", "lstm"])
def test_the_same_command(name: str, tmp_path: Path) -> None:
    text = _model(name).text
    settings = [
        ("first", {"PYTHONHASHSEED": "0"}, ()),
        ("again/in/another/folder", {"PYTHONHASHSEED": "4242"}, ()),
        (
            "one_thread",
            {"PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "1", "TZ": "Asia/Tokyo"},
            ("--mlir-disable-threading",),
        ),
    ]
    made = []
    for place, environment, flags in settings:
        folder = tmp_path / place
        folder.mkdir(parents=True)
        (folder / "model.mlir").write_text(text)
        ok(run(folder, "tiree-compile", "model.mlir", *flags, "-o", "model.vmfb", **environment))
        made.append((folder / "model.vmfb").read_bytes())
    assert made[0] == made[1]
    assert made[0] == made[2]
    assert str(tmp_path).encode() not in made[0]


def test_every_phase_in_one_process(tmp_path: Path) -> None:
    """The text of each phase and the module do not depend on what the process compiled before."""
    text = _model("nested_if").text
    first, second = (tmp_path / name for name in ("first", "second"))
    before = tiree.compile(text, flags=[f"--dump-compilation-phases-to={first}"])
    tiree.compile(_model("newton").text)
    tiree.compile(_model("mlp").text)
    after = tiree.compile(text, flags=[f"--dump-compilation-phases-to={second}"])
    assert before == after
    names = sorted(path.name for path in first.iterdir())
    assert len(names) >= 10
    assert names == sorted(path.name for path in second.iterdir())
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
