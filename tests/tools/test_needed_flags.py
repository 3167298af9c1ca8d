"""Each tool without what it needs: an error that says what is missing and how to give it, and no file written."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from tools.runtime_tool import ours

MISSING = [
    ("run-module", (), "no module given"),
    ("run-module", ("--function=f",), "no module given"),
    ("benchmark-module", (), "no module given"),
    ("dump-module", (), "0 files given; needs one"),
    ("as-module", (), "no --output"),
    ("as-module", ("--output=out",), "0 files given; needs one"),
    ("as-module", ("x.vmasm",), "no --output"),
    ("compile", (), "no input file"),
    ("compile", ("-o", "out"), "no input file"),
    ("opt", ("-o", "out"), "the input is empty"),
    ("convert-parameters", (), "no parameters given"),
    ("convert-parameters", ("--output=out",), "no parameters given"),
    ("convert-parameters", ("--parameters=", "--output=out"), "no such file"),
    ("create-parameters", (), "no parameters declared"),
    ("create-parameters", ("--output=out",), "no parameters declared"),
    ("create-parameters", ("--data=w=4xf32=1",), "no output given"),
    ("dump-parameters", (), "no parameters given"),
    ("dump-parameters", ("--extract=w=out",), "no parameters given"),
]


@pytest.mark.parametrize(("tool", "flags", "text"), MISSING)
def test_missing(tool: str, flags: tuple[str, ...], text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    done = ours(tool, *flags)
    assert done.code == 1
    assert text in done.err
    assert "Traceback" not in done.err
    assert not list(tmp_path.iterdir())
